"""Keeps a whole task execution: what was asked, how it was done, what came of it and what it produced."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from treering.core.episodes import Artifact, Episode, OutcomeStatus, TraceEntry
from treering.core.errors import InvalidInput, SecretRefused, id_taken
from treering.core.redaction import without_secrets
from treering.core.scope import Scope
from treering.core.secrets import redact
from treering.core.settings import Settings
from treering.core.time_limit import time_limit
from treering.core.timestamps import timestamp_of
from treering.core.values import TEXT_BYTES, Value
from treering.jobs.follow_up import queue_following
from treering.ports.blobs import digest_of
from treering.ports.clock import NewId
from treering.ports.store import Store, Transaction

Content = bytes | str | os.PathLike[str]
"""What an artifact holds: its bytes, its text, or the file to read them from."""

# Where each word of the verb stands in the record.
_PLACES: Mapping[str, str] = {
    **dict.fromkeys(("goals", "constraints", "context", "complexity"), "task"),
    **dict.fromkeys(("plan", "trace", "adaptations", "duration_ms", "resources"), "execution"),
    **dict.fromkeys(("output", "side_effects", "quality"), "outcome"),
    **dict.fromkeys(("insights", "patterns", "failures", "performance"), "reflection"),
    **dict.fromkeys(("domain", "task_type", "tools", "strategies", "tags"), "metadata"),
}
_PARTS = ("task", "execution", "outcome", "reflection", "metadata")
_ITSELF = frozenset({"session", "visibility", "tainted", "taint", "embeddings", "consolidation"})
NAMES = frozenset({*_PLACES, *_PARTS, *_ITSELF, "id", "at", "artifacts"})
"""Every word by which something of an episode is told."""
_TEXT = "text/plain"
_BYTES = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class _Produced:
    artifact: Artifact
    data: bytes


def keep_episode(
    scope: Scope,
    store: Store,
    now: datetime,
    new_id: NewId,
    /,
    *,
    id: str | None,
    at: datetime | date | str | None,
    settings: Settings,
    artifacts: Mapping[str, Content],
    **fields: Any,
) -> Episode:
    """Store an episode with its artifacts. The same one delivered twice is stored once.

    Another content under its id is a `Conflict`, and so is an episode that was forgotten.
    """
    produced = _produced(artifacts, settings)
    moment = timestamp_of(at, now)
    episode = _built(scope, new_id() if id is None else id, moment, fields, produced)

    def keep(tx: Transaction) -> tuple[Episode, bool]:
        tx.claim(f"record {episode.id}")
        known = tx.episodes.whole(episode.id)
        if known is not None:
            return known, False
        for each in produced:
            tx.blobs.put(scope, each.data)
        queue_following(tx, new_id)
        return tx.episodes.create(episode), True

    known, is_new = store.write(scope, now, keep)
    if is_new:
        return known
    # Without a date of its own, the second delivery tells of the same moment as the first.
    again = episode if at is not None else _built(scope, episode.id, known.at, fields, produced)
    if known.deleted_at is not None or _told(known) != _told(without_secrets(again).value):
        raise id_taken(episode.id)
    return known


def _built(scope: Scope, id: str, at: datetime, fields: Mapping[str, Any], produced: Sequence[_Produced]) -> Episode:
    parts = {name: _part(name, fields.get(name)) for name in _PARTS}
    rest = {}
    for name, value in fields.items():
        if name in _PARTS or value is None:
            continue
        if name in _ITSELF:
            rest[name] = value
        elif name not in _PLACES:
            raise InvalidInput(f"an episode has no {name!r}; it has {', '.join(sorted({*_PLACES, *_ITSELF}))}")
        elif name in parts[_PLACES[name]]:
            raise InvalidInput(f"{name} is given twice: by itself, and inside {_PLACES[name]}; say it once")
        else:
            parts[_PLACES[name]][name] = value
    parts["execution"]["trace"] = trace = _trace(parts["execution"].get("trace", ()), at)
    parts["metadata"].setdefault("tools", _tools(trace))
    parts["outcome"]["artifacts"] = (*parts["outcome"].get("artifacts", ()), *(each.artifact for each in produced))
    return Episode.make(id=id, at=at, owner=scope.principal, **rest, **parts)


def _part(name: str, given: Any) -> dict[str, Any]:
    """One part of the record as fields, whichever way it was given."""
    if name == "task" and isinstance(given, str):
        return {"input": given}
    if name == "outcome" and isinstance(given, str):
        return {"status": _status(given)}
    if given is None:
        return {}
    if isinstance(given, Value):
        return dict(given.__dict__)
    if isinstance(given, Mapping):
        return dict(given)
    raise InvalidInput(f"{name} is a {type(given).__name__}; give a mapping of its fields")


def _status(word: str) -> OutcomeStatus:
    try:
        return OutcomeStatus(word.strip().upper())
    except ValueError:
        raise InvalidInput(f"{word[:40]!r} is not an outcome; use {', '.join(OutcomeStatus)}") from None


def _trace(steps: Any, at: datetime) -> list[Any]:
    """Steps with their moments; one that names none happened when the episode did."""
    if isinstance(steps, (str, bytes)) or not isinstance(steps, Iterable):
        raise InvalidInput("trace is a list of steps: texts, or mappings with action, tool, output, is_error…")
    return [_step(step, at) for step in steps]


def _step(step: Any, at: datetime) -> Any:
    if isinstance(step, str):
        return {"at": at, "action": step}
    return {"at": at, **step} if isinstance(step, Mapping) else step


def _tools(trace: Iterable[Any]) -> tuple[Any, ...]:
    """Those that the trace names."""
    named = (step.tool if isinstance(step, TraceEntry) else step.get("tool") for step in trace if _names_tools(step))
    return tuple(dict.fromkeys(tool for tool in named if isinstance(tool, str)))


def _names_tools(step: Any) -> bool:
    return isinstance(step, (TraceEntry, Mapping))


def _produced(artifacts: Mapping[str, Content], settings: Settings) -> list[_Produced]:
    if not isinstance(artifacts, Mapping):
        raise InvalidInput(
            f"artifacts is a {type(artifacts).__name__}; give a mapping of names to bytes, text or paths"
        )
    found = []
    for name, content in artifacts.items():
        data = _clean(name, _bytes(name, content), settings)
        media = guess_type(str(name))[0] or (_TEXT if isinstance(content, str) else _BYTES)
        described = Artifact.make(name=name, digest=digest_of(data), size=len(data), media_type=media)
        found.append(_Produced(described, data))
    return found


def _bytes(name: str, content: Content) -> bytes:
    if isinstance(content, str):
        try:
            data = content.encode()
        except UnicodeEncodeError:
            raise InvalidInput(f"artifact {name!r} holds a lone surrogate, which is not text; give its bytes") from None
    elif isinstance(content, (bytes, bytearray, memoryview)):
        data = bytes(content)
    elif isinstance(content, os.PathLike):
        data = _read(name, Path(content))
    else:
        raise InvalidInput(f"artifact {name!r} is a {type(content).__name__}; give bytes, text or a path")
    if len(data) > TEXT_BYTES:
        raise InvalidInput(f"artifact {name!r} has {len(data):,} bytes; at most {TEXT_BYTES:,} are kept")
    return data


def _read(name: str, path: Path) -> bytes:
    try:
        if path.stat().st_size > TEXT_BYTES:
            raise InvalidInput(f"artifact {name!r}: {path} is larger than {TEXT_BYTES:,} bytes; keep its path instead")
        return path.read_bytes()
    except OSError as exc:
        raise InvalidInput(f"artifact {name!r}: {path} cannot be read ({exc.strerror or exc})") from exc


def _clean(name: str, data: bytes, settings: Settings) -> bytes:
    """Text without its secrets; what is no text comes back byte for byte, and so does text that holds none."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    redaction = redact(text, time_limit())
    if not redaction.findings:
        return data
    if settings.secrets.on_secret == "refuse":
        kinds = ", ".join(dict.fromkeys(finding.kind for finding in redaction.findings))
        raise SecretRefused(f"artifact {name!r} holds a secret ({kinds}); take it out and try again")
    return redaction.text.encode()


def _told(episode: Episode) -> dict[str, Any]:
    """What an episode tells, beside what the store counts and decides."""
    owned = {"version", "lifecycle", "cold", "deleted_at", "owner"}
    return {name: item for name, item in episode.__dict__.items() if name not in owned}
