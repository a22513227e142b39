"""What Treering needs from a transaction: collections of records, each with the verbs that its kind allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar, overload

from treering.core.entities import Entity, EntityKind
from treering.core.episodes import Episode, EpisodeLifecycle
from treering.core.history import Action
from treering.core.jobs import Job
from treering.core.queries import (
    EntityFilter,
    EpisodeFilter,
    JobFilter,
    KnowledgeFilter,
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
"""What the audit log says beside the action; never the record's text."""


@dataclass(frozen=True, slots=True)
class Match(Generic[V]):
    """A record that was found; `score` grows with relevance."""

    value: V
    score: float


@dataclass(frozen=True, slots=True)
class Found(Sequence[Match[V]]):
    """What was found, the best first, and what could not be read: the rest is found in spite of it."""

    matches: tuple[Match[V], ...] = ()
    unreadable: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Match[V]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Match[V], ...]: ...
    def __getitem__(self, index: int | slice) -> Match[V] | tuple[Match[V], ...]:
        return self.matches[index]

    def __len__(self) -> int:
        return len(self.matches)


class Readable(Protocol[V, F_contra]):
    """Records of one kind, as one scope sees them. Deleted ones are asked for by filter, never met by accident."""

    def get(self, id: str) -> V | None: ...

    def get_many(self, ids: Iterable[str]) -> Mapping[str, V]: ...

    def find(
        self, where: F_contra | None = None, *, order: Order | None = None, limit: int = 50, after: str | None = None
    ) -> Page[V]: ...

    def count(self, where: F_contra | None = None) -> int: ...

    def stream(self, where: F_contra | None = None) -> Iterator[V]: ...


class Searchable(Readable[V, F_contra], Protocol[V, F_contra]):
    """Records that `index` finds, or that are found by their age."""

    def readable(self, ids: Iterable[str]) -> Found[V]:
        """Those that are here, and the names of those that cannot be read; `score` means nothing."""
        ...

    def newest(self, where: F_contra | None = None, *, limit: int = 10) -> Found[V]:
        """The latest; `score` is their moment in seconds."""
        ...


class Log(Readable[V, F_contra], Protocol[V, F_contra]):
    """Append-only records."""

    def create(self, value: V, action: Action = Action.CREATE, detail: Detail = EMPTY) -> V:
        """Store it; the value as stored is returned. An id that exists is a `Conflict`."""
        ...

    def create_many(self, values: Iterable[V], action: Action = Action.CREATE) -> int: ...


class Removable(Protocol):
    """What may be taken away: first softly, then for good, also where a blob it needs is lost."""

    def holds(self, id: str, *, deleted: bool = False) -> bool:
        """Whether `id` is here, without reading it; `deleted` counts what was taken away softly."""
        ...

    def delete(self, id: str, detail: Detail = EMPTY) -> None: ...

    def restore(self, id: str) -> None: ...

    def purge(self, id: str, detail: Detail = EMPTY) -> None:
        """Remove a record and every derived copy of it. The audit log keeps that it was."""
        ...


class Learned(Log[V, F_contra], Removable, Protocol[V, F_contra]):
    """Records that are revised: every change keeps the state before it."""

    def update(self, value: V, action: Action = Action.UPDATE, detail: Detail = EMPTY) -> V:
        """Store `value` over the version it was read at; a stale version is a `Conflict`."""
        ...

    def undo(self, id: str) -> tuple[Record, ...]:
        """Take back the last change, and whatever was changed together with it, of every kind.

        The records as they are now are returned, but for those whose text is lost.
        """
        ...


@dataclass(frozen=True, slots=True)
class Heard:
    """What reading tells of an entity: how many more records speak of it, and what it is."""

    mentions: int = 0
    kind: EntityKind | None = None
    trusted: bool = False
    """Whether a record that is not tainted speaks of it, which clears its taint."""


class Entities(Learned[Entity, EntityFilter], Protocol):
    def hear(self, heard: Mapping[str, Heard]) -> None:
        """Count what was read. Nobody decided anything: there is nothing to undo, and versions stay."""
        ...

    def recount(self, ids: Iterable[str]) -> None:
        """Count mentions anew, by the links that whoever sees the entity sees."""
        ...

    def drop_unmentioned(self, ids: Iterable[str]) -> int:
        """Remove for good those of which no record speaks any more and that nobody named; how many is returned.

        One that only personal records still speak of becomes theirs: one entity for each of their owners.
        """
        ...


class Derived(Readable[V, F_contra], Protocol[V, F_contra]):
    """Records that are computed again and replaced."""

    def put_many(self, values: Iterable[V]) -> int: ...

    def remove(self, where: F_contra) -> int: ...


class SearchableLearned(Learned[V, F_contra], Searchable[V, F_contra], Protocol[V, F_contra]): ...


class KnowledgeRecords(SearchableLearned[Knowledge, KnowledgeFilter], Protocol):
    def count_use(self, ids: Iterable[str]) -> int:
        """Count one use of each, now; how many are here is returned. A use is no change: there is nothing to undo."""
        ...

    def mark_returned(self, returned: Mapping[str, datetime]) -> None:
        """Note when a search returned each of these: an access, but no use, and no change either."""
        ...


class Turns(Log[Turn, TurnFilter], Searchable[Turn, TurnFilter], Removable, Protocol):
    """Turns get their place in the session (`seq`) from the store, which opens the session where it is new."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """Changes whenever a session does: its version, and how many turns it was given."""

    version: int
    turns: int


class Sessions(Readable[Session, SessionFilter], Protocol):
    def pulse(self, id: str) -> Pulse | None:
        """What tells whether a session changed, without reading it. Taking a turn away makes a new version of it."""
        ...

    def open(self, session: Session) -> Session:
        """The session with this id: as it stands, or newly stored."""
        ...

    def create_many(self, values: Iterable[Session], action: Action = Action.CREATE) -> int: ...

    def update(self, value: Session) -> Session:
        """Store it over the version it was read at, but for what the store itself counts."""
        ...

    def end(self, id: str) -> bool:
        """It ended with its last turn; False where it had ended before, or another transaction changes it now.

        The next turn opens it again.
        """
        ...

    def learn(self, id: str, *, known: int, learned: int) -> bool:
        """Its first `learned` turns were read; False where somebody else has read on since `known`."""
        ...


class Episodes(Log[Episode, EpisodeFilter], Searchable[Episode, EpisodeFilter], Removable, Protocol):
    def set_lifecycle(self, id: str, lifecycle: EpisodeLifecycle, *, version: int | None = None) -> Episode:
        """Move an episode on; `Conflict` where `version` is given and is no longer the one that is stored."""
        ...

    def chill(self, slim: Episode) -> Episode:
        """Move the whole episode to the blob store, compressed, and keep `slim` of it here: nothing is lost.

        `slim` is what was read, with less content and another lifecycle. A stale version is a `Conflict`.
        """
        ...

    def restore(self, id: str) -> None:
        """Bring it back; `NothingToUndo` where it stood for several and was taken apart: they are back themselves."""
        ...

    def whole(self, id: str) -> Episode | None:
        """All of it, also of what was moved to the blob store, with its present lifecycle."""
        ...

    def stamp(self, id: str) -> str | None:
        """The same only where everything is the same, also after it was removed and stored anew.

        None where it is not here or was taken away. Costs one row: nothing is parsed, no blob is fetched.
        """
        ...


class Jobs(Readable[Job, JobFilter], Protocol):
    def enqueue(self, job: Job) -> bool:
        """Queue it, in the place of dead letters with its `key`; False where the same key waits already.

        A job with a key is stored at the end of the transaction. True therefore means that a job with this key waits
        once the transaction is stored: this one, unless another transaction queues the key first.
        """
        ...

    def enqueue_first(self, jobs: Sequence[Job]) -> bool:
        """Queue the first of these whose key does not wait already; False if all of them wait. See `enqueue`."""
        ...

    def create_many(self, values: Iterable[Job], action: Action = Action.CREATE) -> int: ...

    def lease(
        self, owner: str, kinds: Sequence[str], *, limit: int, duration: timedelta, key: str | None = None
    ) -> Sequence[Job]:
        """Take up to `limit` due jobs. Nobody else gets them until the lease runs out.

        A `key` asks for that job, also before its time. A job whose last attempt ran out moves to the dead letters;
        jobs that ended long ago are removed. What a clock far ahead put down counts as due.
        """
        ...

    def extend(self, job: Job, duration: timedelta) -> bool:
        """Keep the lease; False where it was lost."""
        ...

    def finish(self, job: Job) -> bool: ...

    def release(self, job: Job) -> bool:
        """Give it back before its time, as if it had not been taken; False where the lease was lost."""
        ...

    def fail(self, job: Job, error: str, *, retry_at: datetime) -> bool:
        """Try again at `retry_at`, or move to the dead letters after the last attempt."""
        ...

    def revive(self, id: str) -> bool:
        """Give a dead job its attempts back; False where it is not dead, or another with its key waits."""
        ...
