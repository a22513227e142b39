"""Fifty clients at once over HTTP, on PostgreSQL, with one, two and four server processes."""

import argparse
import tempfile
from pathlib import Path

from bench.mcp_load import Load, run
from bench.postgres import server
from bench.results import percentile, table, write_section

NOTE = """
Goal: several server processes share the load, with no error and no lost write. The clients and calls are those of
the bench `mcp-load`, on an empty memory for each number of processes. Clients, server processes and PostgreSQL run on
the same cores, so calls/s stop growing where these are busy; *processor ms* is the time of the server processes
alone, and of the process of all clients, for each call.
"""


def row(workers: int, load: Load) -> tuple[object, ...]:
    calls = sum(map(len, load.seconds.values()))
    every = calls + load.calls_reading
    search = load.seconds["search_memory"]
    return (
        workers,
        f"{calls / load.lasted:.0f}",
        f"{percentile(search, 0.5):.0f} ms",
        f"{percentile(search, 0.95):.0f} ms",
        f"{1000 * load.processor / every:.1f}",
        f"{1000 * load.clients_processor / every:.1f}",
        f"{load.samples[-1].megabytes:.0f}",
        load.errors.total(),
        len(load.lost),
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--clients", type=int, default=50)
    options.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], help="numbers of server processes")
    options.add_argument("--only-print", action="store_true", help="leave the results page as it is")
    asked = options.parse_args()
    rows = []
    for workers in asked.workers:
        with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as url:
            load = run(url, Path(folder), clients=asked.clients, seconds=asked.seconds, reading=0, workers=workers)
            rows.append(row(workers, load))
        for error, count in load.errors.most_common():
            print(f"{workers} processes: {count} × {error}")
    headers = (
        "processes",
        "calls/s",
        "search p50",
        "p95",
        "processor time a call",
        "of clients",
        "MB",
        "errors",
        "lost",
    )
    body = table(headers, rows)
    if asked.only_print:
        print(body)
    else:
        write_section("mcp-workers", "Several server processes on PostgreSQL", f"{body}\n{NOTE}")


if __name__ == "__main__":
    main()
