"""How long a client waits for `treering mcp`: for its first answer, for the tools, for what the first tool finds."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import treering
from bench.results import percentile, table, write_section
from treering.interfaces.mcp.stdio.printing import greeting, line

RUNS = 12
RECORDS = 1_000
COMMAND = str(Path(sys.executable).with_name("treering"))
WITHOUT_PROGRAMME = """
import treering.interfaces.mcp.stdio as stdio
stdio.printed = lambda: None
from treering.interfaces.start import main
main()
"""
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
SERVERS: Mapping[str, tuple[str, ...]] = {
    "`treering mcp`": (COMMAND, "mcp"),
    "the same without the programme": (sys.executable, "-c", WITHOUT_PROGRAMME, "mcp"),
    "a bare server of the SDK, no tools": (sys.executable, "-c", BARE),
}
STEPS = ("first answer", "tools listed", "first search answered", "ended")
SEARCH = line("tools/call", {"name": "search_memory", "arguments": {"query": "when are the gates closed"}}, 2)


def filled(folder: Path) -> None:
    """A memory to search in, where the server looks for it."""
    os.environ["TREERING_DB"] = str(folder / "memory.db")
    with treering.open(background=False) as memory:
        for number in range(RECORDS):
            memory.remember(f"Gate {number} of the garden is closed at {number % 24} o'clock in winter.")


def waited(command: tuple[str, ...], *, tools: bool) -> list[float]:
    """Seconds from the start of the process to each step; the last is from the end of input to its end."""
    begun = time.perf_counter()
    steps = list[float]()
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    asked = [greeting("2025-11-25"), line("notifications/initialized") + line("tools/list", id=1)]
    for said in (*asked, *((SEARCH,) if tools else ())):
        server.stdin.write(said)
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        assert "result" in answer, answer
        assert not answer["result"].get("isError"), answer
        steps.append(time.perf_counter() - begun)
    ending = time.perf_counter()
    server.stdin.close()
    server.wait()
    server.stdout.close()
    return [*steps, time.perf_counter() - ending]


def main() -> None:
    rows = list[tuple[object, ...]]()
    with tempfile.TemporaryDirectory() as folder:
        filled(Path(folder))
        taken: dict[str, list[list[float]]] = {name: [] for name in SERVERS}
        for _ in range(RUNS):
            for name, command in SERVERS.items():
                taken[name].append(waited(command, tools=command[-1] == "mcp"))
    for name, runs in taken.items():
        steps = STEPS if len(runs[0]) == len(STEPS) else (*STEPS[:2], STEPS[-1])
        for number, step in enumerate(steps):
            seconds = [run[number] for run in runs]
            goal = "700" if (name, step) == (next(iter(SERVERS)), STEPS[0]) else "–"
            rows.append((name, step, *(f"{percentile(seconds, share):.0f} ms" for share in (0.5, 0.95)), goal))
    body = (
        f"From the start of the process, {RUNS} runs of each in turn, over stdin and stdout; `ended` is from the end "
        f"of input to the end of the process. The search is in a memory of {RECORDS:,} records, and asked for as soon "
        "as the tools are listed: most of the time before its answer is spent on loading the SDK and the library.\n\n"
        + table(("server", "step", "p50", "p95", "goal, ms"), rows)
    )
    write_section("mcp", "Start of the MCP server", body)


if __name__ == "__main__":
    main()
