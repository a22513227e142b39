"""Recorded sessions in the order of time, each with the folder that it worked in."""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

Event = dict[str, Any]

KINDS = {"user_text": "prompt", "assistant_text": "reasoning", "tool_use": "tool_call"}
_MARKERS = frozenset(
    {
        *("go.mod", "package.json", "pyproject.toml", "Cargo.toml", "Makefile", "CLAUDE.md", "AGENTS.md", "README.md"),
        *(".gitignore", ".git", ".github", ".claude", ".vscode"),
    }
)
_PATH_KEYS = ("file_path", "notebook_path", "path")
_EDITORS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A session; its events have the fields that `watch.event` is given, with absolute paths below `root`.

    A session that continues an earlier one may begin with a copy of its events: the first `copied` ones.
    """

    id: str
    root: str
    events: tuple[Event, ...]
    copied: int = 0


def load(events: Path, commits: Path | None = None) -> list[RecordedSession]:
    """The sessions of a file of events (`.gz` or not), in the order of their first event.

    `commits` names files of the repository (`files` of each line); they tell where the repository begins in an
    absolute path.
    """
    by_session: dict[str, list[tuple[int, Event]]] = defaultdict(list)
    roots: dict[str, str] = {}
    for line in _lines(events):
        session = str(line.get("session") or events.name.partition(".")[0])
        by_session[session].append((int(line.get("seq", len(by_session[session]))), event_of(line)))
        if root := line.get("root") or line.get("cwd"):
            roots.setdefault(session, str(root))
    known = set() if commits is None or not commits.exists() else {f for c in _lines(commits) for f in c["files"]}
    names = sorted(by_session, key=lambda name: (min(str(event["at"]) for _, event in by_session[name]), name))
    ordered = {name: [event for _, event in sorted(by_session[name], key=_place)] for name in names}
    derived = session_roots(ordered, known)
    copied = copied_events(ordered)
    return [
        RecordedSession(name, roots.get(name) or derived[name], tuple(ordered[name]), copied[name]) for name in names
    ]


def copied_events(sessions: Mapping[str, Sequence[Event]]) -> dict[str, int]:
    """How many events each session has in common with the beginning of an earlier one."""
    earlier: dict[str, list[Sequence[Event]]] = defaultdict(list)
    found = {}
    for name, events in sessions.items():
        known = earlier[str(events[0]["at"])]
        found[name] = max((_common_length(events, each) for each in known), default=0)
        known.append(events)
    return found


def _common_length(events: Sequence[Event], others: Sequence[Event]) -> int:
    differing = (place for place, (one, other) in enumerate(zip(events, others, strict=False)) if one != other)
    return next(differing, min(len(events), len(others)))


def event_of(line: Mapping[str, Any]) -> Event:
    """The event as `watch.event` takes it, from a line with the names of either format."""
    event: Event = {"kind": KINDS.get(line["kind"], line["kind"]), "at": line.get("at") or line.get("ts")}
    for name, other in (("text", "text"), ("tool", "tool"), ("call_id", "id"), ("arguments", "input")):
        value = line.get(name, line.get(other))
        if value is not None:
            event[name] = value
    if line["kind"] == "tool_result":
        event["is_error"] = bool(line.get("is_error"))
    return event


def session_roots(sessions: Mapping[str, Sequence[Event]], known: Iterable[str] = ()) -> dict[str, str]:
    """The project's folder of each session; sessions may have worked in different checkouts.

    Each absolute path that a tool call names votes for the folder before a file of the repository (the longest known
    one), or, if none is known, before a file that lies at the top of a repository. Calls that edit have ten votes. A
    session without votes takes the folder of the session before it, or the one that contains its edited files.
    """
    files, last, found = frozenset(known), "", dict[str, str]()
    for session, events in sessions.items():
        votes = Counter[str]()
        for path, weight in _paths(events):
            if (root := _root(path, files)) is not None:
                votes[root] += weight
        last = max(votes, key=lambda root: (votes[root], -len(root)), default=last or _common(events))
        found[session] = last
    return found


def _root(path: str, known: frozenset[str]) -> str | None:
    parts = PurePosixPath(path).parts[1:]
    for start in range(1, len(parts)):
        if "/".join(parts[start:]) in known or (not known and parts[start] in _MARKERS):
            return "/" + "/".join(parts[:start])
    return None


def _common(events: Sequence[Event]) -> str:
    edited = [PurePosixPath(path).parent.parts for path, weight in _paths(events) if weight > 1]
    shared = [names[0] for names in zip(*edited, strict=False) if len(set(names)) == 1]
    return str(PurePosixPath(*shared)) if shared else ""


def _paths(events: Iterable[Event]) -> Iterator[tuple[str, int]]:
    for event in events:
        arguments = event.get("arguments")
        if event["kind"] == "tool_call" and isinstance(arguments, dict):
            for key in _PATH_KEYS:
                path = arguments.get(key)
                if isinstance(path, str) and path.startswith("/"):
                    yield path, 10 if event.get("tool") in _EDITORS else 1


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def _place(numbered: tuple[int, Event]) -> int:
    return numbered[0]
