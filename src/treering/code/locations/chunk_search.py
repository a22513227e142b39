"""Ranking of chunks by words, by meaning, and by the files that a question names."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from treering.code.chunks.split import SEPARATOR
from treering.code.locations.chunk_vectors import ChunkVectors, outliers
from treering.code.locations.defined_names import DefinedNames
from treering.code.locations.file_roles import role_in, role_of, role_weights
from treering.code.locations.named_files import NamedFiles
from treering.code.locations.question import CodeQuestion, read_question
from treering.code.locations.word_scores import WordIndex, sum_of_best
from treering.core.queries import ALL_CODE, CodeFilter
from treering.ports.code_chunks import StoredChunk

MEANING_RELEVANCE = 0.2  # share of the similarity in the relevance of a location


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """Share of each signal, which is scaled so that its best is 1, in the score of a chunk."""

    chunks: Mapping[str, float]
    files: Mapping[str, float]
    further_in_file: float
    """Factor for each further definition of a file."""


# A question asks for a definition; a report describes a problem, and the file matters first. Both were fitted, and not
# on the same texts: see docs/decisions/0035-where.md.
QUESTION_WEIGHTS = RankingWeights(
    chunks={"chunks": 0.8, "meaning": 0.2},
    files={"frames": 0.5, "path": 0.5, "link": 0.5, "module": 0.2, "meaning": 0.4},
    further_in_file=1.0,
)
REPORT_WEIGHTS = RankingWeights(
    chunks={"repeated": 1.0, "chunks": 0.3, "title": 1.0, "linked": 0.5, "meaning": 0.1},
    files={
        "files": 0.3,
        "best": 0.8,
        "names": 0.6,
        "paths": 0.8,
        "defined": 0.6,
        "frames": 2.0,
        "path": 1.2,
        "link": 2.0,
        "meaning": 0.4,
    },
    further_in_file=0.8,  # five locations name about four files
)


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


@dataclass(frozen=True, slots=True)
class _Signals:
    """What speaks for each chunk and each file, and the relevance of each chunk."""

    chunks: Mapping[str, NDArray[np.float64]]
    files: Mapping[str, NDArray[np.float64]]
    relevance: NDArray[np.float64]
    possible: NDArray[np.bool_]
    """Chunks that share a word with the question, are similar enough, or are in a file that it names."""


class ChunkSearch:
    """All chunks of a project, indexed for search."""

    def __init__(
        self,
        chunks: Sequence[StoredChunk],
        vectors: Mapping[str, bytes] | None = None,
    ) -> None:
        """The chunks of a file are adjacent."""
        self._places = [
            ChunkMatch(each.path, each.symbol, each.start_line, each.end_line, each.digest) for each in chunks
        ]
        self._vectors = ChunkVectors([chunk.digest for chunk in chunks], vectors or {})
        if not chunks:
            return
        paths = list(dict.fromkeys(chunk.path for chunk in chunks))
        numbers = {path: number for number, path in enumerate(paths)}
        self._file_of = np.array([numbers[chunk.path] for chunk in chunks], np.int32)
        of_files = [role_of(path) for path in paths]
        roles = [role_in(each.path, each.symbol, of_files[numbers[each.path]]) for each in chunks]
        self._roles = np.array(roles, np.int8)
        self._words = WordIndex(chunks, paths, self._file_of)
        self._named = NamedFiles(paths)
        self._defined = DefinedNames(chunks, self._file_of, len(paths))
        self._heads = _heads(chunks)

    @property
    def dimension(self) -> int:
        """Dimension of the vectors; 0 if there are none."""
        return self._vectors.dimension

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
        question = read_question(query)
        signals = self._signals(question, vector, apart)
        weights = REPORT_WEIGHTS if question.is_report else QUESTION_WEIGHTS
        total = np.where(signals.possible, self._total(signals, weights) * self._by_role(question), 0.0)
        best = list(islice(self._locations(total, weights.further_in_file, excluded, where), limit))
        return tuple(
            replace(
                self._places[self._heads[row]],
                end_line=self._places[row].end_line,
                score=score / best[0][0],
                relevance=float(signals.relevance[row]),
            )
            for score, row in best
        )

    def _signals(self, question: CodeQuestion, vector: NDArray[np.float32] | None, apart: float) -> _Signals:
        words = self._words.scores(question)
        frames, path, module, link = (
            named(question)
            for named in (self._named.in_frames, self._named.by_path, self._named.by_module, self._named.by_link)
        )
        relevance = np.minimum(words.chunks / (words.max_weight or 1.0), 1.0)
        possible = (words.chunks > 0) | ((frames + path + link) > 0)[self._file_of]
        near = np.zeros(len(relevance))
        if vector is not None and 0 < vector.size == self._vectors.dimension:
            similarity = self._vectors.similarity(vector)
            relevant = (words.chunks > 0) | outliers(similarity, apart)
            near = np.where(relevant, np.maximum(similarity, 0.0), 0.0)
            possible |= near > 0
            relevance = np.minimum(relevance + MEANING_RELEVANCE * near, 1.0)
        return _Signals(
            {
                "chunks": words.chunks,
                "repeated": words.repeated,
                "title": words.title,
                "linked": self._linked(question),
                "meaning": near,
            },
            {
                "files": words.files,
                "best": words.best,
                "names": words.names,
                "paths": words.paths,
                "defined": self._defined.in_prose(question),
                "frames": frames,
                "path": path,
                "module": module,
                "link": link,
                "meaning": sum_of_best(near, self._file_of, len(words.files)),
            },
            relevance,
            possible,
        )

    def _linked(self, question: CodeQuestion) -> NDArray[np.float64]:
        """1 for the chunk that contains a linked line, in each file that the link fits."""
        scores = np.zeros(len(self._places))
        for path, line in question.links:
            if line is None:
                continue
            for file in self._named.with_path(path):
                begin, end = np.searchsorted(self._file_of, (file, file + 1)).tolist()
                places = enumerate(self._places[begin:end], begin)
                scores[[row for row, place in places if place.start_line <= line <= place.end_line]] = 1
        return scores

    def _total(self, signals: _Signals, weights: RankingWeights) -> NDArray[np.float64]:
        files, chunks = np.zeros(len(signals.files["files"])), np.zeros(len(self._file_of))
        for name, weight in weights.files.items():
            files += weight * _scaled(signals.files[name])
        for name, weight in weights.chunks.items():
            chunks += weight * _scaled(signals.chunks[name])
        return chunks + files[self._file_of]

    def _by_role(self, question: CodeQuestion) -> NDArray[np.float64]:
        """The weight of each chunk by its role."""
        return np.array(role_weights(question))[self._roles]

    def _locations(
        self, total: NDArray[np.float64], further: float, excluded: Collection[str], where: CodeFilter
    ) -> Iterator[tuple[float, int]]:
        """Score and row of the best chunk of each definition, best first.

        The factor `further` applies once more to each further definition of a file. A definition is yielded once no
        later one can have a higher score.
        """
        seen, in_file = set[int](), Counter[int]()
        waiting = list[tuple[float, int]]()
        for row in np.argsort(-total, kind="stable").tolist():
            score = float(total[row])
            while waiting and -waiting[0][0] >= score:
                yield _popped(waiting)
            if score <= 0:
                return
            head, path, file = self._heads[row], self._places[row].path, int(self._file_of[row])
            if head not in seen and path not in excluded and where.passes(path):
                seen.add(head)
                heappush(waiting, (-score * further ** in_file[file], row))
                in_file[file] += 1
        while waiting:
            yield _popped(waiting)


def _popped(waiting: list[tuple[float, int]]) -> tuple[float, int]:
    """Score and row of the best that waits."""
    negative, row = heappop(waiting)
    return -negative, row


def _heads(chunks: Sequence[StoredChunk]) -> list[int]:
    """For each chunk the row of the first chunk of its definition."""
    heads, begun = list[int](), dict[tuple[str, str], int]()
    for row, chunk in enumerate(chunks):
        symbols = chunk.symbol.split(SEPARATOR) if chunk.symbol else []
        first = [begun.setdefault((chunk.path, symbol), row) for symbol in symbols]
        heads.append(first[0] if len(symbols) == 1 else row)
    return heads


def _scaled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
