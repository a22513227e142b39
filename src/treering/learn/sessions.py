"""Reads what was said in sessions, page by page, for what can be learned from it. Reading it twice changes nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from treering.core.delimiters import without_ours
from treering.core.errors import ModelUnavailable, UnusableAnswer
from treering.core.jobs import Job, learning_job
from treering.core.messages import Role
from treering.core.queries import Order, PlaceRange, SessionFilter, TurnFilter
from treering.core.scope import Scope, Visibility
from treering.core.settings import Settings
from treering.core.turns import TASK, Session, Turn
from treering.learn.entities.reading import queue_linking
from treering.learn.facts.keeping import FactKeeper, Heard, speaker_of
from treering.learn.facts.reading import read_statements
from treering.learn.stages import StageRun
from treering.learn.teach import Teaching
from treering.ports.clock import NewId
from treering.ports.models import Embedder, Models
from treering.ports.store import Store

_AT_ONCE = 200
"""Sessions that are queued in one transaction."""
_IN_ORDER = Order(by="seq", descending=False)


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
            heard = self._heard(turns)
            embedder = self._embedder(scope, now) if heard else None
            with self.store.transaction(scope, now) as tx:
                tx.claim(f"learning from {session}")
                if not tx.sessions.learn(session, known=start, learned=end):
                    continue
                teaching = Teaching(self.store, self.settings.knowledge, self.new_id)
                learned += len(FactKeeper(tx, teaching, self.settings, embedder).keep(heard).learned)
                queue_linking(tx, now, self.new_id)
            between()
        return learned

    def _page(self, scope: Scope, now: datetime, id: str) -> tuple[int, int, Sequence[Turn]] | None:
        with self.store.reading(scope, now) as tx:
            session = tx.sessions.get(id)
            if session is None or session.turns <= session.learned:
                return None
            end = min(session.learned + self.settings.learn.page, session.turns)
            where = TurnFilter(sessions=(id,), places=PlaceRange(first=session.learned, before=end))
            turns = tx.turns.find(where, order=_IN_ORDER, limit=self.settings.learn.page).items
        return session.learned, end, () if TASK in session.metadata else turns

    def _heard(self, turns: Sequence[Turn]) -> list[Heard]:
        """By the language model, where one is chosen and answers; by our own rules where not, or where it may not."""
        spoken = [_ours_left_out(turn) for turn in turns if turn.role in (Role.USER, Role.ASSISTANT)]
        shared = [turn for turn in spoken if turn.visibility is not Visibility.PERSONAL]
        written = self._written(shared)
        read = spoken if written is None else [turn for turn in spoken if turn not in shared]
        return [*(written or ()), *(heard for turn in read for heard in _read(turn))]

    def _written(self, turns: Sequence[Turn]) -> list[Heard] | None:
        if not turns or self.settings.learn.model == "off" or not self.settings.writer.url:
            return None
        from treering.learn.facts.written import write_statements

        try:
            writer = self.models.writer(hurried=False)
            by_id = {turn.id: turn for turn in turns}
            found = write_statements(turns, writer, settings=self.settings.learn)
        except UnusableAnswer:
            return None
        except ModelUnavailable as exc:
            self.models.failed("writer", exc)
            return None
        return [Heard(statement, by_id[id]) for id, statement in found] or None

    def _embedder(self, scope: Scope, now: datetime) -> Embedder | None:
        """Only one that answers at once: learning does not wait for a service."""
        try:
            with self.store.reading(scope, now) as tx:
                embedder = self.models.embedder(tx.index.models(), hurried=True)
        except ModelUnavailable:
            return None
        return embedder if embedder.local else None


def learn_session(learner: Learner, scope: Scope, job: Job, now: datetime, between: Callable[[], None]) -> None:
    """The job that a session leaves when it ends, done as its owner."""
    learner.learn(scope.replace(principal=job.payload["owner"]), now, job.payload["session"], between)


def queue_learning(scope: Scope, store: Store, now: datetime, new_id: NewId) -> bool:
    """Queue the reading of sessions in which more was said than was read; whether any was queued is returned."""
    with store.transaction(scope, now) as tx:
        pending = tx.sessions.find(SessionFilter(learned=False), limit=_AT_ONCE).items
        return sum(tx.jobs.enqueue(learning_job(session, now, new_id())) for session in pending) > 0


def consolidate_sessions(run: StageRun) -> None:
    """Every session that was not read to its end and is not spoken in any more."""
    learner = Learner(run.store, run.models, run.settings, run.new_id)
    quiet = run.now - timedelta(minutes=run.settings.learn.quiet_minutes)
    with run.store.reading(run.scope, run.now) as tx:
        pending = [each for each in tx.sessions.stream(SessionFilter(learned=False)) if each.last_at <= quiet]
    run.progress.expect(len(pending))
    for session in sorted(pending, key=_by_time):
        learned = 0
        if not run.dry_run:
            learned = learner.learn(run.scope, run.now, session.id)
            with run.store.transaction(run.scope, run.now) as tx:
                tx.sessions.end(session.id)
        run.progress.advance(session.id, sessions=1, turns=session.turns - session.learned, learned=learned)


def _by_time(session: Session) -> tuple[datetime, str]:
    return session.last_at, session.id


def _ours_left_out(turn: Turn) -> Turn:
    text = without_ours(turn.text)
    return turn if text == turn.text else turn.replace(text=text)


def _read(turn: Turn) -> list[Heard]:
    found = read_statements(
        turn.text, at=turn.at, speaker=speaker_of(turn), role=turn.role.value, language=turn.language
    )
    return [Heard(statement, turn) for statement in found]
