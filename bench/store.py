"""The embedded engine as the store grows: bulk load, get, query, durable write, open."""

import argparse
import gc
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import treering
from bench.results import PAGES, percentile, table, write_section
from treering.compose import new_id
from treering.core.queries import KnowledgeFilter, ShareRange, TimeRange
from treering.core.records import Knowledge, Source
from treering.memory import Memory

SIZES = (1_000, 10_000, 100_000, 1_000_000)
START = datetime(2026, 1, 1, tzinfo=UTC)
TYPES = ("gotcha", "decision", "preference", "fact", "error_pattern", "module_insight", "dead_end", "requirement")
TEXT = """
the a when after before because service handler retries request timeout cache invalidates returns empty queue
worker deploys migration schema index slow query column default null test fails flaky order parallel lock file path
config value setting environment variable feature flag user session login token auth permission role admin page
form button click renders twice state hook effect component prop type error raised caught logged ignored parser
lexer grammar rule node edge graph cycle import module package version pinned upgrade breaks change patch release
branch merge conflict rebase commit review comment approved build pipeline step artifact upload download size limit
memory leak thread process signal exit code zero one many batch row insert update delete rollback transaction
isolation response
"""
WORDS = tuple(TEXT.split())
CHUNK = 100_000


def records(first: int, count: int, seed: int) -> Iterator[Knowledge]:
    """Records as agents leave them: some 150 characters, skewed tags, one or two files, many sessions."""
    pick = random.Random(seed)
    for number in range(first, first + count):
        at = START + timedelta(seconds=number)
        words = " ".join(pick.choices(WORDS, k=18))
        yield Knowledge(
            id=new_id(),
            type=pick.choice(TYPES),
            content=f"Observation {number}: {words} in module {number % 977}",
            tags=(f"tag-{int(pick.paretovariate(0.7)) % 5000}", f"area-{number % 40}"),
            files=(f"src/pkg{number % 89}/file{number % 4999}.py",),
            session=f"session-{number // 50}",
            confidence=round(pick.random(), 3),
            source=Source.USER_TAUGHT if number % 20 == 0 else Source.OBSERVER_INFERRED,
            pinned=number % 500 == 0,
            flagged=number % 2_000 == 0,
            created_at=at,
            updated_at=at,
            last_accessed_at=at,
        )


@dataclass(frozen=True)
class Row:
    size: int
    load_per_second: float
    open_ms: float
    get_p95: float
    query_p95: float
    write_p95: float
    megabytes: float


def load(memory: Memory, first: int, count: int) -> float:
    """Seconds to store `count` records that are values already, each chunk in one transaction."""
    seconds = 0.0
    for start in range(first, first + count, CHUNK):
        chunk = list(records(start, min(CHUNK, first + count - start), seed=start))
        gc.freeze()  # what was made for the measurement is not part of it
        begun = time.perf_counter()
        memory.remember_many(chunk)
        seconds += time.perf_counter() - begun
    return seconds


def timed(action: Callable[[], object], times: int) -> list[float]:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    return taken


def two_filters(pick: random.Random, size: int) -> KnowledgeFilter:
    """Pairs of filters, from common to rare."""
    since = START + timedelta(seconds=pick.randrange(size))
    return pick.choice(
        (
            KnowledgeFilter(types=(pick.choice(TYPES),), tags=(f"tag-{int(pick.paretovariate(0.7)) % 5000}",)),
            KnowledgeFilter(types=(pick.choice(TYPES),), confidence=ShareRange(at_least=0.9)),
            KnowledgeFilter(tags=(f"area-{pick.randrange(40)}",), files=(f"src/pkg{pick.randrange(89)}/file1.py",)),
            KnowledgeFilter(files=(f"src/pkg1/file{pick.randrange(4999)}.py",), created=TimeRange(since=since)),
            KnowledgeFilter(sessions=(f"session-{pick.randrange(size // 50)}",), types=(pick.choice(TYPES),)),
            KnowledgeFilter(tags=("tag-1",), confidence=ShareRange(at_least=0.99)),
            KnowledgeFilter(tags=(f"tag-{pick.randrange(2000, 5000)}",), created=TimeRange(since=since)),
            KnowledgeFilter(types=(pick.choice(TYPES),), created=TimeRange(before=since)),
            KnowledgeFilter(sources=(Source.USER_TAUGHT,), pinned=True),
            KnowledgeFilter(confidence=ShareRange(at_least=0.9), flagged=True),
        )
    )


def measure(memory: Memory, size: int, pick: random.Random) -> tuple[float, float, float]:
    with memory.store.reading(memory.scope, START) as tx:
        ids = [record.id for record in tx.knowledge.find(limit=2_000).items]
    gets = timed(lambda: memory.get(pick.choice(ids)), 1_000)

    def query() -> None:
        with memory.store.reading(memory.scope, START) as tx:
            tx.knowledge.find(two_filters(pick, size), limit=20)

    queries = timed(query, 400)
    numbers = iter(range(10**9))
    writes = timed(lambda: memory.remember(f"a new thing {size} {next(numbers)}", tags=["new"]), 200)
    return percentile(gets, 0.95), percentile(queries, 0.95), percentile(writes, 0.95)


def run(sizes: tuple[int, ...], folder: Path) -> list[Row]:
    path, rows, have = folder / "memory.db", [], 0
    for size in sizes:
        with treering.open(path, project="bench") as memory:
            rate = (size - have) / load(memory, have, size - have)
            have = size
        opened = timed(lambda: treering.open(path, project="bench").close(), 10)
        with treering.open(path, project="bench") as memory:
            get, query, write = measure(memory, size, random.Random(size))
        megabytes = path.stat().st_size / 1e6
        rows.append(Row(size, rate, percentile(opened, 0.95), get, query, write, megabytes))
        print(rows[-1], flush=True)
    return rows


def plot(rows: list[Row], target: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for label, values in (
        ("get by id", [row.get_p95 for row in rows]),
        ("query, two filters", [row.query_p95 for row in rows]),
        ("durable write", [row.write_p95 for row in rows]),
        ("open", [row.open_ms for row in rows]),
    ):
        axes.plot([row.size for row in rows], values, marker="o", label=label)
    axes.set(xscale="log", yscale="log", xlabel="records in the store", ylabel="p95, milliseconds")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(target)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--largest", type=int, default=SIZES[-1])
    largest = options.parse_args().largest
    with tempfile.TemporaryDirectory() as folder:
        rows = run(tuple(size for size in SIZES if size <= largest), Path(folder))
    plot(rows, PAGES / "store.svg")
    headers = (
        "records",
        "bulk load, records/s",
        "open p95",
        "get p95",
        "two-filter query p95",
        "write p95",
        "size, MB",
    )
    body = table(
        headers,
        [
            (
                f"{row.size:,}",
                f"{row.load_per_second:,.0f}",
                *(f"{value:.2f} ms" for value in (row.open_ms, row.get_p95, row.query_p95, row.write_p95)),
                f"{row.megabytes:,.0f}",
            )
            for row in rows
        ],
    )
    goals = """
Goals at 1,000,000: get < 1 ms, query < 20 ms, open < 300 ms, bulk load ≥ 15,000/s, write < 10 ms. Every write is its
own transaction with synchronous = FULL; records go through secret redaction, facets, full-text index and audit log.
Bulk load stores prepared values, 100,000 per transaction; open is measured in a warm process.

![cost by size](store.svg)
"""
    write_section("store", "Embedded store", f"{body}\n\n{goals}")


if __name__ == "__main__":
    main()
