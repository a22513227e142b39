"""The store: transactions on one of the two engines."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from treering.adapters.sql import integrity as upkeep
from treering.adapters.sql.context import Dialect, TransactionContext, Unsaved
from treering.adapters.sql.identity import identity_of
from treering.adapters.sql.kinds import (
    AUDIT,
    CO_ACCESS,
    ENTITY_LINKS,
    INJECTED_ITEMS,
    PROJECT_SETTINGS,
    REVISIONS,
    RUNS,
    SCRATCHPADS,
    SIGNAL_EVIDENCE,
)
from treering.adapters.sql.migrate import bring_up_to_date
from treering.adapters.sql.records import DerivedRecords, LogRecords
from treering.adapters.sql.revised_records import KnowledgeTable
from treering.core.errors import StoreError, StoreUnavailable, TransactionAborted
from treering.core.scope import Scope
from treering.core.values import is_storable

# Collections are imported on first use: most commands need two or three of them.
if TYPE_CHECKING:
    from sqlalchemy import Connection, RootTransaction

    from treering.adapters.sql.applications import ApplicationRecords, PatternRecords
    from treering.adapters.sql.code_chunks import StoredChunks
    from treering.adapters.sql.code_history import StoredHistory
    from treering.adapters.sql.code_index import StoredCode
    from treering.adapters.sql.entities import EntityRecords
    from treering.adapters.sql.jobs import SqlJobQueue
    from treering.adapters.sql.observed_sessions import ObservedSessionRecords
    from treering.adapters.sql.sessions import SessionRecords
    from treering.adapters.sql.turns import EpisodeRecords, TurnRecords
    from treering.core.co_access import CoAccessEdge
    from treering.core.entities import EntityLink
    from treering.core.history import AuditEntry, Revision
    from treering.core.injections import InjectedItem
    from treering.core.observations import SavedScratchpad, SignalEvidence
    from treering.core.project_settings import ProjectSetting
    from treering.core.runs import Run
    from treering.core.settings import Settings
    from treering.ports.blobs import Blobs, StoredBlob
    from treering.ports.clock import NewId
    from treering.ports.index import DocumentNumbers, SearchIndex
    from treering.ports.store import Check, CopyContents, ProjectSize, Traces

MAX_WRITE_ATTEMPTS = 8  # a server may abort a write in favour of another one; two aborts in a row are already rare
RETRY_SECONDS = 0.01  # mean pause before the second attempt, doubled each time: longer than most transactions take

T = TypeVar("T")

# Derived data does not depend on the time.
_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)


class SqlTransaction:
    """The collections of one open transaction."""

    def __init__(self, context: TransactionContext) -> None:
        self._context = context
        self.scope = context.scope
        self.now = context.now
        self.blobs = context.blobs

    def claim(self, name: str) -> None:
        for lock in _locks((name,)):
            self._context.dialect.lock(self._context.connection, self.scope, lock)

    def undo_unit(self) -> SqlTransaction:
        return SqlTransaction(replace(self._context, group=self._context.new_id()))

    def owners_of_personal(self) -> Sequence[str]:
        from treering.adapters.sql.owners import owners_of_personal

        return owners_of_personal(self._context)

    @cached_property
    def knowledge(self) -> KnowledgeTable:
        return KnowledgeTable(self._context)

    @cached_property
    def sessions(self) -> SessionRecords:
        from treering.adapters.sql.sessions import SessionRecords

        return SessionRecords(self._context)

    @cached_property
    def turns(self) -> TurnRecords:
        from treering.adapters.sql.turns import TurnRecords

        return TurnRecords(self._context)

    @cached_property
    def episodes(self) -> EpisodeRecords:
        from treering.adapters.sql.turns import EpisodeRecords

        return EpisodeRecords(self._context)

    @cached_property
    def applications(self) -> ApplicationRecords:
        from treering.adapters.sql.applications import ApplicationRecords

        return ApplicationRecords(self._context)

    @cached_property
    def patterns(self) -> PatternRecords:
        from treering.adapters.sql.applications import PatternRecords

        return PatternRecords(self._context)

    @cached_property
    def entities(self) -> EntityRecords:
        from treering.adapters.sql.entities import EntityRecords

        return EntityRecords(self._context)

    @cached_property
    def entity_links(self) -> DerivedRecords[EntityLink]:
        return DerivedRecords(ENTITY_LINKS, self._context)

    @cached_property
    def co_access(self) -> DerivedRecords[CoAccessEdge]:
        return DerivedRecords(CO_ACCESS, self._context)

    @cached_property
    def observed_sessions(self) -> ObservedSessionRecords:
        from treering.adapters.sql.observed_sessions import ObservedSessionRecords

        return ObservedSessionRecords(self._context)

    @cached_property
    def scratchpads(self) -> DerivedRecords[SavedScratchpad]:
        return DerivedRecords(SCRATCHPADS, self._context)

    @cached_property
    def evidence(self) -> DerivedRecords[SignalEvidence]:
        return DerivedRecords(SIGNAL_EVIDENCE, self._context)

    @cached_property
    def injected_items(self) -> DerivedRecords[InjectedItem]:
        return DerivedRecords(INJECTED_ITEMS, self._context)

    @cached_property
    def project_settings(self) -> DerivedRecords[ProjectSetting]:
        return DerivedRecords(PROJECT_SETTINGS, self._context)

    @cached_property
    def audit(self) -> LogRecords[AuditEntry]:
        return LogRecords(AUDIT, self._context)

    @cached_property
    def revisions(self) -> LogRecords[Revision]:
        return LogRecords(REVISIONS, self._context)

    @cached_property
    def runs(self) -> DerivedRecords[Run]:
        return DerivedRecords(RUNS, self._context)

    @cached_property
    def jobs(self) -> SqlJobQueue:
        from treering.adapters.sql.jobs import SqlJobQueue

        return SqlJobQueue(self._context)

    @cached_property
    def code(self) -> StoredCode:
        from treering.adapters.sql.code_index import StoredCode

        return StoredCode(self._context)

    @cached_property
    def chunks(self) -> StoredChunks:
        from treering.adapters.sql.code_chunks import StoredChunks

        return StoredChunks(self._context)

    @cached_property
    def code_history(self) -> StoredHistory:
        from treering.adapters.sql.code_history import StoredHistory

        return StoredHistory(self._context)

    @cached_property
    def documents(self) -> DocumentNumbers:
        from treering.adapters.sql.listed_documents import ListedDocuments

        return ListedDocuments(self._context)

    @cached_property
    def index(self) -> SearchIndex:
        return self._context.dialect.index(self._context)


def _locks(claims: Sequence[str]) -> list[str]:
    """A name that no engine can store belongs to no record, so there is nothing to lock."""
    return [f"claim {name}" for name in claims if is_storable(name)]


class GuardedBlobs:
    """The blob store in one transaction: its first put blocks sweeps until the transaction ends."""

    def __init__(self, blobs: Blobs, guard: Callable[[], None]) -> None:
        self._blobs = blobs
        self._guard = guard
        self._guarded = False
        self.location = blobs.location

    def within(self, namespace: str) -> GuardedBlobs:
        return GuardedBlobs(self._blobs.within(namespace), self._guard)

    def put(self, scope: Scope, data: bytes) -> str:
        if not self._guarded:
            self._guard()
            self._guarded = True
        return self._blobs.put(scope, data)

    def get(self, scope: Scope, digest: str) -> bytes:
        return self._blobs.get(scope, digest)

    def has(self, scope: Scope, digest: str) -> bool:
        return self._blobs.has(scope, digest)

    def delete(self, scope: Scope, digest: str) -> None:
        self._blobs.delete(scope, digest)

    def stream(self, scope: Scope) -> Iterator[StoredBlob]:
        return self._blobs.stream(scope)

    def sweep_unfinished(self, now: datetime) -> int:
        return self._blobs.sweep_unfinished(now)


class SqlStore:
    """An open database at the current schema."""

    def __init__(self, dialect: Dialect, blobs: Blobs, settings: Settings, new_id: NewId) -> None:
        self._dialect = dialect
        self._settings = settings
        self._new_id = new_id
        self._closed = False
        self.on_queued: Callable[[], object] = lambda: None
        self.engine = dialect.name
        self.location = dialect.location
        with dialect.translated():
            self._engine = dialect.open()
            try:
                bring_up_to_date(self._engine, dialect, rederive=partial(self._rederive, blobs))
                self.identity = identity_of(self._engine)
                self.blobs = blobs.within(self.identity)
            except BaseException:
                dialect.release(self._engine)
                raise

    def _rederive(self, blobs: Blobs, connection: Connection) -> None:
        """After a migration: rebuild derived data of every project, in the migration's transaction."""
        self.blobs = blobs.within(identity_of(self._engine))
        projects = {(tenant, project) for tenant, project, _ in self._dialect.names(connection)}
        for tenant, project in sorted(projects):
            scope = Scope(tenant=tenant, project=project)
            self._dialect.enter(connection, scope)
            upkeep.rebuild(self._context(connection, scope, _ANY_TIME, writing=True))

    @contextmanager
    def transaction(
        self, scope: Scope, now: datetime, *, seconds: float | None = None, claims: Sequence[str] = ()
    ) -> Iterator[SqlTransaction]:
        """Waits at most `seconds` for others, by default as the settings say."""
        with (
            self._writable(),
            self._dialect.writing(seconds),
            self._open(scope, now, writing=True, seconds=seconds, claims=claims) as context,
        ):
            yield SqlTransaction(context)
        for follow in context.after_commit:
            follow()
        if context.queued:
            self.on_queued()

    def write(
        self, scope: Scope, now: datetime, work: Callable[[SqlTransaction], T], *, claims: Sequence[str] = ()
    ) -> T:
        for attempt in range(1, MAX_WRITE_ATTEMPTS):
            try:
                with self.transaction(scope, now, claims=claims) as tx:
                    return work(tx)
            except TransactionAborted:
                # Random pauses, so that two transactions do not collide again.
                time.sleep(random.uniform(0, 2 * RETRY_SECONDS * 2 ** (attempt - 1)))
        with self.transaction(scope, now, claims=claims) as tx:
            return work(tx)

    def write_if_free(
        self, scope: Scope, now: datetime, work: Callable[[SqlTransaction], object], *, seconds: float = 0.0
    ) -> bool:
        if self.read_only:
            return False
        try:
            with self.transaction(scope, now, seconds=seconds) as tx:
                work(tx)
        except StoreUnavailable:
            return False
        return True

    def has_unstored_vectors(self, scope: Scope) -> bool:
        return self._dialect.has_unstored_vectors(scope)

    @contextmanager
    def reading(self, scope: Scope, now: datetime, *, for_search: bool = False) -> Iterator[SqlTransaction]:
        with self._usable(), self._open(scope, now, writing=False, for_search=for_search) as context:
            yield SqlTransaction(context)

    def sizes(self, scope: Scope) -> Mapping[str, int]:
        with self._usable(), self._engine.connect() as connection:
            sizes = self._dialect.sizes(connection)
        return {**sizes, "blobs": sum(blob.size for blob in self.blobs.stream(scope))}

    def projects(self, scope: Scope, now: datetime) -> Sequence[ProjectSize]:
        from treering.adapters.sql.projects import projects_of

        with self._usable(), self._engine.connect() as connection:
            return projects_of(connection, self._dialect, self.blobs, scope)

    def check(self, scope: Scope, now: datetime) -> Sequence[Check]:
        with self._usable(), self._open(scope, now, writing=False) as context:
            return (*self._dialect.check(context.connection, scope), *upkeep.check(context))

    def repair(self, scope: Scope, now: datetime) -> Sequence[str]:
        with self._usable(), self._open(scope, now, writing=False) as context:
            damage = self._dialect.damage(context.connection)
        if damage:
            return ("rebuilt nothing: the file itself is damaged",)
        done = [*self.rebuild(scope, now), *self._collect_garbage(scope, now)]
        self.erase_traces()
        return done

    def _collect_garbage(self, scope: Scope, now: datetime) -> Iterator[str]:
        """Remove leftovers of a crash from the blob store, unless any check fails."""
        yield f"removed {self.blobs.sweep_unfinished(now):,} unfinished blobs"
        if aside := self._dialect.kept_aside():
            yield f"removed no blobs: {aside[0]} may still need them; delete that file once you no longer need it"
        elif not all(check.fine for check in self._soundness(scope, now)):
            yield "removed no blobs: first repair what is wrong with the records"
        else:
            with self.upkeep(scope, now) as context:
                yield f"removed {upkeep.sweep_orphans(context):,} blobs that nothing refers to"

    def _soundness(self, scope: Scope, now: datetime) -> Sequence[Check]:
        with self._usable(), self._open(scope, now, writing=False) as context:
            return upkeep.soundness(context)

    def rebuild(self, scope: Scope, now: datetime) -> Sequence[str]:
        """Rebuild the derived tables; unlike `repair`, this leaves every blob in place.

        Runs in one transaction.
        """
        with self.upkeep(scope, now) as context:
            return upkeep.rebuild(context)

    def sweep_blobs(self, scope: Scope, digests: Sequence[str], now: datetime) -> int:
        with self.upkeep(scope, now) as context:
            return upkeep.sweep_blobs(context, digests)

    def optimise(self) -> None:
        with self._writable():
            self._dialect.optimise(self._engine)

    def erase_traces(self, seconds: float | None = None) -> None:
        with self._writable():
            self._dialect.erase_traces(self._engine, seconds)

    def find_traces(self, scope: Scope, now: datetime, needles: Sequence[str]) -> Traces:
        from treering.adapters.sql.traces import traces_of

        with self._usable(), self._open(scope, now, writing=False) as context:
            files = [Path(f"{self.location}{suffix}") for suffix in self._dialect.raw_files]
            return traces_of(context, files, needles)

    def copy_to(self, target: Path, *, moved: bool = False) -> CopyContents | None:
        with self._usable():
            return self._dialect.copy_to(self._engine, target, self.identity if moved else self._new_id())

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._dialect.before_close(self._engine)
        self._dialect.release(self._engine)

    @contextmanager
    def upkeep(self, scope: Scope, now: datetime) -> Iterator[TransactionContext]:
        """A transaction for maintenance of derived data."""
        with (
            self._writable(),
            self._dialect.writing(None),
            self._open(scope, now, writing=True) as context,
        ):
            yield context
        for follow in context.after_commit:
            follow()

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Translate driver errors; reject a closed store, which would silently reopen."""
        if self._closed:
            raise StoreError(f"{self.location} is closed; open it again")
        with self._dialect.translated():
            yield

    @contextmanager
    def _writable(self) -> Iterator[None]:
        with self._usable():
            if self._dialect.read_only is not None:
                raise type(self._dialect.read_only)(*self._dialect.read_only.args)
            yield

    @property
    def read_only(self) -> bool:
        return self._dialect.read_only is not None

    def _entered(
        self, scope: Scope, *, writing: bool, for_search: bool, seconds: float | None, claims: Sequence[str]
    ) -> tuple[Connection, RootTransaction]:
        """A transaction with its scope set. A connection that died in the pool is replaced."""
        for last in (False, True):
            options = self._dialect.options(writing=writing)
            connection = self._engine.connect().execution_options(**options)
            try:
                transaction = connection.begin()
                self._dialect.start(
                    connection,
                    scope,
                    writing=writing,
                    for_search=for_search,
                    seconds=seconds,
                    locks=_locks(claims),
                )
            except BaseException as exc:
                connection.close()
                if last or not getattr(exc, "connection_invalidated", False):
                    raise
            else:
                return connection, transaction
        raise AssertionError("the second try returns or raises")

    @contextmanager
    def _open(
        self,
        scope: Scope,
        now: datetime,
        *,
        writing: bool,
        for_search: bool = False,
        seconds: float | None = None,
        claims: Sequence[str] = (),
    ) -> Iterator[TransactionContext]:
        connection, transaction = self._entered(
            scope, writing=writing, for_search=for_search, seconds=seconds, claims=claims
        )
        with connection, transaction:
            context = self._context(connection, scope, now, writing=writing, for_search=for_search)
            yield context
            purging = bool(context.purged)
            if context.purged:
                from treering.adapters.sql.entities import forget_links_of_purged

                forget_links_of_purged(context)
            if context.removed:
                from treering.adapters.sql.sessions import forget_quotations

                forget_quotations(context)
            if purging and context.cancelled_words:
                self._dialect.erase_words(context)
            if context.deferred_jobs:
                from treering.adapters.sql.jobs import queue_deferred

                queue_deferred(context)

    def _context(
        self, connection: Connection, scope: Scope, now: datetime, *, writing: bool, for_search: bool = False
    ) -> TransactionContext:
        guard = partial(self._dialect.guard_blobs, connection, scope, sweeping=False)
        return TransactionContext(
            connection=connection,
            scope=scope,
            now=now,
            dialect=self._dialect,
            blobs=GuardedBlobs(self.blobs, guard),
            settings=self._settings,
            new_id=self._new_id,
            group=self._new_id(),
            writing=writing,
            for_search=for_search,
            unsaved=Unsaved(self._dialect.changes(connection)),
        )
