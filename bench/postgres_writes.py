"""What a write costs on a server: statements, processor time of client and server, bytes per turn, bulk speed."""

import argparse
import os
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import event

import treering
from bench.ingest import turns
from bench.postgres import server
from bench.results import table, write_section
from bench.store import WORDS
from treering.memory import Memory

SIZE = 100_000
MEASURED = 200
START = datetime(2026, 1, 1, tzinfo=UTC)
_BACKENDS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
_RELATIONS = """
    SELECT owner.relname, relation.relname, pg_relation_size(relation.oid)
        + coalesce(pg_relation_size(nullif(relation.reltoastrelid, 0)), 0)
    FROM pg_class AS owner LEFT JOIN pg_index ON indrelid = owner.oid
        JOIN pg_class AS relation ON relation.oid IN (owner.oid, indexrelid)
    WHERE owner.relkind = 'r' AND owner.relnamespace = current_schema()::regnamespace
    GROUP BY owner.relname, relation.relname, relation.oid, relation.relkind, relation.reltoastrelid
"""
WRITES: dict[str, Callable[[Memory, int], object]] = {
    "turn": lambda memory, n: memory.turn(session="now", role="user", text=f"The worker {n} retries a request twice."),
    "first turn of a session": lambda memory, n: memory.turn(session=f"s-{n}", role="user", text=f"Good morning, {n}."),
    "remember": lambda memory, n: memory.remember(f"{WORDS[n % 90]} {WORDS[n // 9]} is what we need", tags=["need"]),
    "remember beside 20 similar records": lambda memory, n: memory.remember(f"Never restart queue {n} while it drains"),
    "remember a gotcha": lambda memory, n: memory.remember(f"Cache {n} is stale after deploys", type="gotcha"),
    "episode": lambda memory, n: memory.episode(f"Deploy service {n}", output="It runs."),
}


@dataclass
class Watch:
    """Statements sent, and processor seconds of this process and of the server's processes."""

    statements: int = 0
    client: float = 0.0
    server: float = 0.0
    wall: float = 0.0


@contextmanager
def watched(memory: Memory, backends: Callable[[], float]) -> Iterator[Watch]:
    found, engine = Watch(), _engine(memory)

    dialect: Any = memory.store._dialect  # type: ignore[attr-defined]
    start = dialect.start

    def count(*_call: Any) -> None:
        found.statements += 1

    def started(*values: Any, **options: Any) -> None:
        count()  # one message with BEGIN
        start(*values, **options)

    dialect.start = started
    event.listen(engine, "before_cursor_execute", count)
    client, at_server, wall = time.process_time(), backends(), time.perf_counter()
    yield found
    dialect.start = start
    event.remove(engine, "before_cursor_execute", count)
    found.client, found.server = time.process_time() - client, backends() - at_server
    found.wall = time.perf_counter() - wall


def _engine(memory: Memory) -> Any:
    return memory.store._engine  # type: ignore[attr-defined]


def server_seconds(memory: Memory) -> float:
    """Processor seconds of the server's processes that serve this database; the server is on this machine."""
    with _engine(memory).connect() as connection:
        pids = connection.exec_driver_sql(_BACKENDS).scalars().all()
    used = (Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[11:13] for pid in pids)
    return sum(int(ticks) for both in used for ticks in both) / os.sysconf("SC_CLK_TCK")


def sizes(memory: Memory, size: int) -> list[tuple[object, ...]]:
    """Bytes per turn of each table, its indexes and both."""
    with _engine(memory).connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM")
        relations = connection.exec_driver_sql(_RELATIONS).all()
    rows, indexes, graph = Counter[str](), Counter[str](), 0
    for owner, name, held in relations:
        is_graph = re.fullmatch(r"nearby_[0-9a-f]{16}_\d+", name) is not None
        graph += held if is_graph else 0
        (rows if owner == name else indexes)[owner] += 0 if is_graph else held
    found = [(name, rows[name] / size, indexes[name] / size) for name in rows]
    found.append(("graph of vectors", 0.0, graph / size))
    found.append(("**total**", sum(each[1] for each in found), sum(each[2] for each in found)))
    large = sorted((each for each in found if each[1] + each[2] >= 5), key=lambda each: each[1] + each[2])
    return [(name, f"{heap:,.0f}", f"{index:,.0f}", f"{heap + index:,.0f}") for name, heap, index in large]


def bulk(memory: Memory, size: int) -> tuple[Watch, Watch]:
    """Store turns in one transaction, then embed them."""
    made, used = list(turns(0, size)), partial(server_seconds, memory)
    with watched(memory, used) as storing, memory.store.transaction(memory.scope, START) as tx:
        tx.turns.create_many(made)
    with watched(memory, used) as embedding:
        memory.vectors.update()
    return storing, embedding


def single(memory: Memory) -> list[tuple[object, ...]]:
    rows = list[tuple[object, ...]]()
    for name, write in WRITES.items():
        statements = defaultdict[int, int](int)
        for number in range(20):
            write(memory, -number - 1)
        client = time.process_time()
        for number in range(MEASURED):
            with watched(memory, lambda: 0.0) as one:
                write(memory, number)
            statements[one.statements] += 1
        client = (time.process_time() - client) / MEASURED * 1_000
        counted = ", ".join(f"{count}" for count in sorted(statements))
        rows.append((name, counted, f"{client:.1f} ms"))
    return rows


def background(memory: Memory) -> int:
    """Statements of the jobs that follow one turn of a small project: its vector and its entities."""
    for number in range(10):
        WRITES["turn"](memory, number)
    memory.settle()
    WRITES["turn"](memory, 10**6)
    with watched(memory, lambda: 0.0) as found:
        memory.settle()
    return found.statements


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--dry", action="store_true", help="print, do not write the results page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as url:
        _make_pgvector(url)
        project, blobs = f"bench-{os.getpid()}", Path(name) / "blobs"
        with treering.open(url, project=project, blobs=blobs, background=False) as memory:
            storing, embedding = bulk(memory, options.size)
            held, written = sizes(memory, options.size), single(memory)
        with treering.open(url, project=f"{project}-small", blobs=blobs, background=False) as memory:
            jobs = background(memory)
    rate = options.size / (storing.wall + embedding.wall)
    steps: list[tuple[object, ...]] = [
        (
            step,
            f"{options.size / taken.wall:,.0f}",
            f"{taken.client / options.size * 1_000:.3f} ms",
            f"{taken.server / options.size * 1_000:.3f} ms",
        )
        for step, taken in (("stored", storing), ("embedded", embedding))
    ]
    body = "\n\n".join(
        (
            f"{options.size:,} turns of some 200 characters, {rate:,.0f} stored and embedded each second (goal 2,000).",
            table(("bulk", "turns/s", "client per turn", "server per turn"), steps),
            table(("write", "statements (goal 5)", "client (goal 3 ms)"), written),
            f"The jobs that follow one turn in the background send {jobs} statements.",
            table(("table", "rows, bytes/turn", "indexes, bytes/turn", "both (goal 3,000 in all)"), held),
            "Server: processor time of connections, without parallel workers. Statements: without BEGIN and COMMIT.",
        )
    )
    if options.dry:
        print(body)
    else:
        write_section("postgres-writes", "PostgreSQL, writes", body)


def _make_pgvector(url: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE EXTENSION IF NOT EXISTS vector")


if __name__ == "__main__":
    main()
