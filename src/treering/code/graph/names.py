"""Lookup of definitions, files and folders by names as users write them.

`verify_jwt`, `auth/tokens.py:verify_jwt`, `AuthService.login`, `tokens.verify_jwt`, `tokens.py:42`, `src/auth`, in
another case, as camelCase for snake_case, with a typo, or only the beginning. A name is a sequence of parts, folders
first; a match must end like it, and contain its other parts in the same order.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from treering.code.graph.folders import CodeFolders, is_folder
from treering.code.graph.matches import MatchReason, NameMatch, NameMatches
from treering.code.graph.module_names import is_test
from treering.code.graph.nodes import SEPARATOR, Nodes, id_of
from treering.code.graph.spelling import (
    Fits,
    alike,
    ends_with,
    in_order,
    normalized,
    parts_of,
    subsequence,
    without_ending,
)
from treering.code.graph.typos import closest

_LINE = re.compile(r"(?P<path>.+?):(?P<line>\d{1,9})(?::\d+)?", re.DOTALL)
_MIN_PREFIX = 3
_DEFINITION, _PACKAGE, _FILE, _FOLDER = range(4)
"""Order of preference for a name without a path: a definition before the file around it, a package before a nested
file."""


class _Fit(NamedTuple):
    """A candidate for a name; smaller sorts first."""

    local: bool
    """Whether it is inside a function, where it cannot be referred to from outside."""
    test: bool
    what: int
    hidden: bool
    depth: int
    id: str

    @property
    def yields(self) -> tuple[bool, bool, int]:
        """Candidates are equally good only if these agree."""
        return self[:3]


class NameIndex:
    """Node numbers by the last part of their names. Names are only ever added, so that updating reads only new ones."""

    def __init__(self) -> None:
        self._read = 0
        self._by_last: dict[str, ByQualname] = {}
        self._parts_of_path: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}

    def find(self, asked: str, nodes: Nodes, folders: CodeFolders, limit: int) -> NameMatches:
        self._index_new_names(nodes)
        asked = asked.strip()
        for why, look in self._ways():
            numbers = dict.fromkeys(look(asked, nodes))
            fits = [self._fit(number, why, nodes) for number in numbers if nodes.exists[number]]
            fits += _folders_like(asked, why, folders)
            if fits:
                fits.sort()
                repeated = _repeated({fit.id for fit in fits})
                fits.sort(key=lambda fit: fit.id in repeated)
                matches = (
                    _match(fit, why, nodes, aside=fit.yields != fits[0].yields or fit.id in repeated)
                    for fit in fits[:limit]
                )
                return NameMatches(asked, tuple(matches), len(fits[limit:]))
        return NameMatches(asked, ())

    def _ways(self) -> tuple[tuple[MatchReason, Callable[[str, Nodes], Iterable[int]]], ...]:
        return (
            (MatchReason.EXACT, self._exact),
            (MatchReason.LINE, self._at_line),
            (MatchReason.END, lambda asked, nodes: self._like(asked, nodes, str, ends_with)),
            (MatchReason.PARTS, lambda asked, nodes: self._like(asked, nodes, str, in_order)),
            (MatchReason.SPELLING, lambda asked, nodes: self._like(asked, nodes, normalized, in_order)),
            (MatchReason.TYPO, self._with_typos),
            (MatchReason.BEGINNING, lambda asked, nodes: self._with_last(asked, nodes, str.startswith)),
            (MatchReason.INSIDE, lambda asked, nodes: self._with_last(asked, nodes, str.__contains__)),
        )

    def _index_new_names(self, nodes: Nodes) -> None:
        spelled: dict[str, ByQualname] = {}
        for number in range(self._read, len(nodes)):
            path, _, qualname = nodes.names[number].partition(SEPARATOR)
            if qualname:
                lasts = {qualname[qualname.rfind(".") + 1 :]}
            else:
                lasts = {reading[-1] for reading in self._path_readings(path) if reading}
            for last in lasts:
                if last not in spelled:
                    spelled[last] = self._by_last.setdefault(normalized(last), {})
                spelled[last].setdefault(qualname, []).append(number)
        self._read = len(nodes)

    def _path_readings(self, path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The parts of a path, with and without the file extension."""
        known = self._parts_of_path.get(path)
        if known is None:
            known = self._parts_of_path[path] = parts_of(path), parts_of(without_ending(path))
        return known

    def _readings(self, number: int, nodes: Nodes) -> Iterator[tuple[str, ...]]:
        path, _, qualname = nodes.names[number].partition(SEPARATOR)
        inside = _inside_parts(qualname)
        return (reading + inside for reading in self._path_readings(path))

    def _exact(self, asked: str, nodes: Nodes) -> Iterator[int]:
        path, _, qualname = asked.rpartition(":")
        for name in (asked, id_of(path.rstrip(":"), qualname)):
            number = nodes.known(name)
            if number is not None:
                yield number

    def _at_line(self, asked: str, nodes: Nodes) -> Iterator[int]:
        """The innermost definition around a line of a file, or the file itself."""
        found = _LINE.fullmatch(asked)
        if found is None:
            return
        line = int(found["line"])
        exact = nodes.known(found["path"])
        for file in self._like(found["path"], nodes, str, ends_with) if exact is None else (exact,):
            if not nodes.exists[file] or SEPARATOR in nodes.names[file]:
                continue
            around = nodes.definitions.around(line, list(self._inside(file, nodes)))
            yield file if around is None else around

    @staticmethod
    def _inside(file: int, nodes: Nodes) -> Iterator[int]:
        prefix = nodes.names[file] + SEPARATOR
        for number in nodes.ordered[int(nodes.rank[file]) + 1 :]:
            if not nodes.names[number].startswith(nodes.names[file]):
                return
            if nodes.names[number].startswith(prefix) and nodes.exists[number]:
                yield number

    def _like(self, asked: str, nodes: Nodes, fold: Callable[[str], str], fits: Fits) -> Iterator[int]:
        asked_parts = parts_of(asked)
        parts = tuple(map(fold, asked_parts))
        for qualname, numbers in self._candidates(asked_parts):
            inside = tuple(map(fold, _inside_parts(qualname)))
            if inside and fits(inside, parts):
                yield from numbers
            elif fits is not ends_with or len(parts) > len(inside):
                yield from (
                    number
                    for number in numbers
                    if any(fits(tuple(map(fold, name)), parts) for name in self._readings(number, nodes))
                )

    def _candidates(self, parts: Sequence[str]) -> Iterable[tuple[str, list[int]]]:
        return self._by_last.get(normalized(parts[-1]), {}).items() if parts else ()

    def _with_typos(self, asked: str, nodes: Nodes) -> Iterator[int]:
        """Match parts exactly or with typos; only the candidates with the fewest typos in the last part."""
        parts = tuple(map(normalized, parts_of(asked)))
        if not parts:
            return
        spelling, near_enough = cache(normalized), cache(alike)
        for last in [parts[-1]] if parts[-1] in self._by_last else closest(parts[-1], self._by_last):
            for number in chain.from_iterable(self._by_last[last].values()):
                names = (tuple(map(spelling, name)) for name in self._readings(number, nodes))
                if nodes.exists[number] and any(
                    name[-1] == last and subsequence(parts[:-1], name[:-1], near_enough) for name in names
                ):
                    yield number

    def _with_last(self, asked: str, nodes: Nodes, test: Callable[[str, str], bool]) -> Iterator[int]:
        parts = tuple(map(normalized, parts_of(asked)))
        if not parts or len(parts[-1]) < _MIN_PREFIX:
            return
        for last, by_qualname in self._by_last.items():
            if test(last, parts[-1]):
                full = (*parts[:-1], last)
                yield from (
                    number
                    for number in chain.from_iterable(by_qualname.values())
                    if any(in_order(tuple(map(normalized, name)), full) for name in self._readings(number, nodes))
                )

    def _fit(self, number: int, why: MatchReason, nodes: Nodes) -> _Fit:
        """Exported definitions come first, then those with shorter names."""
        name = nodes.names[number]
        path, separator, qualname = name.partition(SEPARATOR)
        # A line refers to whatever is there, local or not.
        local = why is not MatchReason.LINE and _is_local(path, qualname, nodes)
        test = bool(nodes.test[number]) or is_test(path)
        depth = len(next(self._readings(number, nodes)))
        return _Fit(local, test, _DEFINITION if separator else _FILE, nodes.definitions.hidden(number), depth, name)


ByQualname = dict[str, list[int]]
"""Many files have a definition of the same name; files themselves are under the empty name."""
_FOLDS: dict[MatchReason, Callable[[str], str]] = {MatchReason.END: str, MatchReason.SPELLING: normalized}
"""How names are folded in the match types that include folders, besides exact matches."""


def _folders_like(asked: str, why: MatchReason, folders: CodeFolders) -> Iterator[_Fit]:
    """A folder with a slash in its name matches exactly; a single word may refer to other nodes as well."""
    parts = parts_of(asked)
    if why is MatchReason.EXACT and "/" in asked and folders.below(f"{asked.rstrip('/')}/"):
        yield _Fit(False, False, _PACKAGE, False, len(parts), f"{asked.rstrip('/')}/")
    elif why in _FOLDS and not _is_inside(asked):
        for id in folders.named(parts, _FOLDS[why]):
            own = parts_of(id)
            full = own == parts
            what = _PACKAGE if full or folders.is_outermost_package(id) else _FOLDER
            yield _Fit(False, is_test(id) and not full, what, False, len(own), id)


def _is_inside(asked: str) -> bool:
    """Whether it names something in a file, which excludes folders."""
    return ":" in asked or "#" in asked


def _is_local(path: str, qualname: str, nodes: Nodes) -> bool:
    outer = qualname
    while (dot := outer.rfind(".")) > 0:
        outer = outer[:dot]
        around = nodes.known(id_of(path, outer))
        if around is not None and nodes.definitions.callable[around]:
            return True
    return False


def _repeated(ids: Collection[str]) -> set[str]:
    """Those with the name of the definition around them that is among the ids: constructors, `typedef struct`."""
    found = set()
    for id in ids:
        outer, _, name = id.rpartition(".")
        if outer in ids and outer.endswith((f".{name}", f"{SEPARATOR}{name}")):
            found.add(id)
    return found


def _inside_parts(qualname: str) -> tuple[str, ...]:
    return tuple(qualname.split(".")) if qualname else ()


def _match(fit: _Fit, why: MatchReason, nodes: Nodes, *, aside: bool) -> NameMatch:
    number = None if is_folder(fit.id) else nodes.known(fit.id)
    return NameMatch(fit.id, None if number is None else nodes.definitions.kind(number), why, aside)
