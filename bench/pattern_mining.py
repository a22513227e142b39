"""Time and memory of mining as the number of episodes grows, and the cost of advice.

Episodes are drawn from a simulated world with some routines, each executed with mistakes and detours, and random steps
between them: 50 steps each, in sessions of five, with plans, failures and recoveries. Agents have some forty different
steps; with the commands of many projects and tools it may be thousands.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.results import percentile, table, write_section
from treering.core.episodes import Episode
from treering.patterns.mining.candidates import mine
from treering.patterns.mining.next_steps import next_steps

NOW = datetime(2026, 6, 1, tzinfo=UTC)
STEPS = 50
PER_SESSION = 5
ROUTINES = 20
TYPES = ("fix", "feature", "review", "docs", "release")
COMMANDS = ("pytest -q", "git commit -m x", "git diff", "ruff check .", "npm test", "make build", "ls -la", "git log")
SUFFIXES = ("py", "ts", "go", "md", "toml", "sql")
ERRORS = ("No such file: /tmp/{0}/a.py", "{0} failed, 3 passed", "Timeout after {0} s", "undefined name x{0}")


def tools(pick: random.Random, names: int) -> list[tuple[str, dict[str, str]]]:
    """So many different steps."""
    found = [("Bash", {"command": command}) for command in COMMANDS]
    found += [(tool, {"file_path": f"src/a.{suffix}"}) for tool in ("Read", "Edit", "Write") for suffix in SUFFIXES]
    found += [(f"tool_{number}", {"query": "x"}) for number in range(names - len(found))]
    pick.shuffle(found)
    return found


def episodes(count: int, steps: int, names: int) -> Iterator[Episode]:
    pick = random.Random(count)
    known = tools(pick, names)
    routines = [pick.choices(known, k=pick.randint(3, 7)) for _ in range(ROUTINES)]
    for number in range(count):
        at, kind = NOW - timedelta(minutes=count - number), pick.choice(TYPES)
        trace = list[dict[str, Any]]()
        while len(trace) < steps:
            chosen = pick.choice(routines) if pick.random() < 0.7 else [pick.choice(known)]
            for tool, given in chosen:
                if pick.random() < 0.1:
                    trace.append(_step(at, *pick.choice(known), pick))
                trace.append(_step(at, tool, given, pick))
        yield Episode.make(
            id=f"episode-{number}",
            session=f"session-{number // PER_SESSION}",
            at=at,
            task={"input": f"Task {number}", "context": {"languages": [pick.choice(SUFFIXES)]}},
            execution={
                "plan": pick.choice((("read", "change", "test"), ("plan", "write", "check", "ship"), ("look",))),
                "duration_ms": pick.uniform(1e3, 1e6),
                "trace": trace[:steps],
            },
            outcome={"status": pick.choice(("SUCCESS", "SUCCESS", "PARTIAL", "FAILURE"))},
            metadata={"task_type": kind, "domain": "web"},
        )


def _step(at: datetime, tool: str, given: dict[str, str], pick: random.Random) -> dict[str, Any]:
    failed = pick.random() < 0.05
    output = pick.choice(ERRORS).format(pick.randrange(1000)) if failed else "ok"
    return {"at": at, "action": tool, "tool": tool, "input": json.dumps(given), "output": output, "is_error": failed}


def megabytes(name: str) -> float:
    return int(Path("/proc/self/status").read_text().split(f"{name}:")[1].split()[0]) / 1024


def run(count: int, steps: int, names: int) -> dict[str, Any]:
    """In a process of its own, so that the peak is this run's."""
    given = list(episodes(count, steps, names))
    held, begun, worked = megabytes("VmRSS"), time.perf_counter(), time.process_time()
    mining = mine(given)
    seconds, processor = time.perf_counter() - begun, time.process_time() - worked
    peak, taken = megabytes("VmHWM"), list[float]()
    for episode in given[:200]:
        start = time.perf_counter()
        next_steps(mining, episode.execution.trace[:20], {"task_type": episode.metadata.task_type})
        taken.append(time.perf_counter() - start)
    return {
        "seconds": seconds,
        "processor": processor,
        "above": peak - held,
        "candidates": len(mining.candidates),
        "contexts": len(mining.habits),
        "advice": percentile(taken, 0.95),
    }


def measured(count: int, steps: int, names: int) -> tuple[object, ...]:
    command = [sys.executable, "-m", "bench.pattern_mining", "--run", str(count), str(steps), str(names)]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print(count, steps, names, told, flush=True)
    return (
        f"{count:,}",
        steps,
        f"{names:,}",
        f"{told['seconds']:.1f} s",
        f"{told['processor']:.1f} s",
        f"{told['above']:,.0f} MB",
        told["candidates"],
        f"{told['contexts']:,}",
        f"{told['advice']:.1f} ms",
    )


HEADERS = (
    "episodes",
    "steps each",
    "different steps",
    "mining",
    "processor time",
    "memory above the episodes",
    "candidates",
    "contexts",
    "advice p95",
)
NOTES = "Goal: 10,000 episodes of 50 steps in less than two minutes on two cores. One process, one core."


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 20_000])
    options.add_argument("--names", type=int, nargs="+", default=[40, 2_000])
    options.add_argument("--run", type=int, nargs=3)
    given = options.parse_args()
    if given.run:
        print(json.dumps(run(*given.run)))
        return
    rows = [measured(size, STEPS, names) for names in given.names for size in given.sizes]
    body = f"{__doc__}\n{table(HEADERS, rows)}\n\n{NOTES}"
    write_section("pattern-mining", "Mining patterns", body)


if __name__ == "__main__":
    main()
