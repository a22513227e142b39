"""Text and citation of a record of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from treering.core.delimiters import one_line
from treering.core.episodes import Episode
from treering.core.records import Knowledge, RelationKind
from treering.core.turns import Turn
from treering.search.episode_text import episode_text

if TYPE_CHECKING:
    from treering.core.taint import Taint
    from treering.search.answer import StoredRecord


# Modules, and tags, in a citation: more would not identify the source better.
_MAX_LABELS = 4

OUTSIDE = "from outside, not confirmed"


class MayBeTainted(Protocol):
    """A value that may be tainted."""

    @property
    def taint(self) -> Taint | None: ...


def taint_note(value: MayBeTainted) -> str:
    """Suffix of a citation for a tainted record, with the source of the taint; empty for any other."""
    return "" if value.taint is None else f", {OUTSIDE} ({value.taint})"


def conflict_note(record: object) -> str:
    """Note for a record that waits for review because of a conflict; empty for any other."""
    ids = open_conflicts(record)
    more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    return f"conflicts with {one_line(ids[0])}{more}, waits for review" if ids else ""


def open_conflicts(record: object) -> tuple[str, ...]:
    """Ids of the records that this one contradicts, while it waits for review."""
    if not isinstance(record, Knowledge) or not record.needs_review:
        return ()
    ids = (each.record for each in record.conflicts if each.kind is RelationKind.CONFLICTS_WITH)
    return tuple(dict.fromkeys(id for id in ids if id is not None))


def cite(record: StoredRecord) -> tuple[str, str]:
    """Text and citation of a record."""
    if isinstance(record, Turn):
        speaker = record.speaker or record.role.value
        source = f"{speaker}, turn {record.seq + 1} of session {record.session}, {record.at:%Y-%m-%d %H:%M}"
        return record.text, f"{source}{taint_note(record)}"
    if isinstance(record, Knowledge):
        where = f" in {', '.join(record.files[:2])}" if record.files else ""
        named = (("module", record.modules), ("tagged", record.tags))
        labels = "".join(f", {name} {', '.join(values[:_MAX_LABELS])}" for name, values in named if values)
        source = f"{record.type}, {record.source.value}{where}{labels}, {record.created_at:%Y-%m-%d}"
        details = "; ".join(f"{name}: {text}" for name, text in record.details())
        return f"{record.content} ({details})" if details else record.content, f"{source}{taint_note(record)}"
    if isinstance(record, Episode):
        return episode_text(record), episode_source(record)
    return f"{record.name}: {record.summary or record.description}", f"{record.status.value.lower()} pattern"


def episode_source(episode: Episode) -> str:
    """Citation of an episode: outcome, domain and task type, time."""
    known = (episode.metadata.domain, episode.metadata.task_type)
    about = " ".join(filter(None, known))
    where = f" of session {episode.session}" if episode.session else ""
    named = (f"{episode.outcome.status.value} episode{where}", about, f"{episode.at:%Y-%m-%d %H:%M}")
    return f"{', '.join(filter(None, named))}{taint_note(episode)}"
