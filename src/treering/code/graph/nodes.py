"""Files and definitions as numbers, with their properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from treering.code.graph.adjacency import resized
from treering.code.graph.definitions import Definitions

if TYPE_CHECKING:
    from treering.code.facts import Definition
    from treering.code.graph.kind_columns import Flags, Ints

SEPARATOR = "::"


def file_of(id: str) -> str:
    return id.partition(SEPARATOR)[0]


def id_of(path: str, qualname: str) -> str:
    return f"{path}{SEPARATOR}{qualname}"


class Nodes:
    """Numbers are never reused for another name, so that an answer stays readable after any change."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.definitions = Definitions()
        self.exists: Flags = np.zeros(0, np.bool_)
        self.test: Flags = np.zeros(0, np.bool_)
        """Tests, and files with tests."""
        self.home: Ints = np.zeros(0, np.int32)
        self._number: dict[str, int] = {}
        self._ordered: list[int] = []
        self._rank: Ints = np.zeros(0, np.int32)
        self._by_rank: Ints = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self.names)

    def number(self, name: str) -> int:
        """The number of a name, assigned now if it is new."""
        known = self._number.get(name)
        if known is not None:
            return known
        self.names.append(name)
        self._number[name] = number = len(self.names) - 1
        if number >= len(self.exists):
            self._grow(max(64, 2 * number))
        path, separator, _ = name.partition(SEPARATOR)
        self.home[number] = self.number(path) if separator else number
        return number

    def numbers(self, names: Sequence[str]) -> Ints:
        return np.fromiter(map(self.number, names), np.int32, len(names))

    def known(self, name: str) -> int | None:
        """The number of an existing node."""
        number = self._number.get(name)
        return number if number is not None and self.exists[number] else None

    def _grow(self, size: int) -> None:
        self.exists, self.test = resized(self.exists, size), resized(self.test, size)
        self.home = resized(self.home, size)
        self.definitions.grow(size)

    def put(self, defined: Mapping[int, Definition]) -> None:
        """Add definitions."""
        numbers, definitions = np.fromiter(defined, np.int32, len(defined)), list(defined.values())
        self.definitions.put(numbers, definitions)
        self.exists[numbers] = True
        self.test[numbers] = [each.test for each in definitions]

    def put_file(self, number: int, *, test: bool) -> None:
        """Add a file."""
        self.exists[number] = True
        self.test[number] = test

    def remove(self, numbers: Ints) -> None:
        """Remove files or definitions."""
        self.definitions.remove(numbers)
        self.exists[numbers] = False
        self.test[numbers] = False

    def definition(self, number: int) -> Definition | None:
        """None for a file, and for unknown nodes."""
        qualname = self.names[number].partition(SEPARATOR)[2]
        return self.definitions.at(number, qualname, test=bool(self.test[number]))

    @property
    def ordered(self) -> list[int]:
        """Every number, sorted by name."""
        self._order()
        return self._ordered

    @property
    def rank(self) -> Ints:
        """Position of each number in the order of the names, which breaks ties independently of the order of
        insertion."""
        self._order()
        return self._rank

    @property
    def by_rank(self) -> Ints:
        """The number at each position of that order."""
        self._order()
        return self._by_rank

    def _order(self) -> None:
        if len(self._ordered) == len(self.names):
            return
        # The list is almost sorted already, which makes sorting it a cheap merge of the new names.
        self._ordered.extend(range(len(self._ordered), len(self.names)))
        self._ordered.sort(key=self.names.__getitem__)
        self._by_rank = np.array(self._ordered, np.int32)
        self._rank = np.empty(len(self.names), np.int32)
        self._rank[self._by_rank] = np.arange(len(self.names), dtype=np.int32)
