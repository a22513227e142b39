"""Where is …? Chunks by their words and their meaning, best first."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treering.core.language.terms import codes_of, query_terms
from treering.core.ranking import BM25
from treering.ports.code_chunks import StoredChunk

_LANGUAGES = ("en",)
_TEST = re.compile(r"(?:^|/)(?:tests?|__tests__|testing|spec)/|(?:^|/)test_|[._]test\.|\.spec\.|_test\.")
_ASKS_FOR_TESTS = re.compile(r"\btest", re.I)
_STORED = np.dtype("<f2")


@dataclass(frozen=True, slots=True)
class FindingSettings:
    saturation_at: float = 1.2
    length_share: float = 0.6
    """The usual BM25, with less against long chunks: they are cut to about a length."""
    meaning: float = 0.35
    """The share of the vectors beside that of the words."""
    tests: float = 0.6
    """What a chunk of tests counts, unless tests are asked for: they repeat the words of what they test."""


@dataclass(frozen=True, slots=True)
class Where:
    """Lines of a file that answer, and how well beside the best, which has 1."""

    path: str
    symbol: str
    start_line: int
    end_line: int
    score: float


class ChunkSearch:
    """All chunks of a project, ready to be asked."""

    def __init__(
        self,
        chunks: Sequence[StoredChunk],
        vectors: Mapping[str, bytes] | None = None,
        settings: FindingSettings | None = None,
    ) -> None:
        self._chunks = chunks
        self._settings = settings or FindingSettings()
        self._codes = np.frombuffer(b"".join(chunk.codes for chunk in chunks), "<u4")
        self._counts = np.frombuffer(b"".join(chunk.counts for chunk in chunks), np.uint8)
        self._rows = np.repeat(np.arange(len(chunks)), [len(chunk.counts) for chunk in chunks])
        self._lengths = np.array([chunk.length for chunk in chunks], np.int64)
        self._tests = np.array([_TEST.search(chunk.path) is not None for chunk in chunks], np.bool_)
        self._matrix, self._common = _matrix(chunks, vectors or {})

    def find(self, query: str, vector: NDArray[np.float32] | None = None, *, limit: int = 5) -> tuple[Where, ...]:
        """The best chunks; none where nothing has to do with the query."""
        if not self._chunks:
            return ()
        words = self._by_words(query)
        total = (1 - self._settings.meaning) * _evened(words)
        if vector is not None and self._matrix is not None:
            total += self._settings.meaning * _evened(self._by_meaning(vector))
        if not _ASKS_FOR_TESTS.search(query):
            total = np.where(self._tests, self._settings.tests * total, total)
        order = [row for row in np.argsort(-total, kind="stable")[:limit].tolist() if total[row] > 0]
        best = total[order[0]] if order else 1.0
        return tuple(self._where(row, float(total[row] / best)) for row in order)

    def _where(self, row: int, score: float) -> Where:
        chunk = self._chunks[row]
        return Where(chunk.path, chunk.symbol, chunk.start_line, chunk.end_line, score)

    def _by_words(self, query: str) -> NDArray[np.float64]:
        scores, settings = np.zeros(len(self._chunks)), self._settings
        average = float(self._lengths.mean())
        ranking = BM25(len(self._chunks), average, settings.saturation_at, settings.length_share)
        for term in query_terms(query, _LANGUAGES):
            met = np.flatnonzero(np.isin(self._codes, np.array(codes_of(term.forms), np.uint32)))
            summed = np.bincount(self._rows[met], self._counts[met], len(scores))
            holding = np.flatnonzero(summed)
            added = ranking.saturation(summed[holding], self._lengths[holding])
            scores[holding] += ranking.weight(len(holding)) * added
        return scores

    def _by_meaning(self, vector: NDArray[np.float32]) -> NDArray[np.float64]:
        """The cosine without what all chunks have in common; 0 for those without a vector."""
        assert self._matrix is not None
        apart = vector.reshape(-1) - self._common
        length = float(np.linalg.norm(apart))
        return np.maximum(self._matrix @ (apart / length if length else apart), 0.0).astype(np.float64)


def _matrix(
    chunks: Sequence[StoredChunk], vectors: Mapping[str, bytes]
) -> tuple[NDArray[np.float32] | None, NDArray[np.float32]]:
    """One row a chunk, of length 1 after what all have in common is taken away; zeros where there is no vector."""
    known = [vectors.get(chunk.digest) for chunk in chunks]
    size = next((len(each) for each in known if each), 0)
    if not size:
        return None, np.zeros(0, np.float32)
    flat = b"".join(each if each and len(each) == size else bytes(size) for each in known)
    matrix = np.frombuffer(flat, _STORED).reshape(len(chunks), -1).astype(np.float32)
    there = matrix.any(axis=1)
    common = matrix[there].mean(axis=0)
    matrix[there] -= common
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(lengths > 0, lengths, 1), np.float32), np.asarray(common, np.float32)


def _evened(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
