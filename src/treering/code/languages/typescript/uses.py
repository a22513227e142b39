"""Uses of definitions other than calls: which of the recorded ones may refer to a definition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from treering.code.languages.typescript.terms import LISTED, NAMED_TYPE, TYPE, VALUE, Cell, TsUse

if TYPE_CHECKING:
    from treering.code.languages.typescript.reader import TermReader

UseKey = tuple[int, int, int]
"""Term, number of the enclosing definition, and how it is used."""

_DEFINING = frozenset(("fn", "class", "enum", "merge"))
"""Terms of local names that are definitions; other local names are parameters and variables."""
_ROOTS = frozenset(("name", "this", "static", "super", "own", "import", "type"))
"""Beginnings of a chain of members that may lead to a definition."""


def settled_uses(r: TermReader, cells: Sequence[Cell]) -> tuple[TsUse, ...]:
    """The uses that may refer to a definition; those in a table belong to the variable that holds it."""
    tables = {key: r.known[name] for name, keys in r.tables.items() if name in r.known for key in keys}
    found: list[TsUse] = []
    for key, offset in r.uses.items():
        term, origin, how = key
        owner = tables.get(key)
        if _may_be_definition(r, cells, term, how) and (origin >= 0 or owner is not None or cells[term][0] != "fn"):
            line = r.line(offset)
            found.append(TsUse(term, origin, line, how) if owner is None else TsUse(term, owner, line, LISTED))
    return tuple(found)


def read_variables(r: TermReader, cells: Sequence[Cell]) -> Iterator[str]:
    """Names of variables outside functions that a definition reads."""
    for term, origin, how in r.uses:
        op, text, scope, _ = cells[term]
        if origin >= 0 and how == VALUE and op == "name" and text in r.variable_lines:
            bound = r.binding(scope, text)
            if bound is not None and bound[0] == 0:
                yield text


def _may_be_definition(r: TermReader, cells: Sequence[Cell], term: int, how: int) -> bool:
    op, text, scope, kids = cells[term]
    if op == "member":
        root = kids[0]
        while cells[root][0] == "member":
            root = cells[root][3][0]
        return cells[root][0] in _ROOTS and (cells[root][0] != "name" or _is_bound(r, cells[root]))
    if how == NAMED_TYPE:
        return True
    if op == "fn":
        return True
    bound = r.binding(scope, text) if op == "name" else None
    if bound is None:
        return False
    where, value = bound
    kind, target, _, _ = cells[value] if value < len(cells) else ("", "", 0, ())
    return kind in _DEFINING or (target != "" if kind == "var" else where == 0)


def _is_bound(r: TermReader, cell: Cell) -> bool:
    _, text, scope, _ = cell
    return r.binding(scope, text) is not None or r.binding(scope, TYPE + text) is not None
