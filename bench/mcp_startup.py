"""How long a client waits for `treering mcp`: for its first answer, for the tools, for the first search."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import treering
from bench.results import percentile, table, write_section
from tests.mcp_messages import greeting, line

RUNS = 9
RECORDS = 1_000
COMMAND = str(Path(sys.executable).with_name("treering"))
BARE = """
import anyio, mcp_types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

async def no_tools(_ctx, _params):
    return mcp_types.ListToolsResult(tools=[])

async def main():
    server = Server("bare", on_list_tools=no_tools)
    async with stdio_server() as (heard, said):
        await server.run(heard, said, server.create_initialization_options())

anyio.run(main)
"""
TREERING = "`treering mcp`"
SERVERS: Mapping[str, tuple[str, ...]] = {
    TREERING: (COMMAND, "mcp"),
    "a bare server of the SDK, no tools": (sys.executable, "-c", BARE),
}
ANSWER, LIST, SEARCH = "first answer", "tools listed", "first search answered"
GOALS = {(TREERING, ANSWER): "0.70 s", (TREERING, SEARCH): "1.00 s"}
REQUESTS = {
    ANSWER: greeting("2025-11-25"),
    LIST: line("notifications/initialized") + line("tools/list", id=1),
    SEARCH: line("tools/call", {"name": "search_memory", "arguments": {"query": "when are the gates closed"}}, 2),
}
_TICKS = os.sysconf("SC_CLK_TCK")


class Waited(NamedTuple):
    """Seconds since the server was started."""

    processor: float
    wall: float


def fill(folder: Path) -> None:
    """A memory to search in, where the server looks for it."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["TREERING_DB"] = str(folder / "memory.db")
    with treering.open(background=False) as memory:
        for number in range(RECORDS):
            memory.remember(f"Gate {number} of the garden is closed at {number % 24} o'clock in winter.")
        memory.settle(600)


def wait_for(command: tuple[str, ...], steps: Sequence[str]) -> dict[str, Waited]:
    begun = time.perf_counter()
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    waited = dict[str, Waited]()
    for step in steps:
        server.stdin.write(REQUESTS[step])
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        waited[step] = Waited(_processor_seconds(server.pid), time.perf_counter() - begun)
        assert "result" in answer, answer
        assert not answer["result"].get("isError"), answer
    server.stdin.close()
    server.wait()
    server.stdout.close()
    return waited


def _processor_seconds(process: int) -> float:
    """User and system time, which stand behind the name in parentheses."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def main() -> None:
    taken: dict[str, list[dict[str, Waited]]] = {name: [] for name in SERVERS}
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder))
        for _ in range(RUNS):
            for name, command in SERVERS.items():
                taken[name].append(wait_for(command, list(REQUESTS) if name == TREERING else (ANSWER, LIST)))
    rows = list[tuple[object, ...]]()
    for name, runs in taken.items():
        for step in runs[0]:
            processor, wall = ([run[step][each] for run in runs] for each in (0, 1))
            figures = (min(processor), percentile(processor, 0.5) / 1_000, percentile(wall, 0.5) / 1_000)
            rows.append((name, step, *(f"{seconds:.2f} s" for seconds in figures), GOALS.get((name, step), "–")))
    body = (
        f"From the start of the process, {RUNS} alternating runs of each, over stdin and stdout; bytecode cached. The "
        f"search runs in a memory of {RECORDS:,} records, as soon as the tools are listed.\n\n"
        + table(("server", "step", "processor, best", "processor, p50", "wall, p50", "goal, processor"), rows)
    )
    write_section("mcp", "Start of the MCP server", body)


if __name__ == "__main__":
    main()
