"""Import of a portable file into a project: atomic and idempotent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from treering.archive.portable import BY_NAME, BlobLine, ExportLine, ExportPart, FormerLine, read_lines
from treering.core.errors import InvalidInput
from treering.core.history import Action, Revision
from treering.core.redaction import without_secrets
from treering.core.scope import Scope, Visibility
from treering.core.turns import Session

if TYPE_CHECKING:
    from treering.core.values import Record
    from treering.ports.blobs import Blobs
    from treering.ports.store import Store, Transaction

_BATCH = 1_000
# Fields that the store sets or counts: two records that differ only in these are equal.
_STORE_OWNED = frozenset({"seq", "turns", "last_at", "version", "owner"})


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Result of an import: numbers of added and of known records, and the conflicting ones, left unchanged."""

    added: int
    known: int
    conflicts: tuple[str, ...]
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Number of lines, by kind, of kinds that are no longer stored."""


def import_lines(scope: Scope, store: Store, blobs: Blobs, now: datetime, lines: Iterator[str]) -> ImportReport:
    """Store every record that is not present yet, in one transaction."""
    added, known, conflicts, skipped = 0, 0, list[str](), Counter[str]()
    with store.transaction(scope, now) as tx:
        for part, values in _batches(scope, _records(scope, blobs, lines, skipped)):
            fresh, differing = _fresh(tx, part, values)
            known += len(values) - len(fresh) - len(differing)
            conflicts += [f"{part.name} {value.id}" for value in differing]
            added += len(fresh)
            if part.is_computed:
                part.of(tx).put_many(fresh)
            elif fresh:
                part.of(tx).create_many(fresh, Action.IMPORT)
    return ImportReport(added, known, tuple(conflicts), dict(skipped))


def _batches(scope: Scope, records: Iterator[ExportLine]) -> Iterator[tuple[ExportPart, list[Record]]]:
    for part, group in groupby(records, key=lambda line: line.part):
        batch: list[Record] = []
        for line in group:
            batch.append(_adapted(scope, line.value))
            if len(batch) == _BATCH:
                yield part, batch
                batch = []
        if batch:
            yield part, batch


def _records(scope: Scope, blobs: Blobs, lines: Iterator[str], skipped: Counter[str]) -> Iterator[ExportLine]:
    """The records of a file. Stores its blobs, and counts in `skipped` the lines of kinds that are no longer stored."""
    for line in read_lines(lines):
        if isinstance(line, BlobLine):
            blobs.put(scope, line.data)
        elif isinstance(line, FormerLine):
            skipped[line.kind] += 1
        else:
            yield line


def _adapted(scope: Scope, value: Any) -> Record:
    """Make the importing principal the owner of personal records; reset a session's count, which its turns restore."""
    if getattr(value, "visibility", None) is Visibility.PERSONAL:
        value = value.replace(owner=scope.principal)
    if isinstance(value, Revision):
        return value.replace(before=_without_secrets(value))
    return value.replace(turns=0) if isinstance(value, Session) else value


def _without_secrets(revision: Revision) -> str:
    """The state before a change: the secrets in a file may not have been redacted by a store."""
    if not revision.before:
        return revision.before
    try:
        state = BY_NAME[revision.kind].value.from_json(revision.before)
    except (KeyError, InvalidInput) as exc:
        raise InvalidInput(f"revision {revision.id!r} does not hold a {revision.kind}: {exc}; export again") from exc
    redacted = without_secrets(state)
    return redacted.value.to_json() if redacted.kinds else revision.before


def _fresh(tx: Transaction, part: ExportPart, values: list[Record]) -> tuple[list[Record], list[Record]]:
    stored = part.of(tx).get_many([value.id for value in values])
    fresh = [value for value in values if value.id not in stored]
    differing = [value for value in values if value.id in stored and _content(value) != _content(stored[value.id])]
    return fresh, differing


def _content(value: Record) -> dict[str, Any]:
    return {name: item for name, item in value.__dict__.items() if name not in _STORE_OWNED}
