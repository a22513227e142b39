"""Languages of which definitions and imports are read: one table row and one query each, and this code for all."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from treering.code.facts import Facts, Key, Resolved, Span, SymbolLookup
from treering.code.language_table import DefinitionLanguage
from treering.code.languages.definitions_only.extraction import DefinitionReader, ImportedNames
from treering.code.languages.definitions_only.imports import path_endings, resolve_imports


class DefinitionsOnly:
    """One language. Raises `ImportError` if its grammar is not installed."""

    manifests: tuple[str, ...] = ()
    body: Any = ImportedNames
    surface_body: Any = ImportedNames

    def __init__(self, declared: DefinitionLanguage) -> None:
        self.name, self.suffixes = declared.name, declared.suffixes
        self._reader = DefinitionReader(declared)
        self._rule = declared.imports

    def extract(self, path: str, source: bytes) -> Facts:
        return self._reader.read(path, source)

    def text_spans(self, path: str, source: bytes, spans: Sequence[Span]) -> Iterable[Span]:
        """All of them: a secret is worth more than a name, and grammars call their strings differently."""
        return spans

    def surface(self, facts: Facts) -> Mapping[Key, Any]:
        return dict.fromkeys(path_endings(facts.path), True)

    def resolve(self, facts: Facts, lookup: SymbolLookup) -> Resolved:
        return resolve_imports(facts, self._rule, lookup)
