"""Storage of a conversation: messages are turns of a session; the window is stored with the session."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from treering.conversation.cues.detection import cues_of
from treering.conversation.fingerprints import fingerprint_of
from treering.conversation.identifiers import names_in
from treering.conversation.importance import modifiers_of, total
from treering.conversation.message_turns import message_of, turn_of
from treering.conversation.sessions import after_turn_stored
from treering.conversation.summaries import gist_of
from treering.conversation.transcript import Transcript, TranscriptEntry
from treering.core.contexts import ContextState
from treering.core.errors import InvalidInput, id_taken
from treering.core.jobs import Job
from treering.core.messages import Message
from treering.core.queries import Order, TurnFilter
from treering.core.redaction import without_secrets
from treering.core.scope import Scope, Visibility
from treering.core.timestamps import timestamp_of
from treering.core.turns import Session, Turn
from treering.ports.clock import Clock, NewId
from treering.ports.collections import SessionVersion
from treering.ports.store import Store, Transaction
from treering.render.token_counts import Meter

TOKENS = "tokens"
"""Key of a turn's token counts in its metadata, by tokenizer and rules."""


class ConversationStorage:
    """Reads and writes one conversation, and caches what it has read."""

    def __init__(self, scope: Scope, store: Store, clock: Clock, new_id: NewId, *, id: str, meter: Meter) -> None:
        self.id = id
        self.transcript = Transcript()
        self.session: Session | None = None
        self.state: ContextState | None = None
        self._scope = scope
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._meter = meter
        self._counted_as = f"{meter.tokenizer.name} {meter.rules.name}"
        self._fresh_from: tuple[int, ...] = ()
        self._pulse: SessionVersion | None = None

    def catch_up(self) -> bool:
        """Read changes of other writers. Returns whether anything changed."""
        with self._store.reading(self._scope, self._clock()) as tx:
            current_version = tx.sessions.current_version(self.id)
            if current_version == self._pulse:
                return False
            session, live = tx.sessions.get(self.id), tx.turns.count(self._mine)
            new = live - len(self.transcript)
            turns = None if self._rewritten(session, current_version, new) else self._latest(tx, new)
            if turns is None or not self._follow(turns):
                self._start_again(session, tx.turns.stream(self._mine))
            else:
                self._append_all(turns)
            self._hold(session, None if session is None else session.context, current_version)
            return True

    def add(self, messages: Sequence[Message]) -> tuple[Turn, ...]:
        """Store messages in one transaction. A message that is already stored is not stored twice."""
        now = self._clock()
        turns = [self._turn(message, now) for message in messages]
        if len({turn.id for turn in turns}) < len(turns):
            raise InvalidInput("two of the messages have the same id; give each a unique id, or none")

        def add(tx: Transaction) -> dict[str, Turn]:
            tx.claim(f"conversation {self.id}")
            known = tx.turns.get_many([turn.id for turn in turns])
            for turn in turns:
                _refuse_other_message(turn, known.get(turn.id))
            new = [turn for turn in turns if turn.id not in known]
            if len(new) == 1:
                stored = {new[0].id: tx.turns.create(new[0])}
            else:
                tx.turns.create_many(new)
                stored = dict(tx.turns.get_many([turn.id for turn in new]))
            for turn in stored.values():
                after_turn_stored(tx, turn, self._new_id)
            return {**known, **stored}

        stored = self._store.write(self._scope, now, add)
        return tuple(stored[turn.id] for turn in turns)

    def follow(self, turns: Iterable[Turn]) -> bool:
        """Append turns that were just stored. Returns False if other writers added turns in between."""
        fresh = sorted((turn for turn in turns if self.transcript.get(turn.id) is None), key=lambda turn: turn.seq)
        if self._pulse is None or not self._follow(fresh):
            return False
        self._append_all(fresh)
        self._pulse = replace(self._pulse, turns=self._pulse.turns + len(fresh))
        return True

    def save(self, state: ContextState, jobs: Sequence[Job]) -> None:
        """Store the window. Raises `Conflict` if another writer changed it since it was read."""
        now = self._clock()

        def save(tx: Transaction) -> Session:
            session = self.session or tx.sessions.open(
                Session(id=self.id, owner=self._scope.principal, started_at=now, last_at=now)
            )
            for job in jobs:
                tx.jobs.enqueue(job)
            return tx.sessions.update(session.replace(context=state))

        saved = self._store.write(self._scope, now, save)
        self._hold(saved, state, SessionVersion(saved.version, self._pulse.turns if self._pulse else 0))

    def _hold(
        self, session: Session | None, state: ContextState | None, current_version: SessionVersion | None
    ) -> None:
        self.session, self.state, self._pulse = session, state, current_version
        self._fresh_from = state.fresh_from if state else ()

    @property
    def _mine(self) -> TurnFilter:
        return TurnFilter(sessions=(self.id,))

    def _rewritten(self, session: Session | None, current_version: SessionVersion | None, new: int) -> bool:
        """Whether the stored turns no longer begin with the cached ones."""
        if session is None or self.session is None or current_version is None or self._pulse is None:
            return True
        if session.taken != self.session.taken or _fresh_from(session) != self._fresh_from:
            return True
        return new < 0 or current_version.turns - self._pulse.turns != new

    def _latest(self, tx: Transaction, count: int) -> list[Turn]:
        if count == 0:
            return []
        found = tx.turns.find(self._mine, order=Order(by="seq", descending=True), limit=count)
        return list(reversed(found.items))

    def _follow(self, turns: Sequence[Turn]) -> bool:
        expected = self.transcript.entries[-1].seq + 1 if len(self.transcript) else 0
        return [turn.seq for turn in turns] == list(range(expected, expected + len(turns)))

    def _start_again(self, session: Session | None, turns: Iterable[Turn]) -> None:
        self._fresh_from = _fresh_from(session)
        self.transcript = Transcript()
        self._append_all(turns)

    def _append_all(self, turns: Iterable[Turn]) -> None:
        """Append all turns; after an error, the transcript is read again next time."""
        try:
            for turn in turns:
                self._append(turn)
        except BaseException:
            self.transcript, self._pulse = Transcript(), None
            raise

    def hold_messages(self, out: frozenset[int]) -> None:
        """Load the messages in the window, and release the others."""
        back = list[TranscriptEntry]()
        for entry in self.transcript:
            if entry.place in out:
                entry.message = None
            elif entry.message is None:
                back.append(entry)
        if back:
            with self._store.reading(self._scope, self._clock()) as tx:
                turns = tx.turns.get_many([entry.id for entry in back])
            for entry in back:
                entry.message = message_of(turns[entry.id])

    def text_of(self, id: str) -> str:
        with self._store.reading(self._scope, self._clock()) as tx:
            turn = tx.turns.get(id)
        return "" if turn is None else turn.text

    def everything(self) -> tuple[Message, ...]:
        """All messages, read from the store."""
        with self._store.reading(self._scope, self._clock()) as tx:
            return tuple(message_of(turn) for turn in tx.turns.stream(self._mine))

    def _append(self, turn: Turn) -> None:
        message = message_of(turn)
        cues, text = cues_of(message), message.text
        modifiers = modifiers_of(message, cues)
        counted = turn.metadata.get(TOKENS, {}).get(self._counted_as)
        entry = TranscriptEntry(
            place=len(self.transcript),
            seq=turn.seq,
            id=turn.id,
            role=turn.role,
            at=turn.at,
            message=message,
            tokens=self._meter.message(message) if counted is None else counted,
            cues=cues,
            modifiers=modifiers,
            worth=total(modifiers),
            names=names_in(text),
            gist=gist_of(text, cues),
            fingerprint=fingerprint_of(message),
            quotable=turn.visibility is not Visibility.PERSONAL and not turn.tainted,
        )
        before = self.transcript.entries[-1].seq if len(self.transcript) else -1
        self.transcript.append(entry, fresh=any(before < place <= turn.seq for place in self._fresh_from))

    def _turn(self, message: Message, now: datetime) -> Turn:
        chosen = self._new_id() if message.id is None else message.id
        at = timestamp_of(message.at, now)
        turn = without_secrets(turn_of(self._scope, message, id=chosen, session=self.id, now=now, at=at)).value
        failed = self._meter.failures.count
        tokens = self._meter.message(message_of(turn))
        estimated = self._meter.failures.count > failed
        return turn if estimated else turn.replace(metadata={TOKENS: {self._counted_as: tokens}})


def _fresh_from(session: Session | None) -> tuple[int, ...]:
    state = None if session is None else session.context
    return state.fresh_from if state else ()


def _refuse_other_message(turn: Turn, known: Turn | None) -> None:
    """Raise `Conflict` if the id is taken by another message or a forgotten one."""
    if known is None:
        return
    is_same = (known.session, known.role, known.text, known.body) == (turn.session, turn.role, turn.text, turn.body)
    if known.deleted_at is not None or not is_same:
        raise id_taken(turn.id)
