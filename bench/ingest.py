"""What a turn costs as the store grows: durable when the call returns, with a new session now and then."""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import treering
from bench.results import PAGES, percentile, table, write_section
from bench.store import WORDS
from treering.compose import new_id
from treering.core.turns import Session, Turn
from treering.memory import Memory

SIZES = (1_000, 10_000, 100_000, 1_000_000)
START = datetime(2026, 1, 1, tzinfo=UTC)
A_SESSION = 40
MEASURED = 1_000


@dataclass(frozen=True)
class Row:
    size: int
    turn_p50: float
    turn_p95: float
    first_p95: float
    episode_p95: float
    learned_per_second: float
    megabytes: float


def turns(first: int, count: int) -> Iterator[Turn]:
    """Some 200 characters each, as people and agents talk."""
    pick = random.Random(first)
    for number in range(first, first + count):
        at = START + timedelta(seconds=20 * number)
        role = "user" if number % 2 == 0 else "assistant"
        text = " ".join(pick.choices(WORDS, k=32))
        yield Turn.make(id=new_id(), session=f"s{number // A_SESSION}", role=role, text=text, at=at, recorded_at=at)


def load(memory: Memory, first: int, count: int) -> None:
    """Stored as an import would, and read to the end: what waits to be learned is not part of the measurement."""
    for start in range(first, first + count, 50_000):
        size = min(50_000, first + count - start)
        ids = sorted({number // A_SESSION for number in range(start, start + size)})
        with memory.store.transaction(memory.scope, START) as tx:
            tx.turns.create_many(turns(start, size))
            for id in ids:
                session = tx.sessions.get(f"s{id}")
                assert isinstance(session, Session)
                tx.sessions.mark_learned(session.id, known=session.learned, learned=session.turns)
                tx.sessions.end(session.id)


@dataclass
class Clock:
    """Stands still until it is moved."""

    now: datetime = datetime(2027, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def measure(memory: Memory, size: int, clock: Clock) -> Row:
    pick = random.Random(size)
    usual, first = list[float](), list[float]()
    for number in range(MEASURED):
        text = f"We use {pick.choice(WORDS).title()} {number}. " + " ".join(pick.choices(WORDS, k=30))
        begun = time.perf_counter()
        memory.turn(session=f"new-{size}-{number // 10}", role="user", text=text)
        (first if number % 10 == 0 else usual).append(time.perf_counter() - begun)
    episodes = []
    for number in range(200):
        begun = time.perf_counter()
        memory.episode(f"Fix {pick.choice(WORDS)} number {number}", output=" ".join(pick.choices(WORDS, k=40)))
        episodes.append(time.perf_counter() - begun)
    clock.now += timedelta(hours=2)
    begun = time.perf_counter()
    memory.maintenance.run("consolidate")
    learning = time.perf_counter() - begun
    return Row(
        size,
        percentile(usual, 0.5),
        percentile(usual, 0.95),
        percentile(first, 0.95),
        percentile(episodes, 0.95),
        MEASURED / learning,
        Path(memory.store.location).stat().st_size / 1e6,
    )


def run(sizes: tuple[int, ...], folder: Path) -> list[Row]:
    rows, have = list[Row](), 0
    for size in sizes:
        with treering.open(folder / "memory.db", project="bench", background=False) as memory:
            load(memory, have, size - have)
            have = size
        clock = Clock()
        with treering.open(folder / "memory.db", project="bench", background=False, clock=clock) as memory:
            rows.append(measure(memory, size, clock))
        print(rows[-1], flush=True)
    return rows


def plot(rows: list[Row], target: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for label, values in (
        ("turn, p50", [row.turn_p50 for row in rows]),
        ("turn, p95", [row.turn_p95 for row in rows]),
        ("first turn of a session, p95", [row.first_p95 for row in rows]),
        ("episode, p95", [row.episode_p95 for row in rows]),
    ):
        axes.plot([row.size for row in rows], values, marker="o", label=label)
    axes.set(xscale="log", xlabel="turns in the store", ylabel="milliseconds", ylim=(0, None))
    axes.grid(True, which="major", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(target)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--largest", type=int, default=SIZES[-1])
    largest = options.parse_args().largest
    with tempfile.TemporaryDirectory() as folder:
        rows = run(tuple(size for size in SIZES if size <= largest), Path(folder))
    plot(rows, PAGES / "ingest.svg")
    headers = (
        "turns stored",
        "turn p50",
        "turn p95",
        "first of a session p95",
        "episode p95",
        "learned, turns/s",
        "MB",
    )
    body = table(
        headers,
        [
            (
                f"{row.size:,}",
                *(f"{value:.2f} ms" for value in (row.turn_p50, row.turn_p95, row.first_p95, row.episode_p95)),
                f"{row.learned_per_second:,.0f}",
                f"{row.megabytes:,.0f}",
            )
            for row in rows
        ],
    )
    told = (
        "Goal at 1,000,000: p95 < 10 ms durable. Each turn is its own transaction with synchronous = FULL, through "
        "redaction, the word index and the audit log; the first turn of a session also ends the previous session and "
        "queues its reading. Learned: the `consolidate` stage over those turns, each of which states a new fact that "
        "is compared with the known ones.\n\n![cost by size](ingest.svg)"
    )
    write_section("ingest", "Ingest", f"{body}\n\n{told}")


if __name__ == "__main__":
    main()
