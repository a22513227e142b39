"""The documents of one project in memory, as columns. Immutable: adding documents creates a new value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from treering.adapters.words.postings import Postings, Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEIGHBOURS = (-2, -1, 1, 2)
# Parts that a query searches one by one; above this number, small ones are merged.
_MAX_PARTS = 6


@dataclass(frozen=True, slots=True)
class DocumentColumns:
    """Attributes of each document except its words; `thread` is the number of its conversation, 0 for none."""

    number: NDArray[np.int64]
    kind: NDArray[np.int8]
    owner: NDArray[np.int32]
    at: NDArray[np.int64]
    speaker: NDArray[np.uint32]
    marks: NDArray[np.uint8]
    length: NDArray[np.int32]
    thread: NDArray[np.int32]
    place: NDArray[np.int32]

    @classmethod
    def empty(cls) -> DocumentColumns:
        return cls.of([])

    @classmethod
    def of(cls, rows: Sequence[tuple[int, ...]]) -> DocumentColumns:
        """From rows in the order of the fields."""
        columns = list(zip(*rows, strict=True)) or [()] * len(_TYPES)
        return cls(*(np.array(column, kind) for column, kind in zip(columns, _TYPES, strict=True)))

    @classmethod
    def joined(cls, parts: Sequence[DocumentColumns]) -> DocumentColumns:
        fields = zip(*(part._fields() for part in parts), strict=True)
        return cls(*(np.concatenate(pieces) for pieces in fields))

    def _fields(self) -> list[NDArray[Any]]:
        return [getattr(self, name) for name in self.__slots__]


_TYPES = (np.int64, np.int8, np.int32, np.int64, np.uint32, np.uint8, np.int32, np.int32, np.int32)


@dataclass(frozen=True, slots=True)
class ConversationOrder:
    """Documents of conversations in spoken order."""

    keys: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, first: int, columns: DocumentColumns) -> ConversationOrder:
        spoken = np.flatnonzero(columns.thread)
        keys = _key(columns.thread[spoken], columns.place[spoken])
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], first + spoken[order])

    @classmethod
    def merged(cls, lines: Sequence[ConversationOrder]) -> ConversationOrder:
        keys = np.concatenate([line.keys for line in lines])
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], np.concatenate([line.rows for line in lines])[order])

    def at(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows at these positions; −1 for an empty position."""
        if not len(self.keys):
            return np.full(keys.shape, -1, np.int64)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.rows[place], -1)


def _key(thread: NDArray[np.int32], place: NDArray[np.int32]) -> NDArray[np.int64]:
    return np.asarray((thread.astype(np.int64) << 32) | place.astype(np.int64), np.int64)


@dataclass(frozen=True)
class Segments:
    """All documents up to the highest number read so far."""

    columns: DocumentColumns
    gone: NDArray[np.bool_]
    parts: tuple[Postings, ...]
    lines: tuple[ConversationOrder, ...]
    words: int
    """Total number of words of all documents."""

    @classmethod
    def empty(cls) -> Segments:
        return cls(DocumentColumns.empty(), np.empty(0, np.bool_), (), (), 0)

    @property
    def newest(self) -> int:
        return int(self.columns.number[-1]) if len(self.columns.number) else 0

    def __len__(self) -> int:
        return len(self.gone)

    def extended(self, columns: DocumentColumns, words: Words) -> Segments:
        """Add documents whose numbers are higher than all previous ones."""
        first = len(self)
        parts, lines = (*self.parts, Postings.of(first, words)), (*self.lines, ConversationOrder.of(first, columns))
        if len(parts) > _MAX_PARTS:
            kept = _unmerged_parts(parts)
            parts = (*parts[:kept], Postings.merged(parts[kept:]))
            lines = (*lines[:kept], ConversationOrder.merged(lines[kept:]))
        gone = np.concatenate((self.gone, np.zeros(len(columns.number), np.bool_)))
        total = self.words + int(columns.length.sum())
        return Segments(DocumentColumns.joined((self.columns, columns)), gone, parts, lines, total)

    def without(self, rows: NDArray[np.int64]) -> Segments:
        """Hide removed documents."""
        gone = self.gone.copy()
        gone[rows] = True
        return replace(self, gone=gone)

    def rows_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of the documents with these numbers; unknown numbers are omitted."""
        if not len(self):
            return np.empty(0, np.int64)
        known = self.columns.number
        place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
        return np.asarray(place[known[place] == numbers], np.int64)

    def neighbours(self, rows: NDArray[np.int64], seen: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        """For each row, the rows of the `seen` documents before and after it in its conversation; −1 for none."""
        thread, place = self.columns.thread[rows], self.columns.place[rows]
        found = np.full((len(rows), len(NEIGHBOURS)), -1, np.int64)
        for column, step in enumerate(NEIGHBOURS):
            keys = _key(thread, place + np.int32(step))
            for line in self.lines:
                found[:, column] = np.maximum(found[:, column], line.at(keys))
        found[thread == 0] = -1
        return found if seen is None else np.where((found >= 0) & ~seen[found], -1, found)


def _unmerged_parts(parts: Sequence[Postings]) -> int:
    """How many of the first parts are left unmerged: those much larger than all later ones together."""
    after = 0
    for place in range(len(parts) - 1, -1, -1):
        if after and parts[place].size > 4 * after:
            return place + 1
        after += parts[place].size
    return 0
