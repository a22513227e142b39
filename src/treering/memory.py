"""Memory: the verbs that every door calls. It delegates to the nouns and holds no logic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, Unpack

from treering.search.request import ALL_KNOWLEDGE, ALL_TURNS

# Verbs import what they need themselves: a process that uses one verb does not load the parts of all others.
if TYPE_CHECKING:
    from treering.archive.api import Archive
    from treering.archive.restore import ImportReport
    from treering.archive.rule_files.rule_export import RuleExport
    from treering.archive.rule_files.rule_import import RuleImport
    from treering.code.api import Code
    from treering.context.api import ContextBuilder
    from treering.context.injection.api import InjectionEngine
    from treering.context.trust import Trust
    from treering.conversation.api import Conversation
    from treering.conversation.views import ConversationEvent
    from treering.core.episodes import Episode
    from treering.core.events import SessionType
    from treering.core.fields import EpisodeFields, KnowledgeFields, TaskFields, TurnFields
    from treering.core.history import Action, AuditEntry, HistoryEntry
    from treering.core.messages import Role
    from treering.core.patterns import Pattern
    from treering.core.phases import Phase
    from treering.core.queries import Filter, KnowledgeFilter, Page, SearchFilter, TurnFilter
    from treering.core.records import Knowledge
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.core.tokens import CountTokens
    from treering.core.turns import Turn
    from treering.entities.api import Entities
    from treering.episodes.api import Episodes
    from treering.episodes.storage import Content
    from treering.jobs.worker import SettleReport
    from treering.knowledge.api import KnowledgeBase
    from treering.knowledge.authors import Author, Reason
    from treering.knowledge.removal.proof import PurgeReceipt
    from treering.maintenance.api import Maintenance
    from treering.maintenance.doctor import DoctorReport
    from treering.maintenance.inline_jobs import JobsLeft
    from treering.maintenance.stats import Stats
    from treering.maintenance.vectors import Vectors
    from treering.observe.api import Observer
    from treering.observe.sessions import Sessions
    from treering.observe.watch import Watch
    from treering.patterns.api import Patterns
    from treering.ports.clock import Clock, NewId
    from treering.ports.models import Models
    from treering.ports.store import ProjectSize, Store
    from treering.ports.tokens import Tokenizer
    from treering.search.answer import Answer
    from treering.search.api import Search
    from treering.task.api import Task
    from treering.task.factory import TaskServices
    from treering.task.pruning import PruneStep


class Parts(Protocol):
    """The ports and nouns of one memory, as the composition root provides them; nouns are made on first use."""

    @property
    def scope(self) -> Scope: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def store(self) -> Store: ...
    @property
    def models(self) -> Models: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def new_id(self) -> NewId: ...
    @property
    def tokenizers(self) -> Callable[[str], Tokenizer]: ...
    @property
    def knowledge(self) -> KnowledgeBase: ...
    @property
    def search(self) -> Search: ...
    @property
    def context(self) -> ContextBuilder: ...
    @property
    def trust(self) -> Trust: ...
    @property
    def injections(self) -> InjectionEngine: ...
    @property
    def episodes(self) -> Episodes: ...
    @property
    def patterns(self) -> Patterns: ...
    @property
    def code(self) -> Code: ...
    @property
    def entities(self) -> Entities: ...
    @property
    def observer(self) -> Observer: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def tasks(self) -> TaskServices: ...
    @property
    def archive(self) -> Archive: ...
    @property
    def maintenance(self) -> Maintenance: ...
    @property
    def vectors(self) -> Vectors: ...
    def stats(self) -> Stats: ...
    def doctor(self, *, repair: bool) -> DoctorReport: ...
    def settle(self, timeout: float) -> SettleReport: ...
    def run_small_jobs(self, seconds: float | None) -> JobsLeft: ...
    def note_injection(self, ids: Iterable[str], *, via: str, tokens: int = 0) -> None: ...
    def with_store(self, store: Store) -> Parts: ...
    def close(self) -> None: ...


class Memory:
    """One project's memory, open until `close`. Safe to share between threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.scope = parts.scope
        self.store = parts.store
        self.settings = parts.settings
        self.models = parts.models

    def __repr__(self) -> str:
        return f"Memory(project={self.scope.project!r}, location={self.store.location!r})"

    def remember(self, text: str, *, type: str = "fact", **fields: Unpack[KnowledgeFields]) -> Knowledge:
        """Store a piece of knowledge. `fields` are those of `Knowledge`: tags, files, confidence, payload, id…

        Words that are stored already strengthen the record that holds them. A record that the new one contradicts is
        superseded, or both wait for review: `conflicts` of the returned record names it.
        """
        return self._parts.knowledge.remember(text, type=type, **fields)

    def remember_many(self, records: Iterable[Knowledge | str]) -> int:
        """Store many records, or texts as facts, in one transaction, each text once; return how many were new."""
        return self._parts.knowledge.remember_many(records)

    def turn(
        self,
        *,
        session: str,
        role: Role | str,
        text: str,
        id: str | None = None,
        at: datetime | date | str | None = None,
        **fields: Unpack[TurnFields],
    ) -> Turn:
        """Store a message. `at` is when it was said; a turn delivered twice under one id is stored once."""
        from treering.conversation.turns import add_turn

        parts = self._parts
        return add_turn(
            self.scope,
            self.store,
            parts.clock(),
            parts.new_id,
            id=id,
            at=at,
            session=session,
            role=role,
            text=text,
            **fields,
        )

    def episode(
        self,
        task: str | Mapping[str, object],
        *,
        outcome: str | Mapping[str, object] = "SUCCESS",
        output: str | None = None,
        session: str | None = None,
        at: datetime | date | str | None = None,
        id: str | None = None,
        artifacts: Mapping[str, Content] | None = None,
        **fields: Unpack[EpisodeFields],
    ) -> Episode:
        """Store a task execution. `fields` describe it: plan, trace, insights, domain, tools, tags…

        The parts of `Episode` (task, execution, outcome, reflection, metadata) may be given as mappings instead.
        `artifacts` are its products by name: bytes, text or a path. An episode delivered twice under one id is stored
        once.
        """
        return self._parts.episodes.add(
            task, outcome=outcome, output=output, session=session, at=at, id=id, artifacts=artifacts, **fields
        )

    def observe(
        self,
        session: str,
        *,
        type: SessionType | str = "build",
        agent: str | None = None,
        root: str | Path | None = None,
    ) -> Watch:
        """Watch a session of an agent: pass its events to the returned watch, then `finish` it.

        A session that was interrupted continues from its checkpoint. `root` is the folder of the project; only files
        inside it are noted.
        """
        return self._parts.observer.observe(session, type=type, agent=agent, root=root)

    def work_state(
        self,
        *,
        session: str,
        in_progress: str,
        next_step: str | None = None,
        completed: Sequence[str] = (),
        decisions: Sequence[str] = (),
        files: Sequence[str] = (),
        unit: Sequence[str] = (),
        methodology: str = "native",
    ) -> Knowledge:
        """Store where a session leaves its work, for the one that resumes it; of observed sessions it is stored anyway.

        `unit` names the unit of work from large to small, as the methodology does: a spec and its subtask.
        """
        from treering.core.methodologies import methodology as named

        work_unit = named(methodology).work_unit(*unit) if unit else None
        payload = {
            "in_progress": in_progress,
            "next_step": next_step,
            "completed": tuple(completed),
            "decisions": tuple(decisions),
        }
        text = f"Left unfinished: “{in_progress}”" + (f"; next: “{next_step}”" if next_step else "")
        return self.remember(
            text,
            type="work_state",
            payload=payload,
            confidence=0.9,
            session=session,
            files=tuple(files),
            work_unit=work_unit,
        )

    def task(
        self,
        description: str | None = None,
        *,
        id: str | None = None,
        model: str | None = None,
        count: CountTokens | None = None,
        on_event: Callable[[PruneStep], None] | None = None,
        **context: Unpack[TaskFields],
    ) -> Task:
        """Working memory of a task: a new one with a description, else the latest save of the task `id`.

        `model` or `count` says how tokens are counted; `on_event` is called with each step of pruning; `context` is
        what `load_task_context` takes: goals, constraints, success_criteria, plan, system.
        """
        from treering.task.factory import open_task

        return open_task(
            self.scope, self._parts.tasks, description, id=id, model=model, count=count, on_event=on_event, **context
        )

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
        on_event: Callable[[ConversationEvent], None] = lambda _event: None,
        create: bool = True,
    ) -> Conversation:
        """A conversation with a model: everything is stored, what fits is sent. Its turns belong to session `id`.

        Without a model, an existing conversation continues with its stored rules. With `create=False`, one that is not
        stored is `NotFound`.
        """
        from treering.conversation.factory import open_conversation
        from treering.conversation.removed_search import RemovedSearch

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
            self._parts,
            self.settings,
            id=id,
            model=model,
            rules=rules,
            tokenizer=tokenizer,
            find=RemovedSearch(self.settings, self.search),
            on_event=on_event,
            injected=self.injected,
            create=create,
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
        """The best matching knowledge, turns, episodes, patterns and code locations, in one ranking.

        - `where` filters every kind. `knowledge` and `turns` filter these two kinds and leave out all others; None
          leaves that kind out.
        - `superseded` includes corrected and flagged records; `as_of` answers from what was known at that time.
        - `files` are those the work touches now, `phase` is the phase of the work; both raise related records.
        - `explain` adds the explanation of the ranking to the answer.
        - `thorough` lets a search with few results ask the language model, if one is configured, for a hypothetical
          answer; `precise` returns only records that the query names or whose words it mostly repeats, often none.
        - `repeated` keeps results that say the same as a better one.
        - `private` keeps the query away from models on other machines.
        - Without `tainted`, unconfirmed records from outside are left out.
        - `code` adds code locations, or leaves them out (False); by default they are results if the query asks for one.
        """
        return self._parts.search.run(
            query,
            limit=limit,
            where=where,
            knowledge=knowledge,
            turns=turns,
            superseded=superseded,
            as_of=as_of,
            files=files,
            phase=phase,
            explain=explain,
            thorough=thorough,
            precise=precise,
            repeated=repeated,
            private=private,
            tainted=tainted,
            code=code,
        )

    @property
    def knowledge(self) -> KnowledgeBase:
        """Records of knowledge: the verbs below, as one object."""
        return self._parts.knowledge

    @property
    def sessions(self) -> Sessions:
        """Observed sessions: list, get, review, why, replay, forget."""
        return self._parts.sessions

    @property
    def context(self) -> ContextBuilder:
        """Text for a model within a token budget: `build`, `briefing`, `to_review`."""
        return self._parts.context

    @property
    def trust(self) -> Trust:
        """How certain a record must be before an agent is given it unasked: `level`, `set`, `evidence`."""
        return self._parts.trust

    @property
    def injections(self) -> InjectionEngine:
        """What an agent is given unasked, at four points of its loop: `offer`, `given`, `note`."""
        return self._parts.injections

    @property
    def episodes(self) -> Episodes:
        """Task executions: search, recent, around, during, trend, similar_failures, get, artifact…"""
        return self._parts.episodes

    @property
    def patterns(self) -> Patterns:
        """What works, with evidence: find_applicable, record_application, validate, refine, merge, mine…"""
        return self._parts.patterns

    @property
    def code(self) -> Code:
        """The code graph: index, watch, find, impact, dependencies, data_flow, path, entry_points, module_map…"""
        return self._parts.code

    @property
    def entities(self) -> Entities:
        """People, projects, places and other names: profiles, search, links, merges, renames."""
        return self._parts.entities

    @property
    def maintenance(self) -> Maintenance:
        """Scheduled work on the store: `run` stages, list what is `due` and past `runs`, make a health `report`."""
        return self._parts.maintenance

    @property
    def vectors(self) -> Vectors:
        """The vectors that search by meaning compares: `update` computes missing ones, `coverage` counts them."""
        return self._parts.vectors

    def get(self, id: str) -> Knowledge | Turn | Episode | Pattern:
        """The record with this id, of any kind; `NotFound` for a forgotten one.

        A superseded record names its successor in `superseded_by`.
        """
        return self._parts.knowledge.get(id)

    def confirm(self, id: str, *, by: Author | None = None) -> Knowledge:
        """Mark a record as true; `by` names an agent that passes a person's word on, which clears no doubt."""
        return self._parts.knowledge.confirm(id, by=by)

    def correct(
        self,
        id: str,
        reason: Reason | str | None = None,
        *,
        text: str | None = None,
        duplicate_of: str | None = None,
        by: Author | None = None,
    ) -> Knowledge:
        """Correct a record and return the one that is valid now.

        The reason is inaccurate (the default), outdated, too_specific or duplicate (the default with `duplicate_of`).
        A correction by a person is trusted; `by` names another author, such as an agent or text from outside.
        """
        return self._parts.knowledge.correct(id, reason, text=text, duplicate_of=duplicate_of, by=by)

    def flag(self, id: str, note: str = "") -> Knowledge:
        """Mark a record as doubtful; searches leave it out until it is confirmed or corrected."""
        return self._parts.knowledge.flag(id, note)

    def pin(self, id: str, *, pinned: bool = True) -> Knowledge:
        """Protect a record from decay, or end that protection."""
        return self._parts.knowledge.pin(id, pinned=pinned)

    def used(self, ids: str | Iterable[str], *, corrected: bool = False) -> int:
        """Report that work was based on these records, and whether its result had to be corrected.

        Returns how many of them exist. Only report records that the work relied on: being shown is not a use.
        """
        return self._parts.knowledge.used(ids, corrected=corrected)

    def forget(self, id: str, *, hard: bool = False) -> PurgeReceipt | None:
        """Delete a record so that `undo` restores it, or purge it (`hard`) with every copy and return the proof.

        A PostgreSQL server overwrites its free pages and its log in its own time.
        """
        return self._parts.knowledge.forget(id, hard=hard)

    def undo(self, id: str) -> Knowledge | Turn | Episode | Pattern | None:
        """Revert the last change of a record; return the record, or None if the change had created it."""
        return self._parts.knowledge.undo(id)

    def history(self, id: str) -> tuple[HistoryEntry, ...]:
        """Changes of a record, newest first."""
        return self._parts.knowledge.history(id)

    def audit(
        self, *, actions: Iterable[Action | str] = (), subject: str | None = None, limit: int = 50
    ) -> tuple[AuditEntry, ...]:
        """The audit log, newest first: each write, injection and removal. `actions` and `subject` filter it."""
        from treering.audit import audit

        return audit(self.scope, self.store, self._parts.clock(), actions=actions, subject=subject, limit=limit)

    def injected(self, ids: Iterable[str], *, via: str, tokens: int = 0) -> None:
        """Note in the audit log that these records were handed to a model; `via` names the way."""
        self._parts.note_injection(ids, via=via, tokens=tokens)

    def page(
        self,
        kind: str,
        *,
        where: Filter | None = None,
        order: str | None = None,
        descending: bool = True,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[Any]:
        """One page of stored values, newest first by default; `after` is `next` of the page before.

        The kind is knowledge, turns, conversations, episodes, patterns, entities, observed_sessions, injected_items,
        audit, jobs or runs; `where` is its filter, and `order` the field to sort by.
        """
        from treering.pages import page

        return page(
            self.scope,
            self.store,
            self._parts.clock(),
            kind,
            where=where,
            order=order,
            descending=descending,
            limit=limit,
            after=after,
        )

    def count(self, kind: str, *, where: Filter | None = None) -> int:
        """The number of stored values of a kind that `page` lists."""
        from treering.pages import count

        return count(self.scope, self.store, self._parts.clock(), kind, where)

    def conditional(
        self, *, request: str | None = None, content: str = "", versions: Mapping[str, int] | None = None
    ) -> Memory:
        """This memory for one verb, whose write happens only if the conditions are met.

        With `versions`, it is `StaleVersion` if one of these records has another version by now. A `request` is
        carried out once: the same key is `RequestRepeated` afterwards, which names the record that it returned, and
        `InvalidInput` with another `content`. Do not close the returned memory.
        """
        from treering.conditional_writes import WriteConditions, conditional_store

        conditions = WriteConditions(request, content, versions or {})
        store = conditional_store(self.scope, self.store, self._parts.clock(), conditions)
        return Memory(self._parts.with_store(store))

    def projects(self) -> tuple[ProjectSize, ...]:
        """Projects of this database that belong to the same tenant, with their sizes."""
        return tuple(self.store.projects(self.scope, self._parts.clock()))

    def stats(self) -> Stats:
        """Counts of what this project holds."""
        return self._parts.stats()

    def doctor(self, *, repair: bool = False) -> DoctorReport:
        """Check this memory; with `repair`, rebuild what is derived first."""
        return self._parts.doctor(repair=repair)

    def settle(self, timeout: float = 60.0) -> SettleReport:
        """Run the background work, or wait until it is done: sessions are learned from, documents get vectors."""
        return self._parts.settle(timeout)

    def run_small_jobs(self, seconds: float | None = None) -> JobsLeft:
        """Run queued jobs that need no model, for some tenths of a second; for a process that is about to end.

        A failing job stays queued and is reported, not raised.
        """
        return self._parts.run_small_jobs(seconds)

    def export(self, path: str | Path, *, history: bool = False, force: bool = False) -> int:
        """Write everything to a portable file (`.gz` compresses); return the number of lines.

        An earlier export is replaced; any other file only with `force`.
        """
        return self._parts.archive.export(path, history=history, force=force)

    def export_lines(self, *, history: bool = False) -> Iterator[str]:
        """The lines of an export, one by one. The audit log gets its entry when the first of them is read."""
        return self._parts.archive.lines(history=history)

    def import_(self, path: str | Path) -> ImportReport:
        """Read an export into this project: all of it or nothing. Existing records stay as they are."""
        return self._parts.archive.import_(path)

    def import_rules(
        self, path: str | Path, *, root: str | Path | None = None, dry_run: bool = False, retire: bool = False
    ) -> RuleImport:
        """Import a rule file (CLAUDE.md, AGENTS.md, .cursorrules…) as records that the user taught.

        A second import follows the file: an edited statement corrects its record, and what a person corrected or forgot
        since stays so. Records of statements that are gone are reported, and with `retire` retired. `dry_run` only
        reports. Files are named relative to `root`, by default the working directory.
        """
        return self._parts.archive.import_rules(path, root=root, dry_run=dry_run, retire=retire)

    def export_rules(self, path: str | Path | None, *, budget: int | None = None) -> RuleExport:
        """Write confirmed and trusted rules, decisions, gotchas and recipes into a marked block of a Markdown file.

        All bytes outside the block stay as they are; a new file or block is created if there is none. Without a path,
        only the text is made. `budget` is in tokens.
        """
        return self._parts.archive.export_rules(path, budget=budget)

    def backup(self, path: str | Path, *, force: bool = False) -> Path:
        """Copy the memory to a SQLite file that can be opened on its own; from a server, the records of this principal.

        An existing file is replaced only with `force`.
        """
        return self._parts.archive.backup(path, force=force)

    def close(self) -> None:
        """Close the database and the models. Everything acknowledged is stored already."""
        self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
