"""`memory.sessions`: observed sessions, what they promoted, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import NotFound
from treering.core.injections import ItemOutcome
from treering.core.observations import PROMOTION, Candidate, ObservedSession, session_claim
from treering.core.queries import (
    InjectedItemFilter,
    ObservedSessionFilter,
    Order,
    SavedScratchpadFilter,
    SignalEvidenceFilter,
)
from treering.core.values import EMPTY
from treering.observe.listeners import SessionListener, SessionListeners
from treering.observe.reports import SessionReport, report_of

if TYPE_CHECKING:
    from datetime import date, datetime

    from treering.core.events import SessionOutcome, SessionType
    from treering.core.scope import Scope
    from treering.observe.api import Observer
    from treering.observe.replay import OnProgress, RecordedSession, ReplayReport
    from treering.observe.review import SessionReview
    from treering.observe.timeline import SessionTimeline
    from treering.ports.clock import Clock
    from treering.ports.store import Store, Transaction


@dataclass(frozen=True, slots=True)
class GivenCount:
    """Items that a session was given unasked, and those among them that it used."""

    given: int
    used: int


@dataclass(frozen=True)
class Sessions:
    """Observed sessions of one project. Safe to share between threads."""

    scope: Scope
    store: Store
    clock: Clock
    observer: Callable[[], Observer]
    listeners: SessionListeners = field(default_factory=SessionListeners)

    def list(
        self,
        *,
        limit: int = 20,
        types: Iterable[SessionType | str] = (),
        outcomes: Iterable[SessionOutcome | str] = (),
        since: datetime | date | str | None = None,
    ) -> tuple[ObservedSession, ...]:
        """The latest sessions, newest first."""
        from treering.core.queries import TimeRange
        from treering.core.timestamps import timestamp_of

        now = self.clock()
        started = None if since is None else TimeRange.make(since=timestamp_of(since, now))
        where = ObservedSessionFilter.make(types=tuple(types), outcomes=tuple(outcomes), started=started)
        with self.store.reading(self.scope, now) as tx:
            return tx.observed_sessions.find(where, order=Order(by="started_at"), limit=limit).items

    def get(self, id: str) -> SessionReport:
        """The session with its records; `NotFound` if it was not observed."""
        with self.store.reading(self.scope, self.clock()) as tx:
            return report_of(tx, _session(tx, id))

    def review(self, id: str | None = None, *, every: bool = False) -> SessionReview:
        """What a session was given and used, and its new records that a person should confirm, correct or reject.

        Without an id, all records that wait, the newest session first. The trust level of the project decides which
        new records are included; `every` includes all of them. `NotFound` if nothing is known about the session.
        """
        from treering.observe.review import review_of

        with self.store.reading(self.scope, self.clock()) as tx:
            return review_of(tx, id, every=every)

    def timeline(self, id: str) -> SessionTimeline:
        """Messages and the latest actions of a session, as far as they are kept; `NotFound` if it was not observed."""
        from treering.observe.timeline import timeline_of

        with self.store.reading(self.scope, self.clock()) as tx:
            _session(tx, id)
            return timeline_of(tx.scratchpads.get(id))

    def given_counts(self, ids: Iterable[str]) -> Mapping[str, GivenCount]:
        """How many items each session was given unasked, and how many it used; without those that were given none."""
        from treering.core.queries import InjectedItemFilter

        where = InjectedItemFilter.make(sessions=tuple(ids))
        if not where.sessions:
            return {}
        with self.store.reading(self.scope, self.clock()) as tx:
            found = tx.injected_items.count_by("session", [where, where.replace(outcomes=(ItemOutcome.USED,))])
        return {id: GivenCount(given, used) for id, (given, used) in found.items() if given}

    def on_completed(self, listener: SessionListener) -> Callable[[], None]:
        """Call `listener` with the report of each session that this memory finishes; returns a function that stops it.

        It is called in the thread that finished the session, after everything is stored. Its errors are logged.
        """
        return self.listeners.add(listener)

    def why(self, id: str) -> tuple[Candidate, ...]:
        """Every candidate of a session with its decision: the gate that stopped it, or the record that it became."""
        return self.get(id).candidates

    def replay(
        self,
        paths: Iterable[str | Path],
        *,
        root: str | Path | None = None,
        stop: Callable[[], bool] = lambda: False,
        on_progress: OnProgress = lambda _progress: None,
    ) -> ReplayReport:
        """Observe recorded sessions: transcripts of Claude Code, Codex and Gemini CLI, or files of events.

        Folders are searched. Sessions are observed oldest first, and what was observed before is not counted again. All
        sessions go to this project; pass `root` if the files may hold sessions of others.
        """
        from treering.observe.replay import ReplayReport, recorded_sessions, replay

        report = ReplayReport()
        sessions, named = recorded_sessions(map(Path, paths), report.read), None if root is None else str(root)
        replay(self.observer(), sessions, report, named, stop=stop, on_progress=on_progress)
        return report

    def replay_recorded(
        self,
        sessions: Sequence[RecordedSession],
        report: ReplayReport,
        *,
        root: str | None = None,
        stop: Callable[[], bool] = lambda: False,
        on_progress: OnProgress = lambda _progress: None,
    ) -> None:
        """Observe sessions of this project that `recorded_sessions` found, and count them in the report."""
        from treering.observe.replay import replay

        replay(self.observer(), sessions, report, root, stop=stop, on_progress=on_progress)

    def forget(self, id: str) -> None:
        """Remove what was observed of a session: prompts, files, candidates, scratchpad, injected items, and its part
        in evidence.

        Its records stay with their evidence, and so do the numbers of sessions that were counted with it.
        """
        from treering.observe.synthesis.statistics import forget_counted

        def forget(tx: Transaction) -> None:
            _session(tx, id)
            tx.observed_sessions.remove(ObservedSessionFilter(ids=(id,)))
            tx.scratchpads.remove(SavedScratchpadFilter(ids=(id,)))
            tx.injected_items.remove(InjectedItemFilter(sessions=(id,)))
            forget_counted(tx, id)
            _forget_evidence(tx, id)

        self.store.write(self.scope, self.clock(), forget, claims=(PROMOTION, session_claim(id)))


def _session(tx: Transaction, id: str) -> ObservedSession:
    found = tx.observed_sessions.get(id)
    if found is None:
        raise NotFound(
            f"no observed session with id {id!r} in project {tx.scope.project!r}; `treering sessions` lists them"
        )
    return found


def _forget_evidence(tx: Transaction, session: str) -> None:
    """Remove a session from the evidence that became no record, with details that may be its own.

    Evidence of that session alone is removed.
    """
    unpromoted = tx.evidence.stream(SignalEvidenceFilter(promoted=False))
    seen = [each for each in unpromoted if session in (*each.sessions, *each.tainted_sessions)]
    shared = [each for each in seen if len(each.sessions) + len(each.tainted_sessions) > 1]
    tx.evidence.put_many(
        each.replace(
            sessions=tuple(id for id in each.sessions if id != session),
            tainted_sessions=tuple(id for id in each.tainted_sessions if id != session),
            occurrences=max(1, each.occurrences - 1),
            detail=EMPTY if session in each.sessions else each.detail,
            tainted_detail=EMPTY if session in each.tainted_sessions else each.tainted_detail,
        )
        for each in shared
    )
    if alone := tuple(each.id for each in seen if each not in shared):
        tx.evidence.remove(SignalEvidenceFilter(ids=alone))
