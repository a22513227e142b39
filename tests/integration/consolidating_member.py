"""A member of a crew that consolidates episodes."""

from datetime import UTC, datetime
from typing import Any

from tests.integration.crew_members import die_after, open_place
from tests.integration.fork_server import tell
from treering.episodes.consolidation import stage
from treering.jobs.stage import StageRun

NOW = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)


class Silent:
    def expect(self, total: int) -> None: ...

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None: ...


def consolidate(commits: int = 0, **place: Any) -> None:
    """Tells that it begins and of each cluster before it is merged; killed after so many commits, if any are given."""
    real = stage._merge

    def told(*given: Any, **named: Any) -> None:
        tell(merging=True)
        real(*given, **named)

    stage._merge = told
    with open_place(**place) as memory:
        die_after(memory, commits)
        tell(began=True)
        stage.consolidate_episodes(
            StageRun(memory.scope, memory.store, NOW, memory.settings, memory.models, lambda: "unused", Silent())
        )
