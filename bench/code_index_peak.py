"""Processor time and memory of `treering index`, cold, with all processes that it starts, git included.

Memory is the highest sum of the resident sizes of all these processes at one moment; pages that they share count once
for each. Linux only.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_PAUSE = 0.05
"""Seconds between two looks."""
_PAGE = resource.getpagesize()


def processes_of(pid: int) -> Iterator[int]:
    """A process and all that descend from it."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _content(children).split():
            yield from processes_of(int(child))


def resident(pid: int) -> int:
    """Bytes; none if the process has ended."""
    sizes = _content(Path(f"/proc/{pid}/statm")).split()
    return int(sizes[1]) * _PAGE if sizes else 0


def _content(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def measured(root: Path, arguments: list[str]) -> dict[str, object]:
    """Index a repository into an empty database."""
    with tempfile.TemporaryDirectory() as name:
        command = "from treering.interfaces.start import main; main()"
        database = str(Path(name) / "memory.db")
        options = ("index", str(root), "--db", database, "--project", "bench", "--json", *arguments)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with (Path(name) / "report.json").open("w+") as report:
            process = subprocess.Popen([sys.executable, "-c", command, *options], stdout=report, env=environment)
            peak = 0
            while process.poll() is None:
                peak = max(peak, sum(map(resident, processes_of(process.pid))))
                time.sleep(_PAUSE)
            report.seek(0)
            files = json.load(report)["totals"]["files"]
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = spent.ru_utime + spent.ru_stime
    return {
        "code": root.name,
        "files": files,
        "processor seconds": round(seconds, 1),
        "files per processor second": round(files / seconds),
        "peak MB": round(peak / 2**20),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("root", type=Path, help="a clone of a repository")
    options.add_argument("--no-history", action="store_true", help="do not count commits")
    chosen = options.parse_args()
    print(json.dumps(measured(chosen.root.resolve(), ["--no-history"] if chosen.no_history else [])))


if __name__ == "__main__":
    main()
