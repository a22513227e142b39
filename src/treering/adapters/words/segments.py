"""The documents of one project in memory, as columns. Immutable: adding documents creates a new value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from treering.adapters.arrays.growing import GrowingArrays, merged_from
from treering.adapters.words.postings import Postings, Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEIGHBOURS = (-2, -1, 1, 2)


@dataclass(frozen=True, slots=True)
class DocumentColumns:
    """Attributes of each document except its words; `thread` is a hash of its conversation's name, 0 for none."""

    number: NDArray[np.int64]
    kind: NDArray[np.int8]
    owner: NDArray[np.int32]
    at: NDArray[np.int64]
    speaker: NDArray[np.uint32]
    marks: NDArray[np.uint8]
    length: NDArray[np.int32]
    thread: NDArray[np.uint64]
    place: NDArray[np.int32]

    @classmethod
    def of(cls, rows: Sequence[tuple[int, ...]]) -> DocumentColumns:
        """From rows in the order of the fields."""
        columns = list(zip(*rows, strict=True)) or [()] * len(_TYPES)
        return cls(*(np.array(column, kind) for column, kind in zip(columns, _TYPES, strict=True)))

    @classmethod
    def joined(cls, parts: Sequence[DocumentColumns]) -> DocumentColumns:
        pieces = zip(*(part.arrays().values() for part in parts), strict=True)
        return parts[0] if len(parts) == 1 else cls(*map(np.concatenate, pieces))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in self.__slots__}

    def between(self, rows: slice) -> DocumentColumns:
        return DocumentColumns(*(array[rows] for array in self.arrays().values()))

    def without(self, gone: NDArray[np.bool_]) -> DocumentColumns:
        """With zeros in place of the attributes of removed documents, except their numbers."""
        if not gone.any():
            return self
        emptied = [np.where(gone, 0, array).astype(array.dtype) for array in self.arrays().values()]
        return DocumentColumns(self.number, *emptied[1:])


_TYPES = (np.int64, np.int8, np.int32, np.int64, np.uint32, np.uint8, np.int32, np.uint64, np.int32)


@dataclass(frozen=True, slots=True)
class ConversationOrder:
    """Documents of conversations in spoken order."""

    keys: NDArray[Any]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, first: int, columns: DocumentColumns) -> ConversationOrder:
        spoken = np.flatnonzero(columns.thread)
        keys = _key(columns.thread[spoken], columns.place[spoken])
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], first + spoken[order])

    @classmethod
    def merged(cls, orders: Sequence[ConversationOrder]) -> ConversationOrder:
        keys = np.concatenate([order.keys for order in orders])
        sorting = np.argsort(keys, kind="stable")
        return cls(keys[sorting], np.concatenate([order.rows for order in orders])[sorting])

    def without(self, gone: NDArray[np.bool_]) -> ConversationOrder:
        kept = ~gone[self.rows]
        return ConversationOrder(self.keys[kept], self.rows[kept])

    def at(self, keys: NDArray[Any]) -> NDArray[np.int64]:
        """The newest row at each position; −1 for an empty position."""
        if not len(self.keys):
            return np.full(keys.shape, -1, np.int64)
        place = np.maximum(np.searchsorted(self.keys, keys, side="right") - 1, 0)
        return np.where(self.keys[place] == keys, self.rows[place], -1)


def _key(thread: NDArray[np.uint64], place: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Consecutive positions of a conversation have consecutive keys."""
    return np.asarray(thread + place.astype(np.int64).astype(np.uint64), np.uint64)


@dataclass(frozen=True)
class DocumentPart:
    """The words and the order of consecutive documents. `file` names the file that holds them; empty if none does."""

    postings: Postings
    order: ConversationOrder
    file: str = ""
    checksum: str = ""

    @property
    def size(self) -> int:
        return self.postings.size

    @property
    def rows(self) -> slice:
        return slice(self.postings.first, self.postings.first + self.size)

    def holds_words_of(self, rows: NDArray[np.bool_]) -> bool:
        mine = rows[self.rows]
        return bool(mine.any() and mine[self.postings.rows].any())

    def without(self, gone: NDArray[np.bool_]) -> DocumentPart:
        """Without the words of removed documents; the others keep their rows."""
        return DocumentPart(self.postings.without(gone[self.rows]), self.order.without(gone))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {**self.postings.arrays(), "order_keys": self.order.keys, "order_rows": self.order.rows}

    @classmethod
    def of_arrays(cls, first: int, size: int, arrays: Mapping[str, NDArray[Any]], **file: str) -> DocumentPart:
        postings = Postings(first, size, *(arrays[name] for name in Postings.ARRAYS))
        return cls(postings, ConversationOrder(arrays["order_keys"], arrays["order_rows"]), **file)


@dataclass(frozen=True)
class Segments:
    """All documents up to the highest number read so far."""

    columns: DocumentColumns
    growing: GrowingArrays
    gone: NDArray[np.bool_]
    parts: tuple[DocumentPart, ...]
    words: int
    """Total number of words of all documents."""
    kinds: frozenset[int]
    """Kinds of the documents."""

    @classmethod
    def of(cls, columns: DocumentColumns, gone: NDArray[np.bool_], parts: Sequence[DocumentPart]) -> Segments:
        growing = GrowingArrays(list(columns.arrays().values()))
        kinds = frozenset(np.flatnonzero(np.bincount(columns.kind)).tolist())
        return cls(columns, growing, gone, tuple(parts), int(columns.length.sum()), kinds)

    @classmethod
    def empty(cls) -> Segments:
        return cls.of(DocumentColumns.of([]), np.empty(0, np.bool_), ())

    @property
    def newest(self) -> int:
        return int(self.columns.number[-1]) if len(self.columns.number) else 0

    def __len__(self) -> int:
        return len(self.gone)

    @cached_property
    def postings(self) -> Sequence[Postings]:
        return [part.postings for part in self.parts]

    @cached_property
    def removed_numbers(self) -> NDArray[np.int64]:
        """Numbers of the hidden documents."""
        return np.asarray(self.columns.number[self.gone], np.int64)

    @property
    def unsaved(self) -> int:
        """Number of documents that are in no file."""
        return sum(part.size for part in self.parts if not part.file)

    def extended(self, columns: DocumentColumns, words: Words) -> Segments:
        """Add documents whose numbers are higher than all previous ones."""
        first, added = len(self), list(columns.arrays().values())
        parts = (*self.parts, DocumentPart(Postings.of(first, words), ConversationOrder.of(first, columns)))
        kept = merged_from([part.size for part in parts])
        if kept < len(parts):
            parts = (*parts[:kept], _merged(parts[kept:]))
        gone = np.concatenate((self.gone, np.zeros(len(columns.number), np.bool_)))
        growing, views = self.growing.appended(first, added)
        kinds = self.kinds | frozenset(columns.kind.tolist())
        return Segments(DocumentColumns(*views), growing, gone, parts, self.words + int(columns.length.sum()), kinds)

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
        spoken = np.flatnonzero(self.columns.thread[rows])
        found = np.full((len(rows), len(NEIGHBOURS)), -1, np.int64)
        if not len(spoken):
            return found
        thread = self.columns.thread[rows[spoken]]
        place = self.columns.place[rows[spoken], np.newaxis] + np.array(NEIGHBOURS, np.int32)
        keys, beside = _key(thread[:, np.newaxis], place), np.full(place.shape, -1, np.int64)
        for part in self.parts:
            beside = np.maximum(beside, part.order.at(keys))
        # Two conversations may share a key.
        beside[self.columns.thread[beside] != thread[:, np.newaxis]] = -1
        found[spoken] = beside
        return found if seen is None else np.where((found >= 0) & ~seen[found], -1, found)


def _merged(parts: Sequence[DocumentPart]) -> DocumentPart:
    return DocumentPart(
        Postings.merged([part.postings for part in parts]), ConversationOrder.merged([part.order for part in parts])
    )
