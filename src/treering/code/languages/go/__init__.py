"""Go: packages are directories, names are bound by scope, and the type of every expression follows from the source."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tree_sitter import Parser

from treering.code.facts import Facts, Key, LanguageSupport, Resolved, Span, SymbolLookup
from treering.code.languages.go.body import GoBody
from treering.code.languages.go.extraction import GRAMMAR, read_source
from treering.code.languages.go.manifest import read_manifest
from treering.code.languages.go.resolution import edges_of_file
from treering.code.languages.go.surface import surface_of
from treering.code.languages.text_spans import text_spans_in


class Go:
    name = "go"
    suffixes: tuple[str, ...] = (".go",)
    manifests: tuple[str, ...] = ("go.mod", "go.work")
    body: Any = GoBody
    surface_body: Any = GoBody

    def extract(self, path: str, source: bytes) -> Facts:
        return (read_source if path.endswith(".go") else read_manifest)(path, source)

    def text_spans(self, path: str, source: bytes, spans: Sequence[Span]) -> Iterable[Span]:
        return text_spans_in(Parser(GRAMMAR).parse(source), spans) if path.endswith(".go") else spans

    def surface(self, facts: Facts) -> Mapping[Key, Any]:
        return surface_of(facts)

    def resolve(self, facts: Facts, lookup: SymbolLookup) -> Resolved:
        return edges_of_file(facts, lookup)


LANGUAGE: LanguageSupport = Go()
