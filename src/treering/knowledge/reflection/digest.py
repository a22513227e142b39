"""A week in a few lines, each with its evidence, from nothing but what is stored."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from treering.core.failures import failure_messages, failure_signature
from treering.core.payloads import ErrorPattern, Fact

if TYPE_CHECKING:
    from treering.core.episodes import Episode
    from treering.core.records import Knowledge

MAX_LINES = 12  # lines of each part of the digest; the rest is counted
LINE_CHARACTERS = 200  # what one line quotes of a record

_CITED = re.compile(r"\(#(\d+(?:, #\d+)*)\)")
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Correction:
    """A record that a person put right, why, and what holds instead."""

    old: Knowledge
    reason: str
    new: Knowledge | None


@dataclass(frozen=True, slots=True)
class Week:
    """What a reflection looks back on. Of `fact_count` new facts it reads some."""

    since: datetime
    until: datetime
    facts: Sequence[Knowledge]
    fact_count: int
    others: Sequence[Knowledge]
    changes: Sequence[tuple[Knowledge, Knowledge]]
    corrections: Sequence[Correction]
    errors: Sequence[Knowledge]
    episodes: Sequence[Episode]


@dataclass(frozen=True, slots=True)
class Digest:
    """The text, and the ids that its numbers stand for, in their order."""

    text: str
    sources: tuple[str, ...]
    records: tuple[Knowledge | Episode, ...]
    """Those that the text quotes."""


@dataclass
class _Citations:
    """Numbers for sources, each the first time it is named."""

    ids: dict[str, int] = field(default_factory=dict)

    def cite(self, *ids: str) -> str:
        numbers = dict.fromkeys(self.ids.setdefault(id, len(self.ids) + 1) for id in ids)
        return f"({', '.join(f'#{number}' for number in numbers)})"


def digest(week: Week) -> Digest:
    """The same text for the same week."""
    cited = _Citations()
    parts = {
        "Learned": _learned(week, cited),
        "Changed": _changed(week.changes, cited),
        "Keeps failing": _failing(week, cited),
        "Corrected": _corrected(week.corrections, cited),
    }
    told = [
        f"{heading}\n{chr(10).join(_few(lines, MAX_LINES))}" for heading, each in parts.items() if (lines := list(each))
    ]
    used = {id for number, id in enumerate(cited.ids, 1) if any(number in cited_in(part) for part in told)}
    records: Iterable[Knowledge | Episode] = (
        *week.facts, *week.others, *(each for pair in week.changes for each in pair), *week.errors, *week.episodes,
        *(each for pair in week.corrections for each in (pair.old, pair.new) if each is not None),
    )  # fmt: skip
    quoted = {record.id: record for record in records if record.id in used}
    return Digest("\n\n".join((opening(week), *told)), tuple(cited.ids), tuple(quoted.values()))


def opening(week: Week) -> str:
    return f"From {week.since:%Y-%m-%d} to {week.until:%Y-%m-%d}: {week.fact_count:,} new facts."


def cited_in(text: str) -> frozenset[int]:
    """The numbers that a text cites."""
    return frozenset(int(number) for found in _CITED.findall(text) for number in found.replace("#", "").split(", "))


def without_source(text: str, number: int) -> str:
    """The text without the lines that cite a source, and without headings that nothing stands under any more."""
    kept = [line for line in text.splitlines() if number not in cited_in(line)]
    paragraphs = "\n".join(kept).split("\n\n")
    return "\n\n".join(each for at, each in enumerate(paragraphs) if at == 0 or len(each.strip().splitlines()) > 1)


def _learned(week: Week, cited: _Citations) -> Iterator[str]:
    """Facts by whom they are about, those of the most spoken of first; then the rest by type."""
    groups: dict[str, list[Knowledge]] = defaultdict(list)
    for record in week.facts:
        groups[_about(record)].append(record)
    for name, mine in sorted(groups.items(), key=lambda each: (-len(each[1]), each[0])):
        yield from (f"- {name}: {_quoted(each)} {cited.cite(each.id)}" for each in mine)
    for record in sorted(week.others, key=lambda each: (each.type, each.created_at, each.id)):
        yield f"- {record.type}: {_quoted(record)} {cited.cite(record.id)}"


def _about(record: Knowledge) -> str:
    subject = record.payload.subject if isinstance(record.payload, Fact) else None
    return _line(subject or next(iter(record.tags), record.type), 60)


def _changed(pairs: Sequence[tuple[Knowledge, Knowledge]], cited: _Citations) -> Iterator[str]:
    for old, new in pairs:
        yield f"- {_quoted(old)} → {_quoted(new)} {cited.cite(old.id, new.id)}"


def _corrected(corrections: Sequence[Correction], cited: _Citations) -> Iterator[str]:
    for each in corrections:
        instead = f"; instead: {_quoted(each.new)}" if each.new else ""
        ids = (each.old.id, each.new.id) if each.new else (each.old.id,)
        yield f"- {each.reason}: {_quoted(each.old)}{instead} {cited.cite(*ids)}"


def _failing(week: Week, cited: _Citations) -> Iterator[str]:
    """Failures of more than one episode, and errors that were met more than once, the most frequent first."""
    told: list[tuple[int, str, tuple[str, ...]]] = []
    for message, ids in _repeated(week.episodes).items():
        told.append((len(ids), _line(message, LINE_CHARACTERS), ids))
    for record in week.errors:
        times = record.payload.occurrences if isinstance(record.payload, ErrorPattern) else 1
        told.append((times, _quoted(record), (record.id,)))
    for times, message, ids in sorted(told, key=lambda each: (-each[0], each[1])):
        yield f"- {message} ({times} times) {cited.cite(*ids[:3])}"


def _repeated(episodes: Sequence[Episode]) -> Mapping[str, tuple[str, ...]]:
    """The first wording of each failure that several episodes share, with those episodes."""
    seen: dict[str, dict[str, str]] = defaultdict(dict)
    for episode in episodes:
        for message in failure_messages(episode):
            if signature := failure_signature(message):
                seen[signature].setdefault(episode.id, message)
    return {next(iter(each.values())): tuple(each) for each in seen.values() if len(each) > 1}


def _few(lines: list[str], most: int) -> list[str]:
    more = len(lines) - most
    return lines if more <= 0 else [*lines[:most], f"- and {more} more"]


def _quoted(record: Knowledge) -> str:
    return _line(record.content, LINE_CHARACTERS)


def _line(text: str, most: int) -> str:
    line = " ".join(text.split()).replace("(#", "( #")
    return line if len(line) <= most else f"{line[: most - 1]}{_ELLIPSIS}"
