"""TypeScript, TSX and JavaScript as one language: a file's ending chooses the grammar."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from treering.index.facts import Ask, Facts, Key, Resolved, Span
from treering.index.languages.texts import texts_in
from treering.index.languages.typescript.manifests import MANIFESTS, read_manifest
from treering.index.languages.typescript.parsing import GRAMMARS, grammar_of, parser
from treering.index.languages.typescript.reading import read_source
from treering.index.languages.typescript.resolving import resolve
from treering.index.languages.typescript.surface import surface
from treering.index.languages.typescript.terms import Body


class TypeScript:
    """See `treering.index.facts.Language`."""

    name = "typescript"
    suffixes: tuple[str, ...] = tuple(GRAMMARS)
    manifests: tuple[str, ...] = MANIFESTS
    body: Any = Body

    def extract(self, path: str, source: bytes) -> Facts:
        return read_manifest(path, source) if path.endswith(".json") else read_source(path, source)

    def texts(self, path: str, source: bytes, spans: Sequence[Span]) -> Iterable[Span]:
        return spans if path.endswith(".json") else texts_in(parser(grammar_of(path)).parse(source), spans)

    def surface(self, facts: Facts) -> Mapping[Key, Any]:
        return surface(facts)

    def resolve(self, facts: Facts, ask: Ask) -> Resolved:
        return resolve(facts, ask)
