"""Metrics in the text format of Prometheus."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from treering.core.errors import TreeringError
from treering.core.history import Action
from treering.core.queries import AuditFilter
from treering.interfaces.rest.memories import ProjectMemories
from treering.interfaces.servers.threads import CallThreads

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_STORE_SECONDS = 5.0
"""How long the counts of the store are kept: counting reads every project that is open."""


class Metrics:
    """Counts of requests, and of what the open projects hold."""

    def __init__(self, memories: ProjectMemories, threads: CallThreads) -> None:
        self._memories = memories
        self._threads = threads
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._answered: Counter[str] = Counter()
        self._store_lines: tuple[float, list[str]] = (-_STORE_SECONDS, [])
        self.event_streams = 0

    def count(self, method: str, operation: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        with self._lock:
            self._requests[method, operation, status] += 1
            self._seconds[operation] += seconds
            self._answered[operation] += 1
            for bucket in _BUCKETS:
                if seconds <= bucket:
                    self._buckets[operation, bucket] += 1

    def text(self) -> str:
        """All metrics; counts of the store are at most some seconds old."""
        with self._lock:
            lines = [*self._request_lines(), *self._queue_lines()]
        at, stored = self._store_lines
        if time.monotonic() - at >= _STORE_SECONDS:
            stored = list(self._lines_of_store())
            self._store_lines = (time.monotonic(), stored)
        return "\n".join([*lines, *stored, ""])

    def _request_lines(self) -> Iterator[str]:
        yield from _head("treering_requests_total", "counter", "Answered requests.")
        for (method, operation, status), count in sorted(self._requests.items()):
            yield _line("treering_requests_total", count, method=method, operation=operation, status=str(status))
        yield from _head("treering_request_seconds", "histogram", "Time until a request was answered.")
        for operation in sorted(self._answered):
            for bucket in _BUCKETS:
                yield _line(
                    "treering_request_seconds_bucket",
                    self._buckets[operation, bucket],
                    operation=operation,
                    le=str(bucket),
                )
            yield _line("treering_request_seconds_bucket", self._answered[operation], operation=operation, le="+Inf")
            yield _line("treering_request_seconds_sum", round(self._seconds[operation], 6), operation=operation)
            yield _line("treering_request_seconds_count", self._answered[operation], operation=operation)

    def _queue_lines(self) -> Iterator[str]:
        yield from _head("treering_calls", "gauge", "Calls that run or wait in each queue of this process.")
        for queue, (running, waiting) in self._threads.load().items():
            yield _line("treering_calls", running, queue=queue.value, state="running")
            yield _line("treering_calls", waiting, queue=queue.value, state="waiting")
        yield from _head("treering_event_streams", "gauge", "Open streams of events.")
        yield _line("treering_event_streams", self.event_streams)

    def _lines_of_store(self) -> Iterator[str]:
        samples: dict[str, list[tuple[Mapping[str, str], float]]] = defaultdict(list)
        for memory in self._memories.opened:
            project = memory.scope.project
            try:
                stats = memory.stats()
                injections = memory.count("audit", where=AuditFilter(actions=(Action.INJECT,)))
                sizes = memory.store.sizes(memory.scope)
            except TreeringError:
                continue  # the project is being closed, or the store is away: /readyz says so
            samples["records"] += [({"project": project, "kind": name}, n) for name, n in stats.records.items()]
            samples["jobs"] += [({"project": project, "state": name}, n) for name, n in stats.jobs.items()]
            samples["injections_total"].append(({"project": project}, injections))
            samples["store_bytes"] += [({"project": project, "part": name}, n) for name, n in sizes.items()]
        for name, (kind, help_text) in _STORED.items():
            yield from _head(f"treering_{name}", kind, help_text)
            for labels, value in samples[name]:
                yield _line(f"treering_{name}", value, **labels)


_STORED = {
    "records": ("gauge", "Stored records."),
    "jobs": ("gauge", "Background jobs by state."),
    "injections_total": ("counter", "Times that records were handed to a model."),
    "store_bytes": ("gauge", "Bytes of the database on disk, by part."),
}


def _head(name: str, kind: str, help_text: str) -> Iterable[str]:
    return (f"# HELP {name} {help_text}", f"# TYPE {name} {kind}")


def _line(name: str, value: float, **labels: str) -> str:
    listed = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{listed}}} {value}" if listed else f"{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
