"""Server-sent events: changes of records, jobs, maintenance runs and observed sessions of a project.

One thread per project reads the audit log and the jobs once a second while clients listen. Delivery is at least once:
after a reconnection, an event may come again.
"""

import asyncio
import json
import logging
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from treering.core.errors import TreeringError
from treering.core.jobs import JobState
from treering.core.queries import AuditFilter, JobFilter, TimeRange
from treering.interfaces.rest.memories import ProjectMemories
from treering.memory import Memory

EVENT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {"event": {"type": "string"}, "data": {"type": "string", "description": "A JSON object."}},
}
"""One event of a stream, for the OpenAPI document."""
POLL_SECONDS = 1.0
HEARTBEAT_SECONDS = 15.0
_OVERLAP = timedelta(seconds=10)
"""Transactions may commit in another order than that of their times."""
_MAX_ENTRIES = 500
_MAX_WAITING = 1_000
"""Events that wait for a slow client; past that, a `reset` event asks it to read everything again."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a stream."""

    name: str
    data: Mapping[str, Any]
    id: str = ""

    def text(self) -> str:
        lines = [f"event: {self.name}", f"data: {json.dumps(self.data, ensure_ascii=False)}"]
        return "\n".join(([f"id: {self.id}"] if self.id else []) + lines) + "\n\n"


RESET = ServerEvent("reset", {"reason": "events were lost; read everything again"})


@dataclass(eq=False)
class _ProjectChanges:
    """What was seen of one project."""

    since: datetime
    seen: deque[str] = field(default_factory=lambda: deque(maxlen=5_000))
    states: dict[str, object] = field(default_factory=dict)

    def read(self, memory: Memory) -> Iterator[ServerEvent]:
        where = AuditFilter(happened=TimeRange(since=self.since - _OVERLAP))
        known = set(self.seen)
        for entry in memory.page("audit", where=where, descending=False, limit=_MAX_ENTRIES).items:
            if entry.id not in known:
                self.seen.append(entry.id)
                self.since = max(self.since, entry.at)
                if entry.kind != "request":
                    yield _record_event(entry)
        for name, state in (("jobs", _jobs(memory)), ("runs", _runs(memory)), ("sessions", _sessions(memory))):
            if name in self.states and self.states[name] != state:
                yield ServerEvent(name, {name: state})
            self.states[name] = state


def _record_event(entry: Any) -> ServerEvent:
    data = {
        "action": entry.action.value,
        "kind": entry.kind,
        "id": entry.subject,
        "at": entry.at.isoformat().replace("+00:00", "Z"),
        "actor": entry.actor,
    }
    return ServerEvent("record", data, f"{data['at']}_{entry.id}")


def _jobs(memory: Memory) -> dict[str, int]:
    states = (JobState.QUEUED, JobState.LEASED, JobState.DEAD)
    return {state.value: memory.count("jobs", where=JobFilter(states=(state,))) for state in states}


def _runs(memory: Memory) -> list[dict[str, Any]]:
    fields = {"id", "stage", "state", "done", "total", "error", "started_at", "finished_at"}
    return [run.model_dump(mode="json", include=fields) for run in memory.page("runs", limit=20).items]


def _sessions(memory: Memory) -> list[dict[str, Any]]:
    fields = {"id", "type", "agent", "started_at", "last_at", "finished_at", "outcome", "events"}
    found = memory.page("observed_sessions", limit=10).items
    return [session.model_dump(mode="json", include=fields) for session in found]


class EventFeed:
    """The events of one project, for any number of listeners."""

    def __init__(self, memories: ProjectMemories, project: str, clock: Callable[[], datetime]) -> None:
        self._memories, self._project, self._clock = memories, project, clock
        self._listeners: dict[object, Callable[[ServerEvent], None]] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def listen(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Call `listener` with each event from now on; returns a function that ends it."""
        key = object()
        with self._lock:
            self._listeners[key] = listener
            if self._thread is None:
                self._stop.clear()
                self._thread = threading.Thread(target=self._poll, name="treering-events", daemon=True)
                self._thread.start()

        def end() -> None:
            with self._lock:
                self._listeners.pop(key, None)

        return end

    def missed(self, last_id: str) -> list[ServerEvent]:
        """Events after the one with this id; `RESET` if there are too many, or the id is unknown."""
        at, _, id = last_id.partition("_")
        try:
            since = datetime.fromisoformat(at)
            where = AuditFilter.make(happened=TimeRange.make(since=since))
        except (ValueError, TreeringError):
            return [RESET]
        with self._memories.use(self._project) as memory:
            page = memory.page("audit", where=where, descending=False, limit=_MAX_ENTRIES)
        if page.next is not None:
            return [RESET]
        return [_record_event(each) for each in page.items if each.id != id and each.kind != "request"]

    def close(self) -> None:
        self._stop.set()

    def _poll(self) -> None:
        changes, has_warned = _ProjectChanges(self._clock()), False
        while not self._stop.is_set():
            try:
                with self._memories.use(self._project) as memory:
                    events = list(changes.read(memory))
                has_warned = False
            except TreeringError as exc:
                events = []
                if not has_warned:
                    _LOG.warning("events of project %s: %s", self._project, exc)
                has_warned = True
            with self._lock:
                listeners = tuple(self._listeners.values())
                if not listeners:
                    self._thread = None
                    return
            for event in events:
                for listener in listeners:
                    listener(event)
            self._stop.wait(POLL_SECONDS)
        with self._lock:
            self._thread = None


class EventFeeds:
    """The feeds of a server, one per project."""

    def __init__(self, memories: ProjectMemories, clock: Callable[[], datetime]) -> None:
        self._memories, self._clock = memories, clock
        self._feeds: dict[str, EventFeed] = {}
        self._closing = asyncio.Event()

    def of(self, project: str) -> EventFeed:
        if project not in self._feeds:
            self._feeds[project] = EventFeed(self._memories, project, self._clock)
        return self._feeds[project]

    def close(self) -> None:
        """End every stream."""
        self._closing.set()
        for feed in self._feeds.values():
            feed.close()

    async def stream(self, project: str, missed: list[ServerEvent]) -> AsyncIterator[str]:
        """The text of a stream, with comments as heartbeats, until the client leaves or the server closes."""
        queue: asyncio.Queue[ServerEvent] = asyncio.Queue(_MAX_WAITING)
        loop = asyncio.get_running_loop()

        def put(event: ServerEvent) -> None:
            if not queue.full():
                queue.put_nowait(event)
                return
            while not queue.empty():
                queue.get_nowait()
            queue.put_nowait(RESET)

        end = self.of(project).listen(lambda event: _soon(loop, put, event))
        try:
            yield "retry: 2000\n: connected\n\n"
            for event in missed:
                yield event.text()
            while not self._closing.is_set():
                try:
                    event = await asyncio.wait_for(queue.get(), HEARTBEAT_SECONDS)
                    yield event.text()
                except TimeoutError:
                    yield ": heartbeat\n\n"
        finally:
            end()


def _soon(loop: asyncio.AbstractEventLoop, put: Callable[[ServerEvent], None], event: ServerEvent) -> None:
    try:
        loop.call_soon_threadsafe(put, event)
    except RuntimeError:
        return  # the loop is closed: the server ends
