"""Threads that run calls, in separate queues for reads, writes and slow calls."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

T = TypeVar("T")


class CallQueue(Enum):
    """The queue in which a call waits."""

    READ = "read"
    WRITE = "write"
    SLOW = "slow"


CONCURRENCY: Mapping[CallQueue, int] = {CallQueue.READ: 2, CallQueue.WRITE: 1, CallQueue.SLOW: 2}
"""Concurrent calls of each queue. More readers would only take turns under the GIL, each with its own connection and
page cache. A second writer would take its turns from the readers: with 50 clients, searches then wait a second instead
of a tenth, and no more calls are answered. The sum stays below `store.pool_size`, so that connections are reused."""


class CallThreads:
    """Three queues, each first in, first out: a search waits neither for writers nor for slow questions about code.

    A call whose client has disconnected runs to its end and occupies its slot until then, so that every running thread
    is counted.
    """

    def __init__(self) -> None:
        self._limiters = {queue: CapacityLimiter(limit) for queue, limit in CONCURRENCY.items()}

    async def run(self, queue: CallQueue, work: Callable[[], T]) -> T:
        return await to_thread.run_sync(work, limiter=self._limiters[queue])

    def load(self) -> Mapping[CallQueue, tuple[int, int]]:
        """Calls that run and that wait, by queue."""
        found = {queue: limiter.statistics() for queue, limiter in self._limiters.items()}
        return {queue: (each.borrowed_tokens, each.tasks_waiting) for queue, each in found.items()}
