"""What every peer is put through: store each document once, ask every question, print one JSON line a set.

Runs inside the peers' own environments, hence the standard library only.
"""

import argparse
import gzip
import importlib.metadata
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

from bench.data import DATA
from bench.results import percentile

SETS = ("locomo", "realtalk", "longmemeval", "beam100k", "memdaily")
LIMIT = 10
LOOPBACK = ("127.0.0.1", "::1", "localhost", None, "")
T = TypeVar("T")


class Peer(Protocol):
    """A memory library holding the groups of one set."""

    @property
    def searches(self) -> Mapping[str, Callable[[str, str], list[str]]]:
        """Name of the row → the ten best ids for (group, question)."""

    def add(self, group: str, identity: str, text: str) -> bool:
        """Store one document as one memory; False when the library refuses it."""

    def embed(self, text: str) -> object:
        """The query's vector, the way this library obtains it: its part of a search is reported."""


@dataclass(frozen=True)
class Row:
    """One peer on one set; with `failure`, there are no figures."""

    peer: str
    dataset: str
    version: str = ""
    failure: str = ""
    documents: int = 0
    refused: int = 0
    questions: int = 0
    asked: int = 0
    recall: float = 0.0
    every: float = 0.0
    records_per_second: float = 0.0
    search_p50: float = 0.0
    search_p95: float = 0.0
    embed_p50: float = 0.0


@dataclass(frozen=True)
class Dataset:
    name: str
    documents: list[dict[str, Any]]
    questions: list[dict[str, Any]]


def load(name: str, groups: int | None, questions: int | None) -> Dataset:
    """A set, its questions in a fixed random order so that any number of them is a sample."""
    documents, tasks = _lines(DATA / name / "corpus.jsonl.gz"), _lines(DATA / name / "tasks.jsonl.gz")
    kept = set(islice(dict.fromkeys(document["group"] for document in documents), groups))
    asked = [task for task in tasks if task["group"] in kept]
    random.Random(0).shuffle(asked)
    return Dataset(name, [document for document in documents if document["group"] in kept], asked[:questions])


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def stay_local() -> None:
    """Refuse every connection that would leave this machine, telemetry first of all."""

    def check(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo":
            host = arguments[0]
        elif event == "socket.connect" and isinstance(arguments[1], tuple):
            host = arguments[1][0]
        else:
            return
        if (host.decode() if isinstance(host, bytes) else host) not in LOOPBACK:
            print(f"refused a connection to {host}", file=sys.stderr)
            raise ConnectionRefusedError(f"the benchmark stays on this machine, not {host}")

    sys.addaudithook(check)


def measure(peer: Peer, dataset: Dataset, version: str, seconds: float) -> list[Row]:
    """Figures of one set, a row for every way of searching the peer offers."""
    begun = time.perf_counter()
    stored = [peer.add(document["group"], document["id"], document["text"]) for document in dataset.documents]
    rate = len(stored) / (time.perf_counter() - begun)
    embeds = [_timed(partial(peer.embed, task["query"]))[1] for task in dataset.questions[:100]]
    rows = []
    for name, search in peer.searches.items():
        recalls, everies, taken = [], [], []
        for task in dataset.questions:
            found, spent = _timed(partial(search, task["group"], task["query"]))
            gold = set(task["gold"])
            hits = len(gold & set(found[:LIMIT]))
            recalls.append(hits / len(gold))
            everies.append(hits == len(gold))
            taken.append(spent)
            if sum(taken) > seconds:
                break
        rows.append(
            Row(
                peer=name,
                dataset=dataset.name,
                version=version,
                documents=len(stored),
                refused=stored.count(False),
                questions=len(dataset.questions),
                asked=len(taken),
                recall=sum(recalls) / len(recalls),
                every=sum(everies) / len(everies),
                records_per_second=rate,
                search_p50=percentile(taken, 0.5),
                search_p95=percentile(taken, 0.95),
                embed_p50=percentile(embeds, 0.5),
            )
        )
    return rows


def _timed(action: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    return action(), time.perf_counter() - start


def run(package: str, open_peer: Callable[[Path], AbstractContextManager[Peer]]) -> None:
    """The main function of a peer's script: `open_peer` gets an empty folder for each set."""
    options = argparse.ArgumentParser()
    options.add_argument("--groups", type=int)
    options.add_argument("--questions", type=int)
    options.add_argument("--seconds", type=float, default=60.0, help="searching time a set; then a sample was asked")
    chosen = options.parse_args()
    version = importlib.metadata.version(package)
    stay_local()
    for name in SETS:
        dataset = load(name, chosen.groups, chosen.questions)
        try:
            with tempfile.TemporaryDirectory() as folder, open_peer(Path(folder)) as peer:
                rows = measure(peer, dataset, version, chosen.seconds)
        except Exception as problem:  # noqa: BLE001 - a peer may raise anything; its row says what
            rows = [Row(package, name, version, failure=f"{type(problem).__name__}: {problem}"[:300])]
        for row in rows:
            print(json.dumps(asdict(row)), flush=True)
