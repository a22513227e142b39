"""The parts of one memory, made from its ports when they are first used."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Any, Unpack

from treering.core.errors import ModelUnavailable, RepositoryUnavailable, StoreError, StoreFull, StoreReadOnly

# Each part imports what it needs itself: a process that uses one verb does not wait for the parts of all others.
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from treering.archive.api import Archive
    from treering.archive.backup import OpenEmbedded
    from treering.audit import InjectionLog
    from treering.code.api import Code
    from treering.code.sources import CodeSources
    from treering.code.status import CodeStatus
    from treering.context.api import ContextBuilder
    from treering.context.injection.api import InjectionEngine
    from treering.context.trust import Trust
    from treering.core.episodes import Episode
    from treering.core.fields import KnowledgeFields
    from treering.core.history import Action
    from treering.core.privacy import ModelLocation
    from treering.core.records import Knowledge
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.entities.api import Entities
    from treering.episodes.api import Episodes
    from treering.episodes.operations import EpisodeOperations
    from treering.jobs.worker import SettleReport, Worker
    from treering.knowledge.api import KnowledgeBase
    from treering.maintenance.api import Maintenance
    from treering.maintenance.background import Background
    from treering.maintenance.doctor import DoctorReport, LocationStatus
    from treering.maintenance.inline_jobs import JobsLeft
    from treering.maintenance.stats import Stats
    from treering.maintenance.vectors import Vectors
    from treering.observe.api import Observer
    from treering.observe.sessions import Sessions
    from treering.patterns.api import Patterns
    from treering.patterns.matching.ranking import RankedPattern
    from treering.ports.blobs import Blobs
    from treering.ports.clock import Clock, NewId
    from treering.ports.models import Models
    from treering.ports.store import Check, Store, Transaction
    from treering.ports.tokens import Tokenizer
    from treering.search.accesses import ReturnedRecords
    from treering.search.api import Search
    from treering.search.code_hits import CodeMatches, CodeRequest
    from treering.task.factory import TaskServices

CLOSE_SECONDS = 1.0  # time to store counts and vectors of reads on close; both can be made again

_LOG = logging.getLogger(__name__)


@dataclass(eq=False)
class Services:
    """Ports and parts of one memory."""

    scope: Scope
    settings: Settings
    store: Store
    blobs: Blobs
    models: Models
    clock: Clock
    new_id: NewId
    tokenizers: Callable[[str], Tokenizer]
    make_workers: Callable[[], tuple[Worker, Maintenance]]
    stop: Event
    """Ends every worker of this memory once it is set."""
    background: Background | None
    open_embedded: OpenEmbedded
    code_sources: Callable[[], CodeSources]
    location_status: Callable[[], LocationStatus]
    version: str
    _flushes: list[Callable[[float], None]] = field(default_factory=list)
    """Store what a part keeps in memory while another process writes; called with the seconds it may wait."""
    _forget_hooks: list[Callable[[str], object]] = field(default_factory=list)
    """Drop what a part has cached of a record that is about to be forgotten."""

    @cached_property
    def knowledge(self) -> KnowledgeBase:
        from treering.knowledge.api import KnowledgeBase

        return KnowledgeBase(
            scope=self.scope,
            store=self.store,
            clock=self.clock,
            new_id=self.new_id,
            settings=self.settings,
            sweep=lambda: self.worker.only("sweep_blobs").settle,
            on_forget=self._drop_cached,
        )

    @cached_property
    def search(self) -> Search:
        from treering.search.api import Search

        return Search(
            scope=self.scope,
            store=self.store,
            clock=self.clock,
            settings=self.settings,
            models=self.models,
            accesses=self._accesses,
            find_code=self._find_code,
        )

    @cached_property
    def context(self) -> ContextBuilder:
        from treering.context.api import ContextBuilder

        return ContextBuilder(
            scope=self.scope,
            store=self.store,
            clock=self.clock,
            settings=self.settings,
            models=self.models,
            search=self.search.run,
            note_access=self._accesses.note,
            injected=self.note_injection,
            git_home=lambda: self.code_sources().git,
        )

    @cached_property
    def trust(self) -> Trust:
        from treering.context.trust import Trust

        return Trust(self.scope, self.store, self.clock, self.new_id)

    @cached_property
    def injections(self) -> InjectionEngine:
        from treering.compose.pauses import is_off
        from treering.context.injection.api import InjectionEngine

        made = InjectionEngine(
            scope=self.scope,
            store=self.store,
            clock=self.clock,
            new_id=self.new_id,
            settings=self.settings,
            search=self.search.run,
            prefetch=self.context.prefetch,
            find_patterns=self._find_patterns,
            log=self.note_injection,
            paused=is_off,
        )
        # Before the audit log, which it writes to.
        self._flushes.insert(0, made.close)
        return made

    @cached_property
    def episodes(self) -> Episodes:
        from treering.episodes.api import Episodes

        return Episodes(
            scope=self.scope,
            store=self.store,
            clock=self.clock,
            new_id=self.new_id,
            settings=self.settings,
            models=self.models,
            operations=self.episode_operations,
        )

    @cached_property
    def episode_operations(self) -> EpisodeOperations:
        from treering.episodes.cache import MAX_CACHED_EPISODES, EpisodeCache
        from treering.episodes.operations import EpisodeOperations
        from treering.knowledge.removal.episodes import purge_deleted

        cache = EpisodeCache(MAX_CACHED_EPISODES)
        made = EpisodeOperations(
            self.scope, self.store, self.clock, self.new_id, self.settings, self.models, cache, purge_deleted
        )
        self._flushes.append(made.write_accesses)
        self._forget_hooks.append(cache.drop)
        return made

    @cached_property
    def patterns(self) -> Patterns:
        from treering.patterns.advice import PatternAdvisor
        from treering.patterns.api import Patterns

        advisor = PatternAdvisor(
            scope=self.scope, store=self.store, clock=self.clock, settings=self.settings, models=self.models
        )
        self._forget_hooks.append(lambda _id: advisor.habits.clear())
        return Patterns(
            scope=self.scope,
            store=self.store,
            clock=self.clock,
            new_id=self.new_id,
            settings=self.settings,
            advisor=advisor,
            note_injection=self.note_injection,
        )

    @cached_property
    def code(self) -> Code:
        from treering.code.api import Code
        from treering.code.locations.embedding import ChunkEmbedding
        from treering.code.locations.search import LocationSearch

        def may_leave(tx: Transaction, query: str, location: ModelLocation) -> bool:
            from treering.search.private_words import query_may_leave

            return query_may_leave(tx, query, location)

        work = ChunkEmbedding(self.scope, self.store, self.clock, self.settings)
        search = LocationSearch(work, self.models, self.new_id, may_leave)

        def remember(text: str, *, type: str, **fields: Unpack[KnowledgeFields]) -> Knowledge:
            return self.knowledge.remember(text, type=type, **fields)

        made = Code(
            self.scope,
            self.store,
            self.clock,
            self.settings.code,
            self.code_sources(),
            location_search=search,
            remember=remember,
        )
        self._flushes.append(made.store_vectors)
        return made

    @cached_property
    def entities(self) -> Entities:
        from treering.entities.api import Entities

        return Entities(self.scope, self.store, self.settings, self.models, self.clock, self.new_id)

    @cached_property
    def observer(self) -> Observer:
        from treering.observe.api import Observer
        from treering.observe.finished import SessionFinisher

        completed = self.sessions.listeners.notify
        return Observer(SessionFinisher(self.scope, self.store, self.clock, self.new_id, self.models, completed))

    @cached_property
    def sessions(self) -> Sessions:
        from treering.observe.sessions import Sessions

        return Sessions(self.scope, self.store, self.clock, lambda: self.observer)

    @cached_property
    def tasks(self) -> TaskServices:
        from treering.task.factory import TaskServices

        return TaskServices(
            store=self.store,
            settings=self.settings,
            clock=self.clock,
            new_id=self.new_id,
            search=self.search.run,
            tokenizers=self.tokenizers,
            store_episode=self._keep_task,
            injected=self.note_injection,
        )

    @cached_property
    def archive(self) -> Archive:
        from treering.archive.api import Archive

        return Archive(
            scope=self.scope,
            store=self.store,
            blobs=self.blobs,
            clock=self.clock,
            import_line_bytes=self.settings.store.import_line_bytes,
            open_embedded=self.open_embedded,
            note=self.note,
            knowledge=lambda: self.knowledge,
            commit_of=self._commit_of,
        )

    def _commit_of(self, folder: Path) -> str | None:
        try:
            return self.code_sources().repository(folder).history.head()[1]
        except RepositoryUnavailable:
            return None

    @cached_property
    def vectors(self) -> Vectors:
        from treering.maintenance.vectors import Vectors

        return Vectors(self.scope, self.store, self.clock, self.settings, self.models)

    @property
    def worker(self) -> Worker:
        return self._workers[0]

    @cached_property
    def maintenance(self) -> Maintenance:
        made = self._workers[1]
        return made if self.background is None else replace(made, other_checks=(self.background.check,))

    @cached_property
    def _workers(self) -> tuple[Worker, Maintenance]:
        # Made on demand: most calls queue no job and ask nothing of maintenance, whose parts take long to import.
        return self.make_workers()

    @cached_property
    def _accesses(self) -> ReturnedRecords:
        from treering.search.accesses import ReturnedRecords

        made = ReturnedRecords(self.scope, self.store)
        self._flushes.append(lambda seconds: made.store(self.clock(), seconds))
        return made

    @cached_property
    def _injections(self) -> InjectionLog:
        from treering.audit import InjectionLog

        made = InjectionLog(self.scope, self.store, self.new_id)
        self._flushes.append(lambda seconds: made.write(self.clock(), seconds))
        return made

    def note_injection(self, ids: Iterable[str], *, via: str, tokens: int = 0) -> None:
        """Note in the audit log which records were handed to a model; `via` names the way."""
        self._injections.add(self.clock(), tuple(ids), via=via, tokens=tokens)

    def note(self, action: Action, **detail: object) -> None:
        """Write an entry about the project into the audit log; if the store is full, log a warning instead."""
        from treering.audit import note

        try:
            note(self.scope, self.store, self.clock(), self.new_id(), action, **detail)
        except (StoreFull, StoreReadOnly) as exc:
            if isinstance(exc, StoreReadOnly) and self.store.read_only:
                return  # The caller opened it read-only.
            _LOG.warning("%s of project %s is not in the audit log: %s", action.value, self.scope.project, exc)

    def stats(self) -> Stats:
        """Counts of what the project holds."""
        from treering.maintenance.stats import stats

        code = self._code_status()
        return stats(
            self.scope,
            self.store,
            self.clock(),
            episode_cache=self.episode_operations.cache.counts(),
            code={} if code is None else code.to_document(),
        )

    def doctor(self, *, repair: bool) -> DoctorReport:
        """Check the memory; with `repair`, rebuild what is derived first."""
        from treering.core.history import Action
        from treering.maintenance.doctor import examine

        if repair:
            self.note(Action.REPAIR)
        return examine(
            self.scope,
            self.store,
            self.blobs,
            self.clock(),
            models=self.models,
            settings=self.settings,
            version=self.version,
            repair=repair,
            location=self.location_status(),
            other_checks=(self.maintenance.check(), *self._observation_checks(), *self._code_checks()),
        )

    def settle(self, timeout: float) -> SettleReport:
        """Run the background work, or wait until it is done."""
        from treering.knowledge.session_learning import queue_learning
        from treering.search.embedding import queue_embedding

        def queue_more() -> bool:
            now = self.clock()
            if queue_learning(self.scope, self.store, now, self.new_id):
                return True
            return queue_embedding(self.scope, self.store, now, self.models, self.new_id())

        return self.worker.settle(self.scope, timeout, queue_more)

    def run_small_jobs(self, seconds: float | None) -> JobsLeft:
        """Run queued jobs that need no model, for at most about this many seconds."""
        from treering.maintenance.inline_jobs import SmallJobs

        limit = self.settings.jobs.inline_seconds if seconds is None else seconds
        return SmallJobs(self.scope, self.store, self.clock, self.new_id, self.settings).run(limit)

    def _code_status(self) -> CodeStatus | None:
        """Status of the code index; None if nothing is indexed. Does not load the code graph, which takes long."""
        from treering.code.status import status_of

        ended = self.code_sources().ended
        with self.store.reading(self.scope, self.clock()) as tx:
            return status_of(tx.code, ended)

    def _code_checks(self) -> tuple[Check, ...]:
        """The doctor's check of the code index; none if nothing is indexed."""
        from treering.code.status import check_of

        try:
            found = self._code_status()
            if found is None:
                return ()
            with self.store.reading(self.scope, self.clock()) as tx:
                return (check_of(found, tx.code),)
        except StoreError as exc:
            from treering.ports.store import Check

            # A damaged database must not keep the doctor from reporting everything else.
            return (Check("code", False, str(exc)),)

    def _observation_checks(self) -> tuple[Check, ...]:
        """The doctor's check of observed sessions; none if there are none."""
        from treering.observe.unfinished import observation_check

        try:
            return observation_check(self.scope, self.store, self.clock())
        except StoreError as exc:
            from treering.ports.store import Check

            return (Check("observed sessions", False, str(exc)),)

    def with_store(self, store: Store) -> Services:
        """The same parts over another view of the store, for one call: nothing of it outlives the call."""
        return replace(self, store=store, _flushes=[])

    def close(self) -> None:
        """Stop the workers, store what is still in memory, and close the database and the models."""
        self.stop.set()
        with ExitStack() as closing:
            closing.callback(self.models.close)
            closing.callback(self.store.close)
            if self.background is not None:
                self.background.close()
            # Best effort: everything kept only in memory can be computed again.
            with suppress(StoreError, ModelUnavailable):
                self._flush(CLOSE_SECONDS)

    def _flush(self, seconds: float) -> None:
        for flush in self._flushes:
            flush(seconds)
        if self.store.has_unstored_vectors(self.scope):
            from treering.search.embedding import store_vectors

            store_vectors(self.scope, self.store, self.clock(), seconds=seconds)

    def _drop_cached(self, id: str) -> None:
        self.models.forget_queries()
        for drop in self._forget_hooks:
            drop(id)

    def _find_code(self, query: str, request: CodeRequest, private: bool) -> CodeMatches:
        from treering.search.code_hits import CodeMatches

        found = self.code.where(query, limit=request.max_locations, where=request.where, hurried=True, private=private)
        return CodeMatches(found.locations, found.status.up_to_date, found.missing)

    def _find_patterns(self, task: str, *, limit: int) -> tuple[RankedPattern, ...]:
        return self.patterns.find_applicable(task, limit=limit)

    def _keep_task(self, retrieved: Iterable[str], **fields: Any) -> Episode:
        """Store a finished task as an episode and learn from it. An episode based on tainted records is tainted."""
        from treering.core.taint import inherited_taint
        from treering.patterns.finished_tasks import learn_from_task

        with self.store.reading(self.scope, self.clock()) as tx:
            read = [each for of in (tx.knowledge, tx.turns, tx.episodes) for each in of.readable(retrieved)]
        given: Mapping[str, Any] = {"taint": inherited_taint(match.value for match in read), **fields}
        episode = self.episodes.add(**given)
        learn_from_task(self.scope, self.store, self.clock(), self.new_id, episode)
        return episode
