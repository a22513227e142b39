"""Evidence over sessions: what each session adds to a subject, once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from treering.core.observations import SignalEvidence, evidence_id
from treering.core.taint import Taint
from treering.core.values import thaw
from treering.observe.promotion.tallies import with_session
from treering.observe.signals import Note

MAX_SESSIONS = 100  # kept of each kind; the latest
_MAX_FILES = 20
# Numbers whose mean over sessions is kept, under another name.
_MEANS = {"planned": "mean_planned", "actual": "mean_actual", "tokens": "mean_tokens"}


def with_note(known: SignalEvidence | None, note: Note, session: str, now: datetime) -> SignalEvidence:
    """The evidence with this session's note; a session that is counted already changes only the details.

    Evidence whose record was purged stays without content.
    """
    if known is not None and known.purged:
        return known
    taint = None if note.taint is None else Taint.make(source=note.taint, reason="observed after outside content")
    if known is None:
        known = SignalEvidence.make(
            id=evidence_id(note.signal, note.subject),
            signal=note.signal.value,
            subject=note.subject,
            first_seen_at=now,
            last_seen_at=now,
        )
    sessions, tainted = known.sessions, known.tainted_sessions
    counted = session in sessions or session in tainted
    if taint is None:
        sessions = _with(sessions, session)
        tainted = tuple(each for each in tainted if each != session)
        details = {"detail": _merged(known.detail, note.data, len(sessions), counted=counted)}
    else:
        tainted = tainted if session in sessions else _with(tainted, session)
        details = {"tainted_detail": _merged(known.tainted_detail, note.data, len(tainted), counted=counted)}
    return known.replace(
        sessions=sessions,
        tainted_sessions=tainted,
        occurrences=known.occurrences + (0 if counted else 1),
        taint=known.taint or taint,
        files=known.files if taint is not None and known.sessions else tuple(note.files)[:_MAX_FILES],
        last_seen_at=max(known.last_seen_at, now),
        **details,
    )


def _with(sessions: tuple[str, ...], session: str) -> tuple[str, ...]:
    return sessions if session in sessions else (*sessions, session)[-MAX_SESSIONS:]


def _merged(known: Mapping[str, Any], data: Mapping[str, object], sessions: int, *, counted: bool) -> dict[str, Any]:
    """The newest details; a known resolution is kept if this session shows none. A session counts once."""
    merged = {**data}
    for name in ("resolution", "resolution_edits", "resolution_commands", "answers"):
        if name in known and not merged.get(name):
            merged[name] = thaw(known[name])
    for name, mean in _MEANS.items():
        value = data.get(name)
        if isinstance(value, int | float):
            before = known.get(mean, value)
            merged[mean] = before if counted else round(before + (value - before) / max(1, sessions), 2)
    shown = data.get("tally")
    if isinstance(shown, Mapping):
        merged["tally"] = with_session(known.get("tally", {}), shown, counted=counted)
    if isinstance(resolved := data.get("resolved"), int):
        merged["resolved_times"] = (
            max(known.get("resolved_times", 0), resolved) if counted else (known.get("resolved_times", 0) + resolved)
        )
    return merged
