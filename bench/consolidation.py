"""Consolidating episodes: how long it takes as one band grows, how much memory, and whether every likeness is found."""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import treering
from bench.results import table, write_section
from bench.store import WORDS
from treering.compose import new_id
from treering.core.episodes import Episode
from treering.core.queries import EpisodeFilter
from treering.episodes.consolidation import stage
from treering.episodes.consolidation.clusters import components, unit
from treering.episodes.consolidation.stage import consolidate_episodes
from treering.jobs.stage import StageRun
from treering.memory import Memory

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DIMENSION = 256
LIKENESS = 0.95
WINDOW = 30 * 86_400.0
# Cosine 0.97 between two repetitions: above the threshold, but not all the same.
NOISE = 0.175
# One task in a project is done every hour; most are done a few times, many once.
EVERY_HOUR = 2_500
CHUNK = 10_000
SAMPLE = 2_000


def tasks(count: int, pick: random.Random) -> list[int]:
    """For each episode the task that it repeats."""
    found = [0] * min(EVERY_HOUR, count // 10)
    task = 1
    while len(found) < count:
        found += [task] * min(pick.choice((1, 1, 2, 3, 4, 5, 8, 15)), count - len(found))
        task += 1
    return found


def vectors_of(chosen: list[int], seed: int) -> NDArray[np.float32]:
    chance = np.random.default_rng(seed)
    middles = unit(chance.normal(size=(max(chosen) + 1, DIMENSION)))
    noise = unit(chance.normal(size=(len(chosen), DIMENSION)))
    return unit(middles[chosen] + NOISE * noise)


def episodes(chosen: list[int], pick: random.Random) -> Iterator[Episode]:
    """All mature and in one band: the hardest case. Repetitions of a task lie within a month or two."""
    begun = {task: pick.uniform(60, 178) for task in set(chosen)}
    for number, task in enumerate(chosen):
        days = pick.uniform(31, 179) if task == 0 else max(31.0, begun[task] - pick.uniform(0, 25))
        words = " ".join(pick.choices(WORDS, k=60))
        at = NOW - timedelta(days=days)
        yield Episode.make(
            id=new_id(),
            at=at,
            task={"input": f"Task {task}: {words}", "goals": ("tests pass",)},
            execution={
                "plan": ("read", "change", f"check {number % 5}"),
                "duration_ms": 1_000 + number % 977,
                "trace": [{"at": at, "action": "run", "tool": "bash", "output": words[:120]} for _ in range(5)],
            },
            outcome={"status": "SUCCESS", "output": words[:200]},
            metadata={"domain": "web", "task_type": "fix", "tools": ("bash", f"tool-{number % 7}"), "tags": ("a",)},
            lifecycle={"status": "mature"},
        )


def load(path: Path, count: int) -> None:
    pick = random.Random(count)
    chosen = tasks(count, pick)
    made, vectors = list(episodes(chosen, pick)), vectors_of(chosen, count)
    with treering.open(path, project="bench") as memory:
        model = memory.models.embedder((), hurried=False).model
        for start in range(0, count, CHUNK):
            some = made[start : start + CHUNK]
            with memory.store.transaction(memory.scope, NOW) as tx:
                tx.episodes.create_many(some)
                for part in range(0, len(some), 500):
                    ids = [each.id for each in some[part : part + 500]]
                    numbers = tx.documents.numbers("episode", ids)
                    own = [(numbers[id], id, vectors[start + part + row]) for row, id in enumerate(ids)]
                    tx.index.add_vectors(model, sorted(own, key=lambda each: each[0]))


@dataclass
class Counted:
    """Progress that only counts."""

    counts: dict[str, int] = field(default_factory=dict)

    def expect(self, total: int) -> None: ...

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count


def consolidate(memory: Memory) -> tuple[dict[str, int], float]:
    progress, begun = Counted(), time.perf_counter()
    consolidate_episodes(StageRun(memory.scope, memory.store, NOW, memory.settings, memory.models, new_id, progress))
    return progress.counts, time.perf_counter() - begun


def peak_megabytes() -> float:
    """Of this process alone: `getrusage` would count what the one that started it held."""
    told = Path("/proc/self/status").read_text()
    return int(told.split("VmHWM:")[1].split()[0]) / 1024


def run(path: Path) -> dict[str, Any]:
    """In a process of its own, so that its peak is the stage's: once, and once more."""
    comparing = [0.0]

    def timed(*given: Any, **named: Any) -> Any:
        begun = time.perf_counter()
        try:
            return components(*given, **named)
        finally:
            comparing[0] += time.perf_counter() - begun

    setattr(stage, "components", timed)  # noqa: B010 - the name is not exported
    with treering.open(path, project="bench") as memory:
        counts, seconds = consolidate(memory)
        compared, processor = comparing[0], time.process_time()
        again, seconds_again = consolidate(memory)
        with memory.store.reading(memory.scope, NOW) as tx:
            archived = tx.episodes.count(EpisodeFilter(consolidated=True))
    return {
        "counts": counts,
        "seconds": seconds,
        "processor": processor,
        "comparing": compared,
        "again": again.get("clusters", 0),
        "seconds_again": seconds_again,
        "archived": archived,
        "megabytes": peak_megabytes(),
    }


def recall(count: int) -> float:
    """Of the pairs that brute force finds for some episodes, the share that `components` puts together."""
    pick = random.Random(count)
    chosen = tasks(count, pick)
    at = np.array([each.at.timestamp() for each in episodes(chosen, pick)])
    vectors = vectors_of(chosen, count).astype(np.float16)
    found = components(vectors, at, np.arange(count), likeness=LIKENESS, window=WINDOW)
    rows, every, pairs, together = np.random.default_rng(1).choice(count, min(SAMPLE, count)), unit(vectors), 0, 0
    for row in rows:
        near = (every @ every[row] > LIKENESS) & (np.abs(at - at[row]) <= WINDOW)
        pairs += int(near.sum()) - 1
        together += int((found[near] == found[row]).sum()) - 1
    return together / max(pairs, 1)


def measured(size: int) -> tuple[object, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        load(path, size)
        command = [sys.executable, "-m", "bench.consolidation", "--run", str(path)]
        told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print(size, told, flush=True)
    return (
        f"{size:,}",
        f"{told['counts'].get('clusters', 0):,}",
        f"{told['archived']:,}",
        f"{told['seconds'] / 60:.1f} min",
        f"{told['processor'] / 60:.1f} min",
        f"{told['comparing']:.0f} s",
        f"{told['megabytes']:,.0f} MB",
        f"{recall(size):.3f}",
        f"{told['again']} in {told['seconds_again']:.0f} s",
    )


HEADERS = (
    "episodes",
    "clusters",
    "archived",
    "in all",
    "processor time",
    "comparing",
    "peak",
    "recall",
    "second run merges",
)
NOTES = """
Goals at 100,000: < 10 minutes on two cores, < 2 GB. Embedded engine; all episodes are mature and in one band, vectors
have 256 numbers, one task recurs 2,500 times, others up to 15 times. Each cluster is a separate durable
transaction.
Recall: pairs of 2,000 episodes that brute force finds and that end in one cluster.
"""


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    options.add_argument("--run", type=Path)
    given = options.parse_args()
    if given.run:
        print(json.dumps(run(given.run)))
        return
    rows = [measured(size) for size in given.sizes]
    write_section("consolidation", "Consolidating episodes", f"{table(HEADERS, rows)}\n\n{NOTES}")


if __name__ == "__main__":
    main()
