"""Resolution of one file's uses against the symbols of all files."""

import msgspec

from treering.code.encoding import file_weights, pack_edges, pack_hashes, pack_unresolved
from treering.code.facts import Facts, format_failure
from treering.code.index.stored_symbols import StoredSymbols, SymbolQueries
from treering.code.language_choice import load_language


class Resolution(msgspec.Struct, frozen=True, array_like=True):
    """Resolved edges of a file, encoded for the store."""

    path: str
    edges: bytes
    unresolved: bytes
    asked: bytes
    used: int
    unknown: int
    ties: dict[str, float]
    problem: str = ""
    """Why nothing could be resolved; empty on success."""


def unresolved_file(path: str, problem: str) -> Resolution:
    """A file that could not be resolved."""
    return Resolution(path, b"", b"", b"", 0, 0, {}, problem)


def resolve_file(language: str, facts: Facts, symbols: StoredSymbols) -> Resolution:
    queries = SymbolQueries(symbols, facts.path)
    try:
        return _resolved(language, facts, queries)
    except Exception as exc:  # noqa: BLE001 - a language is a plug-in: a file that it cannot resolve is reported
        problem = format_failure("its uses cannot be resolved", exc)
        return Resolution(facts.path, b"", b"", _asked(queries), 0, 0, {}, problem)


def _resolved(language: str, facts: Facts, queries: SymbolQueries) -> Resolution:
    found = load_language(language).resolve(facts, queries)
    return Resolution(
        facts.path,
        pack_edges(found.edges),
        pack_unresolved(found.unresolved),
        _asked(queries),
        len(found.edges),
        len(found.unresolved),
        dict(file_weights(facts.path, found.edges)),
    )


def _asked(queries: SymbolQueries) -> bytes:
    return pack_hashes(sorted(queries.hashes))
