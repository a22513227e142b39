"""What other files may see of a file: its names and exports as terms that hold no scope, no line and no body."""

from collections.abc import Mapping
from typing import Any

from treering.index.facts import Facts, Key
from treering.index.languages.typescript.locate import split_ending
from treering.index.languages.typescript.terms import NOTHING, TYPE, Body, Term, unfold

DEEPEST = 40
MOST_LOCALS = 60
"""Local names that are replaced in one function's result; past that the rest of it is not known outside."""

SCOPED = frozenset(("name", "type", "declared"))
NUMBERED = frozenset(("this", "super", "static", "class", "interface"))


def surface(facts: Facts) -> Mapping[Key, Any]:
    body: Body = facts.body
    path = facts.path
    entries: dict[Key, Any] = {}
    if body.config is not None:
        return {("ts.config", path): body.config}
    if body.package is not None:
        entries[("ts.manifest", path.rpartition("/")[0])] = body.package
        if body.package.name:
            entries[("ts.package", body.package.name)] = body.package
        return entries
    if not body.scopes:
        return entries
    stem, ending = split_ending(path)
    entries[("ts.stem", stem)] = ending
    closing = Closing(body)
    for name, term in body.scopes[0].names.items():
        entries[("ts.top", path, name)] = closing.closed(term)
    for name, term in body.exports.items():
        entries[("ts.export", path, name)] = closing.closed(term)
    if body.exports:
        entries[("ts.exports", path)] = tuple(sorted(body.exports))
    if body.stars:
        entries[("ts.stars", path)] = body.stars
    for name, term in body.ambient.items():
        entries[("ts.ambient", name)] = closing.closed(term)
    return entries


class Closing:
    """Replaces local names by what they stand for, as far as that stays small."""

    def __init__(self, body: Body) -> None:
        self._terms = unfold(body.cells)
        self._scopes = body.scopes
        self._left = MOST_LOCALS
        self._known: dict[int, Term] = {}
        self._open: set[int] = set()

    def closed(self, number: int) -> Term:
        self._left = MOST_LOCALS
        return self._close(self._terms[number], 0)

    def _close(self, term: Term, depth: int) -> Term:
        known = self._known.get(id(term))
        if known is not None:
            return known
        if depth > DEEPEST or id(term) in self._open:
            return NOTHING
        op = term.op
        if op in SCOPED and term.n:
            result = self._close_name(term, depth)
        elif op == "fn":
            result = self._close_function(term, depth)
        elif not term.kids:
            result = Term(op, term.text) if op in NUMBERED else term
        else:
            kids = tuple([self._close(kid, depth + 1) for kid in term.kids])
            result = Term(op, term.text, 0 if op in NUMBERED else term.n, kids)
        if self._left > 0 and not self._open:
            self._known[id(term)] = result
        return result

    def _close_name(self, term: Term, depth: int) -> Term:
        head, _, rest = term.text.partition(".")
        key = TYPE + head if term.op != "name" and not rest else head
        scope = term.n
        while scope and key not in self._scopes[scope].names:
            scope = self._scopes[scope].parent
        kids = tuple([self._close(kid, depth + 1) for kid in term.kids])
        if scope == 0:
            return Term(term.op, term.text, 0, kids)
        if self._left <= 0:
            return NOTHING
        self._left -= 1
        self._open.add(id(term))
        bound = self._close(self._terms[self._scopes[scope].names[key]], depth + 1)
        self._open.discard(id(term))
        for part in rest.split(".") if rest else ():
            bound = Term("member", part, 0, (bound,))
        return Term("applied", "", 0, (bound, *kids)) if kids and term.op == "type" else bound

    def _close_function(self, term: Term, depth: int) -> Term:
        """A function's own allowance does not depend on what stands around it."""
        kept, self._left = self._left, MOST_LOCALS
        kids = tuple([self._close(kid, depth + 1) for kid in term.kids])
        self._left = kept
        return Term("fn", term.text, term.n, kids)
