"""Languages of which definitions, imports and names are read: a table row and a query each, and this code for all."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from treering.code.facts import Facts, Key, Resolved, Span, SymbolLookup
from treering.code.language_table import DefinitionLanguage
from treering.code.languages.definitions_only.extraction import DefinitionReader, FileNames
from treering.code.languages.definitions_only.imports import path_endings, resolve_imports
from treering.code.languages.definitions_only.used_names import defined_names, possible_uses


class DefinitionsOnly:
    """One language. Raises `ImportError` if its grammar is not installed."""

    manifests: tuple[str, ...] = ()
    body: Any = FileNames
    surface_body: Any = FileNames

    def __init__(self, declared: DefinitionLanguage) -> None:
        self.name, self.suffixes = declared.name, declared.suffixes
        self._reader = DefinitionReader(declared)
        self._rule, self._group = declared.imports, declared.name_group

    def extract(self, path: str, source: bytes) -> Facts:
        return self._reader.read(path, source)

    def text_spans(self, path: str, source: bytes, spans: Sequence[Span]) -> Iterable[Span]:
        """All of them: a secret is worth more than a name, and grammars call their strings differently."""
        return spans

    def surface(self, facts: Facts) -> Mapping[Key, Any]:
        return dict.fromkeys((*path_endings(facts.path), *defined_names(facts, self._group)), True)

    def resolve(self, facts: Facts, lookup: SymbolLookup) -> Resolved:
        imports = resolve_imports(facts, self._rule, lookup)
        return Resolved(imports.edges, (*imports.unresolved, *possible_uses(facts, self._group, lookup)))
