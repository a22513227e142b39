"""Prose, configuration and data: text that is divided into chunks and searched, without definitions or uses."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from treering.code.facts import Facts, Key, Resolved, Span, SymbolLookup


class NoBody(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The body of a file without uses."""


class PlainText:
    """One text format."""

    suffixes: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    body: Any = NoBody
    surface_body: Any = NoBody

    def __init__(self, name: str) -> None:
        self.name = name

    def extract(self, path: str, source: bytes) -> Facts:
        return Facts(path, (), NoBody())

    def text_spans(self, path: str, source: bytes, spans: Sequence[Span]) -> Iterable[Span]:
        return spans

    def surface(self, facts: Facts) -> Mapping[Key, Any]:
        return {}

    def resolve(self, facts: Facts, lookup: SymbolLookup) -> Resolved:
        return Resolved((), ())
