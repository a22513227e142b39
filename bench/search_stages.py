"""Processor time of one search by stage, and its SQL statements, now and at an earlier commit.

Each side builds and searches stores of its own in a process of its own. Times are those of the calling process, the
least of three runs of each query, so that other work on the machine hardly counts.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from statistics import median
from unittest.mock import patch

from sqlalchemy import event
from sqlalchemy.engine import Engine

import treering
from bench.postgres import server
from bench.prose import questions, records
from bench.results import table, write_section
from bench.search_speed import CHUNK, SETTINGS, START, as_knowledge
from treering.compose import new_id
from treering.core.turns import Turn
from treering.memory import Memory

SIZES = (1_000, 10_000, 100_000, 1_000_000)
MOST_TURNS = 10_000  # facts and entities are learned from turns, which takes minutes beyond
BEFORE = "f3afabe"
ASKED, REPEATED = 50, 3
TURNS_OF_A_SESSION = 40
STAGES = ("embed", "understand", "search", "feedback", "score", "rerank", "state", "fold")
ROOT = Path(__file__).parents[1]

Figures = dict[str, float]
"""Median milliseconds by stage, in `all`, and the median number of `statements`."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=100_000, help="largest number of records")
    parser.add_argument("--before", default=BEFORE, help="commit to compare with; empty for none")
    parser.add_argument("--postgres", action="store_true", help="measure PostgreSQL up to 10,000 records, too")
    parser.add_argument("--dry", action="store_true", help="print, do not write the results page")
    parser.add_argument("--measure", nargs=3, metavar=("DATABASE", "KIND", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        database, kind, size = options.measure
        print(json.dumps(_measured(database, kind, int(size))))
        return
    with tempfile.TemporaryDirectory() as name, _earlier(options.before, Path(name)) as earlier:
        folder = Path(name)
        rows = [
            _row("SQLite", kind, size, [str(folder / f"{side}-{kind}-{size}.db") for side in "ba"], earlier)
            for size in SIZES
            if size <= options.most
            for kind in ("knowledge", "turns")
            if kind == "knowledge" or size <= MOST_TURNS
        ]
        if options.postgres:
            for size in SIZES[:2]:
                for kind in ("knowledge", "turns"):
                    with server(folder / f"pg-{kind}-{size}") as first, server(folder / f"pg2-{kind}-{size}") as second:
                        rows.append(_row("PostgreSQL", kind, size, [first, second], earlier))
    body = _body(rows, options.before)
    if options.dry:
        print(body)
    else:
        write_section("search-stages", "Processor time of one search", body)


@contextmanager
def _earlier(commit: str, folder: Path) -> Iterator[Path | None]:
    """A work tree of the earlier commit."""
    if not commit:
        yield None
        return
    tree = folder / "before"
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tree, commit], cwd=ROOT, check=True)
    try:
        yield tree
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)


def _row(
    engine: str, kind: str, size: int, databases: list[str], earlier: Path | None
) -> tuple[str, str, int, Figures | None, Figures]:
    before = None if earlier is None else _in_process(earlier / "src", databases[0], kind, size)
    after = _in_process(ROOT / "src", databases[1], kind, size)
    print(engine, kind, size, before, after, sep="\n  ", flush=True)
    return engine, kind, size, before, after


def _in_process(source: Path, database: str, kind: str, size: int) -> Figures:
    command = [sys.executable, "-m", "bench.search_stages", "--measure", database, kind, str(size)]
    # As the command line does: threads of BLAS cost processor time and save none on vectors of this length.
    paths = {"PYTHONPATH": f"{source}{os.pathsep}{ROOT}", "TREERING_EMBEDDER": "bundled", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env={**os.environ, **paths}, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _measured(database: str, kind: str, size: int) -> Figures:
    with treering.open(database, project="p", settings=SETTINGS, background=False) as memory:
        _fill(memory, kind, size)
        asked = questions(ASKED)
        for query in asked:
            memory.search(query)  # stores the accesses, which later searches on this day do not repeat
        with patch("treering.search.timings.perf_counter", time.process_time):
            runs = [min((_searched(memory, query) for _ in range(REPEATED)), key=_total) for query in asked]
        statements = [_statements(memory, query) for query in asked]
    found = {name: median(run.get(name, 0.0) for run in runs) for name in (*STAGES, "all")}
    return {**found, "statements": median(statements)}


def _fill(memory: Memory, kind: str, size: int) -> None:
    texts, stored = records(size), 0
    while stored < size:
        count = min(CHUNK, size - stored)
        if kind == "knowledge":
            memory.remember_many(as_knowledge(texts, count, stored))
        else:
            with memory.store.transaction(memory.scope, START) as tx:
                tx.turns.create_many(_turns(texts, count, stored))
        stored += count
        memory.settle(timeout=3_600)


def _turns(texts: Iterator[str], count: int, first: int) -> Iterator[Turn]:
    for number in range(first, first + count):
        at, role = START + timedelta(seconds=30 * number), ("user", "assistant")[number % 2]
        session = f"s{number // TURNS_OF_A_SESSION}"
        yield Turn.make(id=new_id(), session=session, seq=0, role=role, text=next(texts), at=at, recorded_at=at)


def _searched(memory: Memory, query: str) -> Figures:
    begun = time.process_time()
    answer = memory.search(query)
    return {**answer.milliseconds, "all": (time.process_time() - begun) * 1_000}


def _total(run: Figures) -> float:
    return run["all"]


def _statements(memory: Memory, query: str) -> int:
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        memory.search(query)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return len(seen)


def _body(rows: list[tuple[str, str, int, Figures | None, Figures]], before: str) -> str:
    cells: list[tuple[object, ...]] = []
    for engine, kind, size, earlier, now in rows:
        for label, found in ((before, earlier), ("now", now)):
            if found is not None:
                stages = (f"{found[name]:.2f}" for name in STAGES)
                cells.append(
                    (engine, f"{size:,} {kind}", label, f"{found['all']:.1f}", *stages, f"{found['statements']:.0f}")
                )
    text = table(("engine", "records", "commit", "ms of a search", *STAGES, "SQL statements"), cells)
    return text + (
        "\n\nMilliseconds of processor time of the calling process, medians of "
        f"{ASKED} queries, each the least of {REPEATED} runs. Turns are those of conversations from which facts and "
        "entities were learned. Statements include the BEGIN of each transaction. Texts are sentences of the Python "
        "manual. Goal: 5 ms at 10,000."
    )


if __name__ == "__main__":
    main()
