"""A member of a crew that consolidates episodes. Run as a program, like `crew_members.py`."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.integration import crew_members
from tests.integration.crew_members import open_place, tell
from treering.learn.episodes.consolidation.consolidate import consolidate_episodes
from treering.learn.stages import StageRun

NOW = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)


class Told:
    """Progress that others hear of; what they do not hear of was not acknowledged."""

    def expect(self, total: int) -> None:
        tell(expected=total)

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        if counts:
            tell(advanced=counts)


def consolidate(**place: Any) -> None:
    with open_place(**place) as memory:
        memory.models.embedder((), hurried=False).documents(["ready"])
        tell(began=True)
        consolidate_episodes(
            StageRun(memory.scope, memory.store, NOW, memory.settings, memory.models, lambda: "unused", Told())
        )


if __name__ == "__main__":
    crew_members.WORK["consolidate"] = consolidate
    crew_members.main()
