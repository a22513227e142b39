"""What a stage of maintenance is given: where it works, at what moment, how far it came before, and whom to tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.clock import NewId
    from treering.ports.models import Models
    from treering.ports.store import Store


class Progress(Protocol):
    """Where a stage tells how far it is. Whoever goes on after a crash starts at the last `cursor` told."""

    def expect(self, total: int) -> None:
        """How many steps there are, where that is known."""
        ...

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        """So much is done and committed. Keeps the lease; `Conflict` where another worker has taken over."""
        ...


@dataclass(frozen=True, slots=True)
class StageRun:
    """One run of a stage. With `dry_run` it only counts what it would do."""

    scope: Scope
    store: Store
    now: datetime
    settings: Settings
    models: Models
    new_id: NewId
    progress: Progress
    cursor: str | None = None
    dry_run: bool = False


Work = Callable[[StageRun], None]
"""Does a stage: in small transactions, each whole by itself, so that stopping anywhere loses and doubles nothing."""
