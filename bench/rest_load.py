"""Fifty clients of the REST API at once, reading and writing, on both engines; then searches at 10,000 records."""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

import treering
from bench import prose
from bench.mcp_load import PROJECT, is_there, started
from bench.postgres import server
from bench.results import percentile, table, write_section
from bench.search_speed import as_knowledge
from bench.store import WORDS

COMMAND = (sys.executable, "-c", "from treering.interfaces.start import main; main()", "serve", "--json")
BASE = f"/api/v1/projects/{PROJECT}"
MIXED = {"remember": 4, "search": 3, "list": 2, "stats": 1}
"""How often each is called, of ten calls."""
SEARCHES = {"question": 1}
QUESTIONS = 2_000
"""Different queries of the searches; no answer is cached."""


@dataclass(frozen=True)
class Served:
    host: str
    port: int
    token: str
    pid: int


@dataclass
class Load:
    """What came of the calls."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    kept: dict[str, str] = field(default_factory=dict)
    """The text of each record that was acknowledged, by its id."""
    lost: list[str] = field(default_factory=list)
    lasted: float = 0.0
    processor: dict[str, float] = field(default_factory=dict)
    """Seconds of processor time while the clients called: of the server, the database and the clients."""

    @property
    def calls(self) -> int:
        return sum(map(len, self.seconds.values()))


class HttpClient:
    """One connection that is kept alive. It does little, so that the server has the processor."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, method: str, path: str, body: dict[str, Any] | None) -> tuple[int, bytes]:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._served.host, self._served.port)
        reader, writer = self._streams
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._served.host}:{self._served.port}\r\n"
            f"Authorization: Bearer {self._served.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n"
        )
        writer.write(head.encode() + content)
        await writer.drain()
        answered = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in answered[1:])}
        return int(answered[0].split()[1]), await reader.readexactly(int(headers["content-length"]))

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


@contextmanager
def served(db: str, folder: Path, workers: int = 1) -> Iterator[Served]:
    with started(COMMAND, db, folder, workers) as told:
        address = urlsplit(told["url"])
        yield Served(str(address.hostname), int(address.port or 0), told["token"], told["pid"])


def processor(target: Served) -> dict[str, float]:
    """Seconds of processor time until now: of the server, of every PostgreSQL on this machine, and of this process."""
    found = dict.fromkeys(("server", "database", "clients"), 0.0)
    served_by = psutil.Process(target.pid)
    own = {each.pid for each in (served_by, *served_by.children(recursive=True))}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            times = process.cpu_times()
            part = "clients" if process.pid == os.getpid() else "server" if process.pid in own else "database"
            if part != "database" or process.name() == "postgres":
                found[part] += times.user + times.system
    return found


def run(db: str, folder: Path, mix: dict[str, int], *, clients: int, seconds: float, workers: int = 1) -> Load:
    """Load a server, end it, and look for every record that it acknowledged."""
    load = Load(lasted=seconds)
    with served(db, folder, workers) as target:
        asyncio.run(_load(target, load, mix, clients, seconds))
    with treering.open(db, project=PROJECT, blobs=folder / "blobs", background=False) as memory:
        load.lost = [id for id, text in load.kept.items() if not is_there(memory, id, text)]
    return load


async def _load(target: Served, load: Load, mix: dict[str, int], clients: int, seconds: float) -> None:
    # The first calls load models and open connections; they are not counted.
    await asyncio.gather(*(_client(number, target, Load(), mix, time.monotonic()) for number in range(clients)))
    before, end = processor(target), time.monotonic() + seconds
    await asyncio.gather(*(_client(number, target, load, mix, end) for number in range(clients)))
    load.processor = {name: spent - before[name] for name, spent in processor(target).items()}


async def _client(number: int, target: Served, load: Load, mix: dict[str, int], end: float) -> None:
    pick, client, calls, is_over = random.Random(f"{number} {end}"), HttpClient(target), 0, False
    while not is_over:
        calls += 1
        name = pick.choices(tuple(mix), tuple(mix.values()))[0]
        method, path, body = request(name, pick, f"{number}-{calls}-{end:.3f}")
        begun = time.perf_counter()
        try:
            status, content = await client.call(method, path, body)
        except (OSError, EOFError, ValueError) as exc:
            load.errors[f"{name}: {type(exc).__name__}: {exc}"[:200]] += 1
            client = HttpClient(target)
            continue
        finally:
            is_over = time.monotonic() >= end
        load.seconds[name].append(time.perf_counter() - begun)
        if status >= 300:
            load.errors[f"{name}: {status} {content[:150]!r}"] += 1
        elif name == "remember" and body is not None:
            load.kept[json.loads(content)["id"]] = body["text"]
    client.close()


def request(name: str, pick: random.Random, unique: str) -> tuple[str, str, dict[str, Any] | None]:
    words = " ".join(pick.choices(WORDS, k=12))
    calls: dict[str, tuple[str, str, dict[str, Any] | None]] = {
        "remember": ("POST", f"{BASE}/records", {"text": f"Observation {unique}: {words}"}),
        "search": ("POST", f"{BASE}/search", {"query": words[:60], "limit": 10, "thorough": False}),
        "question": ("POST", f"{BASE}/search", {"query": pick.choice(_questions()), "limit": 10, "thorough": False}),
        "list": ("GET", f"{BASE}/records?limit=20", None),
        "stats": ("GET", f"{BASE}/stats", None),
    }
    return calls[name]


@cache
def _questions() -> list[str]:
    return prose.questions(QUESTIONS)


def mixed_rows(engine: str, load: Load) -> list[tuple[object, ...]]:
    return [
        (
            engine,
            name,
            f"{len(took):,}",
            f"{len(took) / load.lasted:.0f}",
            f"{percentile(took, 0.5):.0f} ms",
            f"{percentile(took, 0.95):.0f} ms",
        )
        for name, took in sorted(load.seconds.items())
    ]


def fill(db: str, folder: Path, count: int) -> None:
    with treering.open(db, project=PROJECT, blobs=folder / "blobs", background=False) as memory:
        memory.remember_many(list(as_knowledge(prose.records(count), count, 0)))
        memory.vectors.update()
        memory.settle(timeout=3_600)


NOTE = """
Goals: no error and no lost write with fifty clients; at least 150 searches/s at 10,000 records with server processes on
PostgreSQL. Texts and questions of the searches are those of the bench `search`. Clients, server and database share the
same cores; each client calls again as soon as it has its answer, so the times include waiting for each other. Each
acknowledged record is read back by its id after the server has ended.
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--clients", type=int, default=50)
    options.add_argument("--records", type=int, default=10_000, help="records of the memory that is searched")
    options.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="server processes of the searches")
    options.add_argument("--searchers", type=int, default=8, help="clients that search at once")
    options.add_argument("--only-print", action="store_true", help="leave the results page as it is")
    asked = options.parse_args()
    totals, calls = list[tuple[object, ...]](), list[tuple[object, ...]]()
    searches = list[tuple[object, ...]]()

    def add(engine: str, load: Load) -> None:
        _print_errors(engine, load)
        rate = f"{load.calls / load.lasted:.0f}"
        totals.append((engine, rate, load.errors.total(), f"{len(load.kept):,}", len(load.lost)))
        calls.extend(mixed_rows(engine, load))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        add("SQLite", run(str(folder / "m.db"), folder, MIXED, clients=asked.clients, seconds=asked.seconds))
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as url:
        add("PostgreSQL", run(url, Path(name), MIXED, clients=asked.clients, seconds=asked.seconds))
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as url:
        fill(url, Path(name), asked.records)
        for workers in asked.workers:
            load = run(url, Path(name), SEARCHES, clients=asked.searchers, seconds=asked.seconds / 2, workers=workers)
            _print_errors(f"{workers} processes", load)
            took = load.seconds["question"]
            rate = f"{len(took) / load.lasted:.0f}"
            p50, p95 = f"{percentile(took, 0.5):.0f} ms", f"{percentile(took, 0.95):.0f} ms"
            spent = (f"{1_000 * load.processor[name] / len(took):.1f}" for name in ("server", "database", "clients"))
            searches.append((workers, rate, p50, p95, load.errors.total(), *spent))
    body = "\n\n".join(
        (
            table(("engine", "calls/s", "errors", "records kept", "records lost"), totals),
            table(("engine", "call", "calls", "calls/s", "p50", "p95"), calls),
            table(
                (
                    *("server processes", f"searches/s at {asked.records:,} records", "p50", "p95", "errors"),
                    *("processor ms of a search: server", "database", "clients"),
                ),
                searches,
            ),
        )
    )
    if asked.only_print:
        print(body)
    else:
        write_section("rest-load", "Many clients of the REST API", f"{body}\n{NOTE}")


def _print_errors(what: str, load: Load) -> None:
    for error, count in load.errors.most_common(10):
        print(f"{what}: {count} × {error}")


if __name__ == "__main__":
    main()
