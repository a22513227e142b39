"""Citations: the text of a record with a line that names its source, and marks by which an agent names records."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from treering.core.delimiters import one_line
from treering.core.episode_text import episode_summary
from treering.core.episodes import Episode
from treering.core.records import Knowledge
from treering.core.text_marks import MAX_CITED, short_id
from treering.core.turns import Turn

if TYPE_CHECKING:
    from treering.core.patterns import Pattern
    from treering.core.taint import Taint


_MAX_LABELS = 4
"""Modules, and tags, that a citation names."""

_CITABLE = r"[^\s\[\]:]"
_MARK = re.compile(rf"\[\^? ?Memory #({_CITABLE}{{1,{MAX_CITED}}})[:\]]", re.IGNORECASE)

OUTSIDE = "from outside, not confirmed"


class MaybeTainted(Protocol):
    """Anything with a taint, or none."""

    @property
    def taint(self) -> Taint | None: ...


def taint_mark(cited: MaybeTainted) -> str:
    """The end of a citation if the record is tainted: that it is unconfirmed, and where it came from."""
    return "" if cited.taint is None else f", {OUTSIDE} ({cited.taint})"


def conflict_mark(record: object) -> str:
    """Names the records that this one contradicts while it waits for review; empty for any other."""
    ids = record.open_conflicts if isinstance(record, Knowledge) else ()
    more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    return f"conflicts with {one_line(ids[0])}{more}, waits for review" if ids else ""


def cite(record: Knowledge | Turn | Episode | Pattern) -> tuple[str, str]:
    """The text of a record, and the line that names its source."""
    if isinstance(record, Turn):
        who = record.speaker or record.role.value
        said = f"{who}, turn {record.seq + 1} of session {record.session}, {record.at:%Y-%m-%d %H:%M}"
        return record.text, f"{said}{taint_mark(record)}"
    if isinstance(record, Knowledge):
        where = f" in {', '.join(record.files[:2])}" if record.files else ""
        named = (("module", record.modules), ("tagged", record.tags))
        labels = "".join(f", {name} {', '.join(values[:_MAX_LABELS])}" for name, values in named if values)
        source = (
            f"{record.type}, {record.source.value}{where}{labels}, {record.created_at:%Y-%m-%d}{taint_mark(record)}"
        )
        details = "; ".join(f"{name}: {text}" for name, text in record.details())
        return f"{record.content} ({details})" if details else record.content, source
    if isinstance(record, Episode):
        return episode_summary(record), episode_source(record)
    return f"{record.name}: {record.summary or record.description}", f"{record.status.value.lower()} pattern"


def short_source(record: Knowledge) -> str:
    """Type, source and day of a record, for text that an agent is given unasked: each token is paid in every session.

    Names the first file only if the text names none of the files.
    """
    is_named = any(file in record.content for file in record.files)
    where = f" in {record.files[0]}" if record.files and not is_named else ""
    return f"{record.type}, {record.source.value}{where}, {record.created_at:%Y-%m-%d}{taint_mark(record)}"


def episode_source(episode: Episode) -> str:
    """Outcome, domain, task type and time of an episode."""
    known = (episode.metadata.domain, episode.metadata.task_type)
    about = " ".join(filter(None, known))
    where = f" of session {episode.session}" if episode.session else ""
    named = (f"{episode.outcome.status.value} episode{where}", about, f"{episode.at:%Y-%m-%d %H:%M}")
    return f"{', '.join(filter(None, named))}{taint_mark(episode)}"


def citation(id: str, text: str) -> str:
    """The mark by which an agent cites a record: `[Memory #id: text]`."""
    return f"[Memory #{short_id(id)}: {one_line(text)}]"


def citations_in(text: str) -> tuple[str, ...]:
    """The ids, short or complete, of all marks `[Memory #id: text]` in a text, each once, in order.

    Takes linear time. Blocks that a model was given contain such marks as well: see `without_delimited`.
    """
    return tuple(dict.fromkeys(found[1] for found in _MARK.finditer(text)))


def is_citation_of(cited: str, id: str) -> bool:
    """Whether an id from `citations_in` names the record with this id."""
    return cited == id or cited.casefold() == short_id(id).casefold()
