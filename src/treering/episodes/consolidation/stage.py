"""Consolidates similar episodes, each cluster in its own transaction.

The new episode is written, read back and compared, and its members are checked to be unchanged, before the first of
them is archived; all in one transaction, so that a crash leaves either the old or the new state.

A later episode that is similar to the members of a cluster joins it: a new episode represents all of them, and the
earlier representative is archived like a member. `members` always has the original episodes, never representatives.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from treering.core.embedded_text import supplied_digest
from treering.core.episodes import Episode, EpisodeLifecycle, EpisodeStatus
from treering.core.errors import BlobMissing, Conflict, ModelUnavailable, NotFound, StoreError, Unreadable
from treering.core.values import LABELS
from treering.episodes.consolidation.candidates import KIND, BandVectors, ClusterMember, eligible, embed_pending, gather
from treering.episodes.consolidation.clusters import MIN_CLUSTER, ConsolidationCandidate, clusters, components, seconds
from treering.episodes.consolidation.merge import combined, merged, outline
from treering.episodes.consolidation.names import CLAIM
from treering.jobs.stage import StageProgress, StageRun
from treering.ports.models import Embedder
from treering.ports.store import Transaction

# Episodes merged between two reports of progress: seconds, well within a lease.
_REPORTED_AFTER = 200
# Complete episodes in memory at once; each may have a trace of megabytes.
_EPISODES_AT_ONCE = 50


@dataclass
class _BandProgress:
    """Sums counts and reports them now and then; `cursor` is the last finished band."""

    progress: StageProgress
    cursor: str | None
    counts: Counter[str] = field(default_factory=Counter)

    def keep_alive(self) -> None:
        self.progress.advance(self.cursor, 0)

    def add(self, **counts: int) -> None:
        self.counts.update(counts)
        if self.counts["merged"] >= _REPORTED_AFTER:
            self._report(0)

    def finished(self, cursor: str, steps: int) -> None:
        self.cursor = cursor
        self._report(steps)

    def _report(self, steps: int) -> None:
        self.progress.advance(self.cursor, steps, **{name: count for name, count in self.counts.items() if count})
        self.counts.clear()


@dataclass(frozen=True)
class _EpisodeCluster:
    """Candidates to be merged, and the rows of their members in the order of time."""

    parts: Sequence[ConsolidationCandidate]
    members: Sequence[ClusterMember]
    rows: Sequence[int]


def consolidate_episodes(run: StageRun) -> None:
    """Consolidate band by band; the cursor is the key of the last finished band.

    Counts: `clusters` made of `merged` episodes; `skipped_without_vector`; `unreadable`; and `changed_meanwhile`,
    clusters left for the next run.
    """
    counter = _BandProgress(run.progress, run.cursor)
    embedder, model = _model(run)
    if embedder is not None and not run.dry_run:
        _embed_pending(run, embedder, counter)
    found = eligible(run, counter.keep_alive)
    counter.add(unreadable=found.unreadable)
    remaining = sorted(key for key in found.bands if run.cursor is None or key > run.cursor)
    run.progress.expect(sum(len(found.bands[key]) for key in remaining))
    for key in remaining:
        candidates = found.bands.pop(key)
        _consolidate_band(run, candidates, model, counter)
        counter.finished(key, len(candidates))
    if embedder is not None and not run.dry_run:
        _embed_pending(run, embedder, counter)


def _model(run: StageRun) -> tuple[Embedder | None, str]:
    """The embedder if it is local, and the name of the model whose vectors are compared; empty if there is none."""
    with run.store.reading(run.scope, run.now) as tx:
        known = tx.index.models()
    try:
        embedder = run.models.embedder(known, hurried=False)
    except ModelUnavailable as exc:
        run.models.failed("embedder", exc)
        # Stored vectors can be compared without the model.
        return None, known[0] if len(known) == 1 else ""
    return embedder if embedder.local else None, embedder.model


def _embed_pending(run: StageRun, embedder: Embedder, counter: _BandProgress) -> None:
    """Embed new documents first, since vectors are stored in the order of documents."""
    try:
        embed_pending(run, embedder, counter.keep_alive)
    except ModelUnavailable as exc:
        run.models.failed("embedder", exc)


def _consolidate_band(
    run: StageRun, candidates: Sequence[ConsolidationCandidate], model: str, counter: _BandProgress
) -> None:
    unmerged = sum(not each.members for each in candidates)
    if not unmerged or sum(each.instances for each in candidates) < MIN_CLUSTER:
        return
    if not model:
        counter.add(skipped_without_vector=unmerged)
        return
    gathered = gather(run, candidates, model, counter.keep_alive)
    counter.add(skipped_without_vector=gathered.without_vector)
    for cluster in _clusters(run, gathered, counter):
        merged_count = sum(not part.members for part in cluster.parts)
        if run.dry_run:
            counter.add(clusters=1, merged=merged_count)
            continue
        try:
            _merge(run, cluster, gathered, model)
        except (Conflict, NotFound):
            counter.add(changed_meanwhile=1)
        except (BlobMissing, Unreadable):
            counter.add(unreadable=1)
        else:
            counter.add(clusters=1, merged=merged_count)


def _clusters(run: StageRun, gathered: BandVectors, counter: _BandProgress) -> Iterator[_EpisodeCluster]:
    settings = run.settings.consolidation
    found = components(
        gathered.vectors,
        gathered.at,
        gathered.places,
        likeness=settings.likeness,
        window=seconds(settings.window_days),
        between=counter.keep_alive,
    )
    rows: list[list[int]] = [[] for _ in gathered.candidates]
    for row, member in enumerate(gathered.members):
        rows[member.place].append(row)
    of_candidate = found[[each[0] for each in rows]] if rows else found
    by_id = {candidate.id: rows[place] for place, candidate in enumerate(gathered.candidates)}
    for parts in clusters(gathered.candidates, of_candidate):
        own = [row for part in parts for row in by_id[part.id]]
        own.sort(key=lambda row: (gathered.members[row].at, gathered.members[row].id))
        yield _EpisodeCluster(parts, [gathered.members[row] for row in own], own)


def _merge(run: StageRun, cluster: _EpisodeCluster, gathered: BandVectors, model: str) -> None:
    """The slow part runs before the transaction, which then checks that nothing changed meanwhile."""
    vectors = gathered.vectors[np.array(cluster.rows)]
    outlines = list(_outlines(run, cluster.members))
    replaced = {each.id: each for each in (*outlines, *_earlier(run, cluster))}
    representative = merged(outlines, vectors, model)
    with run.store.transaction(run.scope, run.now) as tx:
        tx.claim(CLAIM)
        stored = tx.episodes.create(representative, detail={"instances": len(outlines)})
        _verify(tx, stored, representative, replaced)
        number = tx.documents.numbers(KIND, [stored.id])[stored.id]
        # If it is skipped here, it gets this vector once the documents before it have theirs.
        tx.index.add_vectors(model, [(number, supplied_digest(stored), combined(vectors))])
        for each in replaced.values():
            tx.episodes.set_lifecycle(each.id, _archived(each.lifecycle, stored.id), version=each.version)


def _outlines(run: StageRun, members: Sequence[ClusterMember]) -> Iterator[Episode]:
    for start in range(0, len(members), _EPISODES_AT_ONCE):
        some = members[start : start + _EPISODES_AT_ONCE]
        with run.store.reading(run.scope, run.now) as tx:
            read = tx.episodes.get_many(each.id for each in some)
            for each in some:
                found = _unchanged(read.get(each.id), each.id, each.version)
                yield outline(tx.episodes.get_complete(each.id) or found if found.cold else found)


def _earlier(run: StageRun, cluster: _EpisodeCluster) -> list[Episode]:
    """Earlier representatives of the members."""
    versions = {part.id: part.version for part in cluster.parts if part.members}
    if not versions:
        return []
    with run.store.reading(run.scope, run.now) as tx:
        read = tx.episodes.get_many(versions)
    return [_unchanged(read.get(id), id, version) for id, version in versions.items()]


def _unchanged(found: Episode | None, id: str, version: int) -> Episode:
    if found is None or found.version != version or found.deleted_at is not None:
        raise Conflict(f"episode {id!r} changed since it was compared; the next run retries")
    return found


def _verify(tx: Transaction, stored: Episode, representative: Episode, replaced: Mapping[str, Episode]) -> None:
    """Check before archiving that the representative is stored, has all members, and that they are unchanged."""
    assert representative.consolidation is not None
    if tx.episodes.get(stored.id) != stored or stored.consolidation is None:
        raise StoreError(f"episode {stored.id!r} was not stored as written; run `treering doctor`")
    if stored.consolidation.members != representative.consolidation.members:
        raise StoreError(f"episode {stored.id!r} does not have all its members; run `treering doctor`")
    present = tx.episodes.get_many(replaced)
    for id, read in replaced.items():
        _unchanged(present.get(id), id, read.version)


def _archived(lifecycle: EpisodeLifecycle, representative: str) -> EpisodeLifecycle:
    references = (*(each for each in lifecycle.referenced_by if each != representative), representative)
    return lifecycle.replace(
        status=EpisodeStatus.ARCHIVED, consolidated_into=representative, referenced_by=references[-LABELS:]
    )
