"""Retrieval quality on the public sets, against plainer ways and without each part."""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.data import DATA
from bench.results import write_section
from bench.retrieval.engines import agreement
from bench.retrieval.measuring import Measured, measure
from bench.retrieval.report import ABOUT, WAYS, against_targets, by_way
from bench.retrieval.sets import NAMES, Dataset, load
from bench.retrieval.ways import use_bundled_embedder


def _measured(datasets: Sequence[Dataset], folder: Path) -> list[Measured]:
    found = []
    for dataset in datasets:
        begun = time.perf_counter()
        found.append(measure(dataset, folder))
        print(f"{dataset.name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    return found


def _quality(datasets: Sequence[Dataset], folder: Path) -> str:
    found = _measured(datasets, folder)
    return "\n\n".join((ABOUT, against_targets(found), WAYS, *map(by_way, found)))


def _engines(datasets: Sequence[Dataset], folder: Path) -> str:
    return f"NDCG@10 of the words alone, on both engines.\n\n{agreement(datasets, folder)}"


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench.retrieval")
    options.add_argument("sets", nargs="*", metavar="set", help=f"of {', '.join(NAMES)}; all where none is named")
    options.add_argument("--engines", action="store_true", help="compare SQLite and PostgreSQL instead")
    options.add_argument("--quick", action="store_true", help="one group and twenty questions a set; writes nothing")
    options.add_argument("--dry", action="store_true", help="print the section instead of writing it")
    chosen = options.parse_args()
    if unknown := set(chosen.sets) - set(NAMES):
        options.error(f"there is no set {', '.join(sorted(unknown))}")
    if not DATA.is_dir():
        print(f"There is no benchmark data in {DATA}; TREERING_BENCH_DATA says where it is. Nothing was measured.")
        return
    use_bundled_embedder()
    size = {"groups": 1, "questions": 20} if chosen.quick else {}
    datasets = [load(name, **size) for name in chosen.sets or NAMES]
    title, run = ("Words on both engines", _engines) if chosen.engines else ("Retrieval quality", _quality)
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        body = run(datasets, Path(folder))
    body += f"\n\nTaken in {(time.perf_counter() - begun) / 60:.1f} minutes."
    if chosen.quick or chosen.dry or chosen.sets:
        print(body)
    else:
        write_section("retrieval", title, body)


if __name__ == "__main__":
    main()
