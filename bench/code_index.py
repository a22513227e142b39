"""The code index from disk to memory: cold, nothing changed, loaded, one file edited, as repositories grow.

Each repository is measured in a process of its own, so that its peak of memory is its own. Others work on the machine
that measures: next to the clock stands the time of the processor, of the process and of the crew that it started.
"""

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import treering
from bench.results import percentile, table, write_section
from treering.index.live import LiveGraph
from treering.index.which_language import language_named
from treering.memory import Memory

SIZES = (125, 500, 1_250, 2_500)
"""Files; each defines twenty functions that make two hundred calls."""
FUNCTIONS = 20
USES = 10
FOLDER_SIZE = 50
REPOSITORIES = ("flask", "fastapi", "hono")
EDITS = 40
LOADS = 5
ADDED = {
    "python": "\n\ndef more_{0}():\n    return {0}\n",
    "typescript": "\n\nexport function more_{0}() {{\n  return {0}\n}}\n",
    "go": "\n\nfunc more{0}() int {{\n\treturn {0}\n}}\n",
    "rust": "\n\npub fn more_{0}() -> u64 {{\n    {0}\n}}\n",
}
"""What an edit appends: one more definition, so that others' view of the file changes too."""

TARGET = Path(__file__).with_name("code_index.svg")


T = TypeVar("T")


class Spent(NamedTuple):
    """Seconds on the clock, and of the processor in this process and its crew."""

    clock: float
    processor: float


@dataclass(frozen=True)
class Row:
    name: str
    made_up: bool
    files: int
    definitions: int
    edges: int
    cold: Spent
    unchanged: Spent
    load: Spent
    told: list[Spent]
    """One edited file after the other, as a watcher tells of it."""
    looked: list[Spent]
    """One edited file after the other, found by looking at all."""
    peak_cold: float
    """Megabytes after the cold run."""
    peak: float
    """Megabytes at the end, with the graph in memory."""
    peak_crew: float
    """Megabytes of the largest process of the crew."""


def make_up(root: Path, files: int) -> None:
    """Python packages whose functions call functions of files before them, as layered code does."""
    chance = random.Random(7)
    for number in range(files):
        path = root / _module(number).replace(".", "/")
        if number % FOLDER_SIZE == 0:
            path.parent.mkdir(parents=True)
            (path.parent / "__init__.py").write_text("")
        path.with_suffix(".py").write_text(source(number, chance))


def _module(number: int) -> str:
    return f"part_{number // FOLDER_SIZE}.file_{number}"


def source(number: int, chance: random.Random) -> str:
    used = sorted(chance.sample(range(number), min(number, 8)))
    lines = ["from {} import {}".format(*_module(each).split(".")) for each in used]
    for function in range(FUNCTIONS):
        lines += ["", "", f"def function_{function}(value):"]
        for _ in range(USES):
            target = chance.randrange(FUNCTIONS)
            callee = f"file_{chance.choice(used)}.function_{target}" if used else f"function_{target}"
            lines.append(f"    value = {callee}(value)")
        lines.append("    return value")
    return "\n".join(lines) + "\n"


def timed(action: Callable[[], T]) -> tuple[T, Spent]:
    start, start_processor = time.perf_counter(), _processor()
    done = action()
    return done, Spent(time.perf_counter() - start, _processor() - start_processor)


def _processor() -> float:
    crew = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + crew.ru_utime + crew.ru_stime


def _megabytes(who: int) -> float:
    return resource.getrusage(who).ru_maxrss / 1024


def load(memory: Memory) -> None:
    """From the stored graph to one that answers."""
    with memory.store.reading(memory.scope, memory._ports.clock()) as tx:
        state = tx.code.state()
        assert state is not None
        LiveGraph(200).refresh(tx.code, state)


def edit(root: Path, memory: Memory, chance: random.Random, *, told: bool) -> list[Spent]:
    """Every file is edited on its own, and read before the next is edited."""
    with memory.store.reading(memory.scope, memory._ports.clock()) as tx:
        paths = [file.path for file in tx.code.contents()]
    code = [path for path in paths if _is_source(path)]
    spent = []
    for path in chance.sample(code, min(EDITS, len(code))):
        language = language_named(Path(path).name)
        assert language is not None
        with (root / path).open("a") as file:
            file.write(ADDED[language].format(chance.randrange(10**9)))
        done, took = timed(partial(memory.code._current.catch_up, root, [path] if told else None))
        if done is None or done.read != 1:
            raise RuntimeError(f"{path} was edited, and this was read: {done}")
        spent.append(took)
    return spent


def _is_source(path: str) -> bool:
    return not path.endswith((".json", ".toml", ".mod", ".work"))


def measured(root: Path, folder: Path, *, made_up: bool) -> Row:
    chance = random.Random(7)
    with treering.open(folder / "memory.db", project="bench", background=False) as memory:
        _, cold = timed(partial(memory.code.index, root, history=False))
        peak_cold = _megabytes(resource.RUSAGE_SELF)
        totals = memory.code.status().totals
        _, unchanged = timed(partial(memory.code.index, root, history=False))
        loads = [timed(partial(load, memory))[1] for _ in range(LOADS)]
        told = edit(root, memory, chance, told=True)
        looked = edit(root, memory, chance, told=False)
    return Row(
        name=root.name,
        made_up=made_up,
        files=totals.files,
        definitions=totals.definitions,
        edges=totals.edges,
        cold=cold,
        unchanged=unchanged,
        load=min(loads),
        told=told,
        looked=looked,
        peak_cold=peak_cold,
        peak=_megabytes(resource.RUSAGE_SELF),
        peak_crew=_megabytes(resource.RUSAGE_CHILDREN),
    )


def apart(root: Path, *, made_up: bool) -> Row:
    """In a process of its own."""
    command = [sys.executable, "-m", "bench.code_index", "--one", str(root), *(["--made-up"] if made_up else [])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    told = json.loads(done.stdout)
    one = {name: Spent(*told[name]) for name in ("cold", "unchanged", "load")}
    many = {name: [Spent(*each) for each in told[name]] for name in ("told", "looked")}
    row = Row(**{**told, **one, **many})
    print(cells(row), flush=True)
    return row


def rows(repositories: Path, largest: int) -> list[Row]:
    found = []
    with tempfile.TemporaryDirectory() as name:
        for repository in REPOSITORIES:
            if not (repositories / repository).is_dir():
                print(f"{repositories / repository} is missing: not measured")
                continue
            root = Path(name) / repository
            shutil.copytree(repositories / repository, root, ignore=shutil.ignore_patterns(".git"))
            found.append(apart(root, made_up=False))
        for files in (size for size in SIZES if size <= largest):
            root = Path(name) / f"made-up {files:,}"
            make_up(root, files)
            found.append(apart(root, made_up=True))
    return found


HEADERS = (
    *("code", "files", "definitions", "edges", "cold", "files/s", "files per processor second", "nothing changed"),
    *("load", "one file, told: half, 95 %", "of the processor", "one file, looked for: half, 95 %"),
    *("of the processor", "memory after cold", "at the end", "largest of the crew"),
)


def cells(row: Row) -> tuple[object, ...]:
    return (
        *(row.name, f"{row.files:,}", f"{row.definitions:,}", f"{row.edges:,}"),
        f"{row.cold.clock:.2f} s ({row.cold.processor:.2f} s)",
        f"{row.files / row.cold.clock:,.0f}",
        f"{row.files / row.cold.processor:,.0f}",
        *(f"{each.clock * 1000:,.0f} ms ({each.processor * 1000:,.0f} ms)" for each in (row.unchanged, row.load)),
        *(_half_and_most(spent, of) for spent in (row.told, row.looked) for of in (0, 1)),
        *(f"{megabytes:,.0f} MB" for megabytes in (row.peak_cold, row.peak, row.peak_crew)),
    )


def _half_and_most(spent: list[Spent], of: int) -> str:
    seconds = [each[of] for each in spent]
    return f"{percentile(seconds, 0.5):,.1f} ms, {percentile(seconds, 0.95):,.1f} ms"


def plot(found: list[Row], target: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4))
    by_size = [row for row in found if row.made_up]
    sizes = [row.definitions for row in by_size]
    left.plot(sizes, [row.cold.clock for row in by_size], marker="o", label="cold, on the clock")
    left.plot(sizes, [row.cold.processor for row in by_size], marker="o", label="cold, of the processor")
    for row in found:
        if not row.made_up:
            left.plot([row.definitions], [row.cold.clock], marker="x", linestyle="", color="grey")
            left.annotate(row.name, (row.definitions, row.cold.clock), xytext=(4, 4), textcoords="offset points")
    left.set(xlabel="definitions", ylabel="seconds", xlim=(0, None), ylim=(0, None))
    for label, values in (
        ("load", [row.load.clock * 1000 for row in by_size]),
        ("nothing changed", [row.unchanged.clock * 1000 for row in by_size]),
        ("one file, told, p95", [percentile([each.clock for each in row.told], 0.95) for row in by_size]),
        ("one file, looked for, p95", [percentile([each.clock for each in row.looked], 0.95) for row in by_size]),
    ):
        right.plot(sizes, values, marker="o", label=label)
    right.set(xlabel="definitions", ylabel="milliseconds", xlim=(0, None), ylim=(0, None))
    for axes in (left, right):
        axes.grid(True, alpha=0.3)
        axes.legend()
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repositories", type=Path, default=Path("/tmp/codegraph"), help="holds flask, fastapi, hono")
    options.add_argument("--largest", type=int, default=SIZES[-1], help="files of the largest made-up repository")
    options.add_argument("--one", type=Path, help="measure this folder, whose files are edited, and print it as JSON")
    options.add_argument("--made-up", action="store_true", help="the folder of --one is made up")
    chosen = options.parse_args()
    if chosen.one is not None:
        with tempfile.TemporaryDirectory() as name:
            print(json.dumps(asdict(measured(chosen.one.resolve(), Path(name), made_up=chosen.made_up))))
        return
    found = rows(chosen.repositories, chosen.largest)
    plot(found, TARGET)
    note = (
        f"Made-up repositories are Python, {FUNCTIONS} functions a file that make {FUNCTIONS * USES} calls into files "
        "before them. In brackets and under `of the processor` is processor time, of all processes together. `told`: "
        f"{EDITS} files get one more function each, and a watcher names them; `looked for`: nobody names them. Memory "
        "is the peak of the process; a process of the crew that reads comes on top. Goals at 50,000 definitions and "
        "500,000 edges: cold at least 250 files/s on two cores, load < 400 ms, one edited file p95 < 50 ms."
    )
    drawn = f"![Cost against size]({TARGET.name})"
    write_section(
        "Code index",
        "make bench-code-index",
        f"{note}\n\n{table(HEADERS, [cells(row) for row in found])}\n\n{drawn}",
    )


if __name__ == "__main__":
    main()
