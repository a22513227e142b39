"""Query kinds and time words on queries labelled by hand; the held third was labelled before the rules were written."""

import json
import time
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.results import percentile, table, write_section
from treering.core.time_words import read_times
from treering.search.query_kinds import QueryKind, classify_query

HERE = Path(__file__).parent
PARTS = ("tune", "held")
CALLS = 2_000
NOW = datetime(2026, 5, 13, 10, 30, tzinfo=UTC)
NO_TIME_WORD = (
    "How should the retry policy of the HTTP client treat a connection that was closed by the server while the body is "
    "still being sent, and which errors are worth another attempt with a longer timeout?"
)
NO_TIME_BUT_A_CUE = (
    "We met to talk about the parser plan, and everyone agreed that the parser should be rewritten; nobody wanted to "
    "touch the storage layer until benchmarks are in place and we can compare both versions."
)
WITH_TIME_WORDS = "what did we decide last week about the cache, and what has changed since the migration?"


def main() -> None:
    first = _seconds(WITH_TIME_WORDS)
    parts = (_author(), _kinds(), _times(), _speed(first))
    write_section("query-kinds", "Query kinds", "\n\n".join(parts))


def figures() -> dict[str, float]:
    """Shares of the held queries whose kind is right, and whose time words are read exactly."""
    kinds = [case["kind"] == str(classify_query(case["query"]).kind) for case in load("query_kinds", "held")]
    times = [_is_read(case) for case in load("time_words", "held")]
    return {
        "query-kinds.held": sum(kinds) / len(kinds),
        "query-kinds.times": sum(times) / len(times),
    }


def load(folder: str, part: str) -> list[dict[str, Any]]:
    """The labelled queries of one part."""
    lines = (HERE / folder / f"{part}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def read(case: dict[str, Any]) -> dict[str, Any]:
    """What is read in the case's query, in the form of its label."""
    found = read_times(case["query"], datetime.fromisoformat(case["now"]))
    if found is None:
        return {"spans": [], "kind": None, "anchors": [], "order": None}
    return {
        "spans": [[_written(span.since), _written(span.before)] for span in found.spans],
        "kind": str(found.kind) if found.spans else None,
        "anchors": [[str(anchor.relation), anchor.phrase] for anchor in found.anchors],
        "order": str(found.order) if found.order else None,
    }


def _author() -> str:
    return (
        "Labelled by the author of the rules (`bench/query_kinds/`, `bench/time_words/`), in English, French, Italian, "
        "German, Spanish and, for times, Chinese. The held third was labelled before the rules were written and its "
        "errors were read only after these figures were measured, but the same author wrote both parts: on "
        "queries by others the figures will be lower. *Read exactly* means the same spans, kind, events and "
        "order."
    )


def _kinds() -> str:
    rows: list[tuple[object, ...]] = []
    for part in PARTS:
        pairs = Counter((case["kind"], str(classify_query(case["query"]).kind)) for case in load("query_kinds", part))
        for kind in map(str, QueryKind):
            right = pairs[kind, kind]
            said = sum(count for (_, guess), count in pairs.items() if guess == kind)
            meant = sum(count for (label, _), count in pairs.items() if label == kind)
            taken_for = ", ".join(
                f"{pairs[kind, other]} {other}" for other in map(str, QueryKind) if pairs[kind, other]
            )
            rows.append((part, kind, meant, f"{right / said:.1%}", f"{right / meant:.1%}", taken_for))
    return table(("part", "kind", "queries", "precision", "recall", "taken for"), rows)


def _times() -> str:
    rows = [(part, *_score(load("time_words", part))) for part in PARTS]
    return table(("part", "queries", "read exactly", "with time words: read exactly", "without: left alone"), rows)


def _score(cases: list[dict[str, Any]]) -> tuple[object, ...]:
    right = [(_says_something(case), _is_read(case)) for case in cases]
    timed = [exact for timed, exact in right if timed]
    plain = [exact for timed, exact in right if not timed]
    return len(cases), _share(exact for _, exact in right), _share(timed), _share(plain)


def _is_read(case: dict[str, Any]) -> bool:
    return all(case[key] == value for key, value in read(case).items())


def _says_something(case: dict[str, Any]) -> bool:
    return bool(case["spans"] or case["anchors"] or case["order"])


def _share(outcomes: Iterable[bool]) -> str:
    counted = list(outcomes)
    return f"{sum(counted)}/{len(counted)} ({sum(counted) / len(counted):.1%})"


def _speed(first: float) -> str:
    rows: list[tuple[object, ...]] = []
    for name, query in (
        ("no time word", NO_TIME_WORD),
        ("no time word, but `until`", NO_TIME_BUT_A_CUE),
        ("two times", WITH_TIME_WORDS),
    ):
        seconds = [_seconds(query) for _ in range(CALLS)]
        rows.append((name, len(query), *(f"{percentile(seconds, share):.3f} ms" for share in (0.5, 0.95))))
    return (
        f"{table(('time words of', 'characters', 'p50', 'p95'), rows)}\n\n"
        "Goal: < 0.3 ms without a time expression. The first call of a process reads the data files and compiles one "
        f"language: {first * 1000:.0f} ms."
    )


def _seconds(query: str) -> float:
    begun = time.perf_counter()
    read_times(query, NOW)
    return time.perf_counter() - begun


def _written(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


if __name__ == "__main__":
    main()
