"""How many calls work at once, so that none of them waits for all the others."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

T = TypeVar("T")


class Row(Enum):
    """Where a call waits for its turn."""

    READING = "reading"
    WRITING = "writing"
    LENGTHY = "lengthy"


AT_ONCE: Mapping[Row, int] = {Row.READING: 2, Row.WRITING: 3, Row.LENGTHY: 2}
"""Calls of each row that work at once. Python runs one at a time: more readers would only take turns, each with a
connection and its cache of pages. Of those who write one does, and the next have prepared what they write or look for
what is like it. All together stay below `store.pool_size`, so that connections are kept."""


class Threads:
    """Three rows, first come, first served in each: whoever searches stands neither behind those who wait for the one
    place where writing is done, nor behind a question about code that takes seconds.

    A call whose client has left is worked to its end, and holds its place until then: left to itself, it would be a
    thread that nobody counts.
    """

    def __init__(self) -> None:
        self._rows = {row: CapacityLimiter(most) for row, most in AT_ONCE.items()}

    async def work(self, row: Row, work: Callable[[], T]) -> T:
        return await to_thread.run_sync(work, limiter=self._rows[row])
