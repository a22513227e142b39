"""Work that follows the end of an observed session: its conversation is stored, and statistics are updated."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from treering.conversation.sessions import after_turn_stored
from treering.core.errors import InvalidInput
from treering.core.messages import Role
from treering.core.observations import PROMOTION
from treering.core.scope import Visibility
from treering.core.taint import Taint
from treering.core.timestamps import timestamp_of
from treering.core.turns import Turn
from treering.observe.continuations import continued_sessions
from treering.observe.conversation import ObservedConversation, ObservedMessage
from treering.observe.injection_outcomes import assess_outcomes, late_sessions
from treering.observe.synthesis.model_synthesis import ModelSynthesis
from treering.observe.synthesis.session_facts import session_facts
from treering.observe.synthesis.session_synthesis import synthesise_session
from treering.observe.trust import advance_trust

if TYPE_CHECKING:
    from treering.core.jobs import Job
    from treering.core.observations import SavedScratchpad
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.clock import NewId
    from treering.ports.models import Models
    from treering.ports.store import Store, Transaction


def do_after_session(
    scope: Scope, store: Store, job: Job, now: datetime, *, models: Models, settings: Settings, new_id: NewId
) -> None:
    """Run the job as the session's principal; a session that was forgotten meanwhile is left alone.

    Conversation, statistics, records and the outcomes of injected items are stored in one transaction, which changes
    nothing if it is repeated. A language model is asked after it.
    """
    owner, session = scope.replace(principal=job.payload["principal"]), job.payload["session"]

    def run(tx: Transaction) -> list[str]:
        saved, observed = tx.scratchpads.get(session), tx.observed_sessions.get(session)
        if saved is None or observed is None:
            return []
        state = json.loads(saved.state)
        if not state:
            return []  # a hard forget removed it
        modules: list[str] = []
        if observed.visibility is not Visibility.PERSONAL:  # the statistics are shared by the project
            facts, continued = session_facts(state), continued_sessions(tx, observed, state)
            modules = synthesise_session(tx, observed, facts, continued=continued, models=models, new_id=new_id)
        _store_turns(tx, saved, state, new_id)
        assess_outcomes(tx, session, state)
        for other in late_sessions(tx, session):
            if (late := tx.scratchpads.get(other)) is not None and (seen := json.loads(late.state)):
                assess_outcomes(tx, other, seen)
        return modules

    modules = store.write(owner, now, run, claims=(PROMOTION,))
    advance_trust(owner, store, now, new_id)
    if modules:
        ModelSynthesis(owner, store, now, models, settings, new_id).run(modules, claim=PROMOTION)


def _store_turns(tx: Transaction, saved: SavedScratchpad, state: Mapping[str, Any], new_id: NewId) -> None:
    """Store the messages that are not stored yet, as turns of the session."""
    messages = ObservedConversation.from_state(state["conversation"]).messages()
    turns = {turn.id: turn for turn in _turns(tx, saved.id, messages)}
    known = tx.turns.get_many(turns)
    new = [turn for id, turn in turns.items() if id not in known and not tx.turns.holds(id, deleted=True)]
    tx.turns.create_many(new)
    for first in tx.turns.get_many(turn.id for turn in new[:1]).values():
        # The jobs that follow are the same for all, and only the first turn can begin the session.
        after_turn_stored(tx, first, new_id)


def _turns(tx: Transaction, session: str, messages: Iterable[ObservedMessage]) -> Iterable[Turn]:
    for message in messages:
        digest = blake2b(f"{session}\n{message.number}\n{message.role}\n{message.text}".encode(), digest_size=16)
        taint = None if message.taint is None else Taint.make(source=message.taint, reason="said after outside content")
        yield Turn.make(
            id=f"seen-{digest.hexdigest()}",
            session=session,
            role=Role(message.role),
            text=message.text,
            at=_time(message.at, tx.now),
            recorded_at=tx.now,
            owner=tx.scope.principal,
            taint=taint,
        )


def _time(at: str, now: datetime) -> datetime:
    try:
        return timestamp_of(at or None, now)
    except InvalidInput:
        return now
