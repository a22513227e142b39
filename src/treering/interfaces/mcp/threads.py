"""How many calls work at once, so that none of them waits for all the others."""

from collections.abc import Callable
from enum import Enum
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from treering.core.settings.agents import AgentSettings

T = TypeVar("T")


class Row(Enum):
    """Where a call waits for its turn."""

    READING = "reading"
    WRITING = "writing"
    LENGTHY = "lengthy"


class Threads:
    """Three rows, first come, first served in each: whoever searches stands neither behind those who wait for the one
    place where writing is done, nor behind a question about code that takes seconds.

    A call whose client has left is worked to its end, and holds its place until then: left to itself, it would be a
    thread that nobody counts.
    """

    def __init__(self, settings: AgentSettings) -> None:
        self._rows = {
            Row.READING: CapacityLimiter(settings.reading_at_once),
            Row.WRITING: CapacityLimiter(settings.writing_at_once),
            Row.LENGTHY: CapacityLimiter(settings.lengthy_at_once),
        }

    async def work(self, row: Row, work: Callable[[], T]) -> T:
        return await to_thread.run_sync(work, limiter=self._rows[row])
