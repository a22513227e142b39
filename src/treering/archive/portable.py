"""The portable form of a project: one JSON object per line, between a header and a footer with counts.

A truncated file lacks the footer, and the counts of an edited file do not match: both are detected.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treering.core.co_access import CoAccessEdge
from treering.core.entities import Entity, EntityLink
from treering.core.episodes import Episode
from treering.core.errors import InvalidInput
from treering.core.history import AuditEntry, Revision
from treering.core.injections import InjectedItem
from treering.core.observations import ObservedSession, SavedScratchpad, SignalEvidence
from treering.core.patterns import Application, Pattern
from treering.core.project_settings import ProjectSetting
from treering.core.queries import EntityFilter, EpisodeFilter, Filter, KnowledgeFilter, PatternFilter, TurnFilter
from treering.core.records import Knowledge
from treering.core.runs import Run
from treering.core.turns import Session, Turn

if TYPE_CHECKING:
    from treering.core.values import Record
    from treering.ports.store import Transaction

FORMAT = 1


@dataclass(frozen=True, slots=True)
class ExportPart:
    """One kind of record in the file, and its collection in a transaction."""

    name: str
    value: type[Record]
    of: Callable[[Transaction], Any]
    everything: Filter | None = None
    is_history: bool = False
    is_computed: bool = False


PARTS: tuple[ExportPart, ...] = (
    ExportPart("session", Session, lambda tx: tx.sessions),
    ExportPart("turn", Turn, lambda tx: tx.turns, TurnFilter(deleted=None)),
    ExportPart("knowledge", Knowledge, lambda tx: tx.knowledge, KnowledgeFilter(deleted=None)),
    ExportPart("episode", Episode, lambda tx: tx.episodes, EpisodeFilter(deleted=None)),
    ExportPart("pattern", Pattern, lambda tx: tx.patterns, PatternFilter(deleted=None)),
    ExportPart("application", Application, lambda tx: tx.applications),
    ExportPart("entity", Entity, lambda tx: tx.entities, EntityFilter(deleted=None)),
    ExportPart("entity_link", EntityLink, lambda tx: tx.entity_links, is_computed=True),
    ExportPart("co_access", CoAccessEdge, lambda tx: tx.co_access, is_computed=True),
    ExportPart("observed_session", ObservedSession, lambda tx: tx.observed_sessions, is_computed=True),
    ExportPart("scratchpad", SavedScratchpad, lambda tx: tx.scratchpads, is_computed=True),
    ExportPart("signal_evidence", SignalEvidence, lambda tx: tx.evidence, is_computed=True),
    ExportPart("injected_item", InjectedItem, lambda tx: tx.injected_items, is_computed=True),
    ExportPart("project_setting", ProjectSetting, lambda tx: tx.project_settings, is_computed=True),
    ExportPart("run", Run, lambda tx: tx.runs, is_history=True, is_computed=True),
    ExportPart("revision", Revision, lambda tx: tx.revisions, is_history=True),
    ExportPart("audit", AuditEntry, lambda tx: tx.audit, is_history=True),
)
BY_NAME = {part.name: part for part in PARTS}
FORMER_KINDS = frozenset({"graph_node", "graph_edge", "event", "error_fingerprint"})
"""Kinds in files of earlier versions that are no longer stored."""


@dataclass(frozen=True, slots=True)
class ExportLine:
    """A record of a file."""

    part: ExportPart
    value: Record


@dataclass(frozen=True, slots=True)
class BlobLine:
    """The content of an artifact in a file."""

    data: bytes


@dataclass(frozen=True, slots=True)
class FormerLine:
    """A line of one of the `FORMER_KINDS`; its value is not read."""

    kind: str


def header(project: str, now: str) -> str:
    return json.dumps({"treering": FORMAT, "project": project, "exported_at": now})


def record_line(part: ExportPart, value: Record) -> str:
    return f'{{"kind": "{part.name}", "value": {value.to_json()}}}'


def blob_line(data: bytes) -> str:
    return json.dumps({"kind": "blob", "value": b64encode(data).decode()})


def footer(counts: dict[str, int]) -> str:
    return json.dumps({"end": counts})


def read_lines(lines: Iterator[str]) -> Iterator[ExportLine | BlobLine | FormerLine]:
    """The validated records of a file; an error names the line."""
    number, counts, ended = 0, dict[str, int](), False
    for number, text in enumerate(lines, start=1):
        entry = _parse(number, text)
        if number == 1:
            _check_header(entry)
        elif ended:
            raise InvalidInput(f"line {number}: there is data after the footer; export again")
        elif "end" in entry:
            ended = True
            if entry["end"] != counts:
                raise InvalidInput(f"line {number}: the file contains {counts}, not {entry['end']}; export again")
        else:
            kind = str(entry.get("kind"))
            counts[kind] = counts.get(kind, 0) + 1
            yield _record(number, kind, entry.get("value"))
    if not ended:
        raise InvalidInput(f"the file ends after line {number} without a footer; it is truncated, export again")


def _parse(number: int, text: str) -> dict[str, Any]:
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f"line {number} is not JSON ({exc}); export again") from exc
    if not isinstance(entry, dict):
        raise InvalidInput(f"line {number} is not an object; pass a file that `treering export` wrote")
    return entry


def _check_header(entry: dict[str, Any]) -> None:
    version = entry.get("treering")
    if not isinstance(version, int):
        raise InvalidInput("the first line is not the header of an export; pass a file that `treering export` wrote")
    if version > FORMAT:
        raise InvalidInput(f"the export has format {version}, this Treering reads up to {FORMAT}; upgrade Treering")


def _record(number: int, kind: str, value: Any) -> ExportLine | BlobLine | FormerLine:
    if kind in FORMER_KINDS:
        return FormerLine(kind)
    try:
        if kind == "blob":
            return BlobLine(b64decode(value, validate=True))
        part = BY_NAME[kind]
        return ExportLine(part, part.value.from_json(json.dumps(value)))
    except KeyError:
        raise InvalidInput(f"line {number}: unknown kind {kind!r}; upgrade Treering") from None
    except (InvalidInput, ValueError, TypeError) as exc:
        raise InvalidInput(f"line {number}: {exc}") from exc
