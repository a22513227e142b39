"""Checkpoints and the end of sessions in the store."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from treering.core.events import SessionOutcome, SessionType
from treering.core.jobs import after_session_job
from treering.core.observations import (
    PROMOTION,
    UNREADABLE_CHECKPOINTS,
    Candidate,
    GateDecision,
    ObservedSession,
    SavedScratchpad,
    SessionFile,
    session_claim,
)
from treering.core.prompt_words import session_words
from treering.observe.continuations import continued_sessions
from treering.observe.promotion.finish import Promotion
from treering.observe.reports import SessionReport, report_of
from treering.observe.scratchpad import Scratchpad
from treering.observe.scratchpad.path_kinds import module_of

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.observe.signals import Note
    from treering.ports.clock import Clock, NewId
    from treering.ports.models import Models
    from treering.ports.store import Store, Transaction

_MAX_FILES = 500
_MAX_CANDIDATES = 200
_MAX_MODULES = 50
_CHECKPOINT_WAIT = 0.02  # seconds that an automatic checkpoint waits for another writer


class WatchedSession(Protocol):
    """A session as its watch knows it. Its methods may be called again after a transaction that was aborted."""

    @property
    def session(self) -> str: ...

    @property
    def news(self) -> int:
        """Events since the session was last finished, or since it began."""
        ...

    @property
    def goes_on(self) -> bool:
        """Whether the session was finished and has new events."""
        ...

    def joined(self, stored: SavedScratchpad | None, *, finished: bool = False) -> SavedScratchpad:
        """The scratchpads to save: the stored ones with all events of the watch."""
        ...

    def merged(self) -> Scratchpad: ...

    def notes(self) -> Sequence[Note]: ...


@dataclass(frozen=True, slots=True)
class SessionFinisher:
    """Saves and finishes the sessions of one project.

    Several watches of one session, in any processes, may do so at once: each saves under the claim of the session, and
    joins its events with those that are stored.
    """

    scope: Scope
    store: Store
    clock: Clock
    new_id: NewId
    models: Models
    completed: Callable[[SessionReport], None] = lambda _report: None
    """Called after a session was finished, outside the transaction."""

    def saved(self, session: str, state: str, removals: int) -> SavedScratchpad:
        now, owner = self.clock(), self.scope.principal
        return SavedScratchpad.make(id=session, saved_at=now, state=state, removals=removals, owner=owner)

    def stored(self, session: str) -> SavedScratchpad | None:
        with self.store.reading(self.scope, self.clock()) as tx:
            return tx.scratchpads.get(session)

    def is_finished(self, session: str) -> bool:
        with self.store.reading(self.scope, self.clock()) as tx:
            known = tx.observed_sessions.get(session)
        return known is not None and known.finished_at is not None

    def save(self, watched: WatchedSession) -> None:
        claims = (session_claim(watched.session),)
        self.store.write(self.scope, self.clock(), lambda tx: _save(tx, watched), claims=claims)

    def save_if_free(self, watched: WatchedSession) -> bool:
        """Save unless another writer holds the store; the next checkpoint tries again."""

        def save(tx: Transaction) -> None:
            tx.claim(session_claim(watched.session))
            _save(tx, watched)

        return self.store.write_if_free(self.scope, self.clock(), save, seconds=_CHECKPOINT_WAIT)

    def finish(
        self, watched: WatchedSession, *, outcome: SessionOutcome, validated: bool | None, keep_outcome: bool = False
    ) -> SessionReport:
        """Store the session with everything that it supports, once; a repetition returns what is stored.

        With `keep_outcome`, a session without new events keeps the outcome that it has.
        """

        def finish(tx: Transaction) -> tuple[SessionReport, bool]:
            saved = watched.joined(tx.scratchpads.get(watched.session), finished=True)
            known = tx.observed_sessions.get(saved.id)
            is_known = known is not None and known.finished_at is not None and not watched.news
            if known is not None and is_known and (keep_outcome or known.outcome is outcome):
                tx.scratchpads.put_many([saved])
                return report_of(tx, known), False
            state = json.loads(saved.state)
            session = self._session(watched.merged(), saved.id, state, known, tx.now).replace(
                finished_at=tx.now, outcome=outcome, validated=validated
            )
            return self._promote(tx, session, known, saved, watched.notes(), state=state), True

        claims = (PROMOTION, session_claim(watched.session))
        report, is_new = self.store.write(self.scope, self.clock(), finish, claims=claims)
        if is_new:
            self.completed(report)
        return report

    def promote_if_free(self, watched: WatchedSession) -> bool:
        """Promote what a session shows so far, unless another writer holds the store; the session goes on."""

        def promote(tx: Transaction) -> None:
            tx.claim(PROMOTION)
            tx.claim(session_claim(watched.session))
            saved = watched.joined(tx.scratchpads.get(watched.session))
            known = tx.observed_sessions.get(saved.id)
            state = json.loads(saved.state)
            session = self._session(watched.merged(), saved.id, state, known, tx.now)
            promoted = session.replace(outcome=SessionOutcome.SUCCESS, validated=True)
            self._promote(tx, promoted, known, saved, watched.notes(), state=state)

        return self.store.write_if_free(self.scope, self.clock(), promote, seconds=_CHECKPOINT_WAIT)

    def _promote(
        self,
        tx: Transaction,
        session: ObservedSession,
        known: ObservedSession | None,
        saved: SavedScratchpad,
        notes: Sequence[Note],
        *,
        state: Mapping[str, Any],
    ) -> SessionReport:
        continued = continued_sessions(tx, session, state)
        promotion = Promotion(tx, session, self.models, self.new_id, continued)
        candidates = _united(known.candidates if known else (), promotion.run(notes))
        signals = Counter(note.signal.value for note in notes)
        stored = session.replace(candidates=candidates[:_MAX_CANDIDATES], signals=dict(signals))
        if session.finished_at is None:
            stored = stored.replace(outcome=None, validated=None)
        tx.observed_sessions.put_many([stored])
        tx.scratchpads.put_many([saved])
        jobs = [after_session_job(saved.id, self.scope.principal, tx.now, self.new_id(), turn) for turn in (1, 2)]
        tx.jobs.enqueue_first(jobs)
        return report_of(tx, stored)

    def _session(
        self, pad: Scratchpad, id: str, state: Mapping[str, Any], known: ObservedSession | None, now: datetime
    ) -> ObservedSession:
        type, agent, root = state["identity"]
        started = state["started_at"] or (known.started_at if known else now)
        # Files of a known session whose scratchpad was emptied since are known from the session alone.
        files = _united_files(_files(pad), known.files if known else ())
        parts = pad.parts or (pad,)
        counts = {
            name: sum(getattr(part, name) for part in parts)
            for name in ("duplicates", "unknown", "errors", "unmatched")
        }
        counts[UNREADABLE_CHECKPOINTS] = state.get(UNREADABLE_CHECKPOINTS, 0)
        prompts = tuple(prompt for part in parts for prompt in part.prompts)
        return ObservedSession.make(
            id=id,
            type=SessionType(type),
            agent=agent,
            root=root,
            started_at=started,
            last_at=state["last_at"] or started,
            events=sum(part.events for part in parts),
            steps=max(each.step for each in pad.activities()),
            tokens=sum(each.tokens for each in pad.activities()),
            ignored={name: count for name, count in counts.items() if count},
            prompts=prompts,
            words=session_words(prompts).packed(),
            files=files,
            modules=tuple(dict.fromkeys(module_of(each.path) for each in files))[:_MAX_MODULES],
            taints=tuple(dict.fromkeys(part.taint for part in parts if part.taint is not None)),
            owner=self.scope.principal,
        )


def _save(tx: Transaction, watched: WatchedSession) -> None:
    """Save a checkpoint. A finished session that goes on is unfinished again: its new events wait for promotion."""
    saved = watched.joined(tx.scratchpads.get(watched.session))
    tx.scratchpads.put_many([saved])
    if watched.goes_on:
        known = tx.observed_sessions.get(saved.id)
        if known is not None and known.finished_at is not None:
            tx.observed_sessions.put_many([known.replace(finished_at=None, outcome=None, validated=None)])


def _files(pad: Scratchpad) -> tuple[SessionFile, ...]:
    found: dict[str, SessionFile] = {}
    for activity in pad.activities():
        for path, use in activity.files.items():
            other = found.get(path)
            found[path] = SessionFile.make(
                path=path,
                reads=use.reads + (other.reads if other else 0),
                edits=use.edits + (other.edits if other else 0),
                first_step=min(use.first_step, other.first_step) if other else use.first_step,
            )
    ranked = sorted(found.values(), key=lambda each: (-each.edits, -each.reads, each.first_step))
    return tuple(ranked[:_MAX_FILES])


def _united_files(found: tuple[SessionFile, ...], known: tuple[SessionFile, ...]) -> tuple[SessionFile, ...]:
    paths = {each.path for each in found}
    return (*found, *(each for each in known if each.path not in paths))[:_MAX_FILES]


def _united(known: tuple[Candidate, ...], found: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Candidates of both, the new ones first; what the session has promoted before stays promoted."""
    made = {(each.signal, each.subject): each for each in known if each.decision is GateDecision.PROMOTED}
    latest = [
        each.replace(decision=GateDecision.PROMOTED) if each.record and made.get((each.signal, each.subject)) else each
        for each in found
    ]
    listed = {(each.signal, each.subject) for each in latest}
    return (*latest, *(each for each in known if (each.signal, each.subject) not in listed))
