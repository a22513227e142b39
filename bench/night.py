"""A night on a large project: every stage once, then all of them again with nothing left to do."""

import argparse
import resource
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import treering
from bench.ingest import Clock, turns
from bench.results import table, write_section
from bench.store import records
from treering.memory import Memory

RECORDS, TURNS, EPISODES = 100_000, 5_000, 2_000
GOAL_MINUTES = 5


def fill(memory: Memory, size: int) -> None:
    """Records of some days, the turns of one day that nobody has read yet, and episodes of half a year."""
    memory.remember_many(records(0, size, seed=1))
    with memory.store.transaction(memory.scope, datetime(2026, 1, 2, tzinfo=UTC)) as tx:
        tx.turns.create_many(turns(0, TURNS))
    start = datetime(2025, 8, 1, tzinfo=UTC)
    for number in range(EPISODES):
        memory.episode(
            f"rotate the keys of service {number % 200}",
            output="done",
            task_type="rotate",
            domain="operations",
            at=start + timedelta(hours=2 * number),
        )


def a_night(memory: Memory) -> dict[str, float]:
    seconds = {}
    for stage in memory.maintenance.stages:
        begun = time.perf_counter()
        (run,) = memory.maintenance.run(stage)
        seconds[stage] = time.perf_counter() - begun
        if run.error:
            raise SystemExit(f"{stage} failed: {run.error}")
        print(stage, f"{seconds[stage]:.1f} s", dict(run.counts) if stage != "report" else "", flush=True)
    return seconds


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, default=RECORDS)
    size = options.parse_args().records
    clock = Clock(datetime(2026, 1, 4, 3, 0, tzinfo=UTC))
    with (
        tempfile.TemporaryDirectory() as folder,
        treering.open(Path(folder) / "memory.db", project="bench", background=False, clock=clock) as memory,
    ):
        fill(memory, size)
        first = a_night(memory)
        clock.now += timedelta(days=1)
        second = a_night(memory)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows: list[tuple[object, ...]] = [(stage, f"{first[stage]:.1f}", f"{second[stage]:.1f}") for stage in first]
    rows.append(("all", f"{sum(first.values()):.1f}", f"{sum(second.values()):.1f}"))
    told = (
        f"{size:,} records, {TURNS:,} turns to be read and {EPISODES:,} episodes, in one SQLite file; at most "
        f"{peak:,.0f} MB. In the first night all work is pending (no record has a vector), in the second none. "
        f"Goal: under {GOAL_MINUTES} minutes."
    )
    write_section("night", "A night", f"{told}\n\n{table(('stage', 'first, s', 'second, s'), rows)}")


if __name__ == "__main__":
    main()
