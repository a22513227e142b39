"""Reinforcement: a repetition of a record is evidence for it, not a second record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from treering.core.history import Action
from treering.core.values import EMPTY, LABELS

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.ports.store import Transaction

MAX_WITNESSES = 50  # sessions and sources kept from each end, the first and the latest; all are counted

# Labels that a repetition adds to.
_LABELS = ("tags", "files", "modules", "impacted_nodes")
_PROVENANCE = ("provenance_sessions", "source_ids")
# Identity and origin of a record, which a repetition does not change. Only a person clears a taint.
_LASTING = frozenset(
    {"id", "version", "type", "content", "visibility", "owner", "source", "session", "tainted", "taint", "deleted_at"}
    | {"created_at", "updated_at", "last_accessed_at", "access_count", "uses", "confidence", "relations"}
    | {*_LABELS, *_PROVENANCE}
)


def reinforce(
    tx: Transaction,
    known: Knowledge,
    repetition: Knowledge,
    *,
    given: Mapping[str, Any] = EMPTY,
    repeated_by: str | None = None,
) -> Knowledge:
    """Store `known` with the evidence of its repetition; return the stored record.

    Sessions count once. `given` are the fields that the caller set explicitly; `repeated_by` is the id of a duplicate.
    The first and last `MAX_WITNESSES` sessions and sources are kept.
    """
    counted = repetition.session is not None and repetition.session in (known.session, *known.provenance_sessions)
    access = {} if counted else {"last_accessed_at": max(known.last_accessed_at, repetition.last_accessed_at)}
    session = () if counted or repetition.session is None else (repetition.session,)
    sessions = _union(known.provenance_sessions, (*session, *repetition.provenance_sessions))
    sources = _union(known.source_ids, (*repetition.source_ids, *filter(None, (repeated_by,))))
    strengthened = known.replace(
        confidence=max(known.confidence, repetition.confidence),
        access_count=known.access_count + (not counted),
        **access,
        **{name: getattr(repetition, name) for name in given.keys() - _LASTING},
        **{name: _union(getattr(known, name), getattr(repetition, name))[:LABELS] for name in _LABELS},
        provenance_sessions=_both_ends(sessions),
        source_ids=_both_ends(sources),
        relations=(*known.relations, *(each for each in repetition.relations if each not in known.relations)),
    )
    return known if strengthened == known else tx.knowledge.update(strengthened, Action.REINFORCE)


def _both_ends(ids: tuple[str, ...]) -> tuple[str, ...]:
    return ids if len(ids) <= 2 * MAX_WITNESSES else (*ids[:MAX_WITNESSES], *ids[-MAX_WITNESSES:])


def _union(known: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *more)))
