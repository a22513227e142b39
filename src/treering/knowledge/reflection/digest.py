"""Digest of a week in a few cited lines, made by rules from stored records only."""

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
    """A corrected record, the reason and its replacement."""

    old: Knowledge
    reason: str
    new: Knowledge | None


@dataclass(frozen=True, slots=True)
class ReflectionWeek:
    """Input of a reflection; `facts` are some of the `fact_count` new facts."""

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
    """The text, and the ids of its numbered sources in order."""

    text: str
    sources: tuple[str, ...]
    records: tuple[Knowledge | Episode, ...]
    """The records that the text quotes."""


@dataclass
class _Citations:
    """Assigns numbers to sources on their first citation."""

    ids: dict[str, int] = field(default_factory=dict)

    def cite(self, *ids: str) -> str:
        numbers = dict.fromkeys(self.ids.setdefault(id, len(self.ids) + 1) for id in ids)
        return f"({', '.join(f'#{number}' for number in numbers)})"


def digest(week: ReflectionWeek) -> Digest:
    """The digest of a week; deterministic."""
    cited = _Citations()
    parts = {
        "Learned": _learned(week, cited),
        "Changed": _changed(week.changes, cited),
        "Keeps failing": _failing(week, cited),
        "Corrected": _corrected(week.corrections, cited),
    }
    sections = [
        f"{heading}\n{chr(10).join(_limited(lines, MAX_LINES))}"
        for heading, each in parts.items()
        if (lines := list(each))
    ]
    used = {id for number, id in enumerate(cited.ids, 1) if any(number in cited_in(part) for part in sections)}
    records: Iterable[Knowledge | Episode] = (
        *week.facts, *week.others, *(each for pair in week.changes for each in pair), *week.errors, *week.episodes,
        *(each for pair in week.corrections for each in (pair.old, pair.new) if each is not None),
    )  # fmt: skip
    quoted = {record.id: record for record in records if record.id in used}
    return Digest("\n\n".join((opening(week), *sections)), tuple(cited.ids), tuple(quoted.values()))


def opening(week: ReflectionWeek) -> str:
    return f"From {week.since:%Y-%m-%d} to {week.until:%Y-%m-%d}: {week.fact_count:,} new facts."


def cited_in(text: str) -> frozenset[int]:
    """Source numbers that a text cites."""
    return frozenset(int(number) for found in _CITED.findall(text) for number in found.replace("#", "").split(", "))


def without_source(text: str, number: int) -> str:
    """The text without lines that cite the source, and without headings that become empty."""
    lines = [line for line in text.splitlines() if number not in cited_in(line)]
    paragraphs = "\n".join(lines).split("\n\n")
    return "\n\n".join(each for at, each in enumerate(paragraphs) if at == 0 or len(each.strip().splitlines()) > 1)


def _learned(week: ReflectionWeek, cited: _Citations) -> Iterator[str]:
    """Facts by subject, the most frequent subject first; then other records by type."""
    groups: dict[str, list[Knowledge]] = defaultdict(list)
    for record in week.facts:
        groups[_about(record)].append(record)
    for name, records in sorted(groups.items(), key=lambda each: (-len(each[1]), each[0])):
        yield from (f"- {name}: {_quoted(each)} {cited.cite(each.id)}" for each in records)
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


def _failing(week: ReflectionWeek, cited: _Citations) -> Iterator[str]:
    """Failures of several episodes and repeated errors, the most frequent first."""
    sections: list[tuple[int, str, tuple[str, ...]]] = []
    for message, ids in _repeated(week.episodes).items():
        sections.append((len(ids), _line(message, LINE_CHARACTERS), ids))
    for record in week.errors:
        times = record.payload.occurrences if isinstance(record.payload, ErrorPattern) else 1
        sections.append((times, _quoted(record), (record.id,)))
    for times, message, ids in sorted(sections, key=lambda each: (-each[0], each[1])):
        yield f"- {message} ({times} times) {cited.cite(*ids[:3])}"


def _repeated(episodes: Sequence[Episode]) -> Mapping[str, tuple[str, ...]]:
    """Ids of the episodes by the first message of each failure that several episodes share."""
    messages: dict[str, dict[str, str]] = defaultdict(dict)
    for episode in episodes:
        for message in failure_messages(episode):
            if signature := failure_signature(message):
                messages[signature].setdefault(episode.id, message)
    return {next(iter(each.values())): tuple(each) for each in messages.values() if len(each) > 1}


def _limited(lines: list[str], limit: int) -> list[str]:
    more = len(lines) - limit
    return lines if more <= 0 else [*lines[:limit], f"- and {more} more"]


def _quoted(record: Knowledge) -> str:
    return _line(record.content, LINE_CHARACTERS)


def _line(text: str, limit: int) -> str:
    line = " ".join(text.split()).replace("(#", "( #")
    return line if len(line) <= limit else f"{line[: limit - 1]}{_ELLIPSIS}"
