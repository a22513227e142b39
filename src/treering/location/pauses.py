"""Pauses of hooks: no trace and no injection, or no injection only; for a time, a session, or a point."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from treering.core.errors import InvalidInput, StoreReadOnly
from treering.core.injections import InjectionPoint
from treering.location.hook_files import PAUSE, TARGET, hook_folder, is_paused, read_json, write_json

FOREVER = "forever"
_OBSERVE, _INJECT = "observe", "inject"


@dataclass(frozen=True, slots=True)
class PauseRequest:
    """What to pause. Without a session or points, everything in the repository, until a time or `resume`."""

    until: datetime | None = None
    session: str | None = None
    inject_only: bool = False
    points: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = [each.value for each in InjectionPoint]
        if unknown := [each for each in self.points if each not in known]:
            raise InvalidInput(f"the point is {unknown[0]!r}; use one of {', '.join(known)}")
        if self.until is not None and (self.session or self.points):
            raise InvalidInput("a pause of a session or a point lasts until `treering resume`; leave out --for")
        if self.session is not None and self.points:
            raise InvalidInput("a pause is of a session or of a point; pass one of the two")


def pause_folders(data: Path, root: Path, db: str | None, project: str | None) -> tuple[str, ...]:
    """The hook folders of a repository: of the named memory, else of every memory that hooks in it use."""
    named = hook_folder(str(data), str(root), db or "", project or "")
    others = () if db or project else _folders_of(data, root)
    return tuple(dict.fromkeys((named, *others)))


def pause(folders: Iterable[str], request: PauseRequest) -> dict[str, Any]:
    """Store the pause beside those that exist; return all of them."""
    return _changed(folders, lambda before: _paused(before, request))


def resume(folders: Iterable[str], *, session: str | None = None, points: Iterable[str] = ()) -> dict[str, Any]:
    """End the pause of a session or of points; without either, every pause. Returns those that remain."""
    ended = tuple(points)

    def resumed(before: Mapping[str, Any]) -> dict[str, Any]:
        if session is None and not ended:
            return _NONE
        sessions = {id: what for id, what in before["sessions"].items() if id != session}
        return {**before, "sessions": sessions, "points": [each for each in before["points"] if each not in ended]}

    return _changed(folders, resumed)


def pauses(folders: Iterable[str]) -> dict[str, Any]:
    """The pauses of a repository as its hooks read them."""
    return _stored(next(iter(folders)))


def observed_since(folder: str, session: str, now: float) -> float | None:
    """When hooks last began or went on to report the session, in seconds since 1970; None while they do not.

    0 if nothing was ever paused. Any change of the pauses counts as the end of one: which it was is not stored.
    """
    try:
        changed = os.lstat(os.path.join(folder, PAUSE)).st_mtime
        found = read_json(folder, PAUSE)
        ended = found.get(_OBSERVE)
        until = datetime.fromisoformat(ended).timestamp() if isinstance(ended, str) and ended != FOREVER else 0.0
    except FileNotFoundError:
        return 0.0
    except (OSError, ValueError):
        return None
    return None if is_paused(found, _OBSERVE, now, session) else max(changed, until)


_NONE: dict[str, Any] = {_OBSERVE: None, _INJECT: None, "sessions": {}, "points": []}


def _paused(before: Mapping[str, Any], request: PauseRequest) -> dict[str, Any]:
    what = _INJECT if request.inject_only else _OBSERVE
    if request.session is not None:
        return {**before, "sessions": {**before["sessions"], request.session: what}}
    if request.points:
        return {**before, "points": sorted({*before["points"], *request.points})}
    return {**before, what: FOREVER if request.until is None else request.until.isoformat()}


def _changed(folders: Iterable[str], change: Any) -> dict[str, Any]:
    latest = dict(_NONE)
    for folder in reversed(tuple(folders)):  # the first is the one that is reported
        latest = change(_stored(folder))
        try:
            write_json(folder, PAUSE, latest)
        except OSError as exc:
            raise StoreReadOnly(
                f"the pause cannot be stored in {folder} ({exc}); check that you may write there"
            ) from exc
    return latest


def _stored(folder: str) -> dict[str, Any]:
    """The pauses of a folder; those of a damaged file are replaced."""
    found: Mapping[str, Any] = {}
    with suppress(OSError, ValueError):
        found = read_json(folder, PAUSE)
    sessions, points = found.get("sessions"), found.get("points")
    return {
        _OBSERVE: found.get(_OBSERVE),
        _INJECT: found.get(_INJECT),
        "sessions": dict(sessions) if isinstance(sessions, dict) else {},
        "points": list(points) if isinstance(points, list) else [],
    }


def _folders_of(data: Path, root: Path) -> Iterator[str]:
    """Folders whose hooks work in the repository, as the process that drains them noted."""
    for target in sorted((data / "hooks").glob(f"*/{TARGET}")):
        with suppress(OSError, ValueError, AttributeError):
            if json.loads(target.read_bytes()).get("root") == os.fspath(root):
                yield str(target.parent)
