"""Relay: what one stage of work recorded is handed to the next, by tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treering.context.stages.stage_context import ContextSection, StageContext, stage_context
from treering.core.history import Action
from treering.core.methodologies import Methodology
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge, Source

if TYPE_CHECKING:
    from treering.ports.store import Transaction

RELAY, WORK = "relay:", "work:"
"""Beginnings of the tags that name the giving stage and the work."""
MAX_HANDED, MAX_SHOWN = 20, 10
_BUDGET = 2_000
_TRUSTED = KnowledgeFilter(deprecated=False, flagged=False, tainted=False)
_STATED = frozenset({Source.AGENT_EXPLICIT, Source.USER_TAUGHT, Source.QA_AUTO})


def hand_over(tx: Transaction, session: str, stage: str, work: str, methodology: Methodology) -> int:
    """Tag what the session recorded, so that the next stage of the work receives it; return the number of records."""
    methodology.hand_over_to(stage)  # refuses an unknown stage
    found = tx.knowledge.newest(_TRUSTED.replace(sessions=(session,)), limit=MAX_HANDED)
    stated = sorted((match.value for match in found if match.value.source in _STATED), key=lambda each: each.id)
    for record in stated:
        tx.claim(f"record {record.id}")
    tags = (f"{RELAY}{stage}", f"{WORK}{work}")
    current = tx.knowledge.get_many([record.id for record in stated])
    for record in current.values():
        new = tuple(tag for tag in tags if tag not in record.tags)
        if new:
            tx.knowledge.update(record.replace(tags=(*record.tags, *new)), Action.UPDATE)
    return len(current)


def relay(tx: Transaction, stage: str, work: str, methodology: Methodology) -> StageContext:
    """What the stage before handed over for this work; empty for the first stage."""
    received = methodology.hand_over_to(stage)
    if received is None:
        return stage_context((), _BUDGET)
    where = _TRUSTED.replace(types=received.types, all_tags=(f"{RELAY}{received.giver}", f"{WORK}{work}"))
    records = tuple(_oldest_first(tx, where))
    return stage_context([ContextSection(f"From the {received.giver.replace('_', ' ')}", records)], _BUDGET)


def _oldest_first(tx: Transaction, where: KnowledgeFilter) -> list[Knowledge]:
    newest = [match.value for match in tx.knowledge.newest(where, limit=MAX_SHOWN)]
    return newest[::-1]
