"""Searches beside processes that write all the time, writers beside searches, and sessions that begin all the time."""

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import treering
from bench.postgres import server
from bench.results import percentile, table, write_section
from treering.core.errors import TreeringError
from treering.memory import Memory

SECONDS = 12.0
"""How long the processes of one row of the table work."""
TURNS = 60
SESSIONS = 8
_SPAWN = multiprocessing.get_context("spawn")
_PATIENCE = 300


@dataclass(frozen=True)
class Place:
    """A database: a file, or a project on a server."""

    location: str
    blobs: str
    project: str = "bench"

    def open(self) -> Memory:
        return treering.open(self.location, project=self.project, blobs=self.blobs, background=False)


@dataclass(frozen=True)
class Latencies:
    """Seconds of every call that returned, and the messages of those that failed."""

    seconds: list[float]
    errors: list[str]

    @property
    def row(self) -> tuple[str, ...]:
        if not self.seconds:
            return ("–", "–", "–", f"{len(self.errors):,} of {len(self.errors):,}")
        quantiles = (f"{percentile(self.seconds, share):,.0f} ms" for share in (0.5, 0.95, 1.0))
        return (*quantiles, f"{len(self.errors):,} of {len(self.seconds) + len(self.errors):,}")


def write(place: Place, name: str, stop: Event, ready: Any, told: "Queue[Latencies]") -> None:
    """Remember facts until stopped."""
    seconds, errors, number = list[float](), list[str](), 0
    with place.open() as memory:
        memory.remember(f"writer {name} has begun")
        ready.release()
        while not stop.is_set():
            number += 1
            text = f"Service {name}-{number} listens on port {number} and restarts after {number % 50} minutes."
            _timed(lambda text=text: memory.remember(text), seconds, errors)
    told.put(Latencies(seconds, errors))


def search(place: Place, _name: str, stop: Event, ready: Any, told: "Queue[Latencies]") -> None:
    """Search until stopped."""
    seconds, errors, number = list[float](), list[str](), 0
    with place.open() as memory:
        memory.search("which service listens on a port")
        ready.release()
        while not stop.is_set():
            number += 1
            _timed(
                lambda number=number: memory.search(f"which service restarts after {number % 50} minutes"),
                seconds,
                errors,
            )
    told.put(Latencies(seconds, errors))


def begin_sessions(place: Place, name: str, _stop: Event, ready: Any, told: "Queue[Latencies]") -> None:
    """Say something in a session of its own, then begin the next one, and so on."""
    seconds, errors = list[float](), list[str]()
    with place.open() as memory:
        ready.release()
        for number in range(TURNS):
            session = f"{name}-{number // 3}"
            _timed(
                lambda session=session, number=number: memory.turn(
                    session=session, role="user", text=f"{name} says {number}"
                ),
                seconds,
                errors,
            )
    told.put(Latencies(seconds, errors))


def _timed(call: Any, seconds: list[float], errors: list[str]) -> None:
    begun = time.perf_counter()
    try:
        call()
    except TreeringError as exc:
        errors.append(str(exc))
    else:
        seconds.append(time.perf_counter() - begun)


class Group:
    """Processes that do the same work on one database."""

    def __init__(self, work: Any, place: Place, count: int) -> None:
        self._told: Queue[Latencies] = _SPAWN.Queue()
        self._stop = _SPAWN.Event()
        self._count = count
        self._ready = _SPAWN.Semaphore(0)
        self._processes = [
            _SPAWN.Process(target=work, args=(place, f"p{number}", self._stop, self._ready, self._told))
            for number in range(count)
        ]
        for process in self._processes:
            process.start()

    def wait_until_ready(self) -> None:
        for _ in self._processes:
            assert self._ready.acquire(timeout=_PATIENCE), "a process did not begin"

    def stop(self) -> None:
        self._stop.set()

    def results(self) -> Latencies:
        told = [self._told.get(timeout=_PATIENCE) for _ in self._processes]
        for process in self._processes:
            process.join(_PATIENCE)
        return Latencies([each for one in told for each in one.seconds], [each for one in told for each in one.errors])


def beside(place: Place, *, writers: int, readers: int, seconds: float) -> tuple[Latencies, Latencies]:
    """Latencies of writers and of readers that work at the same time."""
    with place.open() as memory:
        memory.remember("the first record makes the tables")
    groups = [Group(write, place, writers), Group(search, place, readers)]
    for group in groups:
        group.wait_until_ready()
    time.sleep(seconds)
    for group in groups:
        group.stop()
    written, found = (group.results() for group in groups)
    return written, found


def sessions(place: Place) -> Latencies:
    """Latencies of turns while each of several processes begins sessions all the time."""
    with place.open() as memory:
        memory.remember("the first record makes the tables")
    return Group(begin_sessions, place, SESSIONS).results()


@contextmanager
def places(engine: str) -> Iterator[Iterator[Place]]:
    """Empty databases, each used once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def files() -> Iterator[Place]:
            number = 0
            while True:
                number += 1
                yield Place(str(folder / f"{number}.db"), str(folder / f"blobs-{number}"))

        def projects(url: str) -> Iterator[Place]:
            for place in files():
                yield Place(url, place.blobs, f"bench-{os.getpid()}-{Path(place.location).stem}")

        if engine == "SQLite":
            yield files()
        else:
            with server(folder) as url:
                yield projects(url)


def measure(engine: str, *, writers: int, readers: int, seconds: float) -> list[tuple[object, ...]]:
    with places(engine) as empty:
        alone, _ = beside(next(empty), writers=writers, readers=0, seconds=seconds)
        written, found = beside(next(empty), writers=writers, readers=readers, seconds=seconds)
        begun = sessions(next(empty))
    for message in sorted(set(alone.errors + written.errors + found.errors + begun.errors))[:5]:
        print(f"{engine}: {message}")
    return [
        (engine, f"search, {readers} processes beside {writers} writers", *found.row),
        (engine, f"remember, {writers} processes, no readers", *alone.row),
        (engine, f"remember, {writers} processes beside {readers} readers", *written.row),
        (engine, f"turn, {SESSIONS} processes, {TURNS} each, a new session every 3", *begun.row),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--engine", choices=("SQLite", "PostgreSQL"), help="only this one")
    parser.add_argument("--dry", action="store_true", help="print, do not write RESULTS.md")
    options = parser.parse_args()
    rows = []
    for engine, writers, readers in (("SQLite", 4, 1), ("PostgreSQL", 8, 2)):
        if options.engine in (None, engine):
            rows += measure(engine, writers=writers, readers=readers, seconds=options.seconds)
    body = table(("engine", "calls", "p50", "p95", "slowest", "failed"), rows)
    body += "\n\nGoals: p95 of a search on SQLite ≤ 150 ms beside 4 writers; no call fails."
    if options.dry:
        print(body)
    else:
        write_section("beside-writers", "Beside writers", body)


if __name__ == "__main__":
    main()
