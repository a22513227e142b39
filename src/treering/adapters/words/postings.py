"""An in-memory inverted index, ranked by BM25 with the statistics of its own project."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treering.adapters.arrays.sets import distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.core.ranking import BM25
    from treering.ports.index import IndexQuery


@dataclass(frozen=True, slots=True)
class Words:
    """Concatenated word codes and counts of documents, and the number of distinct codes of each."""

    codes: NDArray[np.uint32]
    counts: NDArray[np.uint8]
    distinct: NDArray[np.int64]

    @classmethod
    def of(cls, documents: Sequence[tuple[bytes, bytes]]) -> Words:
        return cls(
            np.frombuffer(b"".join(codes for codes, _ in documents), "<u4"),
            np.frombuffer(b"".join(counts for _, counts in documents), np.uint8),
            np.fromiter((len(counts) for _, counts in documents), np.int64, len(documents)),
        )

    @classmethod
    def joined(cls, parts: Sequence[Words]) -> Words:
        return cls(
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.counts for part in parts]),
            np.concatenate([part.distinct for part in parts]),
        )


@dataclass(frozen=True)
class Postings:
    """The rows of the documents that contain each code. Rows start at `first`."""

    ARRAYS: ClassVar = ("codes", "starts", "rows", "counts")

    first: int
    size: int
    codes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.uint8]

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in self.ARRAYS}

    @classmethod
    def of(cls, first: int, words: Words) -> Postings:
        rows = np.repeat(np.arange(len(words.distinct), dtype=np.int32), words.distinct)
        return cls._inverted(first, len(words.distinct), words.codes, rows, words.counts)

    @classmethod
    def merged(cls, parts: Sequence[Postings]) -> Postings:
        """Merge consecutive parts into one."""
        first = parts[0].first
        return cls._inverted(
            first,
            sum(part.size for part in parts),
            np.concatenate([np.repeat(part.codes, np.diff(part.starts)) for part in parts]),
            np.concatenate([part.rows + np.int32(part.first - first) for part in parts]),
            np.concatenate([part.counts for part in parts]),
        )

    def without(self, gone: NDArray[np.bool_]) -> Postings:
        """Without the words of the documents in these rows, counted from `first`."""
        kept = ~gone[self.rows]
        codes = np.repeat(self.codes, np.diff(self.starts))[kept]
        return self._inverted(self.first, self.size, codes, self.rows[kept], self.counts[kept])

    @classmethod
    def _inverted(
        cls, first: int, size: int, codes: NDArray[np.uint32], rows: NDArray[np.int32], counts: NDArray[np.uint8]
    ) -> Postings:
        order = np.argsort(codes, kind="stable")
        distinct, starts = np.unique(codes[order], return_index=True)
        return cls(first, size, distinct, np.append(starts, len(codes)), rows[order], counts[order])

    def spread(self, codes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Document frequency of each code."""
        if not len(self.codes):
            return np.zeros(len(codes), np.int64)
        place = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[place] == codes, self.starts[place + 1] - self.starts[place], 0)

    def holding(self, code: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Ascending rows (from 0) of the documents with this code, and its count in each."""
        place = int(np.searchsorted(self.codes, np.uint32(code)))
        if place == len(self.codes) or self.codes[place] != code:
            return self.rows[:0], self.counts[:0]
        span = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.rows[span], self.counts[span]


def holding(parts: Iterable[Postings], forms: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Rows of the documents that contain a word in any of its forms, and the counts."""
    found = [(part.first, *part.holding(code)) for part in parts for code in forms]
    rows = [first + rows.astype(np.int64) for first, rows, _ in found if len(rows)]
    if not rows:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    counts = [counts.astype(np.float32) for _, _, counts in found if len(counts)]
    if len(forms) == 1 or len(rows) == 1:
        return np.concatenate(rows), np.concatenate(counts)
    every = np.concatenate(rows)
    together = distinct(every)
    summed = np.zeros(len(together), np.float32)
    np.add.at(summed, np.searchsorted(together, every), np.concatenate(counts))
    return together, summed


def containing(parts: Iterable[Postings], words: Sequence[Sequence[int]], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each document contains each word in any of its forms: a row for each of the ascending `rows`."""
    found = np.zeros((len(words), len(rows)), np.bool_)
    for part in parts:
        own = slice(*np.searchsorted(rows, (part.first, part.first + part.size)).tolist())
        inside = (rows[own] - part.first).astype(np.int32)
        if not len(inside):
            continue
        for place, forms in enumerate(words):
            for code in forms:
                numbers, _ = part.holding(code)
                if len(numbers):
                    there = np.minimum(np.searchsorted(numbers, inside), len(numbers) - 1)
                    found[place, own] |= numbers[there] == inside
    return found.T


@dataclass(frozen=True, slots=True)
class WordScores:
    """BM25 scores of all documents, the rows with a score, and the total weight of the words."""

    scores: NDArray[np.float32]
    rows: NDArray[np.int64]
    weight: float


def score(
    parts: Sequence[Postings],
    wanted: IndexQuery,
    lengths: NDArray[np.int32],
    ranking: BM25,
    seen: NDArray[np.bool_] | None,
) -> WordScores:
    """BM25 of all documents for a query; only `seen` documents count in the statistics."""
    scores = np.zeros(len(lengths), np.float32)
    touched: list[NDArray[np.int64]] = []
    total = 0.0
    for place, forms in enumerate(wanted.words):
        rows, counts = holding(parts, forms)
        if seen is not None:
            visible = seen[rows]
            rows, counts = rows[visible], counts[visible]
        weight = wanted.share(place) * ranking.weight(len(rows))
        total += weight
        if len(rows):
            scores[rows] += weight * ranking.saturation(counts, lengths[rows])
            touched.append(rows)
    if not touched:
        return WordScores(scores, np.empty(0, np.int64), total)
    return WordScores(scores, touched[0] if len(touched) == 1 else np.flatnonzero(scores), total)


def score_rows(
    parts: Sequence[Postings],
    wanted: IndexQuery,
    rows: NDArray[np.int64],
    lengths: NDArray[np.int32],
    *,
    ranking: BM25,
    seen: NDArray[np.bool_] | None,
) -> tuple[NDArray[np.float32], float]:
    """The same scores for some rows, whose documents have these lengths, and the total weight of the words."""
    scores, total = np.zeros(len(rows), np.float32), 0.0
    for place, forms in enumerate(wanted.words):
        found = [(part.first, *each) for part in parts for code in forms if len((each := part.holding(code))[0])]
        # Without two forms in one part, no document is counted twice.
        if seen is None and len({first for first, *_ in found}) == len(found):
            held = sum(len(numbers) for _, numbers, _ in found)
        else:
            together, _ = holding(parts, forms)
            held = len(together) if seen is None else int(np.count_nonzero(seen[together]))
        weight = wanted.share(place) * ranking.weight(held)
        total += weight
        counts = np.zeros(len(rows), np.float32)
        for first, numbers, times in found:
            inside = (rows - first).astype(numbers.dtype)  # of another type, `searchsorted` would copy the numbers
            there = np.minimum(np.searchsorted(numbers, inside), len(numbers) - 1)
            counts += np.where(numbers[there] == inside, times[there], 0)
        holds = np.flatnonzero(counts)
        scores[holds] += weight * ranking.saturation(counts[holds], lengths[holds])
    return scores, total
