"""Definitions and files by names as people write them.

`verify_jwt`, `auth/tokens.py:verify_jwt`, `AuthService.login`, `tokens.verify_jwt`, `tokens.py:42`, in another case, as
camelCase for snake_case, with a letter wrong, or only the beginning. A name is a sequence of parts, folders first; what
is asked for must end like it, and its other parts must come in the same order.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import chain

from treering.index.facts import DefinitionKind
from treering.index.graph.answers import WHOLE, Standing
from treering.index.graph.nodes import SEPARATOR, Nodes, id_of
from treering.index.graph.typos import near

_PARTS = re.compile(r"[/\\.:#]+")
_LINE = re.compile(r"(?P<path>.+?):(?P<line>\d{1,9})(?::\d+)?", re.DOTALL)
_SQUEEZED = re.compile(r"[_\-\s]+")
_SHORTEST_BEGINNING = 3


class Why(StrEnum):
    """How a name was understood, the surest first."""

    EXACT = "exactly this"
    LINE = "what stands at this line"
    END = "ends with this"
    PARTS = "has these parts in this order"
    SPELLING = "the same in another spelling"
    TYPO = "a letter or two away"
    BEGINNING = "begins with this"
    INSIDE = "contains this"


@dataclass(frozen=True, slots=True)
class Match:
    id: str
    kind: DefinitionKind | None
    """None for a file."""
    why: Why


@dataclass(frozen=True, slots=True)
class Found:
    """What a name may mean. Everything that fits in the same way is here, up to the limit."""

    asked: str
    matches: tuple[Match, ...]
    left_out: int = 0
    """Matches beyond the limit."""
    standing: Standing = WHOLE

    @property
    def only(self) -> str | None:
        """The id, if the name means one thing."""
        return self.matches[0].id if len(self.matches) == 1 else None

    @property
    def ambiguous(self) -> bool:
        return len(self.matches) > 1


class NameIndex:
    """Numbers by the last part of their names. Names are only ever added, so it keeps up by reading the new ones."""

    def __init__(self) -> None:
        self._read = 0
        self._by_last: dict[str, ByQualname] = {}
        self._parts_of_path: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}

    def find(self, asked: str, nodes: Nodes, limit: int) -> Found:
        self._keep_up(nodes)
        asked = asked.strip()
        for why, look in self._ways():
            numbers = [number for number in dict.fromkeys(look(asked, nodes)) if nodes.exists[number]]
            if numbers:
                numbers.sort(key=lambda number: self._preference(number, nodes))
                return Found(
                    asked, tuple(_match(number, why, nodes) for number in numbers[:limit]), len(numbers[limit:])
                )
        return Found(asked, ())

    def _ways(self) -> tuple[tuple[Why, Callable[[str, Nodes], Iterable[int]]], ...]:
        return (
            (Why.EXACT, self._exact),
            (Why.LINE, self._at_line),
            (Why.END, lambda asked, nodes: self._like(asked, nodes, str, _ends_with)),
            (Why.PARTS, lambda asked, nodes: self._like(asked, nodes, str, _in_order)),
            (Why.SPELLING, lambda asked, nodes: self._like(asked, nodes, squeezed, _in_order)),
            (Why.TYPO, self._mistyped),
            (Why.BEGINNING, lambda asked, nodes: self._with_last(asked, nodes, str.startswith)),
            (Why.INSIDE, lambda asked, nodes: self._with_last(asked, nodes, str.__contains__)),
        )

    def _keep_up(self, nodes: Nodes) -> None:
        spelled: dict[str, ByQualname] = {}
        for number in range(self._read, len(nodes)):
            path, _, qualname = nodes.names[number].partition(SEPARATOR)
            if qualname:
                lasts = {qualname[qualname.rfind(".") + 1 :]}
            else:
                lasts = {reading[-1] for reading in self._path_readings(path) if reading}
            for last in lasts:
                if last not in spelled:
                    spelled[last] = self._by_last.setdefault(squeezed(last), {})
                spelled[last].setdefault(qualname, []).append(number)
        self._read = len(nodes)

    def _path_readings(self, path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The parts of a path, with the ending of the file and without."""
        known = self._parts_of_path.get(path)
        if known is None:
            known = self._parts_of_path[path] = parts_of(path), parts_of(_without_ending(path))
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
        """The innermost definition around a line of a file, or the file where there is none."""
        found = _LINE.fullmatch(asked)
        if found is None:
            return
        line = int(found["line"])
        for file in self._like(found["path"], nodes, str, _ends_with):
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

    def _like(self, asked: str, nodes: Nodes, fold: Callable[[str], str], fits: "Fits") -> Iterator[int]:
        asked_parts = parts_of(asked)
        parts = tuple(map(fold, asked_parts))
        for qualname, numbers in self._candidates(asked_parts):
            inside = tuple(map(fold, _inside_parts(qualname)))
            if inside and fits(inside, parts):
                yield from numbers
            elif fits is not _ends_with or len(parts) > len(inside):
                yield from (
                    number
                    for number in numbers
                    if any(fits(tuple(map(fold, name)), parts) for name in self._readings(number, nodes))
                )

    def _candidates(self, parts: Sequence[str]) -> Iterable[tuple[str, list[int]]]:
        return self._by_last.get(squeezed(parts[-1]), {}).items() if parts else ()

    def _mistyped(self, asked: str, nodes: Nodes) -> Iterator[int]:
        """Each part as it is or nearly; those are taken that have the fewest wrong letters in the last."""
        parts = tuple(map(squeezed, parts_of(asked)))
        if not parts:
            return
        spelling, alike = cache(squeezed), cache(_alike)
        for last in [parts[-1]] if parts[-1] in self._by_last else near(parts[-1], self._by_last):
            for number in chain.from_iterable(self._by_last[last].values()):
                names = (tuple(map(spelling, name)) for name in self._readings(number, nodes))
                if nodes.exists[number] and any(
                    name[-1] == last and _subsequence(parts[:-1], name[:-1], alike) for name in names
                ):
                    yield number

    def _with_last(self, asked: str, nodes: Nodes, test: Callable[[str, str], bool]) -> Iterator[int]:
        parts = tuple(map(squeezed, parts_of(asked)))
        if not parts or len(parts[-1]) < _SHORTEST_BEGINNING:
            return
        for last, by_qualname in self._by_last.items():
            if test(last, parts[-1]):
                whole = (*parts[:-1], last)
                yield from (
                    number
                    for number in chain.from_iterable(by_qualname.values())
                    if any(_in_order(tuple(map(squeezed, name)), whole) for name in self._readings(number, nodes))
                )

    def _preference(self, number: int, nodes: Nodes) -> tuple[bool, bool, int, str]:
        """What is no test and is exported comes first, then what stands less deep."""
        hidden = nodes.definitions.hidden(number)
        return bool(nodes.test[number]), hidden, len(next(self._readings(number, nodes))), nodes.names[number]


Fits = Callable[[tuple[str, ...], tuple[str, ...]], bool]
ByQualname = dict[str, list[int]]
"""Many files have a definition of the same name; files themselves have none."""


def parts_of(name: str) -> tuple[str, ...]:
    return tuple(part for part in _PARTS.split(name) if part)


def _without_ending(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return folder + slash + (name.partition(".")[0] or name)


def squeezed(part: str) -> str:
    """What is left of a name if neither case nor the way to join words counts."""
    return _SQUEEZED.sub("", part).casefold() or part


def _ends_with(name: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    return name[-len(parts) :] == parts


def _in_order(name: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    rest = iter(name[:-1])
    return bool(parts) and name[-1] == parts[-1] and all(part in rest for part in parts[:-1])


def _subsequence(parts: Sequence[str], name: Sequence[str], alike: Callable[[str, str], bool]) -> bool:
    rest = iter(name)
    return all(any(alike(part, each) for each in rest) for part in parts)


def _alike(part: str, other: str) -> bool:
    return part == other or bool(near(part, (other,)))


def _inside_parts(qualname: str) -> tuple[str, ...]:
    return tuple(qualname.split(".")) if qualname else ()


def _match(number: int, why: Why, nodes: Nodes) -> Match:
    return Match(nodes.names[number], nodes.definitions.kind(number), why)
