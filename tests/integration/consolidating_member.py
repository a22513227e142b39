"""A member of a crew that consolidates episodes. Run as a program, like `crew_members.py`."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.integration import crew_members
from tests.integration.crew_members import open_place, tell
from treering.learn.episodes.consolidation import consolidate as stage
from treering.learn.stages import StageRun

NOW = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)


class Silent:
    def expect(self, total: int) -> None: ...

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None: ...


def consolidate(**place: Any) -> None:
    """Tells that it begins, of each cluster before it is merged, and that it ended."""
    real = stage._merge

    def told(*given: Any) -> None:
        tell(merging=True)
        real(*given)

    stage._merge = told
    with open_place(**place) as memory:
        tell(began=True)
        stage.consolidate_episodes(
            StageRun(memory.scope, memory.store, NOW, memory.settings, memory.models, lambda: "unused", Silent())
        )
    tell(ended=True)


if __name__ == "__main__":
    crew_members.WORK["consolidate"] = consolidate
    crew_members.main()
