"""Views: functions that render values for people."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treering.core.episodes import Episode
from treering.core.patterns import Pattern
from treering.core.records import Knowledge, RelationKind
from treering.core.turns import Turn
from treering.core.visible_text import visible
from treering.interfaces.cli.layout import counted

if TYPE_CHECKING:
    from treering.archive.restore import ImportReport
    from treering.core.history import AuditEntry, HistoryEntry
    from treering.core.values import Record
    from treering.knowledge.removal.proof import Remnant
    from treering.maintenance.stats import Stats
    from treering.ports.store import ProjectSize
    from treering.search.answer import Answer, Hit

FAINT, ID, GOOD, BAD, HEAD = "dim", "cyan", "green", "red", "bold"
PREVIEW = 280
"""Characters of a text in a list: three lines of a terminal; `get` shows the rest."""

_EIGHTHS = " ▏▎▍▌▋▊▉"
# Signals without which results are missing; without the others, only their order differs.
_ESSENTIAL_SIGNALS = frozenset(
    {
        "meaning",
        "meaning of some",
        "stored vectors",
        "code",
        "some code",
        "meaning of code",
        "meaning of some code",
        "stored vectors of code",
    }
)
safe = visible
_SINGULAR = {
    "turns": "turn",
    "sessions": "session",
    "episodes": "episode",
    "patterns": "pattern",
    "applications": "application",
    "entities": "entity",
    "observed_sessions": "observed session",
    "graph nodes": "graph node",
    "graph edges": "graph edge",
    "audit entries": "audit entry",
    "sessions to be read": "session to be read",
    "duplicates folded": "duplicate folded",
    "facts retired": "fact retired",
    "files": "file",
    "definitions": "definition",
    "edges": "edge",
}
_REDACTED = re.compile(r"\[redacted:([a-z0-9_]+)\]")


def preview(text: str, limit: int = PREVIEW) -> str:
    """A text on one line, cut to `limit` characters."""
    line = " ".join(safe(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def when(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%MZ}"


def done(what: str, subject: str, advice: str) -> RenderableType:
    lines = [_tick(what, safe(subject))]
    return Group(*lines, Text(f"  {safe(advice)}", FAINT)) if advice else lines[0]


def forgotten(id: str, advice: str, remains: "Iterable[Remnant]") -> RenderableType:
    """The forgotten record, and places that still hold some of its words."""
    places = dict.fromkeys(f"{each.place} {each.record}: {each.meaning}" for each in remains)
    return Group(done("forgotten", id, advice), *(Text(f"  {safe(line)}", "yellow") for line in places))


def changed(what: str, record: "Record") -> RenderableType:
    """A record after a change."""
    return Group(_tick(what), Padding(_item(text_of(record), described(record), record.id), (0, 0, 0, 2)))


def stored(what: str, record: "Record", given: str) -> RenderableType:
    """A record that was just stored, and the secrets that were redacted from the given text."""
    kinds = _new_redactions(given, text_of(record))
    redacted = [Text(f"  not stored: {', '.join(kinds)} (secrets are redacted)", "yellow")] if kinds else []
    return Group(changed(what, record), *redacted)


def remembered(what: str, record: Knowledge, given: str) -> RenderableType:
    """A record that was just remembered, and those that it contradicts."""
    return Group(stored(what, record, given), *(Text(f"  {line}", "yellow") for line in _conflicts(record)))


def _conflicts(record: Knowledge) -> list[str]:
    ids = {kind: [safe(each.record or "") for each in record.conflicts if each.kind is kind] for kind in RelationKind}
    superseded, open_ones = ids[RelationKind.SUPERSEDES], ids[RelationKind.CONFLICTS_WITH]
    return [
        *(f"superseded {id}; `treering undo {id}` reverts that" for id in superseded),
        *(f"conflicts with {id}; `treering correct` or `treering forget` the wrong one" for id in open_ones),
    ]


NOTHING_FOUND = "nothing found for this query"


def answer(found: "Answer") -> RenderableType:
    """The results with their sources and ids, then the signals that were missing."""
    if not found.hits and not found.query:
        return Text("nothing found", FAINT)
    # With results, only mention signals whose absence costs results, not every model that is not configured.
    essential = {part: why for part, why in found.missing.items() if part in _ESSENTIAL_SIGNALS}
    lacking = essential if found.hits else found.missing
    shown = [*uncertain(found), hits(found.hits)] if found.hits else [Text(NOTHING_FOUND)]
    return Group(*shown, *without(lacking), *unreadable(found))


def uncertain(found: "Answer") -> list[RenderableType]:
    """A warning before results that are only the nearest records."""
    from treering import Confidence

    low = found.confidence is Confidence.LOW
    return [Text("no record answers this; the nearest are (confidence: low):", "yellow")] if low else []


def without(missing: Mapping[str, str]) -> list[RenderableType]:
    return [Text(f"searched without {safe(part)}: {safe(why)}", FAINT) for part, why in missing.items()]


def unreadable(found: "Answer") -> list[RenderableType]:
    if not found.unreadable:
        return []
    lost = [Text(f"found, but cannot be read: {safe(name)}", "yellow") for name in found.unreadable]
    return [*lost, Text("run `treering doctor` for details", FAINT)]


def hits(found: Iterable["Hit"]) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    for place, hit in enumerate(found, start=1):
        grid.add_row(str(place), _item(hit.text, hit.source, hit.id))
    return grid


def whole(record: "Record") -> RenderableType:
    """A record in full: its text, then every field that is set."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in _set_fields(record).items():
        grid.add_row(name.replace("_", " "), Text(_plain(value), ID if name == "id" else ""))
    return Group(Text(safe(text_of(record))), Text(), grid)


def history(entries: Sequence["HistoryEntry"]) -> RenderableType:
    """The changes of a record, newest first, with the earlier texts."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=FAINT, no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    shown = None
    for entry in entries:
        undone = " (undone)" if entry.undone else ""
        description = _change(entry, already_shown=shown)
        grid.add_row(when(entry.at), Text(f"{entry.action.value}{undone}", HEAD), description)
        shown = entry.content_before or shown
    return grid


def audit(entries: Sequence["AuditEntry"]) -> RenderableType:
    """Entries of the audit log: time, action, actor, subject and details."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(4):
        grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for entry in entries:
        detail = ", ".join(f"{name}: {_plain(value)}" for name, value in entry.detail.items())
        named = Text(safe(entry.subject), ID)
        grid.add_row(
            Text(when(entry.at), FAINT), Text(entry.action.value, HEAD), safe(entry.actor), named, safe(detail)
        )
    return grid if entries else Text("nothing in the audit log", FAINT)


def projects(found: Sequence["ProjectSize"]) -> RenderableType:
    """One line for each project."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for each in found:
        held = ", ".join(
            counted(count, noun)
            for noun, count in (("record", each.knowledge), ("turn", each.turns), ("episode", each.episodes))
        )
        grid.add_row(Text(safe(each.project), HEAD), held, Text(size(each.characters + each.blob_bytes), FAINT))
    return grid if found else Text("no projects", FAINT)


def stats(found: "Stats") -> RenderableType:
    """Counts of a project, without those that are zero."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    for name in ("project", "engine", "location"):
        grid.add_row(name, Text(safe(getattr(found, name))))
    for name, counts in (("holds", found.records), ("knowledge", found.knowledge), ("state", found.states)):
        grid.add_row(name, counts_line(counts) or "nothing yet")
    if found.latest:
        grid.add_row("latest", ", ".join(f"{kind} {at:%Y-%m-%d %H:%M}" for kind, at in found.latest.items()))
    if waiting := counts_line(found.jobs):
        grid.add_row("jobs", waiting)
    if found.code:
        grid.add_row("code", _code(found.code))
    if found.episode_cache.get("hits") or found.episode_cache.get("misses"):
        grid.add_row("episode cache", f"{found.episode_cache['hit_rate']:.0%} of look-ups in this process were hits")
    return grid


def _code(found: Mapping[str, Any]) -> RenderableType:
    totals = found["totals"]
    counts = {name: totals[name] for name in ("files", "definitions", "edges")}
    left = "" if found["current"] else "; not up to date: run `treering index --status` for details"
    return Text.assemble(f"{safe(found['root'])}: {counts_line(counts) or 'nothing yet'}", (left, "yellow"))


def imported(found: "ImportReport") -> RenderableType:
    summary = done("imported", f"{found.added:,} new, {found.known:,} known already", "")
    left = [f"not changed, although the file differs: {safe(name)}" for name in found.conflicts]
    left += [f"skipped, no longer stored: {count:,} × {safe(kind)}" for kind, count in found.skipped.items()]
    return Group(summary, *(Text(f"  {line}", "yellow") for line in left)) if left else summary


def text_of(record: "Record") -> str:
    return _TEXTS[type(record)](record)


def described(record: "Record") -> str:
    """Kind, source and state of a record in a few words."""
    return _DESCRIPTIONS[type(record)](record)


def size(count: int) -> str:
    """A number of bytes in a readable unit."""
    amount, units = float(count), iter(("B", "KiB", "MiB", "GiB"))
    unit = next(units)
    while amount >= 1024 and unit != "GiB":
        amount, unit = amount / 1024, next(units)
    return f"{amount:,.0f} {unit}" if unit == "B" else f"{amount:,.1f} {unit}"


def bar(part: float, whole: float, cells: int) -> str:
    """A bar with a resolution of an eighth of a character; anything above zero is visible."""
    eighths = min(cells * 8, max(1, round(part / whole * cells * 8))) if part > 0 and whole > 0 else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def _knowledge(record: Any) -> str:
    marks = {"pinned": record.pinned, "confirmed": record.user_verified, "flagged": record.flagged}
    states = [name for name, holds in (*marks.items(), ("superseded", record.deprecated_at is not None)) if holds]
    return ", ".join((record.type, record.source.value, f"confidence {record.confidence:.2f}", *states))


def _turn(record: Any) -> str:
    return (
        f"{record.speaker or record.role.value}, turn {record.seq + 1} of session {record.session}, {when(record.at)}"
    )


def _episode(record: Any) -> str:
    return f"episode, {record.outcome.status.value}, {when(record.at)}"


def _pattern(record: Any) -> str:
    return f"{record.category.value} pattern, {record.status.value}, version {record.version}"


_TEXTS: Mapping[type, Callable[[Any], str]] = {
    Knowledge: lambda record: record.content,
    Turn: lambda record: record.text,
    Episode: lambda record: record.task.input,
    Pattern: lambda record: record.name,
}
_DESCRIPTIONS: Mapping[type, Callable[[Any], str]] = {
    Knowledge: _knowledge,
    Turn: _turn,
    Episode: _episode,
    Pattern: _pattern,
}
_SHOWN_AS_TEXT = frozenset({"content", "text", "task"})


def _item(text: str, source: str, id: str) -> RenderableType:
    return Group(Text(preview(text)), Text.assemble((safe(source), FAINT), "  ", (safe(id), ID)))


def _tick(what: str, subject: str = "") -> Text:
    return Text.assemble(("✓ ", GOOD), (safe(what), HEAD), f" {subject}" if subject else "")


def _new_redactions(given: str, stored: str) -> list[str]:
    known = set(_REDACTED.findall(given))
    return [kind for kind in dict.fromkeys(_REDACTED.findall(stored)) if kind not in known]


def _set_fields(record: "Record") -> dict[str, Any]:
    return {
        name: value
        for name, value in record
        if name not in _SHOWN_AS_TEXT and value not in (None, (), "", False) and value != {}
    }


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return when(value)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return ", ".join(_plain(item) for item in value)
    return safe(value.to_json() if hasattr(value, "to_json") else str(value))


def _change(entry: "HistoryEntry", *, already_shown: str | None) -> RenderableType:
    detail = ", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in entry.detail.items())
    lines = [Text(f"by {safe(entry.actor)}{f', {detail}' if detail else ''}", FAINT)]
    if entry.content_before not in (None, already_shown):
        lines.append(Text.assemble(("before: ", FAINT), preview(entry.content_before or "")))
    return Group(*lines)


def counts_line(counts: Mapping[str, int], sign: str = "") -> str:
    """`1 turn, 2 sessions`: the counts that are not zero."""
    return ", ".join(
        f"{sign}{count:,} {_SINGULAR.get(name, name) if count == 1 else name}"
        for name, count in counts.items()
        if count
    )
