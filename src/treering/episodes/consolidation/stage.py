"""Merges episodes that are alike, each cluster in a transaction of its own.

Order of safety: the new episode is written, read back and compared, and its members are seen to be as they were read,
before the first of them is archived; all in one transaction, so that a crash leaves what was, or what is new.

A later episode that is like the members of a cluster joins it: a new episode stands for all of them, and the earlier
one is archived like a member. Members are always named themselves, never by what stood for them before.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from treering.core.embedded_text import supplied_digest
from treering.core.episodes import Episode, EpisodeLifecycle, EpisodeStatus
from treering.core.errors import BlobMissing, Conflict, ModelUnavailable, NotFound, StoreError, Unreadable
from treering.core.values import LABELS
from treering.episodes.consolidation.candidates import KIND, Gathered, Member, eligible, embed_waiting, gather
from treering.episodes.consolidation.clusters import Candidate, clusters, components, seconds
from treering.episodes.consolidation.merge import combined, merged, outline
from treering.episodes.consolidation.names import CLAIM
from treering.jobs.stage import Progress, StageRun
from treering.ports.models import Embedder
from treering.ports.store import Transaction

# Episodes merged between two words of progress: seconds, well within a lease.
_TOLD_AFTER = 200
# Whole episodes in memory at once: each may have a trace of megabytes.
_WHOLE_AT_ONCE = 50


@dataclass
class _Told:
    """Counts what was done and tells it now and then; `cursor` is the last band that is done."""

    progress: Progress
    cursor: str | None
    counts: Counter[str] = field(default_factory=Counter)

    def working(self) -> None:
        self.progress.advance(self.cursor, 0)

    def add(self, **counts: int) -> None:
        self.counts.update(counts)
        if self.counts["merged"] >= _TOLD_AFTER:
            self._tell(0)

    def finished(self, cursor: str, steps: int) -> None:
        self.cursor = cursor
        self._tell(steps)

    def _tell(self, steps: int) -> None:
        self.progress.advance(self.cursor, steps, **{name: count for name, count in self.counts.items() if count})
        self.counts.clear()


@dataclass(frozen=True)
class _Cluster:
    """What becomes one: candidates, and the rows of their members in the order of time."""

    parts: Sequence[Candidate]
    members: Sequence[Member]
    rows: Sequence[int]


def consolidate_episodes(run: StageRun) -> None:
    """Merge what is alike, band by band; the key of the last band that is done is the cursor.

    Counts: `clusters` made of `merged` episodes; `skipped_without_vector`; `unreadable`; and `changed_meanwhile`,
    clusters that are left for the next run.
    """
    told = _Told(run.progress, run.cursor)
    embedder, model = _model(run)
    if embedder is not None and not run.dry_run:
        _catch_up(run, embedder, told)
    found = eligible(run, told.working)
    told.add(unreadable=found.unreadable)
    remaining = sorted(key for key in found.bands if run.cursor is None or key > run.cursor)
    run.progress.expect(sum(len(found.bands[key]) for key in remaining))
    for key in remaining:
        candidates = found.bands.pop(key)
        _consolidate_band(run, candidates, model, told)
        told.finished(key, len(candidates))
    if embedder is not None and not run.dry_run:
        _catch_up(run, embedder, told)


def _model(run: StageRun) -> tuple[Embedder | None, str]:
    """The embedder where it answers in this process, and the model whose vectors are compared; empty where none is."""
    with run.store.reading(run.scope, run.now) as tx:
        known = tx.index.models()
    try:
        embedder = run.models.embedder(known, hurried=False)
    except ModelUnavailable as exc:
        run.models.failed("embedder", exc)
        # What has been embedded can be compared without the model.
        return None, known[0] if len(known) == 1 else ""
    return embedder if embedder.local else None, embedder.model


def _catch_up(run: StageRun, embedder: Embedder, told: _Told) -> None:
    """Documents that came meanwhile go first: vectors are kept in the order of their documents."""
    try:
        embed_waiting(run, embedder, told.working)
    except ModelUnavailable as exc:
        run.models.failed("embedder", exc)


def _consolidate_band(run: StageRun, candidates: Sequence[Candidate], model: str, told: _Told) -> None:
    free = sum(not each.members for each in candidates)
    if not free or sum(each.instances for each in candidates) < run.settings.consolidation.smallest:
        return
    if not model:
        told.add(skipped_without_vector=free)
        return
    gathered = gather(run, candidates, model, told.working)
    told.add(skipped_without_vector=gathered.without_vector)
    for cluster in _clusters(run, gathered, told):
        fresh = sum(not part.members for part in cluster.parts)
        if run.dry_run:
            told.add(clusters=1, merged=fresh)
            continue
        try:
            _merge(run, cluster, gathered, model)
        except (Conflict, NotFound):
            told.add(changed_meanwhile=1)
        except (BlobMissing, Unreadable):
            told.add(unreadable=1)
        else:
            told.add(clusters=1, merged=fresh)


def _clusters(run: StageRun, gathered: Gathered, told: _Told) -> Iterator[_Cluster]:
    settings = run.settings.consolidation
    found = components(
        gathered.vectors,
        gathered.at,
        gathered.places,
        likeness=settings.likeness,
        window=seconds(settings.window_days),
        between=told.working,
    )
    rows: list[list[int]] = [[] for _ in gathered.candidates]
    for row, member in enumerate(gathered.members):
        rows[member.place].append(row)
    of_candidate = found[[each[0] for each in rows]] if rows else found
    by_id = {candidate.id: rows[place] for place, candidate in enumerate(gathered.candidates)}
    for parts in clusters(gathered.candidates, of_candidate, settings):
        own = [row for part in parts for row in by_id[part.id]]
        own.sort(key=lambda row: (gathered.members[row].at, gathered.members[row].id))
        yield _Cluster(parts, [gathered.members[row] for row in own], own)


def _merge(run: StageRun, cluster: _Cluster, gathered: Gathered, model: str) -> None:
    """What takes long happens before the transaction: others may write meanwhile, and are noticed in it."""
    vectors = gathered.vectors[np.array(cluster.rows)]
    outlines = list(_outlines(run, cluster.members))
    replaced = {each.id: each for each in (*outlines, *_earlier(run, cluster))}
    made = merged(outlines, vectors, model, run.settings.consolidation)
    with run.store.transaction(run.scope, run.now) as tx:
        tx.claim(CLAIM)
        stored = tx.episodes.create(made, detail={"instances": len(outlines)})
        _verify(tx, stored, made, replaced)
        number = tx.documents.numbers(KIND, [stored.id])[stored.id]
        # If it is skipped, it gets the vector that it brings once the documents before it have theirs.
        tx.index.add_vectors(model, [(number, supplied_digest(stored), combined(vectors))])
        for each in replaced.values():
            tx.episodes.set_lifecycle(each.id, _archived(each.lifecycle, stored.id), version=each.version)


def _outlines(run: StageRun, members: Sequence[Member]) -> Iterator[Episode]:
    for start in range(0, len(members), _WHOLE_AT_ONCE):
        some = members[start : start + _WHOLE_AT_ONCE]
        with run.store.reading(run.scope, run.now) as tx:
            read = tx.episodes.get_many(each.id for each in some)
            for each in some:
                found = _unchanged(read.get(each.id), each.id, each.version)
                yield outline(tx.episodes.whole(each.id) or found if found.cold else found)


def _earlier(run: StageRun, cluster: _Cluster) -> list[Episode]:
    """What stood for some of the members until now."""
    versions = {part.id: part.version for part in cluster.parts if part.members}
    if not versions:
        return []
    with run.store.reading(run.scope, run.now) as tx:
        read = tx.episodes.get_many(versions)
    return [_unchanged(read.get(id), id, version) for id, version in versions.items()]


def _unchanged(found: Episode | None, id: str, version: int) -> Episode:
    if found is None or found.version != version or found.deleted_at is not None:
        raise Conflict(f"episode {id!r} changed since it was compared; the next run sees it as it is")
    return found


def _verify(tx: Transaction, stored: Episode, made: Episode, replaced: Mapping[str, Episode]) -> None:
    """Nothing is archived before what stands for it can be read, names it, and was made of what is still there."""
    assert made.consolidation is not None
    if tx.episodes.get(stored.id) != stored or stored.consolidation is None:
        raise StoreError(f"episode {stored.id!r} was not stored as it was written; run `treering doctor`")
    if stored.consolidation.members != made.consolidation.members:
        raise StoreError(f"episode {stored.id!r} does not name all that it stands for; run `treering doctor`")
    present = tx.episodes.get_many(replaced)
    for id, read in replaced.items():
        _unchanged(present.get(id), id, read.version)


def _archived(lifecycle: EpisodeLifecycle, standing: str) -> EpisodeLifecycle:
    references = (*(each for each in lifecycle.referenced_by if each != standing), standing)
    return lifecycle.replace(
        status=EpisodeStatus.ARCHIVED, consolidated_into=standing, referenced_by=references[-LABELS:]
    )
