"""Whether searches still return the same results in the same order: rankings of the public sets, by digest.

`--record` stores the rankings of the current code; without it they are compared with the stored ones.
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import treering
from bench.data import DATA
from bench.postgres import server
from bench.results import revision, today
from bench.retrieval.measures import LIMIT
from bench.retrieval.sets import NAMES, Dataset, Group, load
from bench.retrieval.ways import use_bundled_embedder
from treering.core.settings import Settings
from treering.ports.clock import Clock
from treering.search.answer import Hit

RECORDED = Path(__file__).with_name("rankings.json")
DEFAULT_SETS = ("locomo", "realtalk", "longmemeval")
NOW = datetime(2026, 11, 17, tzinfo=UTC)
"""Almost the same time in every run: age is part of the score."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", metavar="set", help=f"of {', '.join(NAMES)}; {', '.join(DEFAULT_SETS)} if none"
    )
    parser.add_argument("--record", action="store_true", help="store the rankings of this code")
    parser.add_argument("--postgres", action="store_true", help="search on PostgreSQL")
    parser.add_argument("--groups", type=int, help="only the first groups of each set")
    parser.add_argument("--save", metavar="FILE", help="also write every ranking to a file")
    chosen = parser.parse_args()
    if not DATA.is_dir():
        print(f"There is no benchmark data in {DATA}; TREERING_BENCH_DATA says where it is. Nothing was compared.")
        return 2
    use_bundled_embedder()
    datasets = [load(name, groups=chosen.groups) for name in chosen.sets or DEFAULT_SETS]
    with tempfile.TemporaryDirectory() as name, _place(Path(name), postgres=chosen.postgres) as place:
        engine = "PostgreSQL" if chosen.postgres else "SQLite"
        found = {f"{dataset.name}, {engine}": rankings(dataset, place) for dataset in datasets}
    if chosen.save:
        Path(chosen.save).write_text(json.dumps(found), "utf-8")
    recorded = json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else {}
    if chosen.record:
        stamped = {name: {"commit": revision(), "date": today(), "digests": digests(of)} for name, of in found.items()}
        RECORDED.write_text(json.dumps(recorded | stamped, indent=1, sort_keys=True) + "\n", "utf-8")
        return 0
    return int(sum(_differs(name, digests(of), recorded) for name, of in found.items()) > 0)


def _place(folder: Path, *, postgres: bool) -> AbstractContextManager[str | Path]:
    if not postgres:
        return nullcontext(folder / "memory.db")
    os.environ["TREERING_BLOBS"] = str(folder / "blobs")
    return server(folder)


def rankings(dataset: Dataset, place: str | Path) -> Mapping[str, Sequence[Sequence[str]]]:
    """The labels of the first results of each question, by group."""
    return {group.name: _ranked(f"{dataset.name}-{group.name}", group, place) for group in dataset.groups}


def _ranked(project: str, group: Group, place: str | Path) -> Sequence[Sequence[str]]:
    # In the background, a turn may be embedded before the turn after it is stored; its vector is then another one.
    with treering.open(place, project=project, settings=Settings(), clock=_ticking(), background=False) as memory:
        for document in group.documents:
            memory.turn(session="s", role="user", text=document.text, id=document.id, at=document.date)
        memory.settle(timeout=600.0)
        return [[_label(hit) for hit in memory.search(question.text, limit=LIMIT)] for question in group.questions]


def _ticking() -> Clock:
    """A clock that never shows the same time twice: what is as new is ordered by random ids."""
    ticks = count()
    return lambda: NOW + timedelta(milliseconds=next(ticks))


def _label(hit: Hit) -> str:
    """The id of a turn; records that were learned have other ids in every run."""
    return hit.id if hit.kind == "turn" else hit.text


def digests(found: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, str]:
    """For each group, six characters per question."""
    return {
        name: "".join(hashlib.sha256("\n".join(ids).encode()).hexdigest()[:6] for ids in of)
        for name, of in found.items()
    }


def _differs(name: str, found: Mapping[str, str], recorded: Mapping[str, Mapping[str, Mapping[str, str]]]) -> bool:
    """Print how many rankings of a set differ from the recorded ones."""
    if name not in recorded:
        print(f"{name}: nothing is recorded", file=sys.stderr)
        return True
    before = recorded[name]["digests"]
    changed = [
        f"{group} question {place // 6}"
        for group, of in found.items()
        for place in range(0, len(of), 6)
        if of[place : place + 6] != before[group][place : place + 6]
    ]
    total = sum(len(of) // 6 for of in found.values())
    print(
        f"{name}: {total - len(changed)} of {total} rankings as at {recorded[name]['commit']}",
        *changed[:20],
        sep="\n  ",
    )
    return bool(changed)


if __name__ == "__main__":
    sys.exit(main())
