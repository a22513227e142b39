"""What is said again and again becomes one record; what only looks alike stays apart."""

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import treering
from bench.results import table, write_section
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge
from treering.memory import Memory

CASES = Path(__file__).parent / "duplicates_cases"
FIRST = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
APART = timedelta(hours=3)
MOST_A_FACT = 1.5
ABOUT = (
    "Each turn is in its own session, hours after the previous one; then all sessions are learned. Said again: "
    "facts that ten turns repeat in other words, all in one memory, each stated once before the first is "
    "repeated. Unrelated: turns with one fact each that share a subject, an attribute or a value with others "
    "and contradict none. A record is open unless it is no longer valid, deprecated or deleted, and belongs to "
    "the facts whose sessions or turns it names. The turns (`bench/duplicates_cases/`) were written by an "
    "author who had not seen the rules, the unrelated ones from templates. The rules learn explicit statements "
    "only, so many turns leave no record: the figures to read are few records per fact, and no record closed by "
    "unrelated turns."
)


def learn_all(memory: Memory) -> None:
    """Learn from every turn there is."""
    memory.settle(timeout=1_800.0)


@dataclass(frozen=True, slots=True)
class Said:
    """A turn, under the name of its session, and the fact it says."""

    name: str
    fact: str
    text: str
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Learned:
    """The records of each fact. `mixed` belong to several facts, `stray` to none."""

    standing: Mapping[str, list[Knowledge]]
    records: int
    closed: list[Knowledge]
    mixed: list[Knowledge]
    stray: list[Knowledge]
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="print the facts that have not one record each")
    chosen = parser.parse_args()
    groups, unrelated = _lines("facts.jsonl"), _lines("unrelated.jsonl")
    again, apart = _both_learned(groups, unrelated)
    if chosen.wrong:
        _print_wrong({_fact(group): " / ".join(group["turns"][:3]) for group in groups}, again)
        _print_wrong({case["id"]: case["text"] for case in unrelated}, apart)
    body = "\n\n".join((ABOUT, _said_again(groups, again), _unrelated([case["id"] for case in unrelated], apart)))
    if chosen.wrong:
        print(body)
    else:
        write_section("duplicates", "Duplicates", body)


def figures() -> dict[str, float]:
    """Records a repeated fact that has any, and records closed or too many after unrelated turns."""
    groups, unrelated = _lines("facts.jsonl"), _lines("unrelated.jsonl")
    again, apart = _both_learned(groups, unrelated)
    return {
        "duplicates.repeated": _over_known(again),
        "duplicates.unrelated": len(apart.closed) + max(0, apart.records - len(unrelated)),
    }


def _both_learned(groups: list[dict[str, Any]], unrelated: list[dict[str, Any]]) -> tuple[Learned, Learned]:
    again = learned_from(list(_interleaved(groups)))
    apart = learned_from([Said(case["id"], case["id"], case["text"], case["speaker"]) for case in unrelated])
    return again, apart


def learned_from(turns: list[Said]) -> Learned:
    """What a fresh memory knows after these turns."""
    with _memory() as memory:
        for number, said in enumerate(turns):
            at = FIRST + number * APART
            memory.turn(session=said.name, id=said.name, role="user", text=said.text, speaker=said.speaker, at=at)
        begun = time.perf_counter()
        learn_all(memory)
        seconds = time.perf_counter() - begun
        with memory.store.reading(memory.scope, datetime.now(UTC)) as tx:
            records = list(tx.knowledge.stream(KnowledgeFilter(deleted=None)))
    return _sorted_out(records, {said.name: said.fact for said in turns}, seconds)


def _sorted_out(records: Iterable[Knowledge], fact_of: Mapping[str, str], seconds: float) -> Learned:
    standing, number = defaultdict[str, list[Knowledge]](list), 0
    closed, mixed, stray = list[Knowledge](), list[Knowledge](), list[Knowledge]()
    for record in records:
        if not _stands(record):
            closed.append(record)
            continue
        number += 1
        names = (record.session or "", *record.provenance_sessions, *record.source_ids)
        facts = {fact_of[name] for name in names if name in fact_of}
        for fact in facts:
            standing[fact].append(record)
        if len(facts) != 1:
            (mixed if facts else stray).append(record)
    return Learned(standing, number, closed, mixed, stray, seconds)


def _stands(record: Knowledge) -> bool:
    return record.deleted_at is None and record.deprecated_at is None and record.valid_until is None


@contextmanager
def _memory() -> Iterator[Memory]:
    with TemporaryDirectory() as folder, treering.open(Path(folder) / "memory.db", project="bench") as memory:
        yield memory


def _interleaved(groups: list[dict[str, Any]]) -> Iterator[Said]:
    for place in range(len(groups[0]["turns"])):
        for group in groups:
            yield Said(f"{_fact(group)}-{place}", _fact(group), group["turns"][place])


def _fact(group: dict[str, Any]) -> str:
    return f"fact-{group['fact']:03}"


def _said_again(groups: list[dict[str, Any]], learned: Learned) -> str:
    rows: list[tuple[object, ...]] = []
    for language in ("all", *dict.fromkeys(group["language"] for group in groups)):
        chosen = [group for group in groups if language in ("all", group["language"])]
        sizes = [len(learned.standing.get(_fact(group), ())) for group in chosen]
        turns = sum(len(group["turns"]) for group in chosen)
        cells = f"{sum(sizes) / len(sizes):.2f}", sizes.count(0), sizes.count(1), max(sizes)
        rows.append((language, len(chosen), turns, *cells))
    headers = ("said again", "facts", "turns", "records a fact", "facts without one", "with one", "most of one fact")
    return (
        f"{table(headers, rows)}\n\n"
        f"Goal: at most {MOST_A_FACT} records per fact. {_others(learned)} Facts without a record lower the mean; "
        f"over the facts that have any, it is {_over_known(learned):.2f}."
    )


def _over_known(learned: Learned) -> float:
    return sum(map(len, learned.standing.values())) / max(1, len(learned.standing))


def _unrelated(names: list[str], learned: Learned) -> str:
    sizes = Counter(len(learned.standing.get(name, ())) for name in names)
    several = sum(times for size, times in sizes.items() if size > 1)
    row = (len(names), learned.records, sizes[0], sizes[1], several, len(learned.closed))
    headers = ("unrelated turns", "standing records", "turns without one", "with one", "with several", "closed records")
    return f"{table(headers, [row])}\n\nGoal: at most one record a turn, none closed. {_others(learned)}"


def _others(learned: Learned) -> str:
    return (
        f"{learned.records} stand, {len(learned.closed)} are closed, {len(learned.mixed)} belong to several facts, "
        f"{len(learned.stray)} to none; learned in {learned.seconds:.1f} s."
    )


def _print_wrong(said: Mapping[str, str], learned: Learned) -> None:
    for fact, text in said.items():
        found = learned.standing.get(fact, [])
        if len(found) != 1:
            print(f"{fact}: {len(found)} records. {text}")
            for record in found:
                print(f"    {record.content}")
    for name in ("closed", "mixed", "stray"):
        for record in getattr(learned, name):
            print(f"{name}: {record.content}")
    print()


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main()
