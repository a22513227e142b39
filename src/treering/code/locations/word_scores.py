"""Scores of chunks and files by the words that they share with a question."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treering.code.chunks.words import name_codes
from treering.code.locations.postings import ChunkPostings, postings_of
from treering.code.locations.question import CodeQuestion
from treering.core.language.terms import QueryTerm, codes_of
from treering.core.ranking import BM25
from treering.ports.code_chunks import StoredChunk

BM25_K1 = 1.2  # the usual value
CHUNK_B = 0.3  # less than usual: chunks are cut to about the same length
FILE_B = 0.75  # the usual value: files differ in length
NAMES_B = 0.5
NAME_WEIGHT = 0.5  # a word counts this much more in the name of a definition: names are chosen to be found
REPEATED_K = 1.2  # saturation of a word that the question repeats
BEST_CHUNKS = 3  # chunks that count for their file
CODE_SHARE = 0.5  # of a word that is only in blocks of code: an example contains much that is not the problem

_QUESTION_WORDS = frozenset(
    ("function", "functions", "method", "methods", "class", "classes", "module", "modules", "package", "file", "files")
) | frozenset(
    ("code", "line", "lines", "place", "part", "define", "defined", "implement", "implemented", "handle", "handled")
)
"""Words that describe the kind of location asked for; a matching chunk need not contain them."""

Scores = NDArray[np.float64]


class ChunkWordScores(NamedTuple):
    """One score per chunk or per file for each of several ways to count the same words."""

    chunks: Scores
    """Each word once, with the names of definitions: the base of the relevance."""
    repeated: Scores
    """Per chunk, a word that the question repeats counts more."""
    title: Scores
    """Per chunk, only the words of the first line."""
    files: Scores
    """Per file, all of its text."""
    best: Scores
    """Per file, the sum of its best chunks."""
    names: Scores
    """Per file, the names of its definitions."""
    paths: Scores
    """Per file, its path."""
    max_weight: float
    """Total weight of the question's words."""

    @classmethod
    def empty(cls, chunks: int, files: int) -> "ChunkWordScores":
        return cls(
            np.zeros(chunks),
            np.zeros(chunks),
            np.zeros(chunks),
            np.zeros(files),
            np.zeros(files),
            np.zeros(files),
            np.zeros(files),
            0.0,
        )


class WordIndex:
    """The words of all chunks, of their symbols, and of the names and paths of files."""

    def __init__(self, chunks: Sequence[StoredChunk], paths: Sequence[str], file_of: NDArray[np.int32]) -> None:
        """`file_of` is the index of each chunk's file in `paths`; the chunks of a file are adjacent."""
        self._file_of, self._file_count = file_of, len(paths)
        rows = np.repeat(np.arange(len(chunks), dtype=np.int32), [len(chunk.counts) for chunk in chunks])
        self._words = ChunkPostings(
            np.frombuffer(b"".join(chunk.codes for chunk in chunks), "<u4"),
            rows,
            np.frombuffer(b"".join(chunk.counts for chunk in chunks), np.uint8),
        )
        symbols = [sorted(name_codes(chunk.symbol)) for chunk in chunks]
        self._symbols = postings_of(symbols)
        self._paths = postings_of([sorted(name_codes(path)) for path in paths])
        self._lengths = np.array([chunk.length for chunk in chunks], np.float64)
        self._file_lengths = np.bincount(file_of, self._lengths, len(paths))
        self._name_lengths = np.bincount(file_of, [len(each) for each in symbols], len(paths)) + 1.0
        self._by_chunk = BM25(len(chunks), float(self._lengths.mean()), BM25_K1, CHUNK_B)
        self._by_file = BM25(len(paths), float(self._file_lengths.mean()), BM25_K1, FILE_B)
        self._by_name = BM25(len(paths), float(self._name_lengths.mean()), BM25_K1, NAMES_B)

    def scores(self, question: CodeQuestion) -> ChunkWordScores:
        found = ChunkWordScores.empty(len(self._file_of), self._file_count)
        total = 0.0
        for term in question.terms:
            stem = term.forms[0]
            share = 1.0 if stem in question.prose_words or not question.is_report else CODE_SHARE
            weight = self._add(found, term, share, in_title=stem in question.title_words)
            total += 0.0 if term.word in _QUESTION_WORDS else weight
        return found._replace(best=sum_of_best(found.chunks, self._file_of, self._file_count), max_weight=total)

    def _add(self, scores: ChunkWordScores, term: QueryTerm, share: float, *, in_title: bool) -> float:
        """Add this share of a term's contribution to each score; returns its weight among chunks."""
        codes = codes_of(term.forms)
        rows, counts = self._words.find(codes)
        summed = np.bincount(rows, counts, len(self._file_of))
        holding = np.flatnonzero(summed)
        weight = share * self._by_chunk.weight(len(holding))
        counted = summed[holding]
        repetition = term.count * (REPEATED_K + 1) / (term.count + REPEATED_K)
        each = weight * self._by_chunk.saturation(counted, self._lengths[holding])
        scores.chunks[holding] += each
        scores.repeated[holding] += repetition * each
        if in_title:
            scores.title[holding] += each
        named, _ = self._symbols.find(codes)
        scores.chunks[named] += NAME_WEIGHT * weight
        _add_bm25(scores.files, self._by_file, self._per_file(holding, counted), self._file_lengths, share * repetition)
        _add_bm25(scores.names, self._by_name, self._per_file(named), self._name_lengths, share)
        paths, _ = self._paths.find(codes)
        scores.paths[np.unique(paths)] += share * self._by_file.weight(len(paths))
        return weight

    def _per_file(self, rows: NDArray[np.integer], counts: NDArray[Any] | None = None) -> Scores:
        return np.bincount(self._file_of[rows], counts, self._file_count).astype(np.float64)


def _add_bm25(scores: Scores, ranking: BM25, counts: Scores, lengths: NDArray[Any], factor: float) -> None:
    holding = np.flatnonzero(counts)
    if len(holding):
        weight = factor * ranking.weight(len(holding))
        scores[holding] += weight * ranking.saturation(counts[holding], lengths[holding])


def sum_of_best(scores: Scores, file_of: NDArray[np.int32], file_count: int) -> Scores:
    """Per file, the sum of the scores of its best chunks; the chunks of a file are adjacent."""
    rows = np.flatnonzero(scores)
    rows = rows[np.lexsort((-scores[rows], file_of[rows]))]
    files = file_of[rows]
    rank = np.arange(len(files)) - np.searchsorted(files, files)
    best = rows[rank < BEST_CHUNKS]
    return np.bincount(file_of[best], scores[best], file_count).astype(np.float64)
