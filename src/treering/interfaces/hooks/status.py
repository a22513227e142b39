"""What `doctor` says about hooks: last events, events that wait or were lost, hooks that no longer fire."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treering.interfaces.hooks.payloads.table import READERS
from treering.location.hook_files import AGENTS, LOG, LOST, PAUSE, is_paused, read_json
from treering.location.hook_spool import LOW_VALUE_BYTES, spool_bytes
from treering.observe.readers.event_fields import moment
from treering.ports.store import Check

if TYPE_CHECKING:
    from treering.interfaces.hooks.location import HookLocation

NAME = "hooks"
_SILENT_SECONDS = 600.0  # by which a transcript may be newer than the last event
_RECENT_SECONDS = 7 * 86_400.0  # older losses and errors are not shown
_LOST = {
    "dropped": "dropped because the spool was full",
    "unwritten": "not written: the disk is full or read-only",
    "torn": "incomplete",
    "unreadable": "not understood",
    "sessions": "sessions not stored",
}
_NOT_IN_FOLDER_NAMES = re.compile(r"[^A-Za-z0-9]")
_MAX_TRANSCRIPTS = 2_000


def hook_checks(location: HookLocation, env: Mapping[str, str] | None = None) -> tuple[Check, ...]:
    """One check; none if no hook has ever run. It fails only while events are being dropped."""
    if not location.exists:
        return ()
    folder, now, known = location.folder, time.time(), os.environ if env is None else env
    waiting = spool_bytes(folder)
    is_full = waiting >= LOW_VALUE_BYTES
    advice = ["`treering settle` stores the events that wait"] if is_full else []
    parts = list(_last_events(folder, location.root, now, known, advice))
    if waiting:
        parts.append(f"{_size(waiting)} of events wait to be stored")
    parts.extend(_losses(folder, now))
    if error := _last_error(folder, now):
        parts.append(f"last error of a hook: {error}")
        advice.append(f"{os.path.join(folder, LOG)} has details; please report them")
    return (Check(NAME, not is_full, "; ".join(parts) or "no events yet", "; ".join(advice)),)


def _last_events(folder: str, root: str, now: float, env: Mapping[str, str], advice: list[str]) -> Iterator[str]:
    paused = is_paused(_read(folder, PAUSE), "observe", now)
    if paused:
        yield "paused"
        advice.append("`treering resume` ends the pause")
    for agent, last in sorted(_read(folder, AGENTS).items()):
        at = moment(last.get("at")) if isinstance(last, Mapping) else None
        if agent not in READERS or at is None:
            continue
        yield f"last event of {agent} {at:%Y-%m-%d %H:%M} UTC"
        newest = _newest_transcript(root, env) if agent == "claude" and not paused else None
        if newest is not None and newest - at.timestamp() > _SILENT_SECONDS:
            ran = datetime.fromtimestamp(newest, UTC)
            yield f"but a session of {agent} ran at {ran:%Y-%m-%d %H:%M} UTC"
            advice.append(f"the hooks of {agent} seem not to run: run `treering init {agent}` again and restart it")


def _newest_transcript(root: str, env: Mapping[str, str]) -> float | None:
    """When the newest transcript of Claude Code for this folder was last written."""
    home = env.get("CLAUDE_CONFIG_DIR") or os.path.join(env.get("HOME") or os.path.expanduser("~"), ".claude")
    folder = Path(home) / "projects" / _NOT_IN_FOLDER_NAMES.sub("-", root)
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".jsonl")][:_MAX_TRANSCRIPTS]
        return max((os.lstat(folder / name).st_mtime for name in names), default=None)
    except OSError:
        return None


def _losses(folder: str, now: float) -> Iterator[str]:
    lost = _read(folder, LOST)
    last = moment(lost.get("last"))
    if last is None or now - last.timestamp() > _RECENT_SECONDS:
        return
    for name, words in _LOST.items():
        if isinstance(count := lost.get(name), int) and count > 0:
            yield f"{count:,} {words}"


def _last_error(folder: str, now: float) -> str:
    """The last line of the log of hook processes, if it is recent."""
    path = os.path.join(folder, LOG)
    try:
        if now - os.lstat(path).st_mtime > _RECENT_SECONDS:
            return ""
        with open(path, "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - 1_000))
            lines = log.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:200] if lines else ""


def _read(folder: str, name: str) -> Mapping[str, Any]:
    try:
        return read_json(folder, name)
    except (OSError, ValueError):
        return {}


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} KB"
