"""Processor time of one write on the embedded engine as the store grows, alone and with its work in the background."""

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import treering
from bench.results import percentile, table, write_section
from bench.store import CHUNK, WORDS, records
from treering.memory import Memory

SIZES = (1_000, 10_000, 100_000, 1_000_000)
MEASURED = 300
PAUSE_SECONDS = 0.02
"""Between two writes beside the background thread: the pace of fifty agents."""


@dataclass(frozen=True)
class Row:
    """Milliseconds of processor time: of the writing thread (median), and of the process per write (mean)."""

    size: int
    turn: float
    remember: float
    turn_beside: float
    remember_beside: float


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--largest", type=int, default=SIZES[-1])
    options.add_argument("--dry", action="store_true", help="print, do not write the results page")
    given = options.parse_args()
    os.environ["TREERING_EMBEDDER"] = "bundled"
    rows, stored = list[Row](), 0
    with tempfile.TemporaryDirectory() as folder:
        for size in (each for each in SIZES if each <= given.largest):
            rows.append(measured(Path(folder) / "memory.db", stored, size))
            stored = size
            print(rows[-1], flush=True)
    headers = ("records", "turn", "remember", "turn, with background work", "remember, with background work")
    cells: list[tuple[object, ...]] = [
        (f"{row.size:,}", *(f"{value:.2f} ms" for value in list(vars(row).values())[1:])) for row in rows
    ]
    body = (
        f"{table(headers, cells)}\n\nGoal: 3 ms. Processor time; each write is its own durable transaction. With "
        f"background work: the mean of the whole process over {MEASURED} writes, one every "
        f"{PAUSE_SECONDS * 1000:.0f} ms, including linking to entities and embedding them."
    )
    if given.dry:
        print(body)
    else:
        write_section("writes", "Processor time of a write", body)


def measured(file: Path, stored: int, size: int) -> Row:
    with treering.open(file, project="p", background=False) as memory:
        for first in range(stored, size, CHUNK):
            memory.remember_many(records(first, min(CHUNK, size - first), seed=first))
        memory.settle(timeout=3_600)
        pick = random.Random(size)
        alone = [percentile(thread_times(writer(memory, pick)), 0.5) for writer in (turns, texts)]
    with treering.open(file, project="p") as memory:
        beside = [process_time(memory, writer(memory, pick)) for writer in (turns, texts)]
    return Row(size, *alone, *beside)


def turns(memory: Memory, pick: random.Random) -> Callable[[], object]:
    session = f"s{pick.random()}"
    return lambda: memory.turn(session=session, role="user", text=sentence(pick))


def texts(memory: Memory, pick: random.Random) -> Callable[[], object]:
    return lambda: memory.remember(sentence(pick), tags=["new"])


def sentence(pick: random.Random) -> str:
    return f"{' '.join(pick.choices(WORDS, k=30))} {pick.random()}"


def thread_times(write: Callable[[], object]) -> list[float]:
    spent = []
    for _ in range(MEASURED):
        begun = time.thread_time()
        write()
        spent.append(time.thread_time() - begun)
    return spent


def process_time(memory: Memory, write: Callable[[], object]) -> float:
    """Milliseconds per write, with the work that follows in the background."""
    write()
    memory.settle(timeout=60)
    begun = time.process_time()
    for _ in range(MEASURED):
        write()
        time.sleep(PAUSE_SECONDS)
    memory.settle(timeout=60)
    return (time.process_time() - begun) / MEASURED * 1000


if __name__ == "__main__":
    main()
