"""Text to embed for a record, or the vector that the record supplies."""

from hashlib import blake2b

from treering.core.episodes import Episode, Vector
from treering.core.language.text_features import without_speaker
from treering.core.patterns import Pattern
from treering.core.records import Knowledge
from treering.core.turns import Turn
from treering.core.values import Record

EPISODE_PARTS = ("task", "outcome")
"""Parts of an episode that have their own vectors in addition to that of the whole."""

# Characters of a neighbouring turn that give context: a sentence or two.
_CONTEXT_CHARACTERS = 200


def space_of(model: str, part: str) -> str:
    """Name of a vector space; vectors of a part are never compared with those of whole records (no part)."""
    return f"{model}#{part}" if part else model


def spaces_of(*models: str) -> tuple[str, ...]:
    """All vector spaces of the models: whole records, then the parts of episodes."""
    return tuple(space_of(model, part) for model in models if model for part in ("", *EPISODE_PARTS))


def part_of(space: str) -> str:
    """Part of episodes that a space is for; empty for whole records."""
    part = space.rpartition("#")[2]
    return part if space != part and part in EPISODE_PARTS else ""


def model_of(space: str) -> str:
    """Model of a space."""
    part = part_of(space)
    return space.removesuffix(f"#{part}") if part else space


def embedded_part(record: Record | None, part: str) -> str:
    """Text of the task or the outcome of an episode; empty for other records."""
    if not isinstance(record, Episode):
        return ""
    if part == "task":
        return "\n".join((record.task.input, *record.task.goals))
    return "\n".join(filter(None, (record.outcome.output, *map(str, record.reflection.failures))))


def embedded_text(record: Record | None, *, contextual: bool, before: str = "", after: str = "") -> str:
    """The record's text; for a contextual model, with its metadata or the neighbouring turns."""
    if isinstance(record, Knowledge):
        return _knowledge_text(record) if contextual else " ".join((record.content, *record.tags, *record.files))
    if isinstance(record, Turn):
        return _turn_text(record, before, after) if contextual else without_speaker(record.text)
    if isinstance(record, Episode):
        return f"{record.task.input}\n{record.outcome.output}"
    if isinstance(record, Pattern):
        return f"{record.name}\n{record.summary}\n{record.description}"
    return ""


def digest_of(text: str) -> str:
    """Digest of a text; equal texts share a vector."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def supplied_vector(record: Record | None, model: str) -> Vector:
    """The combined vector of a consolidated episode; empty for other records."""
    if not isinstance(record, Episode) or record.consolidation is None or record.embeddings is None:
        return ()
    return record.embeddings.whole if record.embeddings.model == model else ()


WITHHELD = digest_of("\0withheld")
"""Digest of documents that the model may not read, whose vectors are zeros; no text has it."""


def supplied_digest(record: Record) -> str:
    """Digest of a supplied vector; no text has it, so that a text is never given a combined vector."""
    return digest_of(f"\0brought by {record.id}")


def _knowledge_text(record: Knowledge) -> str:
    symbol = record.chunk.context if record.chunk else ""
    around = {
        "Files": ", ".join(record.files),
        "Symbol": symbol,
        "Module": ", ".join(record.modules),
        "Type": record.type,
        "Tags": ", ".join(record.tags),
    }
    prefix = " | ".join(f"{name}: {value}" for name, value in around.items() if value)
    return f"{prefix}\n\n{record.content}"


def _turn_text(turn: Turn, before: str, after: str) -> str:
    """The turn with its speaker and date, between the neighbouring turns."""
    line = f"{turn.speaker or turn.role.value}, {turn.at:%d %B %Y}: {turn.text}"
    return "\n".join(filter(None, (before[-_CONTEXT_CHARACTERS:], line, after[:_CONTEXT_CHARACTERS])))
