"""Why a file is ranked high, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.context.prefetch.words import folder_of, path_name, subject_of

if TYPE_CHECKING:
    from treering.context.prefetch.history import FileValues, SessionHistory, SessionValues
    from treering.context.prefetch.signals import Request

MAX_REASONS = 2
LAST_SESSIONS = 5  # "edited in 4 of the last 5 sessions"
_MIN_GAIN = 0.15  # a smaller contribution explains nothing


@dataclass(frozen=True, slots=True)
class Explained:
    """What the reasons of a ranking refer to."""

    history: SessionHistory
    request: Request
    found: Mapping[str, FileValues]
    seeds: Sequence[int]
    """The best ranked files, whose companions are named."""
    votes: SessionValues


def reason_for(place: int, explained: Explained, weights: Mapping[str, float]) -> str:
    """The strongest one or two reasons for a file, joined by a semicolon."""
    gains = {name: weights[name] * values.get(place, 0.0) for name, values in explained.found.items()}
    strongest = sorted((name for name in gains if gains[name] >= _MIN_GAIN), key=lambda name: -gains[name])
    chosen: dict[str, None] = {}
    for name in strongest:
        if len(chosen) < MAX_REASONS and (phrase := _PHRASES[name](place, explained)):
            chosen[phrase] = None
    return "; ".join(chosen) or _when_edited(place, explained) or _when_read(place, explained) or "in the project"


def _when_edited(place: int, explained: Explained) -> str:
    history = explained.history
    edited = history.edits.with_file(place)
    if not edited:
        return ""
    lasting = sum(history.age[session] < LAST_SESSIONS for session in edited)
    shown = min(LAST_SESSIONS, history.active_sessions)
    if lasting > 1:
        return f"edited in {lasting} of the last {shown} sessions"
    if history.age[edited[-1]] == 0:
        return "edited in the last session"
    return f"edited in {_counted(len(edited), 'earlier session')}"


def _when_read(place: int, explained: Explained) -> str:
    read = explained.history.reads.with_file(place)
    if not read:
        return ""
    is_last = explained.history.age[read[-1]] == 0
    return "read in the last session" if is_last else f"read in {_counted(len(read), 'earlier session')}"


def _similar(place: int, explained: Explained) -> str:
    edited = sum(session in explained.votes for session in explained.history.edits.with_file(place))
    return f"edited in {_counted(edited, 'session')} with a similar prompt" if edited else ""


def _similar_read(place: int, explained: Explained) -> str:
    read = sum(session in explained.votes for session in explained.history.reads.with_file(place))
    return f"read in {_counted(read, 'session')} with a similar prompt" if read else ""


def _name_words(place: int, explained: Explained) -> str:
    name = path_name(explained.history.paths[place])
    hits = sorted(word for word in name.own_words if word in explained.request.reading.forms)
    words = [word for word in hits if len(word) > 1][:3]
    return f"name matches {', '.join(f'`{word}`' for word in words)}" if words else ""


def _named(place: int, explained: Explained) -> str:
    return "named in the prompt"


def _records(place: int, explained: Explained) -> str:
    return "named by a record that matches the prompt"


def _pair(place: int, explained: Explained) -> str:
    paths = explained.history.paths
    subject = subject_of(paths[place])
    other = next(
        (paths[seed] for seed in explained.seeds if seed != place and subject_of(paths[seed]) == subject), None
    )
    return f"belongs to `{path_name(other).base}`" if other else ""


def _folder(place: int, explained: Explained) -> str:
    folder = folder_of(explained.history.paths[place])
    return (
        f"in `{folder}`, where the last sessions worked" if folder else "in the folder where the last sessions worked"
    )


def _together(place: int, explained: Explained) -> str:
    best, sessions = "", 0
    for path in explained.request.files:
        number = explained.history.numbers.get(path)
        count = int(explained.history.edited_with(number).get(place, 0)) if number is not None else 0
        if count > sessions:
            best, sessions = path_name(path).base, count
    return (
        f"edited with `{best}` in {_counted(sessions, 'session')}" if best else "accessed together with a file at hand"
    )


def _co_change(place: int, explained: Explained) -> str:
    return _linked(place, explained, explained.request.co_change, "committed together with")


def _code(place: int, explained: Explained) -> str:
    return _linked(place, explained, explained.request.code, "shares code with")


def _linked(place: int, explained: Explained, links: Mapping[str, Mapping[str, float]], relation: str) -> str:
    path = explained.history.paths[place]
    other = next((other for other, near in links.items() if path in near and other != path), "")
    return f"{relation} `{path_name(other).base}`" if other else ""


def _counted(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count} {noun}s"


_PHRASES: Mapping[str, Callable[[int, Explained], str]] = {
    "recent": _when_edited,
    "lately": _when_edited,
    "usual": _when_edited,
    "read": _when_read,
    "similar": _similar,
    "similar_read": _similar_read,
    "name": _name_words,
    "path": _named,
    "base": _named,
    "identifier": _named,
    "pair": _pair,
    "folder": _folder,
    "together": _together,
    "co_change": _co_change,
    "code": _code,
    "records": _records,
}
