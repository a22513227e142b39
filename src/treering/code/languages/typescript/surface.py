"""The part of a file that is visible to other files: names and exports as terms without scopes, lines or bodies."""

from collections.abc import Iterator, Mapping
from typing import Any

from treering.code.facts import Facts, Key
from treering.code.languages.typescript.module_locator import split_suffix
from treering.code.languages.typescript.terms import NOTHING, TYPE, TsBody, TsTerm

MAX_DEPTH = 40
MAX_LOCALS = 60
"""Maximum number of local names replaced in one function's result; further ones are unknown outside."""

SCOPED = frozenset(("name", "type", "declared"))
CLASS_NUMBERED = frozenset(("this", "super", "static", "class", "interface"))


def surface(facts: Facts) -> Mapping[Key, Any]:
    body: TsBody = facts.body
    path = facts.path
    entries: dict[Key, Any] = {}
    if body.config is not None:
        return {("ts.config", path): body.config}
    if body.package is not None:
        entries[("ts.manifest", path.rpartition("/")[0])] = body.package
        if body.package.name:
            entries[("ts.package", body.package.name)] = body.package
        return entries
    return LazySurface(path, body) if body.scopes else entries


class LazySurface(Mapping[Key, Any]):
    """The entries of a source file, built on first access: often only the keys are needed."""

    def __init__(self, path: str, body: TsBody) -> None:
        stem, ending = split_suffix(path)
        self._plain: dict[Key, Any] = {("ts.stem", stem): ending}
        if body.exports:
            self._plain[("ts.exports", path)] = tuple(sorted(body.exports))
        if body.stars:
            self._plain[("ts.stars", path)] = body.stars
        self._numbers: dict[Key, int] = {("ts.top", path, name): term for name, term in body.scopes[0].names.items()}
        self._numbers.update({("ts.export", path, name): term for name, term in body.exports.items()})
        self._numbers.update({("ts.ambient", name): term for name, term in body.ambient.items()})
        self._body: TsBody | None = body
        self._entries: dict[Key, Any] = {}

    def __getitem__(self, key: Key) -> Any:
        if self._body is not None:
            inliner = TermInliner(self._body)
            self._entries = {each: inliner.inlined(number) for each, number in self._numbers.items()}
            self._entries.update(self._plain)
            self._body = None
        return self._entries[key]

    def __contains__(self, key: object) -> bool:
        return key in self._numbers or key in self._plain

    def __iter__(self) -> Iterator[Key]:
        yield from self._numbers
        yield from self._plain

    def __len__(self) -> int:
        return len(self._numbers) + len(self._plain)


class TermInliner:
    """Replaces local names by their values, within a size limit."""

    def __init__(self, body: TsBody) -> None:
        self._cells = body.cells
        self._scopes = body.scopes
        self._left = MAX_LOCALS
        self._known: dict[int, TsTerm] = {}
        self._open: set[int] = set()

    def inlined(self, number: int) -> TsTerm:
        self._left = MAX_LOCALS
        return self._inline(number, 0)

    def _inline(self, number: int, depth: int) -> TsTerm:
        known = self._known.get(number)
        if known is not None:
            return known
        if depth > MAX_DEPTH or number in self._open:
            return NOTHING
        op, text, n, kids = self._cells[number]
        if n and op in SCOPED:
            result = self._inline_name(number, depth)
        elif op == "fn":
            result = self._inline_function(number, depth)
        else:
            parts = tuple([self._inline(kid, depth + 1) for kid in kids]) if kids else ()
            result = TsTerm(op, text, 0 if op in CLASS_NUMBERED else n, parts)
        if self._left > 0 and not self._open:
            self._known[number] = result
        return result

    def _inline_name(self, number: int, depth: int) -> TsTerm:
        op, text, scope, parts = self._cells[number]
        head, _, rest = text.partition(".")
        key = TYPE + head if op != "name" and not rest else head
        while scope and key not in self._scopes[scope].names:
            scope = self._scopes[scope].parent
        kids = tuple([self._inline(part, depth + 1) for part in parts])
        if scope == 0:
            return TsTerm(op, text, 0, kids)
        if self._left <= 0:
            return NOTHING
        self._left -= 1
        self._open.add(number)
        bound = self._inline(self._scopes[scope].names[key], depth + 1)
        self._open.discard(number)
        for part in rest.split(".") if rest else ():
            bound = TsTerm("member", part, 0, (bound,))
        return TsTerm("applied", "", 0, (bound, *kids)) if kids and op == "type" else bound

    def _inline_function(self, number: int, depth: int) -> TsTerm:
        """The limit of a function does not depend on its surroundings."""
        _, text, flags, parts = self._cells[number]
        saved, self._left = self._left, MAX_LOCALS
        kids = tuple([self._inline(part, depth + 1) for part in parts])
        self._left = saved
        return TsTerm("fn", text, flags, kids)
