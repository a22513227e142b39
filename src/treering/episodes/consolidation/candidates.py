"""What may be merged, read from the store in small steps: the bands, their members, and the vectors of these."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from treering.core.embedded_text import digest_of, embedded_text, supplied_digest, supplied_vector
from treering.core.episodes import Episode, EpisodeStatus
from treering.core.queries import EpisodeFilter
from treering.episodes.consolidation.clusters import Band, Candidate, Vectors
from treering.episodes.consolidation.names import CONSOLIDATED
from treering.jobs.stage import StageRun
from treering.ports.index import Unembedded
from treering.ports.models import Embedder

KIND = "episode"
_ELIGIBLE = EpisodeFilter(statuses=(EpisodeStatus.MATURE,), consolidated=False)
# Episodes that are read in one transaction: some tenths of a second.
_AT_ONCE = 500

Tell = Callable[[], None]
"""Says that work goes on, so that nobody takes it over."""


@dataclass(frozen=True, slots=True)
class Member:
    """An episode as it was read, and the candidate (by its place) that it belongs to: itself, or who stands for it."""

    id: str
    version: int
    at: float
    place: int


@dataclass
class Eligible:
    """Candidates by the key of their band."""

    bands: dict[str, list[Candidate]] = field(default_factory=lambda: defaultdict(list))
    unreadable: int = 0


@dataclass(frozen=True)
class Gathered:
    """The candidates of a band that can be compared, and a row for each member of theirs."""

    candidates: list[Candidate]
    members: list[Member]
    vectors: Vectors
    without_vector: int = 0

    @property
    def at(self) -> NDArray[np.float64]:
        return np.array([each.at for each in self.members], np.float64)

    @property
    def places(self) -> NDArray[np.int64]:
        return np.array([each.place for each in self.members], np.int64)


def eligible(run: StageRun, tell: Tell) -> Eligible:
    """Every mature episode that the scope sees and nothing stands for yet.

    What somebody took apart stays apart: it is still referred to by what stood for it (see `dissolve`).
    """
    found = Eligible()
    with run.store.reading(run.scope, run.now) as tx:
        passing = tx.index.passing({KIND: _ELIGIBLE})
        ids = sorted(id for _, id in tx.index.confirmed({KIND: _ELIGIBLE}, passing).values())
    for batch in _batches(ids):
        with run.store.reading(run.scope, run.now) as tx:
            read = tx.episodes.readable(batch)
        found.unreadable += len(read.unreadable)
        for match in read:
            if not _taken_apart(match.value):
                found.bands[Band.of(match.value).key].append(_candidate(match.value))
        tell()
    return found


def gather(run: StageRun, candidates: Sequence[Candidate], model: str, tell: Tell) -> Gathered:
    """The members of candidates with their vectors. Candidates of which nothing has a vector are left out."""
    members = list(_members(run, candidates))
    numbers = _numbers(run, [each.id for each in members])
    known = _vectors(run, model, list(numbers.values()), tell)
    alive = {each.place for each in members if numbers.get(each.id) in known}
    kept = [place for place in range(len(candidates)) if place in alive]
    renumbered = {place: number for number, place in enumerate(kept)}
    rows = [each for each in members if each.place in alive]
    dimension = len(next(iter(known.values()))) if known else 0
    vectors = np.zeros((len(rows), dimension), np.float16)
    for row, member in enumerate(rows):
        # A member that has none is still a member; a row of zeros is like nothing and counts for nothing.
        if (vector := known.get(numbers.get(member.id, -1))) is not None:
            vectors[row] = vector
    without = sum(not each.members for place, each in enumerate(candidates) if place not in alive)
    placed = [Member(each.id, each.version, each.at, renumbered[each.place]) for each in rows]
    return Gathered([candidates[place] for place in kept], placed, vectors, without)


def embed_waiting(run: StageRun, embedder: Embedder, tell: Tell) -> None:
    """Give every document its vector, in their order; no transaction is open while the model works."""
    while True:
        with run.store.reading(run.scope, run.now) as tx:
            waiting = tx.index.unembedded(embedder.model, limit=run.settings.embedder.batch)
        if not waiting:
            return
        made = _embedded(waiting, embedder)
        with run.store.transaction(run.scope, run.now) as tx:
            added = tx.index.add_vectors(embedder.model, made)
        tell()
        if not added:  # other transactions hold these documents
            return


def _embedded(waiting: Sequence[Unembedded], embedder: Embedder) -> list[tuple[int, str, NDArray[np.float32]]]:
    texts = [
        embedded_text(each.record, contextual=embedder.contextual, before=each.before, after=each.after)
        for each in waiting
    ]
    found = []
    for each, text, vector in zip(waiting, texts, embedder.documents(texts), strict=True):
        brought = supplied_vector(each.record, embedder.model)
        if each.record is not None and len(brought) == len(vector):
            found.append((each.number, supplied_digest(each.record), np.array(brought, np.float32)))
        else:
            found.append((each.number, digest_of(text), vector))
    return found


def _candidate(episode: Episode) -> Candidate:
    members = episode.consolidation.members if episode.consolidation else ()
    return Candidate(episode.id, episode.version, episode.at, members)


def _taken_apart(episode: Episode) -> bool:
    return any(reference.startswith(CONSOLIDATED) for reference in episode.lifecycle.referenced_by)


def _members(run: StageRun, candidates: Sequence[Candidate]) -> Iterator[Member]:
    """Those that stand for others are compared as these: a mean is nearer to everything than what it is made of."""
    for place, candidate in enumerate(candidates):
        if not candidate.members:
            yield Member(candidate.id, candidate.version, candidate.at.timestamp(), place)
            continue
        with run.store.reading(run.scope, run.now) as tx:
            found = tx.episodes.readable(candidate.members)
        for match in found:
            if match.value.lifecycle.consolidated_into == candidate.id and match.value.deleted_at is None:
                yield Member(match.value.id, match.value.version, match.value.at.timestamp(), place)


def _numbers(run: StageRun, ids: Sequence[str]) -> dict[str, int]:
    found = dict[str, int]()
    with run.store.reading(run.scope, run.now) as tx:
        for batch in _batches(ids):
            found.update(tx.documents.numbers(KIND, batch))
    return found


def _vectors(run: StageRun, model: str, numbers: Sequence[int], tell: Tell) -> Mapping[int, NDArray[np.float16]]:
    """As narrow as they are stored: there may be a hundred thousand."""
    found = dict[int, NDArray[np.float16]]()
    for start in range(0, len(numbers), 10 * _AT_ONCE):
        some = np.array(numbers[start : start + 10 * _AT_ONCE], np.int64)
        with run.store.reading(run.scope, run.now) as tx:
            read = tx.index.vectors(model, some)
        found.update({number: vector.astype(np.float16) for number, vector in read.items()})
        tell()
    return found


def _batches(ids: Iterable[str]) -> Iterator[list[str]]:
    waiting = iter(ids)
    while batch := list(islice(waiting, _AT_ONCE)):
        yield batch
