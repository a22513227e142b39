"""Patterns in the store: finding the best for a task, fetching one, and judging all by a million applications.

`--engines sqlite postgresql` chooses, `--patterns` and `--applications` make it smaller. Without them, as the figures
ask for it. What is measured goes through `memory.patterns`, as a caller has it.
"""

import argparse
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import treering
from bench.pattern_matching import MIXED, TYPES, pattern, task
from bench.postgres import server
from bench.results import percentile, table, write_section
from treering.core.episodes import Episode, EpisodeMetadata, EpisodeOutcome, EpisodeTask, OutcomeStatus
from treering.core.patterns import Application, Evidence, Pattern, PatternStatus
from treering.memory import Memory

NOW = datetime(2026, 6, 1, tzinfo=UTC)
BATCH = 50_000
ASKED = 300
EPISODES = 20_000
EPISODES_OF = 5
"""Episodes of one session: base rates leave out those that used a pattern, not the session."""
APART = 97
"""Between two episodes that one pattern was used in: some 200 of them are all different."""
SESSIONS_OF = 4
"""Applications of one pattern in one session: agents use what works several times."""
Row = tuple[object, ...]


def patterns(count: int) -> list[Pattern]:
    """As in the bench of the index, all of them candidates that nobody has judged."""
    chance = random.Random(count)
    made = (pattern(number, chance, MIXED) for number in range(count))
    return [
        each.replace(status=PatternStatus.CANDIDATE, evidence=Evidence(), usage_count=0, created_at=NOW, updated_at=NOW)
        for each in made
    ]


def applications(count: int, among: int) -> Iterator[Application]:
    """Every pattern as often, over the last 80 days; a quarter of them helps."""
    chance = random.Random(count)
    for number in range(count):
        which, turn = number % among, number // among
        succeeds = chance.random() < (0.9 if which % 4 == 0 else 0.6)
        yield Application(
            id=f"a{number:08}",
            pattern=f"p{which:06}",
            episode=f"e{(which + turn * APART) % EPISODES}",
            session=f"s{which % 97}-{turn // SESSIONS_OF}",
            at=NOW - timedelta(days=chance.uniform(0, 80)),
            outcome=OutcomeStatus.SUCCESS if succeeds else OutcomeStatus.FAILURE,
            task_type=TYPES[which % len(TYPES)],
            features={"complexity": round(chance.random(), 2)},
        )


def episode(number: int) -> Episode:
    """Three of five succeed."""
    return Episode(
        id=f"e{number}",
        session=f"e{number // EPISODES_OF}",
        at=NOW - timedelta(days=number % 80),
        task=EpisodeTask(input="do it"),
        outcome=EpisodeOutcome(status=OutcomeStatus.SUCCESS if number % 5 < 3 else OutcomeStatus.FAILURE),
        metadata=EpisodeMetadata(task_type=TYPES[number % len(TYPES)]),
    )


def fill(memory: Memory, count: int, uses: int) -> float:
    start = time.perf_counter()
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.patterns.create_many(patterns(count))
    told = applications(uses, count)
    while batch := [each for _, each in zip(range(BATCH), told, strict=False)]:
        with memory.store.transaction(memory.scope, NOW) as tx:
            tx.applications.create_many(batch)
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.episodes.create_many(map(episode, range(EPISODES)))
    memory.store.optimise()
    return time.perf_counter() - start


def timed(act: Callable[[int], object], times: int) -> list[float]:
    found = list[float]()
    for number in range(times):
        start = time.perf_counter()
        act(number)
        found.append(time.perf_counter() - start)
    return found


def measured(memory: Memory, count: int, uses: int) -> Row:
    filled = fill(memory, count, uses)
    start = time.perf_counter()
    verdicts = memory.patterns.validate()
    judged = time.perf_counter() - start
    believed = sum(each.judged.status is PatternStatus.VALIDATED for each in verdicts)
    again = timed(lambda _: memory.patterns.validate(), 1)[0]
    chance = random.Random(1)
    tasks = [task(chance) for _ in range(ASKED)]
    known = [
        {name: each[name] for name in ("task_type", "domain", "complexity", "tools", "files", "languages", "context")}
        for each in tasks
    ]
    start = time.perf_counter()
    memory.patterns.find_applicable("Change it as asked", **known[0])
    first = time.perf_counter() - start
    find = timed(lambda number: memory.patterns.find_applicable("Change it as asked", **known[number]), ASKED)
    get = timed(lambda _: memory.patterns.get(f"p{chance.randrange(count):06}"), ASKED)
    return (
        memory.store.engine,
        f"{judged:.1f} s, {again:.1f} s",
        f"{believed:,}",
        f"{percentile(find, 0.5):.2f} ms, {percentile(find, 0.95):.2f} ms",
        f"{first:.2f} s",
        f"{percentile(get, 0.5):.2f} ms, {percentile(get, 0.95):.2f} ms",
        f"{filled:.0f} s",
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB",
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--engines", nargs="+", choices=("sqlite", "postgresql"), default=("sqlite", "postgresql"))
    options.add_argument("--patterns", type=int, default=5_000)
    options.add_argument("--applications", type=int, default=1_000_000)
    options.add_argument("--dry-run", action="store_true", help="print, and leave the results page alone")
    given = options.parse_args()
    rows = list[Row]()
    with tempfile.TemporaryDirectory() as name:
        folder, clock = Path(name), lambda: NOW
        if "sqlite" in given.engines:
            with treering.open(folder / "memory.db", project="bench", clock=clock, background=False) as memory:
                rows.append(measured(memory, given.patterns, given.applications))
        if "postgresql" in given.engines:
            project = f"bench-{os.getpid()}"
            with (
                server(folder) as url,
                treering.open(url, project=project, blobs=folder / "b", clock=clock, background=False) as memory,
            ):
                rows.append(measured(memory, given.patterns, given.applications))
    said = (
        "engine",
        "validating all (goal 60 s), once more",
        "believed",
        "find_applicable p50, p95 (goal 5 ms)",
        "first call",
        "get p50, p95 (goal 1 ms)",
        "filling",
        "peak memory",
    )
    body = (
        f"{given.patterns:,} patterns, {given.applications:,} applications in sessions of {SESSIONS_OF}, "
        f"each of one of {EPISODES:,} episodes in sessions of {EPISODES_OF}.\n\n{table(said, rows)}\n\n"
        "The second validation, at the same time, has nothing new to write. The first call builds the index; on "
        "PostgreSQL the goal is twice that of SQLite."
    )
    if given.dry_run:
        print(body)
    else:
        write_section("pattern-store", "Patterns in the store", body)


if __name__ == "__main__":
    main()
