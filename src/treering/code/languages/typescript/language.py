"""TypeScript, TSX and JavaScript as one language; the file's suffix selects the grammar."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from treering.code.facts import Facts, Key, Resolved, Span, SymbolLookup
from treering.code.languages.text_spans import text_spans_in
from treering.code.languages.typescript.extraction import read_source
from treering.code.languages.typescript.manifests import MANIFESTS, read_manifest
from treering.code.languages.typescript.parser import GRAMMARS, grammar_of, parser
from treering.code.languages.typescript.resolution import resolve
from treering.code.languages.typescript.surface import surface
from treering.code.languages.typescript.terms import TsBody


class TypeScript:
    name = "typescript"
    suffixes: tuple[str, ...] = tuple(GRAMMARS)
    manifests: tuple[str, ...] = MANIFESTS
    body: Any = TsBody
    surface_body: Any = TsBody

    def extract(self, path: str, source: bytes) -> Facts:
        return read_manifest(path, source) if path.endswith(".json") else read_source(path, source)

    def text_spans(self, path: str, source: bytes, spans: Sequence[Span]) -> Iterable[Span]:
        return spans if path.endswith(".json") else text_spans_in(parser(grammar_of(path)).parse(source), spans)

    def surface(self, facts: Facts) -> Mapping[Key, Any]:
        return surface(facts)

    def resolve(self, facts: Facts, lookup: SymbolLookup) -> Resolved:
        return resolve(facts, lookup)
