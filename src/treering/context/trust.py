"""`memory.trust`: how certain a record must be before it is given to an agent unasked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput
from treering.core.trust import TrustLevel, offered_level
from treering.observe.trust import advance_trust, set_trust, trust_evidence, trust_level, trust_since

if TYPE_CHECKING:
    from datetime import datetime

    from treering.core.scope import Scope
    from treering.core.trust import TrustEvidence
    from treering.ports.clock import Clock, NewId
    from treering.ports.store import Store

__all__ = ["Trust", "trust_level"]


@dataclass(frozen=True)
class Trust:
    """The trust level of one project. Safe to share between threads."""

    scope: Scope
    store: Store
    clock: Clock
    new_id: NewId

    def __repr__(self) -> str:
        return f"Trust(project={self.scope.project!r})"

    @property
    def level(self) -> TrustLevel:
        """The level now; a new project is cautious."""
        with self.store.reading(self.scope, self.clock()) as tx:
            return trust_level(tx)

    @property
    def since(self) -> datetime | None:
        """When the level was set or reached; None if it is the one that the project began with."""
        with self.store.reading(self.scope, self.clock()) as tx:
            return trust_since(tx)

    @property
    def offered(self) -> TrustLevel | None:
        """A more careful level, offered after three wrong records in the last session; else None."""
        with self.store.reading(self.scope, self.clock()) as tx:
            return offered_level(trust_level(tx), trust_evidence(tx))

    def evidence(self) -> TrustEvidence:
        """What was counted since the level was set."""
        with self.store.reading(self.scope, self.clock()) as tx:
            return trust_evidence(tx)

    def set(self, level: TrustLevel | str) -> TrustLevel:
        """Set the level, whatever the evidence. Raises `InvalidInput` for an unknown one."""
        try:
            chosen = TrustLevel(level)
        except ValueError:
            known = ", ".join(each.value for each in TrustLevel)
            raise InvalidInput(f"level is {level!r}; use one of {known}") from None
        self.store.write(self.scope, self.clock(), lambda tx: set_trust(tx, chosen, self.new_id))
        return chosen

    def advance(self) -> TrustLevel:
        """Raise the level by one step if its rule is met, as the end of a session does; return the level."""
        return advance_trust(self.scope, self.store, self.clock(), self.new_id)
