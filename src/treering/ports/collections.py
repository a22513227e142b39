"""Collections of records inside a transaction, each with the operations that its kind allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar, overload

from treering.core.entities import Entity, EntityKind, EntityLink
from treering.core.episodes import Episode, EpisodeLifecycle
from treering.core.history import Action
from treering.core.jobs import Job
from treering.core.observations import ObservedSession
from treering.core.past_sessions import PastSession
from treering.core.queries import (
    EntityFilter,
    EpisodeFilter,
    JobFilter,
    KnowledgeFilter,
    ObservedSessionFilter,
    Order,
    Page,
    SessionFilter,
    TurnFilter,
)
from treering.core.records import Knowledge
from treering.core.turns import Session, Turn
from treering.core.values import EMPTY, Record

V = TypeVar("V", bound=Record)
F_contra = TypeVar("F_contra", contravariant=True)
Detail = Mapping[str, object]
"""Details of an audit entry; never the record's text."""


@dataclass(frozen=True, slots=True)
class RecordMatch(Generic[V]):
    """A matching record; a higher `score` is more relevant."""

    value: V
    score: float


@dataclass(frozen=True, slots=True)
class RecordMatches(Sequence[RecordMatch[V]]):
    """Matching records, best first, and the ids of those that could not be read."""

    matches: tuple[RecordMatch[V], ...] = ()
    unreadable: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> RecordMatch[V]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[RecordMatch[V], ...]: ...
    def __getitem__(self, index: int | slice) -> RecordMatch[V] | tuple[RecordMatch[V], ...]:
        return self.matches[index]

    def __len__(self) -> int:
        return len(self.matches)


class Readable(Protocol[V, F_contra]):
    """Records of one kind that the scope can see. Deleted ones are returned only if the filter asks for them."""

    def get(self, id: str) -> V | None: ...

    def get_many(self, ids: Iterable[str]) -> Mapping[str, V]: ...

    def find(
        self, where: F_contra | None = None, *, order: Order | None = None, limit: int = 50, after: str | None = None
    ) -> Page[V]: ...

    def count(self, where: F_contra | None = None) -> int: ...

    def count_by(self, column: str, filters: Sequence[F_contra]) -> Mapping[str, Sequence[int]]:
        """The number of records that pass each filter, by the value of a column; all read in one statement."""
        ...

    def stream(self, where: F_contra | None = None) -> Iterator[V]: ...


class Searchable(Readable[V, F_contra], Protocol[V, F_contra]):
    """Records that can be read by the ids that `index` finds, or by age."""

    def readable(self, ids: Iterable[str]) -> RecordMatches[V]:
        """The readable records among `ids`, and the ids of the unreadable ones; `score` is meaningless."""
        ...

    def newest(self, where: F_contra | None = None, *, limit: int = 10) -> RecordMatches[V]:
        """The newest records; `score` is their timestamp in seconds."""
        ...


class Log(Readable[V, F_contra], Protocol[V, F_contra]):
    """Append-only records."""

    def create(self, value: V, action: Action = Action.CREATE, detail: Detail = EMPTY) -> V:
        """Store the value and return it as stored; `Conflict` if the id exists."""
        ...

    def create_many(self, values: Iterable[V], action: Action = Action.CREATE) -> int: ...


class Removable(Protocol):
    """Records that can be deleted softly, then purged, even if a blob that they need is lost."""

    def holds(self, id: str, *, deleted: bool = False) -> bool:
        """Whether `id` exists, without reading the record; `deleted` includes softly deleted ones."""
        ...

    def ids_like(self, part: str, *, limit: int) -> Sequence[str]:
        """Ids that begin or end with `part`, in order, without those of deleted records. Reads every id."""
        ...

    def delete(self, id: str, detail: Detail = EMPTY) -> None: ...

    def restore(self, id: str) -> None: ...

    def purge(self, id: str, detail: Detail = EMPTY) -> None:
        """Remove a record and every derived copy of it. The audit log keeps the fact that it existed."""
        ...


class Revisable(Log[V, F_contra], Removable, Protocol[V, F_contra]):
    """Records with revisions: every change keeps the previous state."""

    def update(self, value: V, action: Action = Action.UPDATE, detail: Detail = EMPTY) -> V:
        """Store `value` over the version that was read; `Conflict` if that version is stale."""
        ...

    def undo(self, id: str) -> tuple[Record, ...]:
        """Undo the last change together with all changes made in the same unit, of every kind.

        Returns the records in their present state, without those whose text is lost.
        """
        ...


@dataclass(frozen=True, slots=True)
class EntityMentions:
    """What newly read records say about an entity: number of mentions, and its kind."""

    mentions: int = 0
    kind: EntityKind | None = None
    trusted: bool = False
    """Whether an untainted record mentions the entity, which clears its taint."""


class EntityCollection(Revisable[Entity, EntityFilter], Protocol):
    def count_mentions(self, heard: Mapping[str, EntityMentions]) -> None:
        """Count newly read mentions. This is not a user's change: versions stay, and there is nothing to undo."""
        ...

    def recount(self, ids: Iterable[str]) -> None:
        """Recount mentions from the links that are visible to everyone who sees the entity."""
        ...

    def expect_names(self, keys: Callable[[], Sequence[str]], *, max_links: int) -> None:
        """Announce that `by_names` will look up these keys, and `links` at most one more than `max_links` of each.

        A server does so together with its next statement, and reads the linked records as well.
        """
        ...

    def by_names(self, keys: Callable[[], Iterable[str]]) -> Mapping[str, Entity]:
        """Entities with one of the `same_name` keys, by id. `keys` is called once, and not without entities."""
        ...

    def merged_into(self, ids: Sequence[str]) -> Sequence[Entity]:
        """Entities that were merged into one of these."""
        ...

    def links(self, ids: Sequence[str], *, limit: int) -> Sequence[EntityLink]:
        """The newest links to these entities."""
        ...

    def drop_unmentioned(self, ids: Iterable[str]) -> int:
        """Purge entities that no record mentions any more and no user named; return their number.

        An entity that only personal records still mention becomes personal: one copy for each of their owners.
        """
        ...


class Derived(Readable[V, F_contra], Protocol[V, F_contra]):
    """Records that are recomputed and replaced."""

    def put_many(self, values: Iterable[V]) -> int: ...

    def remove(self, where: F_contra) -> int: ...


class ObservedSessionCollection(Derived[ObservedSession, ObservedSessionFilter], Protocol):
    def newest_finished(self, *, limit: int) -> Sequence[PastSession]:
        """The newest finished sessions, oldest first, with what ranking needs of them; unreadable ones are left out."""
        ...


class SearchableRevisable(Revisable[V, F_contra], Searchable[V, F_contra], Protocol[V, F_contra]): ...


class KnowledgeCollection(SearchableRevisable[Knowledge, KnowledgeFilter], Protocol):
    def count_use(self, ids: Iterable[str]) -> int:
        """Count one use of each, now; return how many exist. A use is not a change, so there is nothing to undo."""
        ...

    def related_to(self, ids: Sequence[str], *, limit: int) -> RecordMatches[Knowledge]:
        """The newest records with a relation to one of these."""
        ...

    def superseded_sources(self, ids: Iterable[str]) -> frozenset[str]:
        """Those of the given turns from which a deprecated record was learned."""
        ...

    def mark_returned(self, returned: Mapping[str, datetime]) -> None:
        """Record when a search returned each record: an access, but neither a use nor a change."""
        ...


class TurnCollection(Log[Turn, TurnFilter], Searchable[Turn, TurnFilter], Removable, Protocol):
    """The store assigns `seq`, the position in the session, and creates a missing session."""


@dataclass(frozen=True, slots=True)
class SessionVersion:
    """Differs after every change of a session: its version, and its number of turns."""

    version: int
    turns: int


class SessionCollection(Readable[Session, SessionFilter], Protocol):
    def current_version(self, id: str) -> SessionVersion | None:
        """Version of a session without reading it. Removing a turn increments it."""
        ...

    def open(self, session: Session) -> Session:
        """The session with this id, created if missing."""
        ...

    def create_many(self, values: Iterable[Session], action: Action = Action.CREATE) -> int: ...

    def update(self, value: Session) -> Session:
        """Store it over the version that was read, except for the fields that the store counts itself."""
        ...

    def end(self, id: str) -> bool:
        """End the session at its last turn; False if it had ended, or another transaction is changing it.

        The next turn opens it again.
        """
        ...

    def end_others(self, current: str, owner: str, *, limit: int) -> Sequence[Session]:
        """End the newest open sessions of an owner except `current`, each at its last turn; return them.

        Sessions that another transaction is changing stay open.
        """
        ...

    def mark_learned(self, id: str, *, known: int, learned: int) -> bool:
        """Mark the first `learned` turns as read; False if another worker has read further than `known`."""
        ...


class EpisodeCollection(Log[Episode, EpisodeFilter], Searchable[Episode, EpisodeFilter], Removable, Protocol):
    def set_lifecycle(self, id: str, lifecycle: EpisodeLifecycle, *, version: int | None = None) -> Episode:
        """Change the lifecycle of an episode; `Conflict` if `version` is given and stale."""
        ...

    def move_to_blobs(self, slim: Episode) -> Episode:
        """Move the complete episode to the blob store, compressed, and keep `slim` in the table.

        `slim` is the episode as read, with less content and another lifecycle. `Conflict` if the version is stale.
        """
        ...

    def restore(self, id: str) -> None:
        """Restore it; `NothingToUndo` if it represented several episodes, which were themselves restored."""
        ...

    def get_complete(self, id: str) -> Episode | None:
        """The complete episode with its present lifecycle, read from the blob store if it was moved there."""
        ...

    def stamp(self, id: str) -> str | None:
        """A value that changes with every change of the episode, also if it is removed and stored again.

        None if it is absent or deleted. Reads one row, parses nothing and fetches no blob.
        """
        ...


class JobQueue(Readable[Job, JobFilter], Protocol):
    def enqueue(self, job: Job) -> bool:
        """Queue a job, replacing dead jobs with its `key`; False if a job with this key is already queued.

        A job with a key is stored at the end of the transaction. True therefore means that a job with this key is
        queued after the commit: this one, unless another transaction queues the key first.
        """
        ...

    def enqueue_first(self, jobs: Sequence[Job]) -> bool:
        """Queue the first of these alternatives whose key is free; see `enqueue`.

        They are of one kind. False if one of them is queued and due, so that it has yet to begin, or if no key is free.
        """
        ...

    def enqueue_later(self, jobs: Sequence[Job]) -> None:
        """Queue the first of these whose key is not queued at the end of the transaction, if there is one."""
        ...

    def create_many(self, values: Iterable[Job], action: Action = Action.CREATE) -> int: ...

    def lease(
        self, owner: str, kinds: Sequence[str], *, limit: int, duration: timedelta, key: str | None = None
    ) -> Sequence[Job]:
        """Lease up to `limit` due jobs; no other worker gets them until the lease expires.

        A `key` selects that job, even before it is due. A job whose last attempt expired becomes dead; jobs that ended
        long ago are removed. A time that a clock far ahead has written counts as due.
        """
        ...

    def extend(self, job: Job, duration: timedelta) -> bool:
        """Extend the lease; False if it was lost."""
        ...

    def finish(self, job: Job) -> bool: ...

    def release(self, job: Job, *, run_at: datetime | None = None) -> bool:
        """Return the job to the queue as if it had not been leased; False if the lease was lost.

        `run_at` postpones it.
        """
        ...

    def fail(self, job: Job, error: str, *, retry_at: datetime) -> bool:
        """Retry at `retry_at`, or mark the job as dead after its last attempt."""
        ...

    def revive(self, id: str) -> bool:
        """Give a dead job its attempts back; False if it is not dead, or another job with its key is queued."""
        ...
