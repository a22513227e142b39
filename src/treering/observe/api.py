"""`memory.observe`: watches of sessions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput
from treering.core.events import SessionType
from treering.core.values import KEY_BYTES, brief, fitting, is_storable

if TYPE_CHECKING:
    from treering.observe.finished import SessionFinisher
    from treering.observe.watch import Watch

_MAX_ROOT = 1_000


@dataclass(frozen=True)
class Observer:
    """Starts watches of one project's sessions."""

    finisher: SessionFinisher

    def observe(
        self,
        session: str,
        *,
        type: SessionType | str = SessionType.BUILD,
        agent: str | None = None,
        root: str | Path | None = None,
    ) -> Watch:
        """A watch of the session; one that was interrupted continues from its checkpoint."""
        from treering.observe.scratchpad.kept_text import kept_text
        from treering.observe.watch import MAX_AGENT_NAME, SessionIdentity, Watch

        if not is_storable(session) or not 0 < len(session.encode()) <= KEY_BYTES:
            raise InvalidInput(f"session is {brief(str(session))!r}; pass an id of 1 to {KEY_BYTES} bytes of text")
        try:
            kind = SessionType(type)
        except ValueError:
            known = ", ".join(each.value for each in SessionType)
            raise InvalidInput(f"type is {type!r}; use one of {known}") from None
        finisher = self.finisher
        # Both are saved with the scratchpads, which the store does not search for secrets.
        name = fitting(kept_text(agent or "", MAX_AGENT_NAME), MAX_AGENT_NAME) or None
        folder = kept_text(str(root or ""), _MAX_ROOT)
        watch = Watch(SessionIdentity(session, kind, name, folder), finisher)
        saved = finisher.stored(session)
        if saved is not None:
            watch.restore(saved)
        return watch
