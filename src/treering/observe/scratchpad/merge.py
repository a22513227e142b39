"""Merge of the scratchpads of parallel agents."""

from collections.abc import Callable, Iterator, Sequence

from treering.core.errors import InvalidInput
from treering.observe.scratchpad.scratchpad import Scratchpad

QUORUM_SIMILARITY = 0.85
_MAX_COMPARED = 60  # texts of one kind and agent


def merged(pads: Sequence[Scratchpad], similarity: Callable[[str, str], float]) -> Scratchpad:
    """One scratchpad of the same session for several agents, which stay apart inside it.

    Cues and errors that two agents worded alike (similarity above .85) get the same subject, so that the notes of the
    merged scratchpad count how many agents made an observation.
    """
    parts = tuple(part for pad in pads for part in (pad.parts or (pad,)))
    if not parts:
        raise InvalidInput("no scratchpads to merge; pass at least one")
    first = parts[0]
    pad = Scratchpad(first.session, type=first.type, root=first.root, agent=first.agent)
    pad.parts = parts
    tainted = next((part for part in parts if part.taint is not None), None)
    if tainted is not None:
        pad.taint, pad.tainted_step = tainted.taint, tainted.tainted_step
    for each in pads:
        pad.same.update(each.same)
    for texts in zip(*(_texts(part) for part in parts), strict=True):
        _unite(texts, similarity, pad.same)
    return pad


def _texts(part: Scratchpad) -> Iterator[dict[str, tuple[str, str]]]:
    """Subjects with a group and a text; only texts of the same group are compared."""
    yield {key: (cue.kind, cue.sentence) for key, cue in part.activity.cues.items()}
    yield {key: (error.dialect, error.summary) for key, error in part.activity.errors.items() if not error.minor}


def _unite(
    tables: Sequence[dict[str, tuple[str, str]]], similarity: Callable[[str, str], float], same: dict[str, str]
) -> None:
    known: dict[str, tuple[str, str]] = {}
    for table in tables:
        new = {key: value for key, value in [*table.items()][:_MAX_COMPARED] if key not in known}
        for key, (group, text) in new.items():
            like = next(
                (
                    other
                    for other, (other_group, other_text) in known.items()
                    if group == other_group and similarity(text, other_text) > QUORUM_SIMILARITY
                ),
                None,
            )
            if like is not None:
                same[key] = same.get(like, like)
        known.update(new)
