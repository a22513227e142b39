"""Learning from sessions, page by page. Reading a page twice changes nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from treering.core.delimiters import without_delimited
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
from treering.knowledge.facts.storage import FactStorage, TurnStatement
from treering.knowledge.model_facts import PAGE_TURNS
from treering.ports.clock import NewId
from treering.ports.models import Models
from treering.ports.store import Store, Transaction
from treering.prompts.token_budget import metered_writer

_SPOKEN_ROLES = (Role.USER, Role.ASSISTANT)
_BATCH = 200  # sessions queued in one transaction
_IN_ORDER = Order(by="seq", descending=False)


class _ReadPage(NamedTuple):
    """A page of a session and its statements."""

    session: str
    start: int
    end: int
    statements: Sequence[TurnStatement]


@dataclass(frozen=True, slots=True)
class Learner:
    """Learns facts from sessions."""

    store: Store
    models: Models
    settings: Settings
    new_id: NewId

    def learn(self, scope: Scope, now: datetime, session: str, between: Callable[[], None] = lambda: None) -> int:
        """Read the unread pages of a session and return the number of new records.

        Each page is committed separately with its end position, so that a second worker skips it. `between` is called
        after each page.
        """
        learned = 0
        while page := self._page(scope, now, session):
            start, end, turns = page
            page_read = _ReadPage(session, start, end, self._extract(scope, now, turns, start))
            if page_read.statements:
                with self.store.reading(scope, now) as tx:
                    tx.index.load("")
            stored = self.store.write(scope, now, partial(self._store_page, page_read))
            if stored is None:
                continue
            learned += stored
            between()
        return learned

    def _store_page(self, page: "_ReadPage", tx: Transaction) -> int | None:
        """Number of new records; None if another worker has read this page."""
        tx.claim(f"learning from {page.session}")
        known = tx.sessions.get(page.session)
        if known is None or known.learned != page.start:
            return None
        storage = FactStorage(tx, self.new_id)
        stored = len(storage.store(_of_existing_turns(tx, page.statements)).learned)
        queue_linking(tx, tx.now, self.new_id)
        # Last: sessions are locked after records.
        if not tx.sessions.mark_learned(page.session, known=page.start, learned=page.end):
            raise Conflict(f"session {page.session!r} was read by another process at the same time; try again")
        return stored

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

    def _extract(self, scope: Scope, now: datetime, turns: Sequence[Turn], start: int) -> list[TurnStatement]:
        """Statements of the turns from `start` on.

        They come from the language model, if one is configured and responds, and from the rules for turns in which the
        model found none.
        """
        if not self.settings.learn.enabled:
            return []
        spoken_turns = [_without_memory_text(turn) for turn in turns if turn.role in _SPOKEN_ROLES]
        shared = [turn for turn in spoken_turns if turn.visibility is not Visibility.PERSONAL and turn.seq >= start]
        by_model = self._extract_by_model(scope, now, shared)
        with_statements = {each.turn.id for each in by_model}
        by_rules = (each for each in _extract_by_rules(spoken_turns) if each.turn.seq >= start)
        return [*by_model, *(each for each in by_rules if each.turn.id not in with_statements)]

    def _extract_by_model(self, scope: Scope, now: datetime, turns: Sequence[Turn]) -> list[TurnStatement]:
        if not turns or self.settings.learn.model == "off" or not self.settings.writer.url:
            return []
        from treering.knowledge.model_facts import extract_statements

        try:
            writer = metered_writer(self.models, self.store, scope, now, self.settings)
            by_id = {turn.id: turn for turn in turns}
            found = extract_statements(turns, writer, settings=self.settings.learn)
        except UnusableAnswer:
            return []
        except ModelUnavailable as exc:
            self.models.failed("writer", exc)
            return []
        return [TurnStatement(statement, by_id[id]) for id, statement in found]


def learn_session(learner: Learner, scope: Scope, job: Job, now: datetime, between: Callable[[], None]) -> None:
    """Run the learning job of an ended session as the session's owner, so that every turn is visible."""
    learner.learn(scope.replace(principal=job.payload["owner"]), now, job.payload["session"], between)


def queue_learning(scope: Scope, store: Store, now: datetime, new_id: NewId) -> bool:
    """Queue learning jobs for sessions with unread turns; return whether any was queued."""
    with store.transaction(scope, now) as tx:
        pending = _readable(tx, tx.sessions.find(SessionFilter(learned=False), limit=_BATCH).items)
        return sum(tx.jobs.enqueue(learning_job(session, now, new_id())) for session in pending) > 0


def consolidate_sessions(run: StageRun) -> None:
    """Learn from every session that has unread turns and has been quiet for a while."""
    learner = Learner(run.store, run.models, run.settings, run.new_id)
    quiet = run.now - timedelta(minutes=run.settings.learn.quiet_minutes)
    with run.store.reading(run.scope, run.now) as tx:
        waiting = [each for each in tx.sessions.stream(SessionFilter(learned=False)) if each.last_at <= quiet]
        pending = _readable(tx, waiting)
    run.progress.expect(len(pending))
    for session in sorted(pending, key=_by_time):
        counts = {"turns": session.turns - session.learned, "sessions": 1}
        if not run.dry_run:
            counts |= _read_rest(run, learner, session)
        run.progress.advance(session.id, **counts)


def _read_rest(run: StageRun, learner: Learner, session: Session) -> dict[str, int]:
    """Read the rest of a session as its owner; an unreadable session is counted and skipped."""
    own = run.scope.replace(principal=session.owner)
    try:
        learned = learner.learn(own, run.now, session.id)
    except (BlobMissing, Unreadable):
        return {"sessions": 0, "turns": 0, "unreadable": 1}
    ended = session.ended_at is not None or run.store.write(own, run.now, lambda tx: tx.sessions.end(session.id))
    return {"learned": learned, "sessions": int(ended)}


def _readable(tx: Transaction, sessions: Sequence[Session]) -> list[Session]:
    """The sessions without dead learning jobs, whose retries could call a language model again; `doctor` lists them."""
    dead = set[str | None]()
    for start in range(0, len(sessions), LABELS):
        keys = tuple(session.id for session in sessions[start : start + LABELS])
        where = JobFilter(kinds=(LEARN_SESSION,), keys=keys, states=(JobState.DEAD,))
        dead |= {job.key for job in tx.jobs.stream(where)}
    return [session for session in sessions if session.id not in dead]


def _of_existing_turns(tx: Transaction, statements: Sequence[TurnStatement]) -> list[TurnStatement]:
    """The statements whose turns still exist."""
    found = tx.turns.readable({each.turn.id for each in statements})
    existing = {match.value.id for match in found if match.value.deleted_at is None}
    return [each for each in statements if each.turn.id in existing]


def _by_time(session: Session) -> tuple[datetime, str]:
    return session.last_at, session.id


def statements_by_rules(turns: Sequence[Turn]) -> list[TurnStatement]:
    """Statements that the rules extract from the turns."""
    return _extract_by_rules([_without_memory_text(turn) for turn in turns if turn.role in _SPOKEN_ROLES])


def _without_memory_text(turn: Turn) -> Turn:
    text = without_delimited(turn.text)
    return turn if text == turn.text else turn.replace(text=text)


def _extract_by_rules(turns: Sequence[Turn]) -> list[TurnStatement]:
    """Statements of users; a turn may correct the assistant's preceding turn."""
    statements = list[TurnStatement]()
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
        statements += (TurnStatement(statement, turn) for statement in found)
        before = turn
    return statements
