"""Search on the server engine as the store grows, on a PostgreSQL that comes from a package.

Counted as a statement is each one that the server receives, apart from COMMIT and the message that begins a
transaction and sets its scope.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from sqlalchemy import Engine, event

import treering
from bench.postgres import server
from bench.prose import questions, records
from bench.results import percentile, table, write_section
from bench.search_speed import ASKED, CHUNK, SETTINGS, as_knowledge
from treering.memory import Memory

SIZES = (1_000, 10_000, 100_000)
STAGES = ("embed", "understand", "search", "feedback", "score", "state", "fold")
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass
class Traffic:
    """Statements and transactions that the server received, and seconds until their answers."""

    statements: int = 0
    transactions: int = 0
    seconds: float = 0.0


@dataclass
class Searches:
    """What one size costs. Times of single searches in seconds."""

    size: int
    per_second: float = 0.0
    taken: list[float] = field(default_factory=list)
    client: float = 0.0
    backend: float = 0.0
    traffic: Traffic = field(default_factory=Traffic)
    after_write: Traffic = field(default_factory=Traffic)
    stages: dict[str, list[float]] = field(default_factory=dict)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=SIZES[-1], help="largest number of records, up to 1,000,000")
    parser.add_argument("--dry", action="store_true", help="print, do not write the results page")
    options = parser.parse_args()
    sizes = [size for size in (*SIZES, 1_000_000) if size <= options.most]
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as url:
        _make_pgvector(url)
        measured = [_measured(url, Path(name), size) for size in sizes]
        with treering.open(url, project="doctor", blobs=Path(name) / "blobs") as memory:
            found = next(check.detail for check in memory.doctor().checks if check.name == "pgvector")
    body = _body(measured) + f"\n\npgvector {found}, over a local socket, default server settings."
    if options.dry:
        print(body)
    else:
        write_section("search", "Search speed, PostgreSQL", body)


def _measured(url: str, folder: Path, size: int) -> Searches:
    found = Searches(size)
    project = f"bench-{os.getpid()}-{size}"
    with treering.open(url, project=project, blobs=folder / "blobs", settings=SETTINGS, background=False) as memory:
        texts, seconds = records(size), 0.0
        for first in range(0, size, CHUNK):
            chunk = list(as_knowledge(texts, min(CHUNK, size - first), first))
            begun = time.perf_counter()
            memory.remember_many(chunk)
            memory.settle(timeout=36_000)
            seconds += time.perf_counter() - begun
        found.per_second = size / seconds
        asked = questions(2 * ASKED)
        for query in asked[:ASKED]:
            memory.search(query)
        _search(memory, url, asked[ASKED:], found)
        memory.remember("A pending request is cancelled by closing its socket")
        with _traffic() as found.after_write:
            memory.search("how is a pending request cancelled")
    return found


def _search(memory: Memory, url: str, asked: list[str], found: Searches) -> None:
    backends, client = _backend_seconds(url), time.process_time()
    with _traffic() as found.traffic:
        for query in asked:
            begun = time.perf_counter()
            answer = memory.search(query)
            found.taken.append(time.perf_counter() - begun)
            for stage in STAGES:
                found.stages.setdefault(stage, []).append(answer.milliseconds.get(stage, 0.0))
    found.client = time.process_time() - client
    found.backend = _backend_seconds(url) - backends


@contextmanager
def _traffic() -> Iterator[Traffic]:
    traffic, begun = Traffic(), [0.0]

    def before(*_: Any) -> None:
        begun[0] = time.perf_counter()

    def after(*_: Any) -> None:
        traffic.statements += 1
        traffic.seconds += time.perf_counter() - begun[0]

    def begin(_connection: Any) -> None:
        traffic.transactions += 1

    listeners = {"before_cursor_execute": before, "after_cursor_execute": after, "begin": begin}
    for name, listener in listeners.items():
        event.listen(Engine, name, listener)
    try:
        yield traffic
    finally:
        for name, listener in listeners.items():
            event.remove(Engine, name, listener)


def _backend_seconds(url: str) -> float:
    """Processor time of the server's processes for this database; 0 if the server runs on another machine."""
    import psycopg

    with psycopg.connect(url) as admin:
        rows = admin.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()").fetchall()
    files = [Path(f"/proc/{pid}/stat") for (pid,) in rows]
    fields = [file.read_text().rsplit(")", 1)[1].split() for file in files if file.exists()]
    return sum(int(each[11]) + int(each[12]) for each in fields) / _TICK


def _body(measured: list[Searches]) -> str:
    costs = table(
        (
            *("records", "stored and embedded /s", "p50 ms", "p95 ms (goal 40)", "processor ms, client (goal 5)"),
            *("processor ms, server", "ms until answers", "statements (goal 6)", "transactions"),
            "right after a write",
        ),
        [
            (
                f"{each.size:,}",
                f"{each.per_second:,.0f}",
                f"{percentile(each.taken, 0.5):.1f}",
                f"{percentile(each.taken, 0.95):.1f}",
                f"{1000 * each.client / len(each.taken):.1f}",
                f"{1000 * each.backend / len(each.taken):.1f}",
                f"{1000 * each.traffic.seconds / len(each.taken):.1f}",
                f"{each.traffic.statements / len(each.taken):.1f}",
                f"{each.traffic.transactions / len(each.taken):.1f}",
                f"{each.after_write.statements} in {each.after_write.transactions}",
            )
            for each in measured
        ],
    )
    stages = table(
        ("records", *(f"{stage} ms" for stage in STAGES)),
        [(f"{each.size:,}", *(f"{fmean(each.stages[stage]):.1f}" for stage in STAGES)) for each in measured],
    )
    return f"{costs}\n\nBy stage, mean:\n\n{stages}"


def _make_pgvector(url: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE EXTENSION IF NOT EXISTS vector")


if __name__ == "__main__":
    main()
