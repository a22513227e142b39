"""The input of a maintenance stage: scope, store, time, cursor, and where to report progress."""

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


class StageProgress(Protocol):
    """Receives the progress of a stage. After a crash, the stage resumes at the last reported `cursor`."""

    def expect(self, total: int) -> None:
        """Set the expected number of steps, if known."""
        ...

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        """Report committed steps and extend the lease; `Conflict` if another worker has taken over."""
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
    progress: StageProgress
    cursor: str | None = None
    dry_run: bool = False


StageWork = Callable[[StageRun], None]
"""A stage. It works in small transactions, each complete in itself, so that stopping anywhere loses nothing."""
