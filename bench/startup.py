"""Processor time of a whole process: the library, and the commands that people and scripts run most."""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import treering
from bench.results import percentile, table, write_section

RUNS = 9
RECORDS = 10_000
CODE = Path(treering.__file__).parent / "search"
"""A folder of Python to index."""
COMMAND = str(Path(sys.executable).with_name("treering"))
PROJECT = "bench"


class Row(NamedTuple):
    name: str
    command: tuple[str, ...]
    goal: float | None = None
    """Seconds of processor time."""


ROWS = (
    Row("python -c pass", (sys.executable, "-c", "pass")),
    Row("python -c 'import sqlalchemy'", (sys.executable, "-c", "import sqlalchemy")),
    Row("treering --help", (COMMAND, "--help"), 0.15),
    Row("treering get", (COMMAND, "get", "gate-7"), 0.30),
    Row("treering stats", (COMMAND, "stats"), 0.30),
    Row("treering remember", (COMMAND, "remember", "The hedge is cut in May."), 0.30),
    Row(f"treering search, {RECORDS:,} records", (COMMAND, "search", "when is gate 77 closed"), 0.45),
    Row("treering impact", (COMMAND, "impact", "fold_duplicates"), 0.40),
    Row("treering where", (COMMAND, "where", "which results are the same"), 0.40),
    Row("import treering; treering.open", (sys.executable, "-c", "import treering; treering.open")),
    Row(
        "import treering; treering.open(file)",
        (sys.executable, "-c", "import os, treering; treering.open(os.environ['TREERING_DB'])"),
        0.12,
    ),
)


def fill(database: Path) -> None:
    """A memory with records, their vectors, and the code of a small package."""
    with treering.open(database, project=PROJECT, background=False) as memory:
        for number in range(RECORDS):
            text = f"Gate {number} of the garden is closed at {number % 24} o'clock, says gardener {number * 7 % 113}."
            memory.remember(text, id=f"gate-{number}")
        memory.code.index(CODE)
        memory.settle(600)


def processor_seconds(command: tuple[str, ...], environment: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=CODE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    taken: dict[str, list[float]] = {row.name: [] for row in ROWS}
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "memory.db"
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"TREERING_DB": str(database), "TREERING_PROJECT": PROJECT}
        fill(database)
        # In turn, so that a busy minute of the machine is not one row's alone; the first round fills the caches.
        for number in range(RUNS + 1):
            for row in ROWS:
                seconds = processor_seconds(row.command, environment)
                if number:
                    taken[row.name].append(seconds)
    rows: list[tuple[object, ...]] = [
        (row.name, _told(min(taken[row.name])), _told(percentile(taken[row.name], 0.5) / 1_000), _told(row.goal))
        for row in ROWS
    ]
    body = f"User and system time of the whole process, bytecode cached, {RUNS} alternating runs of each.\n\n" + table(
        ("process", "best", "p50", "goal"), rows
    )
    write_section("startup", "Start-up", body)


def _told(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.2f} s"


if __name__ == "__main__":
    main()
