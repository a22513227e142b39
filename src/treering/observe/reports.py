"""Reports of observed sessions with their records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.core.observations import Candidate, GateDecision, ObservedSession

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.ports.store import Transaction


@dataclass(frozen=True, slots=True)
class SessionReport:
    """A session with the records that it created and those that it strengthened, as they are now.

    Records that were forgotten since are left out.
    """

    session: ObservedSession
    promoted: tuple[Knowledge, ...]
    reinforced: tuple[Knowledge, ...]

    @property
    def id(self) -> str:
        return self.session.id

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        return self.session.candidates

    @property
    def rejected(self) -> tuple[Candidate, ...]:
        return tuple(each for each in self.session.candidates if each.decision is GateDecision.REJECTED)


def report_of(tx: Transaction, session: ObservedSession) -> SessionReport:
    ids = [each.record for each in session.candidates if each.record is not None]
    records = {id: each for id, each in tx.knowledge.get_many(ids).items() if each.deleted_at is None}

    def having(decision: GateDecision) -> tuple[Knowledge, ...]:
        wanted = (each.record for each in session.candidates if each.decision is decision)
        return tuple(records[id] for id in dict.fromkeys(wanted) if id in records)

    return SessionReport(session, having(GateDecision.PROMOTED), having(GateDecision.REINFORCED))
