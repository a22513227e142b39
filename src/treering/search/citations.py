"""A record of any kind as a result: its text, and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from treering.core.delimiters import one_line
from treering.core.episodes import Episode
from treering.core.records import Knowledge, RelationKind
from treering.core.turns import Turn
from treering.search.episode_text import told

if TYPE_CHECKING:
    from treering.core.taint import Taint
    from treering.search.answer import Remembered


# Modules, and tags, that a citation names: more say little of where it comes from.
_LABELS = 4

OUTSIDE = "from outside, not confirmed"


class Doubtful(Protocol):
    """Something that may have come from outside."""

    @property
    def taint(self) -> Taint | None: ...


def doubt_of(told: Doubtful) -> str:
    """What a citation adds where nobody has vouched for it: that, and the source of its taint."""
    return "" if told.taint is None else f", {OUTSIDE} ({told.taint})"


def conflict_of(record: object) -> str:
    """The mark of a record that waits for review because of a conflict; empty for any other."""
    ids = open_conflicts(record)
    more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    return f"conflicts with {one_line(ids[0])}{more}, waits for review" if ids else ""


def open_conflicts(record: object) -> tuple[str, ...]:
    """Ids of the records that this one contradicts, while it waits for review."""
    if not isinstance(record, Knowledge) or not record.needs_review:
        return ()
    found = (each.record for each in record.conflicts if each.kind is RelationKind.CONFLICTS_WITH)
    return tuple(dict.fromkeys(id for id in found if id is not None))


def cite(record: Remembered) -> tuple[str, str]:
    """A record's text and where it comes from."""
    if isinstance(record, Turn):
        who = record.speaker or record.role.value
        said = f"{who}, turn {record.seq + 1} of session {record.session}, {record.at:%Y-%m-%d %H:%M}"
        return record.text, f"{said}{doubt_of(record)}"
    if isinstance(record, Knowledge):
        where = f" in {', '.join(record.files[:2])}" if record.files else ""
        named = (("module", record.modules), ("tagged", record.tags))
        labels = "".join(f", {name} {', '.join(values[:_LABELS])}" for name, values in named if values)
        source = f"{record.type}, {record.source.value}{where}{labels}, {record.created_at:%Y-%m-%d}{doubt_of(record)}"
        details = "; ".join(f"{name}: {text}" for name, text in record.details())
        return f"{record.content} ({details})" if details else record.content, source
    if isinstance(record, Episode):
        return told(record), source_of(record)
    return f"{record.name}: {record.summary or record.description}", f"{record.status.value.lower()} pattern"


def source_of(episode: Episode) -> str:
    """A citation: how it ended, what it was about, when."""
    known = (episode.metadata.domain, episode.metadata.task_type)
    about = " ".join(filter(None, known))
    where = f" of session {episode.session}" if episode.session else ""
    named = (f"{episode.outcome.status.value} episode{where}", about, f"{episode.at:%Y-%m-%d %H:%M}")
    return f"{', '.join(filter(None, named))}{doubt_of(episode)}"
