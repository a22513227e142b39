"""Python: parsed with tree-sitter, resolved by the rules of the language and by evident types."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tree_sitter import Parser

from treering.code.facts import Facts, Key, Resolved, Span, SymbolLookup
from treering.code.languages.python.body import PythonBody, PythonSurfaceBody
from treering.code.languages.python.extraction import extract_source
from treering.code.languages.python.manifest import extract_manifest, is_manifest, resolve_manifest
from treering.code.languages.python.resolution import resolve_source
from treering.code.languages.python.statements import GRAMMAR
from treering.code.languages.python.surface import surface_of
from treering.code.languages.text_spans import text_spans_in


class Python:
    name = "python"
    suffixes: tuple[str, ...] = (".py", ".pyi")
    manifests: tuple[str, ...] = ("pyproject.toml",)
    body = PythonBody
    surface_body = PythonSurfaceBody

    def extract(self, path: str, source: bytes) -> Facts:
        return extract_manifest(path, source) if is_manifest(path) else extract_source(path, source)

    def text_spans(self, path: str, source: bytes, spans: Sequence[Span]) -> Iterable[Span]:
        return spans if is_manifest(path) else text_spans_in(Parser(GRAMMAR).parse(source), spans)

    def surface(self, facts: Facts) -> Mapping[Key, Any]:
        return surface_of(facts)

    def resolve(self, facts: Facts, lookup: SymbolLookup) -> Resolved:
        return resolve_manifest(facts, lookup) if is_manifest(facts.path) else resolve_source(facts, lookup)


LANGUAGE = Python()
