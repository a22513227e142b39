"""Stores a task execution: the request, the steps, the outcome and the artifacts."""

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
from treering.jobs.follow_up import queue_follow_up_jobs
from treering.ports.blobs import digest_of
from treering.ports.clock import NewId
from treering.ports.store import Store, Transaction

Content = bytes | str | os.PathLike[str]
"""Content of an artifact: bytes, text, or the path of a file to read."""

# The part of the record that each argument belongs to.
_PART_OF: Mapping[str, str] = {
    **dict.fromkeys(("goals", "constraints", "context", "complexity"), "task"),
    **dict.fromkeys(("plan", "trace", "adaptations", "duration_ms", "resources"), "execution"),
    **dict.fromkeys(("output", "side_effects", "quality"), "outcome"),
    **dict.fromkeys(("insights", "patterns", "failures", "performance"), "reflection"),
    **dict.fromkeys(("domain", "task_type", "tools", "strategies", "tags"), "metadata"),
}
_PARTS = ("task", "execution", "outcome", "reflection", "metadata")
_TOP_LEVEL = frozenset({"session", "visibility", "tainted", "taint", "embeddings", "consolidation"})
_TEXT = "text/plain"
_BYTES = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class _ArtifactData:
    artifact: Artifact
    data: bytes


def store_episode(
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
    """Store an episode with its artifacts; storing the same one again changes nothing.

    Raises `Conflict` if the id belongs to an episode with other content, or to a forgotten one.
    """
    artifact_data = _read_artifacts(artifacts, settings)
    moment = timestamp_of(at, now)
    episode = _build(scope, new_id() if id is None else id, moment, fields, artifact_data)

    def store_once(tx: Transaction) -> tuple[Episode, bool]:
        known = tx.episodes.get_complete(episode.id)
        if known is not None:
            return known, False
        for each in artifact_data:
            tx.blobs.put(scope, each.data)
        queue_follow_up_jobs(tx, new_id)
        return tx.episodes.create(episode), True

    known, is_new = store.write(scope, now, store_once, claims=(f"record {episode.id}",))
    if is_new:
        return known
    # Without a date, the second delivery has that of the first.
    again = episode if at is not None else _build(scope, episode.id, known.at, fields, artifact_data)
    if known.deleted_at is not None or _content(known) != _content(without_secrets(again).value):
        raise id_taken(episode.id)
    return known


def _build(
    scope: Scope, id: str, at: datetime, fields: Mapping[str, Any], artifact_data: Sequence[_ArtifactData]
) -> Episode:
    parts = {name: _part(name, fields.get(name)) for name in _PARTS}
    rest = {}
    for name, value in fields.items():
        if name in _PARTS or value is None:
            continue
        if name in _TOP_LEVEL:
            rest[name] = value
        elif name not in _PART_OF:
            raise InvalidInput(
                f"unknown field {name!r} of an episode; use {', '.join(sorted({*_PART_OF, *_TOP_LEVEL}))}"
            )
        elif name in parts[_PART_OF[name]]:
            raise InvalidInput(f"{name} is given twice: directly and inside {_PART_OF[name]}; give it once")
        else:
            parts[_PART_OF[name]][name] = value
    parts["execution"]["trace"] = trace = _trace(parts["execution"].get("trace", ()), at)
    parts["metadata"].setdefault("tools", _tools(trace))
    parts["outcome"]["artifacts"] = (*parts["outcome"].get("artifacts", ()), *(each.artifact for each in artifact_data))
    return Episode.make(id=id, at=at, owner=scope.principal, **rest, **parts)


def _part(name: str, given: Any) -> dict[str, Any]:
    """One part of the record as a dict of fields."""
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
    """Steps with their times; by default that of the episode."""
    if isinstance(steps, (str, bytes)) or not isinstance(steps, Iterable):
        raise InvalidInput("trace must be a list of steps: texts, or mappings with action, tool, output, is_error…")
    return [_step(step, at) for step in steps]


def _step(step: Any, at: datetime) -> Any:
    if isinstance(step, str):
        return {"at": at, "action": step}
    return {"at": at, **step} if isinstance(step, Mapping) else step


def _tools(trace: Iterable[Any]) -> tuple[Any, ...]:
    """The tools named in the trace."""
    named = (step.tool if isinstance(step, TraceEntry) else step.get("tool") for step in trace if _names_tools(step))
    return tuple(dict.fromkeys(tool for tool in named if isinstance(tool, str)))


def _names_tools(step: Any) -> bool:
    return isinstance(step, (TraceEntry, Mapping))


def _read_artifacts(artifacts: Mapping[str, Content], settings: Settings) -> list[_ArtifactData]:
    if not isinstance(artifacts, Mapping):
        raise InvalidInput(
            f"artifacts is a {type(artifacts).__name__}; give a mapping of names to bytes, text or paths"
        )
    found = []
    for name, content in artifacts.items():
        data = _clean(name, _bytes(name, content), settings)
        media = guess_type(str(name))[0] or (_TEXT if isinstance(content, str) else _BYTES)
        described = Artifact.make(name=name, digest=digest_of(data), size=len(data), media_type=media)
        found.append(_ArtifactData(described, data))
    return found


def _bytes(name: str, content: Content) -> bytes:
    if isinstance(content, str):
        try:
            data = content.encode()
        except UnicodeEncodeError:
            raise InvalidInput(f"artifact {name!r} has a lone surrogate, which cannot be encoded; give bytes") from None
    elif isinstance(content, (bytes, bytearray, memoryview)):
        data = bytes(content)
    elif isinstance(content, os.PathLike):
        data = _read(name, Path(content))
    else:
        raise InvalidInput(f"artifact {name!r} is a {type(content).__name__}; give bytes, text or a path")
    if len(data) > TEXT_BYTES:
        raise InvalidInput(f"artifact {name!r} has {len(data):,} bytes; the limit is {TEXT_BYTES:,}")
    return data


def _read(name: str, path: Path) -> bytes:
    try:
        if path.stat().st_size > TEXT_BYTES:
            raise InvalidInput(f"artifact {name!r}: {path} is larger than {TEXT_BYTES:,} bytes; store its path instead")
        return path.read_bytes()
    except OSError as exc:
        raise InvalidInput(f"artifact {name!r}: {path} cannot be read ({exc.strerror or exc})") from exc


def _clean(name: str, data: bytes, settings: Settings) -> bytes:
    """Text with its secrets redacted; other content is returned unchanged."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    redaction = redact(text, time_limit())
    if not redaction.findings:
        return data
    if settings.secrets.on_secret == "refuse":
        kinds = ", ".join(dict.fromkeys(finding.kind for finding in redaction.findings))
        raise SecretRefused(f"artifact {name!r} contains a secret ({kinds}); remove it and try again")
    return redaction.text.encode()


def _content(episode: Episode) -> dict[str, Any]:
    """The fields of an episode that its author gave, without those set by the store."""
    set_by_store = {"version", "lifecycle", "cold", "deleted_at", "owner"}
    return {name: item for name, item in episode.__dict__.items() if name not in set_by_store}
