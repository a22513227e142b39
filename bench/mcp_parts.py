"""Processor time of a call to the MCP server, by part: HTTP, search, write, counts, rendering.

The calls are those of `mcp_load`, made one after the other in one thread, so that the figures do not depend on how
many clients wait. HTTP is measured apart, as calls of a tool that does not exist.
"""

import argparse
import asyncio
import json
import os
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx2
import psutil
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

import treering
from bench.mcp_load import MIXED, MODES, PROJECT, Served, arguments, served
from bench.results import table, write_section
from bench.store import WORDS
from treering.interfaces.mcp.host import Caller, MemoryHost
from treering.interfaces.mcp.server import _Handlers
from treering.interfaces.mcp.tools import BY_NAME

OTHER = "arguments, rendering, encoding"
PARTS = {
    "vectors of the query and of new records": "treering.search.pipeline:embed_query",
    "search": "treering.search.api:Search.run",
    "write": "treering.knowledge.api:KnowledgeBase.remember",
    "counts": "treering.compose.services:Services.stats",
    "briefing": "treering.context.api:ContextBuilder.briefing",
    "audit entry": "treering.compose.services:Services.note_injection",
}
"""Functions whose processor time is told apart; a part that calls another does not count the time of that."""
CLIENTS, SESSIONS = 10, 50


class Clock:
    """Processor time of the current thread, by tool and by the innermost part that runs."""

    def __init__(self) -> None:
        self.spent: dict[tuple[str, str], float] = defaultdict(float)
        self.tool = ""
        self._running = [OTHER]
        self._since = 0.0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        self._settle()
        self._running.append(name)
        try:
            yield
        finally:
            self._settle()
            self._running.pop()

    def _settle(self) -> None:
        now = time.thread_time()
        if self.tool:
            self.spent[self.tool, self._running[-1]] += now - self._since
        self._since = now

    @contextmanager
    def call(self, tool: str) -> Iterator[None]:
        self._settle()
        self.tool = tool
        try:
            yield
        finally:
            self._settle()
            self.tool = ""


def time_parts(clock: Clock) -> None:
    for name, where in PARTS.items():
        module, _, path = where.partition(":")
        *owners, function = path.split(".")
        owner: Any = import_module(module)
        for each in owners:
            owner = getattr(owner, each)
        setattr(owner, function, _timed(clock, name, getattr(owner, function)))


def _timed(clock: Clock, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def timed(*args: Any, **kwargs: Any) -> Any:
        with clock.part(name):
            return function(*args, **kwargs)

    return timed


def milliseconds_by_tool(folder: Path, records: int, calls: int) -> dict[str, dict[str, float]]:
    """Milliseconds of a call by part, for each tool."""
    clock, pick = Clock(), random.Random(1)
    with treering.open(str(folder / "memory.db"), project=PROJECT, blobs=folder / "blobs", background=False) as memory:
        memory.remember_many(f"Observation {place}: {' '.join(pick.choices(WORDS, k=12))}" for place in range(records))
        memory.settle()
        handlers = _Handlers(MemoryHost(lambda: memory, session="s", clock=lambda: datetime.now(UTC)))
        callers = [Caller(f"c{number}") if number % 2 else Caller(None, True) for number in range(SESSIONS)]
        made: dict[str, int] = defaultdict(int)
        time_parts(clock)
        for number in range(-10 * len(MIXED), calls):
            name = pick.choices(tuple(MIXED), tuple(MIXED.values()))[0]
            given = arguments(name, pick, str(number))
            if number < 0:
                handlers._call(BY_NAME[name], callers[number % SESSIONS], given)
                continue
            made[name] += 1
            with clock.call(name):
                handlers._call(BY_NAME[name], callers[number % SESSIONS], given)
    parts = (*PARTS, OTHER)
    return {name: {part: clock.spent[name, part] / made[name] * 1000 for part in parts} for name in MIXED}


def http_milliseconds(folder: Path, calls: int) -> dict[str, float]:
    """Milliseconds of the server for the protocol of a call, by mode of the client."""
    with served(str(folder / "http.db"), folder) as server:
        return {mode: asyncio.run(_http(server, mode, calls)) for mode in MODES}


async def _http(server: Served, mode: Any, calls: int) -> float:
    headers = {"Authorization": f"Bearer {server.token}"}
    process, ready, warm = psutil.Process(server.pid), asyncio.Event(), list[int]()

    async def client() -> None:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(server.url, http_client=http), mode=mode) as connected,
        ):
            await _call_unknown(connected)
            warm.append(1)
            await ready.wait()
            for _ in range(calls):
                await _call_unknown(connected)

    running = [asyncio.create_task(client()) for _ in range(CLIENTS)]
    while len(warm) < CLIENTS:
        await asyncio.sleep(0.05)
    before = _processor_seconds(process)
    ready.set()
    await asyncio.gather(*running)
    return (_processor_seconds(process) - before) / (calls * CLIENTS) * 1000


async def _call_unknown(client: Client) -> None:
    with suppress(MCPError):
        await client.call_tool("unknown", {"text": "x" * 200})


def _processor_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def told(by_tool: dict[str, dict[str, float]], http: dict[str, float], before: dict[str, Any] | None) -> str:
    shares = {name: share / sum(MIXED.values()) for name, share in MIXED.items()}

    def mean(found: dict[str, dict[str, float]], part: str) -> float:
        return sum(shares[name] * found[name][part] for name in MIXED)

    def column(measured: dict[str, Any]) -> dict[str, float]:
        found = {part: mean(measured["by_tool"], part) for part in (*PARTS, OTHER)}
        protocol = {"HTTP and protocol": sum(measured["http"].values()) / len(measured["http"])}
        tools = {f"{name}, without HTTP": sum(measured["by_tool"][name].values()) for name in MIXED}
        return protocol | found | {"**a call of the mix**": sum({**protocol, **found}.values())} | tools

    after = column({"by_tool": by_tool, "http": http})
    if before is None:
        return table(("part", "ms"), [(part, f"{value:.2f}") for part, value in after.items()])
    earlier = column(before)
    rows = [
        (part, f"{earlier[part]:.2f}", f"{value:.2f}", f"{earlier[part] / value:.1f} ×" if value >= 0.005 else "")
        for part, value in after.items()
    ]
    return table(("part", f"ms at {before['commit']}", "ms now", ""), list(rows))


NOTE = """
Milliseconds of processor time in the server, for one call of the mix of `mcp-load` (of ten calls 4 `record_memory`,
3 `search_memory`, 2 `get_session_context`, 1 `memory_stats`), one call after the other, without the background jobs.
A part that calls another does not count the time of that.
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, default=1_000)
    options.add_argument("--calls", type=int, default=600)
    options.add_argument("--http-calls", type=int, default=100)
    options.add_argument("--save", type=Path, help="write the figures to this file, to compare with later")
    options.add_argument("--before", type=Path, help="compare with the figures in this file")
    options.add_argument("--only-print", action="store_true", help="leave the results page as it is")
    asked = options.parse_args()
    os.environ["TREERING_EMBEDDER"] = "bundled"
    with tempfile.TemporaryDirectory() as folder:
        by_tool = milliseconds_by_tool(Path(folder), asked.records, asked.calls)
        http = http_milliseconds(Path(folder), asked.http_calls)
    if asked.save:
        from bench.results import revision

        asked.save.write_text(json.dumps({"commit": revision().split()[0], "by_tool": by_tool, "http": http}))
    before = json.loads(asked.before.read_text()) if asked.before else None
    body = told(by_tool, http, before)
    if asked.only_print:
        print(body)
        return
    write_section("mcp-parts", "Processor time of a call", f"At {asked.records:,} records:\n\n{body}\n{NOTE}")


if __name__ == "__main__":
    main()
