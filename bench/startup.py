"""What a process pays before it can work: importing the package, and the command line."""

import subprocess
import sys
import time
from pathlib import Path

from bench.results import percentile, table, write_section

COMMAND = Path(sys.executable).with_name("treering")
ROWS = (
    ("python -c pass", [sys.executable, "-c", "pass"], None),
    ("import treering", [sys.executable, "-c", "import treering"], 120),
    ("import treering; treering.open", [sys.executable, "-c", "import treering; treering.open"], None),
    ("treering --help", [str(COMMAND), "--help"], 250),
)


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def import_time() -> float:
    """Milliseconds that `-X importtime` reports for the package."""
    command = [sys.executable, "-X", "importtime", "-c", "import treering"]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    last = next(line for line in reversed(report.splitlines()) if line.endswith(" treering"))
    return int(last.split("|")[1]) / 1000


def main() -> None:
    rows: list[tuple[object, ...]] = []
    for name, command, goal in ROWS:
        taken = [seconds(command) for _ in range(20)]
        rows.append((name, f"{percentile(taken, 0.5):.0f} ms", f"{percentile(taken, 0.95):.0f} ms", goal or "–"))
    body = table(("whole process", "p50", "p95", "goal, ms"), rows)
    reported = f"`python -X importtime -c 'import treering'` reports {import_time():.1f} ms for the package."
    write_section("startup", "Start-up", f"{body}\n\n{reported}")


if __name__ == "__main__":
    main()
