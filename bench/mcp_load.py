"""Fifty clients at once over HTTP for a minute: no error, no lost write, flat memory.

The clients are those of the official SDK, half of them at the current protocol and half at the one before, in another
process than the server.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import psutil
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

import treering
from bench.results import PAGES, percentile, table, write_section
from bench.store import WORDS
from treering.core.errors import NotFound
from treering.memory import Memory

COMMAND = (sys.executable, "-c", "from treering.interfaces.cli.app import main; main()", "mcp", "--http", "--json")
MIXED = {"record_memory": 4, "search_memory": 3, "get_session_context": 2, "memory_stats": 1}
"""How often each is called, of ten calls."""
READING = {name: share for name, share in MIXED.items() if name != "record_memory"}
MODES = ("auto", "legacy")
WARM_UP = 0.25
"""The part of the run in which models are loaded and caches filled; memory is judged after it."""
SETTLING = 0.4
"""The part of the reading in which what the writing left to do is done."""
PROJECT = "load"


@dataclass(frozen=True)
class Served:
    url: str
    token: str
    pid: int


@dataclass(frozen=True)
class Sample:
    second: float
    megabytes: float
    files: int
    threads: int


@dataclass
class Load:
    """What came of the calls."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    calls_reading: int = 0
    """Calls after the seconds in which records were written."""
    errors: Counter[str] = field(default_factory=Counter)
    kept: dict[str, str] = field(default_factory=dict)
    """The text of each record that was acknowledged, by its id."""
    samples: list[Sample] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    lasted: float = 0.0
    """Seconds in which records were written; after them the clients only read."""
    processor: float = 0.0
    """Seconds of processor time of all server processes, from their start."""
    clients_processor: float = 0.0
    """The same of the process of all clients, while they called."""

    def growth(self, first: float, last: float) -> float:
        """Megabytes a minute, by the line that fits best through what was measured between two seconds."""
        chosen = [sample for sample in self.samples if first <= sample.second <= last]
        slope, _ = np.polyfit([sample.second for sample in chosen], [sample.megabytes for sample in chosen], 1)
        return float(slope) * 60


@contextmanager
def started(command: tuple[str, ...], db: str, folder: Path, workers: int) -> Iterator[dict[str, Any]]:
    """A server of its own, ended as a service manager would; what it prints when it is ready, and its token."""
    command = (*command, "--port", "0", "--db", db, "--project", PROJECT, "--workers", str(workers))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TREERING_")}
    places = {"HOME": str(folder), "TREERING_DATA_DIR": str(folder / "data"), "TREERING_BLOBS": str(folder / "blobs")}
    variables = kept | places | {"TREERING_EMBEDDER": "bundled"}
    with subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            yield {**told, "token": Path(told["token_file"]).read_text().strip()}
        finally:
            process.terminate()
            process.wait(timeout=30)


@contextmanager
def served(db: str, folder: Path, workers: int = 1) -> Iterator[Served]:
    with started(COMMAND, db, folder, workers) as told:
        yield Served(told["url"], told["token"], told["pid"])


def run(db: str, folder: Path, *, clients: int, seconds: float, reading: float, workers: int = 1) -> Load:
    """Load a server, end it, and look for every record that it acknowledged."""
    load = Load()
    with served(db, folder, workers) as server:
        before = time.process_time()
        asyncio.run(_load(server, load, clients, seconds, reading))
        load.clients_processor = time.process_time() - before
        times = [each.cpu_times() for each in _processes(server.pid)]
        load.processor = sum(each.user + each.system for each in times)
    with treering.open(db, project=PROJECT, blobs=folder / "blobs", background=False) as memory:
        load.lost = [id for id, text in load.kept.items() if not is_there(memory, id, text)]
    return load


def is_there(memory: Memory, id: str, text: str) -> bool:
    try:
        return getattr(memory.get(id), "content", None) == text
    except NotFound:
        return False


async def _load(server: Served, load: Load, clients: int, seconds: float, reading: float) -> None:
    begun = time.monotonic()
    watching = asyncio.create_task(_watch(server.pid, load, begun))
    load.lasted = seconds
    ends = (begun + seconds, begun + seconds + reading)
    await asyncio.gather(*(_client(number, server, load, ends) for number in range(clients)))
    while _has_clients(server):
        await asyncio.sleep(0.1)
    watching.cancel()
    load.samples.append(_sampled(server.pid, time.monotonic() - begun))


def _has_clients(server: Served) -> bool:
    port = httpx2.URL(server.url).port
    return any(
        each.laddr.port == port and each.status != psutil.CONN_LISTEN
        for process in _processes(server.pid)
        for each in process.net_connections("tcp")
    )


def _processes(pid: int) -> list[psutil.Process]:
    """A server and its workers."""
    server = psutil.Process(pid)
    return [server, *server.children(recursive=True)]


async def _client(number: int, server: Served, load: Load, ends: tuple[float, float]) -> None:
    pick = random.Random(number)
    headers = {"Authorization": f"Bearer {server.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(server.url, http_client=http), mode=MODES[number % 2]) as client,
    ):
        calls = 0
        for mix, end in zip((MIXED, READING), ends, strict=True):
            is_over = False
            while not is_over:  # at least one call, also on a machine too busy to connect in time
                calls += 1
                name = pick.choices(tuple(mix), tuple(mix.values()))[0]
                answered = await _call(client, name, arguments(name, pick, f"{number}-{calls}"), load)
                if answered is not None and mix is MIXED:
                    load.seconds[name].append(answered)
                load.calls_reading += mix is READING
                is_over = time.monotonic() >= end


def arguments(name: str, pick: random.Random, unique: str) -> dict[str, Any]:
    words = " ".join(pick.choices(WORDS, k=12))
    texts = {"record_memory": {"text": f"Observation {unique}: {words}"}, "search_memory": {"query": words[:60]}}
    return texts.get(name, {})


async def _call(client: Client, name: str, arguments: dict[str, Any], load: Load) -> float | None:
    """How many seconds it took; None where nothing came back."""
    begun = time.perf_counter()
    try:
        answer = await client.call_tool(name, arguments)
    except Exception as exc:  # noqa: BLE001 - whatever it is, it is counted and told
        load.errors[f"{name}: {type(exc).__name__}: {exc}"[:200]] += 1
        return None
    took = time.perf_counter() - begun
    if answer.is_error:
        load.errors[f"{name}: {getattr(answer.content[0], 'text', '')}"[:200]] += 1
    elif name == "record_memory" and answer.structured_content is not None:
        load.kept[answer.structured_content["id"]] = arguments["text"]
    return took


async def _watch(pid: int, load: Load, begun: float) -> None:
    while True:
        load.samples.append(_sampled(pid, time.monotonic() - begun))
        await asyncio.sleep(1)


def _sampled(pid: int, second: float) -> Sample:
    processes = _processes(pid)
    megabytes = sum(each.memory_info().rss for each in processes) / 1024**2
    return Sample(
        second, megabytes, sum(each.num_fds() for each in processes), sum(each.num_threads() for each in processes)
    )


def plot(load: Load, target: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.5))
    axes.plot([sample.second for sample in load.samples], [sample.megabytes for sample in load.samples])
    axes.axvline(load.lasted, linestyle="--", color="grey", label="from here on the clients only read")
    axes.set(xlabel="seconds", ylabel="server, MB resident", ylim=(0, None))
    axes.grid(True, alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(target)


def told(load: Load, clients: int, reading: float) -> str:
    by_tool = table(
        ("tool", "calls", "p50", "p95"),
        [
            (name, f"{len(took):,}", f"{percentile(took, 0.5):.0f} ms", f"{percentile(took, 0.95):.0f} ms")
            for name, took in sorted(load.seconds.items())
        ],
    )
    calls = sum(map(len, load.seconds.values()))
    every = calls + load.calls_reading
    whole = table(
        ("clients", "seconds", "calls/s", "errors", "records kept", "records lost"),
        [
            (
                clients,
                f"{load.lasted:.0f}",
                f"{calls / load.lasted:.0f}",
                load.errors.total(),
                f"{len(load.kept):,}",
                len(load.lost),
            )
        ],
    )
    processor = table(
        ("processor time of", "ms a call, reading included"),
        [
            ("the server, its start included", f"{1000 * load.processor / every:.1f}"),
            ("all clients", f"{1000 * load.clients_processor / every:.1f}"),
        ],
    )
    return f"{whole}\n\n{by_tool}\n\n{processor}\n\n{_memory(load, reading)}"


def _memory(load: Load, reading: float) -> str:
    warm, end = WARM_UP * load.lasted, load.lasted + reading
    settled = load.lasted + SETTLING * reading
    phases = {
        "reading and writing, after a warm-up": (warm, load.lasted),
        "only reading, while it settles": (load.lasted, settled),
        "only reading, after that": (settled, end),
    }
    rows = list[tuple[object, ...]]()
    for name, (first, last) in phases.items():
        seen = [sample.megabytes for sample in load.samples if first <= sample.second <= last]
        rows.append((name, f"{min(seen):.1f} to {max(seen):.1f}", f"{load.growth(first, last):+.1f}"))
    before, after = load.samples[0], load.samples[-1]
    left = [("open files", before.files, after.files), ("threads", before.threads, after.threads)]
    grown = table(("memory of the server", "MB resident", "MB a minute"), rows)
    return f"{grown}\n\n{table(('', 'before the first client', 'after the last has gone'), list(left))}"


NOTE = """
Goal: no error, no lost write, flat memory. Clients of the official SDK, half of them at the current protocol and half
at the one before, in one process beside the server on the same two cores, each calling again as soon as it has
its answer; the times are measured by the clients, so they include waiting for each other. Every text is new,
and each acknowledged record is read back from the file by its id after the server has ended. While records
are written, memory grows: by their index, by the pages that each connection caches (up to 2 MB), and by
freed memory that the allocator keeps. The phase without writes shows whether it is flat. The remaining files
and threads are the connections to the database and the threads that wait for the next call.

![memory of the server](mcp_load.svg)
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--reading", type=float, default=115, help="seconds after those in which nothing is written")
    options.add_argument("--clients", type=int, default=50)
    options.add_argument("--only-print", action="store_true", help="leave the results page and the picture as they are")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        load = run(str(place / "memory.db"), place, clients=asked.clients, seconds=asked.seconds, reading=asked.reading)
    for error, count in load.errors.most_common():
        print(f"{count} × {error}")
    body = told(load, asked.clients, asked.reading)
    if asked.only_print:
        print(body)
        return
    plot(load, PAGES / "mcp_load.svg")
    write_section("mcp-load", "Many clients over HTTP", f"{body}\n{NOTE}")


if __name__ == "__main__":
    main()
