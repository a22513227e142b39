"""Search on the server engine at 100,000 records, on a PostgreSQL that comes from a package."""

import argparse
import os
import tempfile
import time
from pathlib import Path

import treering
from bench.postgres import server
from bench.prose import questions, records
from bench.results import percentile, table, write_section
from bench.search_speed import ASKED, CHUNK, SETTINGS, as_knowledge, timed

SIZE = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--dry", action="store_true", help="print, do not write the results page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as url:
        _make_pgvector(url)
        project = f"bench-{os.getpid()}"
        with treering.open(url, project=project, blobs=Path(name) / "blobs", settings=SETTINGS) as memory:
            texts, seconds = records(options.size), 0.0
            for first in range(0, options.size, CHUNK):
                chunk = list(as_knowledge(texts, min(CHUNK, options.size - first), first))
                begun = time.perf_counter()
                memory.remember_many(chunk)
                memory.settle(timeout=3_600)
                seconds += time.perf_counter() - begun
            memory.search("how is a pending request cancelled")
            taken = [timed(memory, query) for query in questions(ASKED)]
            found = next(check.detail for check in memory.doctor().checks if check.name == "pgvector")
    body = table(
        ("records", "stored and embedded /s", "p50 ms", "p95 ms (goal 40)"),
        [
            (
                f"{options.size:,}",
                f"{options.size / seconds:,.0f}",
                f"{percentile(taken, 0.5):.1f}",
                f"{percentile(taken, 0.95):.1f}",
            )
        ],
    )
    body += f"\n\npgvector {found}, over a local socket, default server settings."
    if options.dry:
        print(body)
    else:
        write_section("search", "Search speed, PostgreSQL", body)


def _make_pgvector(url: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE EXTENSION IF NOT EXISTS vector")


if __name__ == "__main__":
    main()
