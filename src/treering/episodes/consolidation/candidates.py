"""Candidates for consolidation, read in small transactions: bands, members and vectors."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from treering.core.embedded_text import digest_of, embedded_text, supplied_digest, supplied_vector
from treering.core.episodes import Episode, EpisodeStatus
from treering.core.queries import EpisodeFilter
from treering.episodes.consolidation.clusters import Band, ConsolidationCandidate, Vectors
from treering.episodes.consolidation.names import CONSOLIDATED
from treering.jobs.stage import StageRun
from treering.ports.index import Unembedded
from treering.ports.models import Embedder

KIND = "episode"
_ELIGIBLE = EpisodeFilter(statuses=(EpisodeStatus.MATURE,), consolidated=False)
# Episodes read in one transaction, which takes some tenths of a second.
_BATCH = 500

KeepAlive = Callable[[], None]
"""Extends the lease, so that no other worker takes over."""


@dataclass(frozen=True, slots=True)
class ClusterMember:
    """An episode as read, and the position of its candidate: itself or its representative."""

    id: str
    version: int
    at: float
    place: int


@dataclass
class Eligible:
    """Candidates by band key."""

    bands: dict[str, list[ConsolidationCandidate]] = field(default_factory=lambda: defaultdict(list))
    unreadable: int = 0


@dataclass(frozen=True)
class BandVectors:
    """The comparable candidates of a band, with one row for each of their members."""

    candidates: list[ConsolidationCandidate]
    members: list[ClusterMember]
    vectors: Vectors
    without_vector: int = 0

    @property
    def at(self) -> NDArray[np.float64]:
        return np.array([each.at for each in self.members], np.float64)

    @property
    def places(self) -> NDArray[np.int64]:
        return np.array([each.place for each in self.members], np.int64)


def eligible(run: StageRun, keep_alive: KeepAlive) -> Eligible:
    """Every mature episode visible to the scope that has no representative.

    Members of a dissolved episode are left out; they still have a reference to it (see `dissolve`).
    """
    found = Eligible()
    with run.store.reading(run.scope, run.now) as tx:
        passing = tx.index.matching_numbers({KIND: _ELIGIBLE})
        ids = sorted(id for _, id in tx.index.matching_ids({KIND: _ELIGIBLE}, passing).values())
    for batch in _batches(ids):
        with run.store.reading(run.scope, run.now) as tx:
            read = tx.episodes.readable(batch)
        found.unreadable += len(read.unreadable)
        for match in read:
            if not _was_dissolved(match.value):
                found.bands[Band.of(match.value).key].append(_candidate(match.value))
        keep_alive()
    return found


def gather(
    run: StageRun, candidates: Sequence[ConsolidationCandidate], model: str, keep_alive: KeepAlive
) -> BandVectors:
    """Members of the candidates with their vectors; candidates without any vector are left out."""
    members = list(_members(run, candidates))
    numbers = _numbers(run, [each.id for each in members])
    known = _vectors(run, model, list(numbers.values()), keep_alive)
    comparable = {each.place for each in members if numbers.get(each.id) in known}
    positions = [place for place in range(len(candidates)) if place in comparable]
    renumbered = {place: number for number, place in enumerate(positions)}
    rows = [each for each in members if each.place in comparable]
    dimension = len(next(iter(known.values()))) if known else 0
    vectors = np.zeros((len(rows), dimension), np.float16)
    for row, member in enumerate(rows):
        # A member without a vector has a row of zeros, which is similar to nothing and has no weight.
        if (vector := known.get(numbers.get(member.id, -1))) is not None:
            vectors[row] = vector
    without = sum(not each.members for place, each in enumerate(candidates) if place not in comparable)
    placed = [ClusterMember(each.id, each.version, each.at, renumbered[each.place]) for each in rows]
    return BandVectors([candidates[place] for place in positions], placed, vectors, without)


def embed_pending(run: StageRun, embedder: Embedder, keep_alive: KeepAlive) -> None:
    """Embed all documents without a vector, in order; no transaction is open while the model runs."""
    while True:
        with run.store.reading(run.scope, run.now) as tx:
            pending = tx.index.unembedded(embedder.model, limit=run.settings.embedder.batch)
        if not pending:
            return
        vectors = _embedded(pending, embedder)
        with run.store.transaction(run.scope, run.now) as tx:
            added = tx.index.add_vectors(embedder.model, vectors)
        keep_alive()
        if not added:  # other transactions hold these documents
            return


def _embedded(pending: Sequence[Unembedded], embedder: Embedder) -> list[tuple[int, str, NDArray[np.float32]]]:
    texts = [
        embedded_text(each.record, contextual=embedder.contextual, before=each.before, after=each.after)
        for each in pending
    ]
    found = []
    for each, text, vector in zip(pending, texts, embedder.documents(texts), strict=True):
        brought = supplied_vector(each.record, embedder.model)
        if each.record is not None and len(brought) == len(vector):
            found.append((each.number, supplied_digest(each.record), np.array(brought, np.float32)))
        else:
            found.append((each.number, digest_of(text), vector))
    return found


def _candidate(episode: Episode) -> ConsolidationCandidate:
    members = episode.consolidation.members if episode.consolidation else ()
    return ConsolidationCandidate(episode.id, episode.version, episode.at, members)


def _was_dissolved(episode: Episode) -> bool:
    return any(reference.startswith(CONSOLIDATED) for reference in episode.lifecycle.referenced_by)


def _members(run: StageRun, candidates: Sequence[ConsolidationCandidate]) -> Iterator[ClusterMember]:
    """Representatives are compared by their members, since a mean vector is closer to everything."""
    for place, candidate in enumerate(candidates):
        if not candidate.members:
            yield ClusterMember(candidate.id, candidate.version, candidate.at.timestamp(), place)
            continue
        with run.store.reading(run.scope, run.now) as tx:
            found = tx.episodes.readable(candidate.members)
        for match in found:
            if match.value.lifecycle.consolidated_into == candidate.id and match.value.deleted_at is None:
                yield ClusterMember(match.value.id, match.value.version, match.value.at.timestamp(), place)


def _numbers(run: StageRun, ids: Sequence[str]) -> dict[str, int]:
    found = dict[str, int]()
    with run.store.reading(run.scope, run.now) as tx:
        for batch in _batches(ids):
            found.update(tx.documents.numbers(KIND, batch))
    return found


def _vectors(
    run: StageRun, model: str, numbers: Sequence[int], keep_alive: KeepAlive
) -> Mapping[int, NDArray[np.float16]]:
    """Vectors as float16, as stored: there may be a hundred thousand."""
    found = dict[int, NDArray[np.float16]]()
    for start in range(0, len(numbers), 10 * _BATCH):
        some = np.array(numbers[start : start + 10 * _BATCH], np.int64)
        with run.store.reading(run.scope, run.now) as tx:
            read = tx.index.vectors(model, some)
        found.update({number: vector.astype(np.float16) for number, vector in read.items()})
        keep_alive()
    return found


def _batches(ids: Iterable[str]) -> Iterator[list[str]]:
    pending = iter(ids)
    while batch := list(islice(pending, _BATCH)):
        yield batch
