"""Rust: crates from Cargo.toml, modules, use trees, and types that determine the targets of method calls."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tree_sitter import Parser

from treering.code.facts import Facts, Key, LanguageSupport, Resolved, Span, SymbolLookup
from treering.code.languages.rust.body import RustBody
from treering.code.languages.rust.extraction import GRAMMAR, MANIFEST, extract
from treering.code.languages.rust.resolution import resolve
from treering.code.languages.rust.surface import surface
from treering.code.languages.text_spans import text_spans_in


class _Rust:
    name = "rust"
    suffixes: tuple[str, ...] = (".rs",)
    manifests: tuple[str, ...] = (MANIFEST,)
    body: Any = RustBody
    surface_body: Any = RustBody

    def extract(self, path: str, source: bytes) -> Facts:
        return extract(path, source)

    def text_spans(self, path: str, source: bytes, spans: Sequence[Span]) -> Iterable[Span]:
        return text_spans_in(Parser(GRAMMAR).parse(source), spans) if path.endswith(".rs") else spans

    def surface(self, facts: Facts) -> Mapping[Key, Any]:
        return surface(facts)

    def resolve(self, facts: Facts, lookup: SymbolLookup) -> Resolved:
        return resolve(facts, lookup)


LANGUAGE: LanguageSupport = _Rust()
