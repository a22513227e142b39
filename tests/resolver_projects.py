"""Small in-memory projects in one language, for tests of resolution rules."""

from collections.abc import Mapping

from tests.symbol_table import RecordingLookup, SymbolTable
from treering.code.facts import Facts, LanguageSupport, Resolved


def facts_of(files: Mapping[str, str | bytes], language: LanguageSupport) -> dict[str, Facts]:
    """Return the facts of every file by path."""
    return {
        path: language.extract(path, source.encode() if isinstance(source, str) else source)
        for path, source in sorted(files.items())
    }


def resolve_all(facts: Mapping[str, Facts], language: LanguageSupport) -> dict[str, Resolved]:
    """Resolve every file against all others; return the results by path."""
    table = SymbolTable()
    for path, read in facts.items():
        table.put(path, language.surface(read))
    return {path: language.resolve(read, RecordingLookup(table)) for path, read in facts.items()}


def edges_of(files: Mapping[str, str | bytes], language: LanguageSupport) -> set[tuple[str, str, str]]:
    """Return all edges of the project as `(origin, kind, target)`."""
    resolved = resolve_all(facts_of(files, language), language)
    return {(edge.origin, edge.kind.value, edge.target) for found in resolved.values() for edge in found.edges}


def unresolved_of(files: Mapping[str, str | bytes], language: LanguageSupport) -> set[tuple[str, str]]:
    """Return all unresolved uses as `(origin, text)`."""
    resolved = resolve_all(facts_of(files, language), language)
    return {(use.origin, use.text) for found in resolved.values() for use in found.unresolved}
