"""The memories of a server: one per project of the database, opened on first use."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from treering.core.errors import NotFound, StoreUnavailable, TreeringError
from treering.core.values import is_key
from treering.memory import Memory

MAX_OPEN = 16
"""Projects that are open at a time; each has connections and a thread for its jobs."""
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"
"""In place of bytes of a path that are not UTF-8: different paths would name the same project."""
OpenMemory = Callable[[str], Memory]


@dataclass(eq=False, slots=True)
class _OpenMemory:
    memory: Memory
    calls: int = 0


class ProjectMemories:
    """Memories by project. Safe to share between threads.

    The `default` project always exists; any other one exists if something was ever written to it.
    """

    def __init__(self, open_memory: OpenMemory, default: str, *, max_open: int = MAX_OPEN) -> None:
        self.default = default
        self._open = open_memory
        self._max_open = max_open
        self._memories: OrderedDict[str, _OpenMemory] = OrderedDict()
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self._closed = False

    @contextmanager
    def use(self, project: str, *, create: bool = False) -> Iterator[Memory]:
        """The memory of a project, open until the block ends; `NotFound` for a project that does not exist."""
        memory = self.take(project, create=create)
        try:
            yield memory
        finally:
            self.release(memory)

    def take(self, project: str, *, create: bool = False) -> Memory:
        """The memory of a project, open until `release`."""
        return self._take(project, create=create).memory

    def release(self, memory: Memory) -> None:
        with self._lock:
            used = self._memories.get(memory.scope.project)
            if used is not None and used.memory is memory:
                used.calls -= 1

    @property
    def opened(self) -> tuple[Memory, ...]:
        """The memories that are open now."""
        with self._lock:
            return tuple(each.memory for each in self._memories.values())

    def close(self) -> None:
        """Refuse new calls and close every memory."""
        with self._lock:
            self._closed = True
            closing = [each.memory for each in self._memories.values()]
            self._memories.clear()
        for memory in closing:
            with suppress(TreeringError):
                memory.close()

    def _take(self, project: str, *, create: bool) -> _OpenMemory:
        if not is_key(project) or _UNREADABLE in project:
            raise _no_project(project)
        with self._lock:
            if (found := self._known(project)) is not None:
                return found
            opening = self._opening.setdefault(project, threading.Lock())
        with opening:
            with self._lock:
                if (found := self._known(project)) is not None:
                    return found
            memory = self._opened(project, create=create)
            with self._lock:
                self._opening.pop(project, None)
                made = self._memories[project] = _OpenMemory(memory, 1)
                idle = self._idle()
        for each in idle:
            each.close()
        return made

    def _known(self, project: str) -> _OpenMemory | None:
        if self._closed:
            raise StoreUnavailable("the server is closing; connect again")
        found = self._memories.get(project)
        if found is not None:
            self._memories.move_to_end(project)
            found.calls += 1
        return found

    def _opened(self, project: str, *, create: bool) -> Memory:
        memory = self._open(project)
        # Every write has an entry in the audit log, so a project without entries was never written to.
        if project == self.default or memory.page("audit", limit=1).items:
            return memory
        if create:
            memory.trust.set(memory.trust.level)
            return memory
        memory.close()
        raise _no_project(project)

    def _idle(self) -> list[Memory]:
        """Take the memories out that were not used for longest, as far as there are too many."""
        names = [name for name, each in self._memories.items() if not each.calls and name != self.default]
        return [self._memories.pop(name).memory for name in names[: max(0, len(self._memories) - self._max_open)]]


def _no_project(project: str) -> NotFound:
    return NotFound(f"no project {project!r} in this database; GET /api/v1/projects lists them, PUT creates one")
