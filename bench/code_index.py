"""The code index from disk to memory: cold, nothing changed, loaded, one file edited, as repositories grow.

Each repository is measured in processes of its own, so that a peak of memory is its own. Others may work on the machine
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
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from platformdirs import user_cache_path

import treering
from bench.codegraph_packages import PACKAGES, Package, Unavailable, fetched
from bench.made_up_code import FUNCTIONS, USES, make_up
from bench.process_memory import peak, peak_of_children
from bench.results import PAGES, percentile, table, write_section
from treering.code.language_choice import language_named
from treering.code.live.live_graph import LiveGraph
from treering.memory import Memory

SIZES = (125, 500, 1_250, 2_500)
"""Files; each defines twenty functions that make two hundred calls."""
REPOSITORIES = ("flask", "fastapi", "hono")
LARGE = Package(
    "django",
    "5.2.8",
    "python",
    "23254866a5bb9a2cfa6004e8b809ec6246eba4b58a7589bc2772f1bcc8456c7f",
    ("django", "tests"),
)
"""As large as the goal in definitions, and real."""
EDITS = 40
LOADS = 5
ADDED = {
    "python": "\n\ndef more_{0}():\n    return {0}\n",
    "typescript": "\n\nexport function more_{0}() {{\n  return {0}\n}}\n",
    "go": "\n\nfunc more{0}() int {{\n\treturn {0}\n}}\n",
    "rust": "\n\npub fn more_{0}() -> u64 {{\n    {0}\n}}\n",
}
"""What an edit appends: one more definition, so that others' view of the file changes too."""

_CACHE = user_cache_path("treering") / "bench-codegraph"
TARGET = PAGES / "code_index.svg"


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
    """Megabytes of the process that ran cold, at most."""
    peak_crew: float
    """Megabytes of the largest process of its crew, at most."""
    asking: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Megabytes of a process that loads the graph and asks: when it has opened the memory, at the end, at most."""
    watching: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The same of one that watches, and reads edited files."""


def timed(action: Callable[[], T]) -> tuple[T, Spent]:
    start, start_processor = time.perf_counter(), _processor()
    done = action()
    return done, Spent(time.perf_counter() - start, _processor() - start_processor)


def _processor() -> float:
    crew = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + crew.ru_utime + crew.ru_stime


def load(memory: Memory) -> None:
    """From the stored graph to one that answers."""
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        state = tx.code.state()
        assert state is not None
        LiveGraph(200).refresh(tx.code, state)


def edit(
    root: Path,
    memory: Memory,
    chance: random.Random,
    *,
    told: bool,
    after_each: Callable[[str], object] = lambda _path: None,
) -> list[Spent]:
    """Every file is edited on its own, and read before the next is edited."""
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        paths = [file.path for file in tx.code.contents()]
    code = [path for path in paths if _is_source(path)]
    spent = []
    for path in chance.sample(code, min(EDITS, len(code))):
        language = language_named(Path(path).name)
        assert language is not None
        with (root / path).open("a") as file:
            file.write(ADDED[language].format(chance.randrange(10**9)))
        done, took = timed(partial(memory.code._current.catch_up, root, [path] if told else None))
        if done.read != 1:
            raise RuntimeError(f"{path} was edited, and this was read: {done}")
        spent.append(took)
        after_each(path)
    return spent


def _is_source(path: str) -> bool:
    return not path.endswith((".json", ".toml", ".mod", ".work"))


def measured(root: Path, database: Path, *, made_up: bool) -> Row:
    chance = random.Random(7)
    with treering.open(database, project="bench", background=False) as memory:
        _, cold = timed(partial(memory.code.index, root, history=False))
        peak_cold, peak_crew = peak(), peak_of_children()
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
        peak_crew=peak_crew,
    )


def apart(root: Path, *, made_up: bool) -> Row:
    """In processes of their own: one that indexes, one that asks what it stored, one that watches."""
    with tempfile.TemporaryDirectory() as name:
        database = Path(name) / "memory.db"
        marks = ["--made-up"] if made_up else []
        told = _told_by("bench.code_index", "--one", str(root), "--database", str(database), *marks)
        held = {
            what: tuple(_told_by("bench.code_index_memory", what, str(root), str(database)))
            for what in ("asking", "watching")
        }
    one = {name: Spent(*told[name]) for name in ("cold", "unchanged", "load")}
    many = {name: [Spent(*each) for each in told[name]] for name in ("told", "looked")}
    row = Row(**{**told, **one, **many, **held})
    print(cells(row), memory_cells(row), flush=True)
    return row


def _told_by(module: str, *arguments: str) -> Any:
    done = subprocess.run([sys.executable, "-m", module, *arguments], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def rows(repositories: Path | None, cache: Path, largest: int) -> list[Row]:
    found = []
    with tempfile.TemporaryDirectory() as name:
        for title, source_root in real_code(repositories, cache):
            root = Path(name) / title
            shutil.copytree(source_root, root, ignore=shutil.ignore_patterns(".git"))
            found.append(apart(root, made_up=False))
        for files in (size for size in SIZES if size <= largest):
            root = Path(name) / f"made-up {files:,}"
            make_up(root, files)
            found.append(apart(root, made_up=True))
    return found


def real_code(repositories: Path | None, cache: Path) -> Iterator[tuple[str, Path]]:
    """Names and folders: repositories where they were named, and published source, which anybody can fetch."""
    for root in [] if repositories is None else [repositories / name for name in REPOSITORIES]:
        if root.is_dir():
            yield root.name, root
        else:
            print(f"{root} is missing: not measured")
    cache.mkdir(parents=True, exist_ok=True)
    for package in (*PACKAGES, LARGE):
        try:
            yield package.title, fetched(package, cache)
        except Unavailable as exc:
            print(f"{package.title} is not measured: {exc}")


HEADERS = (
    *("code", "files", "definitions", "edges", "cold", "files/s", "files per processor second", "nothing changed"),
    *("load", "one file, told: half, 95 %", "of the processor", "one file, looked for: half, 95 %"),
    "of the processor",
)
MEMORY_HEADERS = (
    *("code", "definitions", "edges", "opened", "asking, peak", "asking, at the end", "watching, peak"),
    *("watching, at the end", "cold, peak", "cold, largest of the crew"),
)


def cells(row: Row) -> tuple[object, ...]:
    return (
        *(row.name, f"{row.files:,}", f"{row.definitions:,}", f"{row.edges:,}"),
        f"{row.cold.clock:.2f} s ({row.cold.processor:.2f} s)",
        f"{row.files / row.cold.clock:,.0f}",
        f"{row.files / row.cold.processor:,.0f}",
        *(f"{each.clock * 1000:,.0f} ms ({each.processor * 1000:,.0f} ms)" for each in (row.unchanged, row.load)),
        *(_half_and_most(spent, of) for spent in (row.told, row.looked) for of in (0, 1)),
    )


def memory_cells(row: Row) -> tuple[object, ...]:
    opened, asking, asking_peak = row.asking
    _, watching, watching_peak = row.watching
    held = (opened, asking_peak, asking, watching_peak, watching, row.peak_cold, row.peak_crew)
    return (row.name, f"{row.definitions:,}", f"{row.edges:,}", *(f"{each:,.0f} MB" for each in held))


def _half_and_most(spent: list[Spent], of: int) -> str:
    seconds = [each[of] for each in spent]
    return f"{percentile(seconds, 0.5):,.1f} ms, {percentile(seconds, 0.95):,.1f} ms"


def plot(found: list[Row], target: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, (left, right, below) = pyplot.subplots(1, 3, figsize=(15, 4))
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
    for label, values in (
        ("asking, peak", [row.asking[2] for row in by_size]),
        ("watching, peak", [row.watching[2] for row in by_size]),
        ("cold, peak", [row.peak_cold for row in by_size]),
        ("cold, largest of the crew", [row.peak_crew for row in by_size]),
    ):
        below.plot(sizes, values, marker="o", label=label)
    below.set(xlabel="definitions", ylabel="megabytes", xlim=(0, None), ylim=(0, None))
    for axes in (left, right, below):
        axes.grid(True, alpha=0.3)
        axes.legend()
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repositories", type=Path, help="a folder that holds flask, fastapi, hono")
    options.add_argument("--cache", type=Path, default=_CACHE, help="published source")
    options.add_argument("--largest", type=int, default=SIZES[-1], help="files of the largest made-up repository")
    options.add_argument("--one", type=Path, help="measure this folder, whose files are edited, and print it as JSON")
    options.add_argument("--database", type=Path, help="where the index of --one is stored")
    options.add_argument("--made-up", action="store_true", help="the folder of --one is made up")
    chosen = options.parse_args()
    if chosen.one is not None:
        print(json.dumps(asdict(measured(chosen.one.resolve(), chosen.database, made_up=chosen.made_up))))
        return
    found = rows(chosen.repositories, chosen.cache, chosen.largest)
    plot(found, TARGET)
    note = (
        f"Synthetic repositories are Python with {FUNCTIONS} functions per file that make {FUNCTIONS * USES} calls "
        "into earlier files, half of them files of the same folder. Values in brackets and under `of the processor` "
        f"are processor time of all processes together. `told`: {EDITS} files get one more function each, and a "
        "watcher names them; `looked for`: the changed files have to be found. "
        "Goals at 50,000 definitions and 500,000 edges: cold at least 250 files/s on "
        "two cores, load < 400 ms, one edited file p95 < 50 ms, memory < 200 MB.\n\n"
        "Memory is that of a whole process, Python and its libraries included (`opened`: before any work). "
        "`asking` loads the stored graph and queries enough nodes to count the totals of all; `watching` "
        f"also compares all files and reads {EDITS} edited ones; `cold` indexes into an empty store."
    )
    drawn = f"![Cost against size]({TARGET.name})"
    write_section(
        "code-index",
        "Code index",
        "\n\n".join(
            (
                note,
                table(HEADERS, [cells(row) for row in found]),
                table(MEMORY_HEADERS, [memory_cells(row) for row in found]),
                drawn,
            )
        ),
    )


if __name__ == "__main__":
    main()
