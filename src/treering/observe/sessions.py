"""`memory.sessions`: observed sessions, what they promoted, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import NotFound
from treering.core.observations import PROMOTION, Candidate, ObservedSession
from treering.core.queries import ObservedSessionFilter, Order, SavedScratchpadFilter, SignalEvidenceFilter
from treering.core.values import EMPTY
from treering.observe.reports import SessionReport, report_of

if TYPE_CHECKING:
    from datetime import date, datetime

    from treering.core.events import SessionOutcome, SessionType
    from treering.core.scope import Scope
    from treering.observe.api import Observer
    from treering.observe.replay import OnProgress, ReplayReport
    from treering.ports.clock import Clock
    from treering.ports.store import Store, Transaction


@dataclass(frozen=True)
class Sessions:
    """Observed sessions of one project. Safe to share between threads."""

    scope: Scope
    store: Store
    clock: Clock
    observer: Callable[[], Observer]

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

        Folders are searched. Sessions are observed oldest first, and what was observed before is not counted again.
        """
        from treering.observe.replay import replay

        named = None if root is None else str(root)
        return replay(self.observer(), map(Path, paths), named, stop=stop, on_progress=on_progress)

    def forget(self, id: str) -> None:
        """Remove what was observed of a session: prompts, files, candidates, scratchpad, and its part in evidence.

        Its records stay with their evidence, and so do the numbers of sessions that were counted with it.
        """
        from treering.observe.synthesis.statistics import forget_counted

        def forget(tx: Transaction) -> None:
            _session(tx, id)
            tx.observed_sessions.remove(ObservedSessionFilter(ids=(id,)))
            tx.scratchpads.remove(SavedScratchpadFilter(ids=(id,)))
            forget_counted(tx, id)
            _forget_evidence(tx, id)

        self.store.write(self.scope, self.clock(), forget, claims=(PROMOTION,))


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
