"""Reads what was said in sessions, page by page, for what can be learned from it. Reading it twice changes nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from treering.core.delimiters import without_ours
from treering.core.errors import BlobMissing, Conflict, ModelUnavailable, Unreadable, UnusableAnswer
from treering.core.jobs import LEARN_SESSION, Job, JobState, learning_job
from treering.core.messages import Role
from treering.core.queries import JobFilter, Order, PlaceRange, SessionFilter, TurnFilter
from treering.core.scope import Scope, Visibility
from treering.core.settings import Settings
from treering.core.turns import TASK, Session, Turn
from treering.core.values import LABELS
from treering.entities.link_jobs import queue_linking
from treering.jobs.stage import StageRun
from treering.knowledge.facts.rules import read_statements
from treering.knowledge.facts.speakers import speaker_of
from treering.knowledge.facts.storage import FactKeeper, Heard
from treering.knowledge.model_facts import PAGE_TURNS
from treering.ports.clock import NewId
from treering.ports.models import Models
from treering.ports.store import Store, Transaction
from treering.prompts.token_budget import metered_writer

_SPEAKING = (Role.USER, Role.ASSISTANT)
_AT_ONCE = 200
"""Sessions that are queued in one transaction."""
_IN_ORDER = Order(by="seq", descending=False)


class _Read(NamedTuple):
    """A page of a session, and what was heard in it."""

    session: str
    start: int
    end: int
    heard: Sequence[Heard]


@dataclass(frozen=True, slots=True)
class Learner:
    """What learning from sessions needs."""

    store: Store
    models: Models
    settings: Settings
    new_id: NewId

    def learn(self, scope: Scope, now: datetime, session: str, between: Callable[[], None] = lambda: None) -> int:
        """Read on where the last one stopped; how many records were learned is returned.

        Each page is committed by itself with the place it ends at: whoever comes second at a page leaves it alone.
        """
        learned = 0
        while page := self._page(scope, now, session):
            start, end, turns = page
            read = _Read(session, start, end, self._heard(scope, now, turns, start))
            if read.heard:
                with self.store.reading(scope, now) as tx:
                    tx.index.load("")
            kept = self.store.write(scope, now, partial(self._keep, read))
            if kept is None:
                continue
            learned += kept
            between()
        return learned

    def _keep(self, read: "_Read", tx: Transaction) -> int | None:
        """How many records were learned; None if another worker has read this page."""
        tx.claim(f"learning from {read.session}")
        known = tx.sessions.get(read.session)
        if known is None or known.learned != read.start:
            return None
        keeper = FactKeeper(tx, self.new_id)
        kept = len(keeper.keep(_still_said(tx, read.heard)).learned)
        queue_linking(tx, tx.now, self.new_id)
        # Last: sessions are locked after records.
        if not tx.sessions.mark_learned(read.session, known=read.start, learned=read.end):
            raise Conflict(f"session {read.session!r} was read by another process at the same time; try again")
        return kept

    def _page(self, scope: Scope, now: datetime, id: str) -> tuple[int, int, Sequence[Turn]] | None:
        with self.store.reading(scope, now) as tx:
            session = tx.sessions.get(id)
            if session is None or session.turns <= session.learned:
                return None
            end = min(session.learned + PAGE_TURNS, session.turns)
            # With the turn before the page, which its first one may correct.
            where = TurnFilter(sessions=(id,), places=PlaceRange(first=max(session.learned - 1, 0), before=end))
            turns = tx.turns.find(where, order=_IN_ORDER, limit=PAGE_TURNS + 1).items
        return session.learned, end, () if TASK in session.metadata else turns

    def _heard(self, scope: Scope, now: datetime, turns: Sequence[Turn], start: int) -> list[Heard]:
        """Statements of the turns from `start` on: by the language model, if one is configured and answers, and by
        the rules in turns in which it found none.
        """
        if not self.settings.learn.enabled:
            return []
        spoken = [_ours_left_out(turn) for turn in turns if turn.role in _SPEAKING]
        shared = [turn for turn in spoken if turn.visibility is not Visibility.PERSONAL and turn.seq >= start]
        written = self._written(scope, now, shared)
        told = {heard.turn.id for heard in written}
        by_rules = (heard for heard in _read_all(spoken) if heard.turn.seq >= start)
        return [*written, *(heard for heard in by_rules if heard.turn.id not in told)]

    def _written(self, scope: Scope, now: datetime, turns: Sequence[Turn]) -> list[Heard]:
        if not turns or self.settings.learn.model == "off" or not self.settings.writer.url:
            return []
        from treering.knowledge.model_facts import write_statements

        try:
            writer = metered_writer(self.models, self.store, scope, now, self.settings)
            by_id = {turn.id: turn for turn in turns}
            found = write_statements(turns, writer, settings=self.settings.learn)
        except UnusableAnswer:
            return []
        except ModelUnavailable as exc:
            self.models.failed("writer", exc)
            return []
        return [Heard(statement, by_id[id]) for id, statement in found]


def learn_session(learner: Learner, scope: Scope, job: Job, now: datetime, between: Callable[[], None]) -> None:
    """The job that a session leaves when it ends, done as its owner."""
    learner.learn(scope.replace(principal=job.payload["owner"]), now, job.payload["session"], between)


def queue_learning(scope: Scope, store: Store, now: datetime, new_id: NewId) -> bool:
    """Queue the reading of sessions in which more was said than was read; whether any was queued is returned."""
    with store.transaction(scope, now) as tx:
        pending = _readable(tx, tx.sessions.find(SessionFilter(learned=False), limit=_AT_ONCE).items)
        return sum(tx.jobs.enqueue(learning_job(session, now, new_id())) for session in pending) > 0


def consolidate_sessions(run: StageRun) -> None:
    """Every session that was not read to its end and is not spoken in any more."""
    learner = Learner(run.store, run.models, run.settings, run.new_id)
    quiet = run.now - timedelta(minutes=run.settings.learn.quiet_minutes)
    with run.store.reading(run.scope, run.now) as tx:
        waiting = [each for each in tx.sessions.stream(SessionFilter(learned=False)) if each.last_at <= quiet]
        pending = _readable(tx, waiting)
    run.progress.expect(len(pending))
    for session in sorted(pending, key=_by_time):
        counts = {"turns": session.turns - session.learned, "sessions": 1}
        if not run.dry_run:
            counts |= _read_to_its_end(run, learner, session)
        run.progress.advance(session.id, **counts)


def _read_to_its_end(run: StageRun, learner: Learner, session: Session) -> dict[str, int]:
    """As its owner. One that cannot be read does not keep the others from being read."""
    own = run.scope.replace(principal=session.owner)
    try:
        learned = learner.learn(own, run.now, session.id)
    except (BlobMissing, Unreadable):
        return {"sessions": 0, "turns": 0, "unreadable": 1}
    ended = session.ended_at is not None or run.store.write(own, run.now, lambda tx: tx.sessions.end(session.id))
    return {"learned": learned, "sessions": int(ended)}


def _readable(tx: Transaction, sessions: Sequence[Session]) -> list[Session]:
    """Without those whose reading failed for good: each try may ask a language model anew. `doctor` names them."""
    dead = set[str | None]()
    for start in range(0, len(sessions), LABELS):
        keys = tuple(session.id for session in sessions[start : start + LABELS])
        where = JobFilter(kinds=(LEARN_SESSION,), keys=keys, states=(JobState.DEAD,))
        dead |= {job.key for job in tx.jobs.stream(where)}
    return [session for session in sessions if session.id not in dead]


def _still_said(tx: Transaction, heard: Sequence[Heard]) -> list[Heard]:
    """Without what was forgotten while it was read."""
    found = tx.turns.readable({each.turn.id for each in heard})
    said = {match.value.id for match in found if match.value.deleted_at is None}
    return [each for each in heard if each.turn.id in said]


def _by_time(session: Session) -> tuple[datetime, str]:
    return session.last_at, session.id


def heard_by_rules(turns: Sequence[Turn]) -> list[Heard]:
    """What the rules read in turns."""
    return _read_all([_ours_left_out(turn) for turn in turns if turn.role in _SPEAKING])


def _ours_left_out(turn: Turn) -> Turn:
    text = without_ours(turn.text)
    return turn if text == turn.text else turn.replace(text=text)


def _read_all(turns: Sequence[Turn]) -> list[Heard]:
    """What users state; a turn may correct what the assistant said just before it."""
    heard = list[Heard]()
    before: Turn | None = None
    for turn in turns:
        corrects = before is not None and before.role is Role.ASSISTANT and before.session == turn.session
        found = read_statements(
            turn.text,
            speaker=speaker_of(turn),
            role=turn.role.value,
            language=turn.language,
            previous=before.text if before is not None and corrects else "",
        )
        heard += (Heard(statement, turn) for statement in found)
        before = turn
    return heard
