"""Working memory: variables, outputs, prompts, pruning and saves of one task."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import treering
from bench.results import percentile, table, write_section
from treering.memory import Memory
from treering.task.api import Task

OPERATIONS = 100_000
NAMES = 100
GOAL_MICROSECONDS = 50
SENTENCE = "The encoder signs the claims with the key of the tenant and returns a token. "
VALUES: dict[str, Callable[[int], object]] = {
    "number": lambda number: number,
    "text of 30 characters": lambda number: f"src/shop/payments/{number:08}.py",
    "map of 3": lambda number: {"file": f"auth{number}.py", "lines": [number, number + 9], "done": False},
}


def timed(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def micros(seconds: list[float], share: float) -> str:
    return f"{percentile(seconds, share) * 1000:.1f} µs"


def millis(seconds: list[float], share: float) -> str:
    return f"{percentile(seconds, share):.2f} ms"


def variables(memory: Memory) -> Iterator[tuple[object, ...]]:
    """Set, then get, one variable after another."""
    for name, value in VALUES.items():
        task, sets, gets = memory.task("Add tokens"), list[float](), list[float]()
        for number in range(OPERATIONS):
            key, wanted = f"name{number % NAMES}", value(number)
            sets.append(timed(partial(task.set, key, wanted)))
            gets.append(timed(partial(task.get, key)))
        for verb, taken in (("set", sets), ("get", gets)):
            yield f"{verb}, {name}", f"{OPERATIONS:,}", micros(taken, 0.5), micros(taken, 0.99), micros(taken, 0.999)
    task, taken = memory.task("Add tokens"), list[float]()
    for number in range(10_000):
        taken.append(timed(partial(task.accumulate, "files", f"file{number}.py")))
    yield "accumulate, a list up to 10,000", "10,000", micros(taken, 0.5), micros(taken, 0.99), micros(taken, 0.999)


def outputs(memory: Memory) -> Iterator[tuple[object, ...]]:
    """Outputs of some 300 tokens, so that every few of them one prunes; then what reads and keeps the whole."""
    task = memory.task("Add tokens")
    task.load_task_context(goals=["users log in"], plan=[f"step {number}" for number in range(20)])
    added, pruned = list[float](), list[float]()
    for number in range(300):
        before = len(task.pruned)
        taken = timed(partial(task.add_intermediate, f"s{number}", f"{number}. {SENTENCE * 15}"))
        (pruned if len(task.pruned) > before else added).append(taken)
    usage = task.stats()
    yield "add_intermediate, nothing to prune", len(added), millis(added, 0.5), millis(added, 0.95)
    yield "add_intermediate that prunes into the store", len(pruned), millis(pruned, 0.5), millis(pruned, 0.95)
    verbs: dict[str, Callable[[], object]] = {
        f"render, {usage.tokens:,} tokens held": task.render,
        "render into 4,000": partial(task.render, 4_000),
        f"snapshot, {len(task.snapshot().to_json()) / 1024:.0f} KB of JSON": task.snapshot,
        "save": task.save,
        "resume": partial(memory.task, id=task.id),
        "prune, nothing to do": task.prune,
        "resolve": partial(task.resolve, task.references()[0]),
    }
    for name, verb in verbs.items():
        runs = [timed(verb) for _ in range(30)]
        yield name, len(runs), millis(runs, 0.5), millis(runs, 0.95)


def prunes(memory: Memory) -> Iterator[tuple[object, ...]]:
    """A whole pruning: of 12 outputs the oldest 7 leave, and 20 traces; a transaction for each kind."""
    numbers, taken = count(), list[float]()
    for _ in range(20):
        task = memory.task(f"Add tokens {next(numbers)}")
        _fill(task)
        taken.append(timed(task.prune))
    yield "prune, 7 outputs and 20 traces leave", len(taken), millis(taken, 0.5), millis(taken, 0.95)


def _fill(task: Task) -> None:
    for number in range(12):
        task.add_intermediate(f"s{number}", f"{number}. {SENTENCE * 10}")
    for number in range(20):
        task.trace(f"{number}: ran the tests\n{SENTENCE}\nall passed")


def main() -> None:
    with TemporaryDirectory() as folder, treering.open(Path(folder) / "memory.db", project="bench") as memory:
        fast = table(("verb", "operations", "p50", "p99", "p99.9"), list(variables(memory)))
        slow = table(("verb", "runs", "p50", "p95"), [*outputs(memory), *prunes(memory)])
    note = f"Goal: get and set below {GOAL_MICROSECONDS} µs at p99. {NAMES} names, SQLite."
    write_section("working", "Working memory", f"{note}\n\n{fast}\n\n{slow}")


if __name__ == "__main__":
    main()
