"""Properties of definitions as columns by node; values are built on access.

Tens of thousands of definition objects would take more memory than their edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from treering.code.facts import Definition, DefinitionKind, EntryPoint
from treering.code.graph.adjacency import resized

if TYPE_CHECKING:
    from treering.code.graph.kind_columns import Codes, Flags, Ints

_KINDS = tuple(DefinitionKind)
_ENTRIES = (None, *EntryPoint)
# Kinds begin at one; zero is a node without a definition.
_KIND_CODE = {kind: code for code, kind in enumerate(_KINDS, 1)}
_ENTRY_CODE = {entry: code for code, entry in enumerate(_ENTRIES)}
_CALLABLE = [_KIND_CODE[kind] for kind in (DefinitionKind.FUNCTION, DefinitionKind.METHOD)]


class Definitions:
    """By node number. The name of a definition is part of its id, and not stored again."""

    def __init__(self) -> None:
        self._kind: Codes = np.zeros(0, np.uint8)
        self._line: Ints = np.zeros(0, np.int32)
        self._end_line: Ints = np.zeros(0, np.int32)
        self._exported: Flags = np.zeros(0, np.bool_)
        self._entry: Codes = np.zeros(0, np.uint8)
        self._entry_name: dict[int, str] = {}
        self.callable: Flags = np.zeros(0, np.bool_)
        """Whether a node is a function or method."""

    def grow(self, size: int) -> None:
        self._kind, self._entry = resized(self._kind, size), resized(self._entry, size)
        self._line, self._end_line = resized(self._line, size), resized(self._end_line, size)
        self._exported, self.callable = resized(self._exported, size), resized(self.callable, size)

    def put(self, numbers: Ints, definitions: Sequence[Definition]) -> None:
        kinds = np.array([_KIND_CODE[each.kind] for each in definitions], np.uint8)
        self._kind[numbers] = kinds
        self.callable[numbers] = np.isin(kinds, _CALLABLE)
        self._line[numbers] = [each.line for each in definitions]
        self._end_line[numbers] = [each.end_line for each in definitions]
        self._exported[numbers] = [each.exported for each in definitions]
        self._entry[numbers] = [_ENTRY_CODE[each.entry] for each in definitions]
        for number, definition in zip(numbers.tolist(), definitions, strict=True):
            if definition.entry_name is not None:
                self._entry_name[number] = definition.entry_name

    def remove(self, numbers: Ints) -> None:
        self._kind[numbers] = 0
        self._entry[numbers] = 0
        self.callable[numbers] = False
        for number in self._entry_name.keys() & set(numbers.tolist()):
            del self._entry_name[number]

    def at(self, number: int, qualname: str, *, test: bool) -> Definition | None:
        """None for a file, and for unknown nodes."""
        kind = self.kind(number)
        if kind is None:
            return None
        return Definition(
            qualname,
            kind,
            int(self._line[number]),
            int(self._end_line[number]),
            bool(self._exported[number]),
            test,
            _ENTRIES[self._entry[number]],
            self._entry_name.get(number),
        )

    def kind(self, number: int) -> DefinitionKind | None:
        code = int(self._kind[number])
        return _KINDS[code - 1] if code else None

    def hidden(self, number: int) -> bool:
        """Whether it is a definition that is not exported."""
        return bool(self._kind[number]) and not self._exported[number]

    def entries(self, numbers: Iterable[int]) -> list[int]:
        """The entry points among the numbers, in the given order."""
        listed = np.fromiter(numbers, np.int64)
        return listed[self._entry.take(listed) > 0].tolist() if len(listed) else []

    def around(self, line: int, numbers: Sequence[int]) -> int | None:
        """The innermost of these definitions around a line; among equals, the one that begins last."""
        listed = np.array(numbers, np.int64)
        first, last = self._line.take(listed), self._end_line.take(listed)
        inside = ((self._kind.take(listed) > 0) & (first <= line) & (line <= last)).nonzero()[0]
        if not len(inside):
            return None
        order = np.lexsort((listed.take(inside), -first.take(inside), (last - first).take(inside)))
        return int(listed[inside[order[0]]])
