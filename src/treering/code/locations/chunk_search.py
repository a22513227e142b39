"""Where is …? Chunks by their words and their meaning, best first."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from treering.code.chunks.split import SEPARATOR
from treering.code.chunks.words import name_codes
from treering.core.language.terms import codes_of, query_terms
from treering.core.queries import ALL_CODE, CodeFilter
from treering.core.ranking import BM25
from treering.ports.code_chunks import StoredChunk

BM25_K1 = 1.2  # the usual value
BM25_B = 0.3  # less than usual: chunks are cut to about the same length
NAME_WEIGHT = 0.5  # a word counts this much more in the name of a definition: names are chosen to be found
# Share of the vectors beside the words; chosen, like the values above, on 24 questions about requests and gin
# (`bench/results/code.md`).
MEANING_WEIGHT = 0.2
TEST_WEIGHT = 0.6  # chunks of tests repeat the words of what they test; they count in full where tests are asked for

_LANGUAGES = ("en",)
_TEST = re.compile(r"(?:^|/)(?:tests?|__tests__|testing|spec)/|(?:^|/)test_|[._]test\.|\.spec\.|_test\.")
_ASKS_FOR_TESTS = re.compile(r"\btest", re.I)
_STORED = np.dtype("<f2")
_OF_ASKING = frozenset(
    ("function", "functions", "method", "methods", "class", "classes", "module", "modules", "package", "file", "files")
) | frozenset(
    ("code", "line", "lines", "place", "part", "define", "defined", "implement", "implemented", "handle", "handled")
)
"""Words that say what kind of place is asked for: a place that answers need not hold them."""
_AT_ONCE = 4_096
"""Vectors that are widened at a time: kept narrow they take half the room."""


@dataclass(frozen=True, slots=True)
class Where:
    """Lines of a file, and how well they answer beside the best, which has 1. The digest is that of the first chunk."""

    path: str
    symbol: str
    start_line: int
    end_line: int
    digest: str
    score: float = 0.0
    relevance: float = 0.0


class ChunkSearch:
    """All chunks of a project, ready to be asked."""

    def __init__(
        self,
        chunks: Sequence[StoredChunk],
        vectors: Mapping[str, bytes] | None = None,
    ) -> None:
        self._places = [Where(each.path, each.symbol, each.start_line, each.end_line, each.digest) for each in chunks]
        self._codes = np.frombuffer(b"".join(chunk.codes for chunk in chunks), "<u4")
        self._counts = np.frombuffer(b"".join(chunk.counts for chunk in chunks), np.uint8)
        self._rows = np.repeat(np.arange(len(chunks), dtype=np.int32), [len(chunk.counts) for chunk in chunks])
        self._symbols, self._symbol_rows = _symbol_words(chunks)
        self._lengths = np.array([chunk.length for chunk in chunks], np.int64)
        self._tests = np.array([_TEST.search(chunk.path) is not None for chunk in chunks], np.bool_)
        self._matrix, self._common = _matrix([chunk.digest for chunk in chunks], vectors or {})
        self._heads = _heads(chunks)

    def find(
        self,
        query: str,
        vector: NDArray[np.float32] | None = None,
        *,
        limit: int = 5,
        but: Collection[str] = frozenset(),
        where: CodeFilter = ALL_CODE,
        apart: float = 0.0,
    ) -> tuple[Where, ...]:
        """The best places, one for each definition, none of the files in `but`.

        Nothing where nothing has to do with the query: what shares no word with it must be so many standard deviations
        nearer than the rest as `apart` says.
        """
        if not self._places:
            return ()
        words, most = self._by_words(query)
        total = (1 - MEANING_WEIGHT) * _evened(words)
        relevance = np.minimum(words / (most or 1.0), 1.0)
        if vector is not None and self._matrix is not None and vector.size == len(self._common):
            likeness = self._by_meaning(vector)
            meant = (words > 0) | _stand_out(likeness, apart)
            near = np.where(meant, np.maximum(likeness, 0.0), 0.0)
            total += MEANING_WEIGHT * _evened(near)
            relevance = np.minimum(relevance + MEANING_WEIGHT * near, 1.0)
        if not _ASKS_FOR_TESTS.search(query):
            total = np.where(self._tests, TEST_WEIGHT * total, total)
        passes = (each for each in self._one_a_definition(total, but) if where.passes(each[0].path))
        best = list(islice(passes, limit))
        return tuple(
            replace(place, score=float(total[row] / total[best[0][1]]), relevance=float(relevance[row]))
            for place, row in best
        )

    def _one_a_definition(self, total: NDArray[np.float64], but: Collection[str]) -> Iterator[tuple[Where, int]]:
        """From where each begins to where its best chunk ends, with the row of that."""
        told = set[int]()
        for row in np.argsort(-total, kind="stable").tolist():
            if total[row] <= 0:
                return
            head, place = self._heads[row], self._places[row]
            if head not in told and place.path not in but:
                told.add(head)
                yield replace(self._places[head], end_line=place.end_line), row

    def _by_words(self, query: str) -> tuple[NDArray[np.float64], float]:
        """The scores, and what all words of the query weigh together."""
        scores, most = np.zeros(len(self._places)), 0.0
        average = float(self._lengths.mean())
        ranking = BM25(len(self._places), average, BM25_K1, BM25_B)
        for term in query_terms(query, _LANGUAGES):
            wanted = np.array(codes_of(term.forms), np.uint32)
            met = np.flatnonzero(np.isin(self._codes, wanted))
            summed = np.bincount(self._rows[met], self._counts[met], len(scores))
            holding, weight = np.flatnonzero(summed), ranking.weight(int(np.count_nonzero(summed)))
            scores[holding] += weight * ranking.saturation(summed[holding], self._lengths[holding])
            scores[self._symbol_rows[np.isin(self._symbols, wanted)]] += NAME_WEIGHT * weight
            most += 0.0 if term.word in _OF_ASKING else weight
        return scores, most

    def _by_meaning(self, vector: NDArray[np.float32]) -> NDArray[np.float64]:
        """The cosine without what all chunks have in common, from -1 to 1; 0 for those without a vector."""
        assert self._matrix is not None
        apart = vector.reshape(-1) - self._common
        length = float(np.linalg.norm(apart))
        unit = apart / length if length else apart
        parts = [self._matrix[start : start + _AT_ONCE] @ unit for start in range(0, len(self._matrix), _AT_ONCE)]
        return np.asarray(np.concatenate(parts), np.float64)


def _symbol_words(chunks: Sequence[StoredChunk]) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """The codes of the words that what chunks define is called by, each with its chunk."""
    words = [name_codes(chunk.symbol) for chunk in chunks]
    rows = np.repeat(np.arange(len(chunks), dtype=np.int32), [len(each) for each in words])
    return np.array(list(chain.from_iterable(words)), np.uint32), rows


def _heads(chunks: Sequence[StoredChunk]) -> list[int]:
    """For each chunk the one with the beginning of what it is a part of: itself, unless that has several chunks."""
    heads, begun = list[int](), dict[tuple[str, str], int]()
    for row, chunk in enumerate(chunks):
        symbols = chunk.symbol.split(SEPARATOR) if chunk.symbol else []
        first = [begun.setdefault((chunk.path, symbol), row) for symbol in symbols]
        heads.append(first[0] if len(symbols) == 1 else row)
    return heads


def _matrix(
    digests: Sequence[str], vectors: Mapping[str, bytes]
) -> tuple[NDArray[np.float16] | None, NDArray[np.float32]]:
    """One row a chunk, of length 1 after what all have in common is taken away; zeros where there is no vector."""
    known = [vectors.get(digest) for digest in digests]
    size = next((len(each) for each in known if each), 0)
    if not size:
        return None, np.zeros(0, np.float32)
    flat = bytearray().join(each if each and len(each) == size else bytes(size) for each in known)
    matrix = np.frombuffer(flat, _STORED).reshape(len(digests), -1)
    there = np.asarray(matrix.any(axis=1), np.bool_)
    common = matrix[there].mean(axis=0, dtype=np.float32)
    for start in range(0, len(matrix), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        apart = np.where(there[rows, None], matrix[rows].astype(np.float32) - common, 0)
        lengths = np.linalg.norm(apart, axis=1, keepdims=True)
        matrix[rows] = apart / np.where(lengths > 0, lengths, 1)
    return matrix, common


def _stand_out(likeness: NDArray[np.float64], apart: float) -> NDArray[np.bool_]:
    """Which are so many standard deviations above the mean of those that have a vector; without a limit all."""
    known = likeness[likeness != 0]
    if not apart or not known.size:
        return np.ones(len(likeness), np.bool_)
    spread = float(known.std())
    return np.asarray((likeness - known.mean() >= apart * spread) & (spread > 0), np.bool_)


def _evened(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
