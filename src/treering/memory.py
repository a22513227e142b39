"""Memory: the verbs every door calls. It delegates; the rooms do the work."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import date, datetime
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from treering.core.errors import InvalidInput, ModelUnavailable, NotFound, StoreError, StoreFull, StoreReadOnly
from treering.core.history import Action
from treering.core.phases import Phase
from treering.core.timestamps import end_of
from treering.parts import AmongRemoved, Ports, with_code
from treering.search.request import ALL_KNOWLEDGE, ALL_TURNS, Recall, filters_of, known_at, standing, untainted

# The verbs import what they need themselves: a process that uses one verb does not wait for the parts of all others.
if TYPE_CHECKING:
    from treering.archive.restore import Imported
    from treering.audit import Injections
    from treering.code.api import Code
    from treering.code.status import CodeStatus
    from treering.context.briefing import Briefing
    from treering.conversation.api import Conversation
    from treering.conversation.views import Happened
    from treering.core.episodes import Episode
    from treering.core.history import AuditEntry, HistoryEntry
    from treering.core.messages import Role
    from treering.core.patterns import Pattern
    from treering.core.privacy import ModelLocation
    from treering.core.queries import KnowledgeFilter, SearchFilter, TurnFilter
    from treering.core.records import Knowledge
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.core.tokens import CountTokens
    from treering.core.turns import Turn
    from treering.entities.api import Entities
    from treering.episodes.api import Episodes
    from treering.episodes.operations import EpisodeCare
    from treering.episodes.storage import Content
    from treering.jobs.worker import Settled
    from treering.knowledge.api import Teaching
    from treering.knowledge.authors import Author, Reason
    from treering.knowledge.removal.proof import Forgotten
    from treering.maintenance.api import Upkeep
    from treering.maintenance.doctor import Report
    from treering.maintenance.health_report import HealthReport
    from treering.maintenance.inline_jobs import JobsLeft
    from treering.maintenance.stats import Stats
    from treering.patterns.api import Patterns
    from treering.ports.store import Check, ProjectSize, Transaction
    from treering.ports.tokens import Tokenizer
    from treering.render.budget import Packed
    from treering.search.accesses import ReturnedRecords
    from treering.search.answer import Answer, Hit
    from treering.task.api import Task
    from treering.task.pruning import Step

CLOSE_SECONDS = 1.0  # time to store counts and vectors of reads on close; both can be made again
MAX_RESULTS = 30  # results considered for a context: more than fit into the largest budget

_LOG = logging.getLogger(__name__)


class Memory:
    """One project's memory, open until `close`. Safe to share between threads."""

    def __init__(self, scope: Scope, ports: Ports, settings: Settings) -> None:
        self.scope = scope
        self.store = ports.store
        self.settings = settings
        self.models = ports.models
        self._ports = ports

    @cached_property
    def _episode_care(self) -> EpisodeCare:
        from treering.episodes.cache import MAX_CACHED_EPISODES, EpisodeCache
        from treering.episodes.operations import EpisodeCare
        from treering.knowledge.removal.episodes import purge_deleted

        ports, cache = self._ports, EpisodeCache(MAX_CACHED_EPISODES)
        return EpisodeCare(
            self.scope, self.store, ports.clock, ports.new_id, self.settings, self.models, cache, purge_deleted
        )

    @cached_property
    def _returned(self) -> ReturnedRecords:
        from treering.search.accesses import ReturnedRecords

        return ReturnedRecords(self.scope, self.store)

    @cached_property
    def _teaching(self) -> Teaching:
        from treering.knowledge.api import Teaching

        settings = self.settings
        return Teaching(self.store, settings.knowledge, self._ports.new_id, settings.episodes)

    def remember(self, text: str, *, type: str = "fact", **fields: Any) -> Knowledge:
        """Keep a piece of knowledge. `fields` are those of `Knowledge`: tags, files, confidence, payload, id…"""
        return self._teaching.remember(self.scope, self._ports.clock(), text, type=type, **fields)

    def remember_many(self, records: Iterable[Knowledge | str]) -> int:
        """Store many records, or texts as facts, in one transaction, each text once; returns how many were new."""
        return self._teaching.remember_many(self.scope, self._ports.clock(), records)

    def turn(
        self,
        *,
        session: str,
        role: Role | str,
        text: str,
        id: str | None = None,
        at: datetime | date | str | None = None,
        **fields: Any,
    ) -> Turn:
        """Keep what was said. `at` is when it was said; a turn delivered twice under one id is stored once."""
        from treering.conversation.turns import add_turn

        said = {"session": session, "role": role, "text": text, **fields}
        return add_turn(self.scope, self.store, self._ports.clock(), self._ports.new_id, id=id, at=at, **said)

    def episode(
        self,
        task: str | Mapping[str, Any],
        *,
        outcome: str | Mapping[str, Any] = "SUCCESS",
        output: str | None = None,
        session: str | None = None,
        at: datetime | date | str | None = None,
        id: str | None = None,
        artifacts: Mapping[str, Content] | None = None,
        **fields: Any,
    ) -> Episode:
        """Keep a whole task execution. `fields` are what is known of it: plan, trace, insights, domain, tools, tags…

        The parts of `Episode` (task, execution, outcome, reflection, metadata) may be given as mappings instead.
        `artifacts` are what it produced, by name: bytes, text or a path. One delivered twice under one id is stored
        once.
        """
        from treering.episodes.storage import keep_episode

        told = {"task": task, "outcome": outcome, "output": output, "session": session, **fields}
        return keep_episode(
            self.scope,
            self.store,
            self._ports.clock(),
            self._ports.new_id,
            id=id,
            at=at,
            settings=self.settings,
            artifacts=artifacts or {},
            **told,
        )

    @cached_property
    def episodes(self) -> Episodes:
        """Every way to an episode: search, recent, around, during, trend, similar_failures, get, artifact…"""
        from treering.episodes.api import Episodes

        ports = self._ports
        return Episodes(self.scope, self.store, ports.clock, self.settings, self.models, self._episode_care)

    @cached_property
    def patterns(self) -> Patterns:
        """What works, with evidence: find_applicable, record_application, validate, refine, merge, mine…"""
        from treering.patterns.api import Patterns

        ports = self._ports
        return Patterns(
            scope=self.scope,
            store=self.store,
            clock=ports.clock,
            new_id=ports.new_id,
            settings=self.settings,
            models=self.models,
            injected=self.injected,
        )

    @cached_property
    def code(self) -> Code:
        """The code graph: index, watch, find, impact, dependencies, data_flow, path, entry_points, module_map…"""
        from treering.code.api import Code
        from treering.code.locations.embedding import ChunkEmbedding
        from treering.code.locations.search import Places

        def may_leave(tx: Transaction, query: str, location: ModelLocation) -> bool:
            from treering.search.private_words import query_may_leave

            return query_may_leave(tx, query, location)

        ports = self._ports
        work = ChunkEmbedding(self.scope, self.store, ports.clock, self.settings)
        places = Places(work, self.models, ports.new_id, may_leave)
        return Code(self.scope, self.store, ports.clock, self.settings.index, ports.surroundings(), places=places)

    def conversation(
        self,
        id: str,
        *,
        model: str | None = None,
        limit: int | None = None,
        max_tokens: int | None = None,
        max_messages: int | None = None,
        keep_recent: int | None = None,
        strategy: str | None = None,
        oversize: str | None = None,
        at_task_boundary: bool | None = None,
        tokenizer: Tokenizer | str | None = None,
        on_event: Callable[[Happened], None] = lambda _happened: None,
    ) -> Conversation:
        """A conversation with a model: all of it is kept, what fits is sent. Its turns are the session's of this id.

        Without a model it goes on under the rules it was held under before.
        """
        from treering.conversation.factory import open_conversation

        rules = {
            "limit": limit,
            "max_tokens": max_tokens,
            "max_messages": max_messages,
            "keep_recent": keep_recent,
            "strategy": strategy,
            "oversize": oversize,
            "at_task_boundary": at_task_boundary,
        }
        return open_conversation(
            self.scope,
            self._ports,
            self.settings,
            id=id,
            model=model,
            rules=rules,
            tokenizer=tokenizer,
            find=AmongRemoved(self.settings, self.search),
            on_event=on_event,
            injected=self.injected,
        )

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        where: SearchFilter | None = None,
        knowledge: KnowledgeFilter | None = ALL_KNOWLEDGE,
        turns: TurnFilter | None = ALL_TURNS,
        superseded: bool = False,
        as_of: datetime | date | str | None = None,
        files: Iterable[str] = (),
        phase: Phase | str | None = None,
        explain: bool = False,
        thorough: bool = True,
        precise: bool = False,
        repeated: bool = False,
        private: bool = False,
        tainted: bool = True,
        code: bool | None = None,
    ) -> Answer:
        """The best matching knowledge, turns, episodes, patterns and places in the code, in one ranking.

        `where` narrows all of them.

        `knowledge` and `turns` are filters of these two kinds, for who wants no others; None leaves that kind out.

        What was corrected or flagged stays out unless `superseded` asks for it; `as_of` answers from what was known
        and believed at that time. `files` are those in play now, `phase`
        what the work is at; `explain` tells why each result stands where it stands. A `thorough` search that finds
        little asks the language model, where one is configured, what an answer might sound like. A `precise` one
        answers only with what the query is really about, by name or by most of its words: often with nothing.
        With `repeated`, results that say the same as a better one are not folded into it. A `private` query is sent to
        no model on another machine, nor is one with a word that only private records hold. Without `tainted`, nothing
        is found that came from outside and was not confirmed.
        Places in the project's code are results where the query asks for a place, or with `code` or the kind `code`
        of `where`; not where `code` is False.
        """
        from treering.search.code_hits import code_request, names_code
        from treering.search.pipeline import recall

        if precise and superseded:
            raise InvalidInput("precise recall never answers with what was superseded; leave one of the two out")
        now = self._ports.clock() if as_of is None else end_of(as_of, self._ports.clock())
        filters = filters_of(where, knowledge, turns) if tainted else untainted(filters_of(where, knowledge, turns))
        if as_of is not None:
            filters = known_at(filters, now)
        elif not superseded:
            filters = standing(filters)
        wanted = Recall(
            query=query,
            filters=filters,
            limit=self.settings.recall.limit if limit is None else limit,
            files=tuple(files),
            phase=None if phase is None else Phase.named(phase),
            explain=explain,
            thorough=thorough,
            precise=precise,
            repeated=repeated,
            private=private,
            as_of=as_of is not None,
        )
        answer = recall(self.scope, self.store, now, wanted, settings=self.settings, models=self.models)
        if as_of is None:
            self._returned.note(answer, now)
        if code is None and (as_of is not None or precise):
            code = names_code(where)
        elif code is None and (knowledge, turns) != (ALL_KNOWLEDGE, ALL_TURNS):
            code = False
        request = code_request(query, where, code=code, limit=wanted.limit, settings=self.settings)
        if request is None or not self._has_code:
            return answer
        return with_code(answer, lambda: self.code, request, private=private)

    @property
    def _has_code(self) -> bool:
        """Whether code is indexed. `memory.code` is not made for it: its parts take long to import."""
        with self.store.reading(self.scope, self._ports.clock()) as tx:
            return tx.code.state() is not None

    recall = search
    """Its name until now."""

    def pack(
        self,
        query: str,
        *,
        phase: Phase | str | None = None,
        budget: int | None = None,
        reflection: bool = True,
        rules: bool = True,
        session: str | None = None,
        tainted: bool = False,
        **options: Any,
    ) -> Packed:
        """What `recall` finds as text for a prompt, each item cited, in a budget of tokens; `options` are recall's.

        The `rules` that apply come first, the newest `reflection` last. Nothing of the current `session` is repeated:
        the model has read it. Nothing that came from outside and was not confirmed is in it, unless `tainted` asks for
        it.
        """
        from treering.context.current_session import without_session
        from treering.context.reflection import latest_reflection
        from treering.render.budget import pack

        narrowed = any(options.get(name) for name in ("where", "as_of", "precise"))
        narrowed |= options.get("knowledge", ALL_KNOWLEDGE) != ALL_KNOWLEDGE
        usual = {"limit": MAX_RESULTS, "thorough": False, "code": False}
        if session is not None:
            options = without_session(options, session)
        found = self.search(query, phase=phase, tainted=tainted, **{**usual, **options})
        chosen = None if phase is None else Phase.named(phase)
        # Who asks for the past, or for nothing that is known, is not told what was thought of it last week.
        shown = reflection and options.get("as_of") is None and options.get("knowledge", ALL_KNOWLEDGE) is not None
        latest = latest_reflection(self.scope, self.store, self._ports.clock(), tainted=tainted) if shown else None
        packed = pack(
            found.hits,
            phase=chosen,
            budget=budget,
            settings=self.settings.pack,
            reflection=latest,
            rules=self._rules(options.get("files", ()), chosen, session) if rules and not narrowed else (),
        )
        self.injected([item.id for item in packed.items], via="pack", tokens=packed.tokens)
        return packed

    def _rules(self, files: Iterable[str], phase: Phase | None, session: str | None) -> list[Hit]:
        from treering.context.rules import as_hits, standing_rules

        with self.store.reading(self.scope, self._ports.clock()) as tx:
            return as_hits(standing_rules(tx, files=files, phase=phase, session=session))

    def injected(self, ids: Iterable[str], *, via: str, tokens: int = 0) -> None:
        """Note in the audit log that these records were handed to a model, whichever way: `via` says which."""
        self._injections.add(self._ports.clock(), tuple(ids), via=via, tokens=tokens)

    @cached_property
    def _injections(self) -> Injections:
        from treering.audit import Injections

        return Injections(self.scope, self.store, self._ports.new_id)

    def audit(
        self, *, actions: Iterable[Action | str] = (), subject: str | None = None, limit: int = 50
    ) -> tuple[AuditEntry, ...]:
        """The audit log, newest first: each write, injection and removal. `actions` and `subject` narrow it."""
        from treering.audit import audit

        named = tuple(Action.named(action) for action in actions)
        return audit(self.scope, self.store, self._ports.clock(), actions=named, subject=subject, limit=limit)

    def projects(self) -> tuple[ProjectSize, ...]:
        """The projects of this database that belong to the same tenant, with what they hold."""
        return tuple(self.store.projects(self.scope, self._ports.clock()))

    def briefing(self, session: str | None = None, *, episodes: int = 5, tainted: bool = False) -> Briefing:
        """Where things stand as a session begins or goes on: kept, in progress, rules that stand, the latest tasks.

        With `tainted`, also what the session kept and did that came from outside and was not confirmed.
        """
        from treering.context.briefing import briefing

        return briefing(self.scope, self.store, self._ports.clock(), session, episodes, tainted=tainted)

    def to_review(self, *, limit: int = 20) -> tuple[Knowledge, ...]:
        """What waits for a person to confirm, correct or forget it; what is doubted comes first."""
        from treering.context.briefing import to_review

        return to_review(self.scope, self.store, self._ports.clock(), limit)

    def task(
        self,
        description: str | None = None,
        *,
        id: str | None = None,
        model: str | None = None,
        count: CountTokens | None = None,
        on_event: Callable[[Step], None] | None = None,
        **context: Any,
    ) -> Task:
        """A task's working memory: new with a description, else resumed from its latest save by `id`.

        `model` or `count` says how many tokens a text takes; `on_event` hears each step of pruning; `context` is what
        `load_task_context` takes: goals, constraints, success_criteria, plan, system.
        """
        from treering.task.factory import Desk, open_task

        ports, settings = self._ports, self.settings

        def keep_episode(retrieved: Iterable[str], **told: Any) -> Episode:
            from treering.core.taint import inherited_taint
            from treering.patterns.finished_tasks import learn_from_task

            with self.store.reading(self.scope, ports.clock()) as tx:
                read = [each for of in (tx.knowledge, tx.turns, tx.episodes) for each in of.readable(retrieved)]
            # What rests on tainted text is tainted as well.
            episode = self.episode(**{"taint": inherited_taint(match.value for match in read), **told})
            learn_from_task(self.scope, self.store, ports.clock(), ports.new_id, episode)
            return episode

        desk = Desk(
            self.store,
            settings,
            ports.clock,
            ports.new_id,
            self.search,
            ports.tokenizers,
            keep_episode,
            self.injected,
        )
        return open_task(self.scope, desk, description, id=id, model=model, count=count, on_event=on_event, **context)

    def get(self, id: str) -> Knowledge | Turn | Episode | Pattern:
        """The record with this id, of any kind; a forgotten one is not found.

        A superseded one names its successor (`superseded_by`).
        """
        from treering.core.records import Knowledge

        with self.store.reading(self.scope, self._ports.clock()) as tx:
            # A kind is loaded when it is asked: most ids are of knowledge.
            for look_up in (
                lambda: tx.knowledge.get(id),
                lambda: tx.turns.get(id),
                lambda: tx.episodes.whole(id),
                lambda: tx.patterns.get(id),
            ):
                found: Knowledge | Turn | Episode | Pattern | None = look_up()
                if found is not None and found.deleted_at is None:
                    if isinstance(found, Knowledge) and found.deprecated_at is not None:
                        from treering.knowledge.api import with_successor

                        return with_successor(tx, found)
                    return found
        raise NotFound(f"no record with id {id!r} in project {self.scope.project!r}")

    def confirm(self, id: str, *, by: Author | None = None) -> Knowledge:
        """A person says that it is true; `by` says that an agent passes that on, which clears no doubt."""
        return self._teaching.confirm(self.scope, self._ports.clock(), id, by=by)

    def correct(
        self,
        id: str,
        reason: Reason | str | None = None,
        *,
        text: str | None = None,
        duplicate_of: str | None = None,
        by: Author | None = None,
    ) -> Knowledge:
        """Put a record right: inaccurate, outdated, too_specific or duplicate. The record that stands is returned.

        Without a reason it is inaccurate, or with `duplicate_of` a duplicate.
        A person's word is taken as sure; `by` says that somebody else corrects it, an agent or text from outside.
        """
        from treering.knowledge.authors import Reason

        default = Reason.INACCURATE if duplicate_of is None else Reason.DUPLICATE
        now, why = self._ports.clock(), default if reason is None else Reason.named(reason)
        return self._teaching.correct(self.scope, now, id, why, text=text, duplicate_of=duplicate_of, by=by)

    def flag(self, id: str, note: str = "") -> Knowledge:
        """A person doubts it; it is not recalled until it is confirmed or corrected."""
        return self._teaching.flag(self.scope, self._ports.clock(), id, note)

    def pin(self, id: str, *, pinned: bool = True) -> Knowledge:
        """Keep it from fading."""
        return self._teaching.pin(self.scope, self._ports.clock(), id, pinned=pinned)

    def forget(self, id: str, *, hard: bool = False) -> Forgotten | None:
        """Take it away: so that `undo` brings it back, or (`hard`) for good, leaving no copy, which it can prove.

        A PostgreSQL server overwrites its free pages and its log in its own time.
        """
        if "patterns" in self.__dict__:
            self.patterns.habits.let_go()
        if not hard:
            self._teaching.forget(self.scope, self._ports.clock(), id)
            return None
        from treering.knowledge.removal.proof import forget_for_good

        self._episode_care.cache.drop(id)
        self.models.forget_queries()
        sweep = self._ports.worker.only("sweep_blobs").settle
        return forget_for_good(self.scope, self._teaching, self._ports.clock, id, sweep=sweep, settings=self.settings)

    def used(self, ids: str | Iterable[str], *, corrected: bool = False) -> int:
        """These records were of use, and nobody had to correct what came of it, or (`corrected`) somebody had to.

        How many of them are here is returned. Being shown is no use: tell it only of what the work was based on.
        """
        from treering.knowledge.usage import count_uses

        named = (ids,) if isinstance(ids, str) else ids
        return count_uses(self.scope, self.store, self._ports.clock(), named, corrected=corrected)

    def undo(self, id: str) -> Knowledge | Turn | Episode | Pattern | None:
        """Take back the last change; the record as it is now, or None where the change had created it."""
        self._teaching.undo(self.scope, self._ports.clock(), id)
        try:
            return self.get(id)
        except NotFound:
            return None

    def history(self, id: str) -> tuple[HistoryEntry, ...]:
        """What happened to a record, newest first."""
        from treering.audit import history

        return history(self.scope, self.store, self._ports.clock(), id)

    def stats(self) -> Stats:
        """What this project holds."""
        from treering.maintenance.stats import stats

        code, cache = self._code_status(), self._episode_care.cache.counts()
        told = {} if code is None else code.told()
        return stats(self.scope, self.store, self._ports.clock(), episode_cache=cache, code=told)

    def settle(self, timeout: float = 60.0) -> Settled:
        """Do the background work, or wait until it is done: what was said is learned from, documents get vectors."""
        from treering.knowledge.facts.sessions import queue_learning
        from treering.search.embedding import queue_embedding

        def more() -> bool:
            now, ports = self._ports.clock(), self._ports
            if queue_learning(self.scope, self.store, now, ports.new_id):
                return True
            return queue_embedding(self.scope, self.store, now, self.models, ports.new_id())

        return self._ports.worker.settle(self.scope, timeout, more)

    def do_small_jobs(self, seconds: float | None = None) -> JobsLeft:
        """Do queued jobs that need no model, for some tenths of a second; for a process that is about to end.

        A failing job stays queued and is reported, not raised.
        """
        from treering.maintenance.inline_jobs import SmallJobs

        limit = self.settings.jobs.inline_seconds if seconds is None else seconds
        return SmallJobs(self.scope, self.store, self._ports.clock, self._ports.new_id, self.settings).run(limit)

    @property
    def entities(self) -> Entities:
        """Who and what this memory speaks of: told about, found, linked, merged, renamed."""
        from treering.entities.api import Entities

        ports = self._ports
        return Entities(self.scope, self.store, self.settings, self.models, ports.clock, ports.new_id)

    @property
    def upkeep(self) -> Upkeep[HealthReport]:
        """Maintenance: `run` a stage or all, what is `due`, the last `runs`, a `report` of how the memory is."""
        return self._ports.upkeep

    def export(self, path: str | Path, *, history: bool = False, force: bool = False) -> int:
        """Write everything to a portable file (`.gz` compresses); how many lines is returned.

        An earlier export is replaced; any other file only with `force`.
        """
        from treering.archive.export import export_to

        lines = self.export_lines(history=history)
        return export_to(Path(path), lines, force=force, database=self._database)

    def export_lines(self, *, history: bool = False) -> Iterator[str]:
        """The lines of an export, one by one. The audit log has an entry once the first of them is read."""
        from treering.archive.export import export_lines

        self._note(Action.EXPORT, history=history)
        yield from export_lines(self.scope, self.store, self._ports.blobs, self._ports.clock(), history=history)

    def import_(self, path: str | Path) -> Imported:
        """Read an export into this project: all of it or nothing. What is there already is left as it is."""
        from treering.archive.file_lines import lines_of
        from treering.archive.restore import import_lines

        lines = lines_of(Path(path), self.settings.store.import_line_bytes)
        return import_lines(self.scope, self.store, self._ports.blobs, self._ports.clock(), lines)

    def backup(self, path: str | Path, *, force: bool = False) -> Path:
        """Copy the memory to a SQLite file that opens by itself; from a server, what this principal sees of it.

        An existing file is replaced only with `force`.
        """
        from treering.archive.backup import backup

        ports, now = self._ports, self._ports.clock()
        return backup(
            self.scope,
            self.store,
            ports.blobs,
            now,
            target=Path(path),
            open_embedded=ports.open_embedded,
            force=force,
            database=self._database,
            begun=partial(self._note, Action.BACKUP, file=Path(path).name),
        )

    @property
    def _database(self) -> Path | None:
        """The file of this memory; None if it is on a server."""
        return Path(self.store.location) if self.store.engine == "sqlite" else None

    def doctor(self, *, repair: bool = False) -> Report:
        """How this memory is, after rebuilding what is derived where `repair` says so."""
        from treering.maintenance.doctor import examine

        now = self._ports.clock()
        if repair:
            self._note(Action.REPAIR)
        return examine(
            self.scope,
            self.store,
            self._ports.blobs,
            now,
            models=self._ports.models,
            settings=self.settings,
            version=self._ports.version,
            repair=repair,
            kept=(self.upkeep.check(), *self._code_check()),
            standing=self._ports.standing(),
        )

    def _code_check(self) -> tuple[Check, ...]:
        """How the code index is; nothing where there is none."""
        from treering.code.status import check_of

        try:
            found = self._code_status()
            if found is None:
                return ()
            with self.store.reading(self.scope, self._ports.clock()) as tx:
                return (check_of(found, tx.code),)
        except StoreError as exc:
            from treering.ports.store import Check

            # Who asks wants to hear of a damaged database from every side, and not only that.
            return (Check("code", False, str(exc)),)

    def _code_status(self) -> CodeStatus | None:
        """None where nothing is indexed. `memory.code` is not made for it: its parts take long to import."""
        from treering.code.status import status_of

        ended = self._ports.surroundings().ended
        with self.store.reading(self.scope, self._ports.clock()) as tx:
            return status_of(tx.code, ended)

    def close(self) -> None:
        """Let go of the database and the models. Everything acknowledged is stored already."""
        self._ports.stop.set()
        with ExitStack() as closing:
            closing.callback(self._ports.models.close)
            closing.callback(self.store.close)
            if self._ports.background is not None:
                self._ports.background.close()
            # Best effort: everything that is kept in memory can be made again.
            with suppress(StoreError, ModelUnavailable):
                self._store_pending(CLOSE_SECONDS)

    def _store_pending(self, seconds: float) -> None:
        """Store what reading kept in memory while another process was writing."""
        if "_injections" in self.__dict__:
            self._injections.write(self._ports.clock(), seconds)
        if "_episode_care" in self.__dict__:
            self._episode_care.write_accesses(seconds)
        if "_returned" in self.__dict__:
            self._returned.store(self._ports.clock(), seconds)
        if "code" in self.__dict__:
            self.code.store_vectors(seconds)
        if self.store.has_unstored_vectors(self.scope):
            from treering.search.embedding import store_vectors

            store_vectors(self.scope, self.store, self._ports.clock(), seconds=seconds)

    def _note(self, action: Action, **detail: object) -> None:
        """Write it into the audit log. A disk or server that takes no entry does not keep anybody from reading."""
        from treering.audit import note

        try:
            note(self.scope, self.store, self._ports.clock(), self._ports.new_id(), action, **detail)
        except (StoreFull, StoreReadOnly) as exc:
            if isinstance(exc, StoreReadOnly) and self.store.read_only:
                return  # opened to read, as the user knows
            _LOG.warning("%s of project %s is not in the audit log: %s", action.value, self.scope.project, exc)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
