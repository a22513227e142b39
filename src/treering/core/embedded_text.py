"""What is embedded for a record: a text, or the vector that the record brings with it."""

from hashlib import blake2b

from treering.core.episodes import Episode, Vector
from treering.core.language.text_features import without_speaker
from treering.core.patterns import Pattern
from treering.core.records import Knowledge
from treering.core.turns import Turn
from treering.core.values import Record

EPISODE_PARTS = ("task", "outcome")
"""Parts of an episode that have vectors of their own, beside that of the whole."""

# Characters of a neighbouring turn that a text is understood from: a sentence or two.
_AROUND = 200


def space_of(model: str, part: str) -> str:
    """Names the vectors of one part of episodes, which are never compared with those of whole records (no part)."""
    return f"{model}#{part}" if part else model


def spaces_of(*models: str) -> tuple[str, ...]:
    """All vectors of each model that is named: of whole records, then of the parts of episodes."""
    return tuple(space_of(model, part) for model in models if model for part in ("", *EPISODE_PARTS))


def part_of(space: str) -> str:
    """The part of episodes that a space holds; empty where it holds whole records."""
    part = space.rpartition("#")[2]
    return part if space != part and part in EPISODE_PARTS else ""


def model_of(space: str) -> str:
    """The model that makes the vectors of a space."""
    part = part_of(space)
    return space.removesuffix(f"#{part}") if part else space


def embedded_part(record: Record | None, part: str) -> str:
    """What was asked, or what came of it; empty where the episode does not say."""
    if not isinstance(record, Episode):
        return ""
    if part == "task":
        return "\n".join((record.task.input, *record.task.goals))
    return "\n".join(filter(None, (record.outcome.output, *map(str, record.reflection.failures))))


def embedded_text(record: Record | None, *, contextual: bool, before: str = "", after: str = "") -> str:
    """The record's text, for a model that reads in context with what stands around it."""
    if isinstance(record, Knowledge):
        return _of_knowledge(record) if contextual else " ".join((record.content, *record.tags, *record.files))
    if isinstance(record, Turn):
        return _of_turn(record, before, after) if contextual else without_speaker(record.text)
    if isinstance(record, Episode):
        return f"{record.task.input}\n{record.outcome.output}"
    if isinstance(record, Pattern):
        return f"{record.name}\n{record.summary}\n{record.description}"
    return ""


def digest_of(text: str) -> str:
    """Texts with the same digest have the same vector."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def supplied_vector(record: Record | None, model: str) -> Vector:
    """The vector of an episode that stands for several: theirs combined, not that of its text. Else empty."""
    if not isinstance(record, Episode) or record.consolidation is None or record.embeddings is None:
        return ()
    return record.embeddings.whole if record.embeddings.model == model else ()


WITHHELD = digest_of("\0withheld")
"""Like no text's: the digest of documents that the model may not read. Their vectors are zeros."""


def supplied_digest(record: Record) -> str:
    """Like no text's: whoever embeds the same words again must not be given a combined vector."""
    return digest_of(f"\0brought by {record.id}")


def _of_knowledge(record: Knowledge) -> str:
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


def _of_turn(turn: Turn, before: str, after: str) -> str:
    """Who said it and when, after what and before what."""
    said = f"{turn.speaker or turn.role.value}, {turn.at:%d %B %Y}: {turn.text}"
    return "\n".join(filter(None, (before[-_AROUND:], said, after[:_AROUND])))
