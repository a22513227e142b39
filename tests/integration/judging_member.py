"""A member of a crew that judges patterns, or tells of applications."""

from datetime import UTC, datetime
from typing import Any

from tests.integration.crew_members import die_after, open_place
from tests.integration.fork_server import tell
from treering.patterns import validation_stage as validating

NOW = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)


def judge(commits: int = 0, **place: Any) -> None:
    """Tells that it begins and of each verdict before it is written; killed after so many commits, if any are given."""
    real = validating._write

    def told(*given: Any, **named: Any) -> None:
        tell(writing=True)
        real(*given, **named)

    validating._write = told
    validating.BATCH_VERDICTS = 5
    with open_place(**place, clock=lambda: NOW) as memory:
        die_after(memory, commits)
        tell(began=True)
        validating.validate(memory.scope, memory.store, NOW, memory.settings.patterns)


def apply_all(episodes: int, **place: Any) -> None:
    """Tells of the same applications as everybody else, and of its own."""
    with open_place(**place, clock=lambda: NOW) as memory:
        for number in range(episodes):
            made = memory.patterns.record_application("p", episode=f"e{number}")
            tell(application=made.id)
