"""The code index from disk to memory, at 50,000 definitions and 500,000 edges: cold, loaded, one file edited."""

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import treering
from bench.results import percentile, table, write_section
from treering.index.live import LiveGraph
from treering.index.verbs import Code
from treering.memory import Memory

SIZES = (125, 500, 2_500)
"""Files; each defines twenty things that make two hundred uses."""
FUNCTIONS = 20
USES = 10
EDITS = 40
FOLDERS = 50


def made_up(root: Path, files: int, chance: random.Random) -> None:
    """Python packages whose functions call functions of files before them, as layered code does."""
    for folder in range(FOLDERS):
        (root / f"pkg/part_{folder}").mkdir(parents=True, exist_ok=True)
        (root / f"pkg/part_{folder}/__init__.py").write_text("")
    (root / "pkg/__init__.py").write_text("")
    for number in range(files):
        place(root, number).write_text(source(number, chance))


def place(root: Path, number: int) -> Path:
    return root / f"pkg/part_{number % FOLDERS}/file_{number}.py"


def source(number: int, chance: random.Random) -> str:
    used = sorted(chance.sample(range(number), min(number, 8)))
    lines = [f"from pkg.part_{each % FOLDERS} import file_{each}" for each in used]
    for function in range(FUNCTIONS):
        lines += ["", "", f"def function_{function}(value):"]
        for _ in range(USES):
            target = chance.randrange(FUNCTIONS)
            callee = f"file_{chance.choice(used)}.function_{target}" if used else f"function_{target}"
            lines.append(f"    value = {callee}(value)")
        lines.append("    return value")
    return "\n".join(lines) + "\n"


def timed(action: object) -> float:
    start = time.perf_counter()
    action()  # type: ignore[operator]
    return time.perf_counter() - start


def loaded(memory: Memory) -> float:
    """Seconds from the stored graph to one that answers."""

    def load() -> None:
        with memory.store.reading(memory.scope, memory._ports.clock()) as tx:
            state = tx.code.state()
            assert state is not None
            LiveGraph(200).refresh(tx.code, state)

    return min(timed(load) for _ in range(5))


def edited(code: Code, root: Path, files: int, chance: random.Random) -> tuple[list[float], list[float]]:
    """Seconds to read one edited file again: told by a watcher, and found by looking everywhere."""
    told, looked = [], []
    for seconds in (told, looked):
        for number in chance.sample(range(files), EDITS):
            path = place(root, number)
            path.write_text(path.read_text() + f"\n\ndef more_{chance.randrange(10**9)}():\n    return function_1(1)\n")
            hints = [str(path.relative_to(root))] if seconds is told else None
            seconds.append(timed(lambda hints=hints: code._current.catch_up(root, hints)))  # type: ignore[misc]
    return told, looked


def rows(files: int, folder: Path) -> list[tuple[object, ...]]:
    chance = random.Random(7)
    root = folder / f"project-{files}"
    made_up(root, files, chance)
    with treering.open(folder / f"{files}.db", project="p", background=False) as memory:
        code = memory.code
        cold = timed(lambda: code.index(root, history=False))
        totals = code.status().totals
        name = f"{totals.files:,} files, {totals.definitions:,} definitions, {totals.edges:,} edges"
        again = timed(lambda: code.index(root, history=False))
        load = loaded(memory)
        code.find("function_1")
        told, looked = edited(code, root.resolve(), files, chance)
    return [
        (name, "cold", f"{cold:.2f} s", f"{files / cold:,.0f} files/s"),
        (name, "nothing changed", f"{again * 1000:,.0f} ms", ""),
        (name, "load into memory", f"{load * 1000:,.0f} ms", ""),
        (name, "one edited file, told by the watcher: half, 95 %", _ms(told, 0.5), _ms(told, 0.95)),
        (name, "one edited file, found by looking: half, 95 %", _ms(looked, 0.5), _ms(looked, 0.95)),
    ]


def _ms(seconds: list[float], share: float) -> str:
    return f"{percentile(seconds, share):,.1f} ms"


def real(paths: list[str], folder: Path) -> list[tuple[object, ...]]:
    """Repositories on disk, each in a process of its own as the command line has it."""
    measured: list[tuple[object, ...]] = []
    command = [str(Path(sys.executable).parent / "treering"), "index", "--no-history", "--project", "p"]
    for path in paths:
        place = folder / f"{Path(path).name}.db"
        seconds = timed(
            lambda path=path, place=place: subprocess.run(  # type: ignore[misc]
                [*command, path, "--db", str(place)], check=True, capture_output=True
            )
        )
        measured.append((Path(path).name, "cold, whole command", f"{seconds:.2f} s", ""))
    return measured


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = [row for files in SIZES for row in rows(files, folder)] + real(sys.argv[1:], folder)
    note = (
        f"Made-up Python, {FUNCTIONS} functions a file that make {FUNCTIONS * USES} calls, into files before them. "
        "Goals at 50,000 definitions and 500,000 edges: cold at least 250 files/s on two cores, load < 400 ms, one "
        "edited file read again p95 < 50 ms."
    )
    write_section("Code index", "make bench-code-index", f"{note}\n\n{table(('code', 'what', 'took', ''), found)}")


if __name__ == "__main__":
    main()
