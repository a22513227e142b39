"""Ranking of chunks by words and by meaning."""

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
from treering.core.settings import FindingSettings
from treering.ports.code_chunks import StoredChunk

_LANGUAGES = ("en",)
_TEST = re.compile(r"(?:^|/)(?:tests?|__tests__|testing|spec)/|(?:^|/)test_|[._]test\.|\.spec\.|_test\.")
_ASKS_FOR_TESTS = re.compile(r"\btest", re.I)
_STORED = np.dtype("<f2")
_QUESTION_WORDS = frozenset(
    ("function", "functions", "method", "methods", "class", "classes", "module", "modules", "package", "file", "files")
) | frozenset(
    ("code", "line", "lines", "place", "part", "define", "defined", "implement", "implemented", "handle", "handled")
)
"""Words that describe the kind of location asked for; a matching chunk need not contain them."""
_AT_ONCE = 4_096
"""Vectors converted to float32 at a time: stored as float16 they take half the memory."""


@dataclass(frozen=True, slots=True)
class ChunkMatch:
    """Lines of a file with their score relative to the best (1.0). The digest is that of the first chunk."""

    path: str
    symbol: str
    start_line: int
    end_line: int
    digest: str
    score: float = 0.0
    relevance: float = 0.0


class ChunkSearch:
    """All chunks of a project, indexed for search."""

    def __init__(
        self,
        chunks: Sequence[StoredChunk],
        vectors: Mapping[str, bytes] | None = None,
        settings: FindingSettings | None = None,
    ) -> None:
        self._settings = settings or FindingSettings()
        self._places = [
            ChunkMatch(each.path, each.symbol, each.start_line, each.end_line, each.digest) for each in chunks
        ]
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
        excluded: Collection[str] = frozenset(),
        where: CodeFilter = ALL_CODE,
        apart: float = 0.0,
    ) -> tuple[ChunkMatch, ...]:
        """The best locations, one per definition, without files in `excluded`.

        A chunk that shares no word with the query must be at least `apart` standard deviations more similar than the
        mean; the result may be empty.
        """
        if not self._places:
            return ()
        words, max_weight = self._by_words(query)
        total = (1 - self._settings.meaning) * _scaled(words)
        relevance = np.minimum(words / (max_weight or 1.0), 1.0)
        if vector is not None and self._matrix is not None and vector.size == len(self._common):
            similarity = self._by_meaning(vector)
            relevant = (words > 0) | _outliers(similarity, apart)
            near = np.where(relevant, np.maximum(similarity, 0.0), 0.0)
            total += self._settings.meaning * _scaled(near)
            relevance = np.minimum(relevance + self._settings.meaning * near, 1.0)
        if not _ASKS_FOR_TESTS.search(query):
            total = np.where(self._tests, self._settings.tests * total, total)
        passes = (each for each in self._one_per_definition(total, excluded) if where.passes(each[0].path))
        best = list(islice(passes, limit))
        return tuple(
            replace(place, score=float(total[row] / total[best[0][1]]), relevance=float(relevance[row]))
            for place, row in best
        )

    def _one_per_definition(
        self, total: NDArray[np.float64], excluded: Collection[str]
    ) -> Iterator[tuple[ChunkMatch, int]]:
        """From the start of each definition to the end of its best chunk, with the row of that chunk."""
        seen = set[int]()
        for row in np.argsort(-total, kind="stable").tolist():
            if total[row] <= 0:
                return
            head, place = self._heads[row], self._places[row]
            if head not in seen and place.path not in excluded:
                seen.add(head)
                yield replace(self._places[head], end_line=place.end_line), row

    def _by_words(self, query: str) -> tuple[NDArray[np.float64], float]:
        """The scores, and the total weight of the query's words."""
        scores, settings, total = np.zeros(len(self._places)), self._settings, 0.0
        average = float(self._lengths.mean())
        ranking = BM25(len(self._places), average, settings.saturation_at, settings.length_share)
        for term in query_terms(query, _LANGUAGES):
            wanted = np.array(codes_of(term.forms), np.uint32)
            met = np.flatnonzero(np.isin(self._codes, wanted))
            summed = np.bincount(self._rows[met], self._counts[met], len(scores))
            holding, weight = np.flatnonzero(summed), ranking.weight(int(np.count_nonzero(summed)))
            scores[holding] += weight * ranking.saturation(summed[holding], self._lengths[holding])
            scores[self._symbol_rows[np.isin(self._symbols, wanted)]] += settings.named * weight
            total += 0.0 if term.word in _QUESTION_WORDS else weight
        return scores, total

    def _by_meaning(self, vector: NDArray[np.float32]) -> NDArray[np.float64]:
        """Cosine similarity after subtracting the mean vector, from -1 to 1; 0 for chunks without a vector."""
        assert self._matrix is not None
        apart = vector.reshape(-1) - self._common
        length = float(np.linalg.norm(apart))
        unit = apart / length if length else apart
        parts = [self._matrix[start : start + _AT_ONCE] @ unit for start in range(0, len(self._matrix), _AT_ONCE)]
        return np.asarray(np.concatenate(parts), np.float64)


def _symbol_words(chunks: Sequence[StoredChunk]) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """Codes of the words in the chunks' symbols, and the row of the chunk of each."""
    words = [name_codes(chunk.symbol) for chunk in chunks]
    rows = np.repeat(np.arange(len(chunks), dtype=np.int32), [len(each) for each in words])
    return np.array(list(chain.from_iterable(words)), np.uint32), rows


def _heads(chunks: Sequence[StoredChunk]) -> list[int]:
    """For each chunk the row of the first chunk of its definition."""
    heads, begun = list[int](), dict[tuple[str, str], int]()
    for row, chunk in enumerate(chunks):
        symbols = chunk.symbol.split(SEPARATOR) if chunk.symbol else []
        first = [begun.setdefault((chunk.path, symbol), row) for symbol in symbols]
        heads.append(first[0] if len(symbols) == 1 else row)
    return heads


def _matrix(
    digests: Sequence[str], vectors: Mapping[str, bytes]
) -> tuple[NDArray[np.float16] | None, NDArray[np.float32]]:
    """One row per chunk, centred on the mean and normalized; zeros for chunks without a vector."""
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


def _outliers(similarity: NDArray[np.float64], apart: float) -> NDArray[np.bool_]:
    """Which values are at least `apart` standard deviations above the mean of non-zero ones; all if `apart` is 0."""
    known = similarity[similarity != 0]
    if not apart or not known.size:
        return np.ones(len(similarity), np.bool_)
    spread = float(known.std())
    return np.asarray((similarity - known.mean() >= apart * spread) & (spread > 0), np.bool_)


def _scaled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
