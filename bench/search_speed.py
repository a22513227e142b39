"""Search on the embedded engine as the store grows: indexing, latency, memory, and what the sign bits lose."""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

import treering
from bench.prose import questions, records
from bench.results import PAGES, percentile, table, write_section
from treering.compose import new_id
from treering.core.records import Knowledge
from treering.core.settings import EmbedderSettings, Settings
from treering.memory import Memory

SIZES = (1_000, 10_000, 100_000, 1_000_000)
START = datetime(2026, 1, 1, tzinfo=UTC)
CHUNK = 50_000
SETTINGS = Settings(embedder=EmbedderSettings(provider="bundled", batch=2_000))
ASKED = 200
COMPARED = 100


@dataclass(frozen=True)
class Row:
    """What one size costs. Times in milliseconds, memory in MB of the process that only searches."""

    size: int
    per_second: float
    first: float
    p50: float
    p95: float
    common_p95: float
    resident: float
    base: float
    recall: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=SIZES[-1])
    parser.add_argument("--dry", action="store_true", help="print, do not write the results page")
    parser.add_argument("--search", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ["TREERING_EMBEDDER"] = "bundled"
    if options.search:
        print(json.dumps(asdict(_searched(Path(options.search)))))
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = [_measured(Path(folder) / f"{size}.db", size) for size in SIZES if size <= options.most]
        cold = _cold(Path(folder) / "10000.db") if options.most >= 10_000 else []
    body = _body(rows, cold)
    if options.dry:
        print(body)
        return
    _plot(rows)
    write_section("search", "Search speed, embedded", body)


def figures() -> dict[str, float]:
    """Processor time of a search among 10,000 records, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.db"
        _load(file, 10_000)
        with treering.open(file, project="p", settings=SETTINGS) as memory:
            memory.search("how is a pending request cancelled")
            return {"search.processor": percentile([_processor_time(memory, each) for each in questions(ASKED)], 0.5)}


def _processor_time(memory: Memory, query: str) -> float:
    begun = time.process_time()
    memory.search(query)
    return time.process_time() - begun


def _measured(file: Path, size: int) -> Row:
    seconds = _load(file, size)
    found = subprocess.run(
        [sys.executable, "-m", "bench.search_speed", "--search", str(file)], capture_output=True, text=True, check=True
    )
    row = Row(**{**json.loads(found.stdout), "size": size, "per_second": size / seconds})
    print(row, flush=True)
    return row


def _load(file: Path, size: int) -> float:
    """Seconds to store and embed records that are values already."""
    texts, seconds, stored = records(size), 0.0, 0
    with treering.open(file, project="p", settings=SETTINGS) as memory:
        while chunk := list(as_knowledge(texts, min(CHUNK, size - stored), stored)):
            begun = time.perf_counter()
            memory.remember_many(chunk)
            memory.settle(timeout=3_600)
            seconds += time.perf_counter() - begun
            stored += len(chunk)
    return seconds


def as_knowledge(texts: Iterator[str], count: int, first: int) -> Iterator[Knowledge]:
    for number in range(first, first + count):
        at = START + timedelta(seconds=number)
        yield Knowledge(
            id=new_id(), type="fact", content=next(texts), created_at=at, updated_at=at, last_accessed_at=at
        )


def _searched(file: Path) -> Row:
    """In a process of its own, so that its memory is that of searching."""
    with treering.open(file, project="p", settings=SETTINGS) as memory:
        base = _resident()
        begun = time.perf_counter()
        memory.search("how is a pending request cancelled")
        first = time.perf_counter() - begun
        usual = [timed(memory, query) for query in questions(ASKED)]
        common = [timed(memory, query) for query in ("return the value of a file", "the name of a new object") * 20]
        resident = _resident()
        return Row(
            size=0,
            per_second=0.0,
            first=first * 1000,
            p50=percentile(usual, 0.5),
            p95=percentile(usual, 0.95),
            common_p95=percentile(common, 0.95),
            resident=resident,
            base=base,
            recall=_exact_recall(memory),
        )


def timed(memory: Memory, query: str) -> float:
    begun = time.perf_counter()
    memory.search(query)
    return time.perf_counter() - begun


def _exact_recall(memory: Memory) -> float:
    """The share of the ten truly nearest vectors that the index finds."""
    from treering.adapters.models.bundled import BundledEmbedder
    from treering.adapters.vectors.signs import STORED, centred
    from treering.ports.index import IndexQuery

    embedder = BundledEmbedder()
    with memory.store.reading(memory.scope, START) as tx:
        connection = tx._context.connection  # type: ignore[attr-defined]
        stored = connection.exec_driver_sql("SELECT number, vector FROM vectors ORDER BY number").all()
        numbers = np.array([number for number, _ in stored], np.int64)
        vectors = np.frombuffer(b"".join(vector for _, vector in stored), STORED).reshape(len(stored), -1)
        space = tx.index._state(embedder.model).spaces[embedder.model]  # type: ignore[attr-defined]
        shares = []
        for query in questions(COMPARED if len(stored) <= 100_000 else COMPARED // 10, seed=13):
            vector = embedder.query(query)
            apart = centred(vector, space.mean)[0]
            scores = np.concatenate(
                [
                    centred(vectors[start : start + CHUNK].astype(np.float32), space.mean) @ apart
                    for start in range(0, len(vectors), CHUNK)
                ]
            )
            tenth = np.sort(scores)[-10]
            found = tx.index.candidates(IndexQuery((), vector, embedder.model), ("knowledge",), limit=10)
            near = found.number[np.argsort(-np.nan_to_num(found.meaning, nan=-1))[:10]]
            # Texts that repeat have the same vector: any of them is as near as the others.
            shares.append(float((scores[np.searchsorted(numbers, np.sort(near))] >= tenth - 1e-4).mean()))
    return float(np.mean(shares))


def _cold(file: Path) -> list[float]:
    """CPU seconds of `treering search` in a fresh process, user and system."""
    command = [str(Path(sys.executable).with_name("treering")), "search", "pending request cancelled"]
    environment = {**os.environ, "TREERING_DB": str(file), "TREERING_PROJECT": "p"}
    spent = []
    for _ in range(11):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environment, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return spent


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _body(rows: list[Row], cold: list[float]) -> str:
    headers = (
        "records",
        "stored and embedded /s",
        "first search ms",
        "p50 ms",
        "p95 ms",
        "p95 of common words ms",
        "resident MB",
        "before the first search MB",
        "recall@10 of the sign bits",
    )
    cells: list[tuple[object, ...]] = [
        (
            f"{row.size:,}",
            f"{row.per_second:,.0f}",
            f"{row.first:.0f}",
            f"{row.p50:.1f}",
            f"{row.p95:.1f}",
            f"{row.common_p95:.1f}",
            f"{row.resident:.0f}",
            f"{row.base:.0f}",
            f"{row.recall:.3f}",
        )
        for row in rows
    ]
    text = table(headers, cells)
    if cold:
        text += (
            f"\n\nA cold `treering search` on 10,000 records takes {percentile(cold, 0.5):.0f} ms of process time "
            f"(p95 {percentile(cold, 0.95):.0f} ms)."
        )
    return text + (
        "\n\nGoals: p95 10 ms at 10,000, 25 at 100,000, 100 at 1,000,000; 2,000 records/s; 500 ms cold; 150 MB at "
        "100,000, 1 GB at 1,000,000; recall .98. Texts are sentences of the Python manual, queries words of one. "
        "The first search of a process reads the index into memory.\n\n![latency](search.svg)"
    )


def _plot(rows: list[Row]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.5))
    sizes = [row.size for row in rows]
    axes.plot(sizes, [row.p50 for row in rows], marker="o", label="p50")
    axes.plot(sizes, [row.p95 for row in rows], marker="o", label="p95")
    axes.plot(sizes, [row.common_p95 for row in rows], marker="o", label="p95, common words")
    axes.set(xscale="log", yscale="log", xlabel="records", ylabel="milliseconds")
    axes.legend()
    axes.grid(visible=True, alpha=0.3)
    figure.tight_layout()
    figure.savefig(PAGES / "search.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
