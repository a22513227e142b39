"""Which records may be given to an agent unasked. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from treering.core.confidence import effective_confidence
from treering.core.injection_rules import USES_OF_TRUST
from treering.core.records import Source
from treering.core.trust import MIN_CONFIDENCE, TrustLevel

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.core.settings import TrustSettings


@dataclass(frozen=True, slots=True)
class InjectionGate:
    """The conditions of one offer."""

    session: str
    now: datetime
    level: TrustLevel
    settings: TrustSettings
    compacted: bool = False
    """Whether the agent lost its context, so that what its user taught it in this session is new to it."""

    def admits(self, record: Knowledge) -> bool:
        """Whether the record is current, trusted, not muted, and not what this session itself showed."""
        return not record.muted and self._is_current(record) and self._is_trusted(record) and self._is_new(record)

    def confidence(self, record: Knowledge) -> float:
        # Where the last session stopped does not become doubtful with time; old ones are not candidates.
        if record.type == "work_state":
            return record.confidence
        return effective_confidence(record, self.now, self.settings)

    def _is_current(self, record: Knowledge) -> bool:
        ended = record.deleted_at, record.deprecated_at, record.superseded_by
        if any(each is not None for each in ended) or record.flagged or record.open_conflicts:
            return False
        past = (each is not None and each <= self.now for each in (record.stale_at, record.valid_until))
        return not any(past) and (record.valid_from is None or record.valid_from <= self.now)

    def _is_trusted(self, record: Knowledge) -> bool:
        if record.user_verified:
            return True
        if record.tainted:
            return False
        if record.is_from_person:
            return True  # what people say themselves needs no confirmation
        return record.uses >= USES_OF_TRUST or self.confidence(record) > MIN_CONFIDENCE[self.level]

    def _is_new(self, record: Knowledge) -> bool:
        taught = self.compacted and record.source is Source.USER_TAUGHT
        return record.session != self.session or taught
