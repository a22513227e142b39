"""Export and import of patterns as files, which may be edited or moved to another project."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from treering.core.errors import InvalidInput
from treering.core.history import Action
from treering.core.patterns import RESERVED_METADATA, Evidence, Pattern, PatternStatus
from treering.core.queries import PatternFilter
from treering.core.scope import Scope
from treering.core.values import FrozenDict, thaw
from treering.patterns.file_format import read, to_json, to_yaml
from treering.patterns.storage import EDITABLE_FIELDS, apply_changes, creation_detail, earlier_versions
from treering.patterns.templates import check_content
from treering.ports.store import Store, Transaction

IMPORTED = "imported"
_FORMATS: Mapping[str, Callable[[Iterable[Pattern]], str]] = {"yaml": to_yaml, "json": to_json}


def export_patterns(tx: Transaction, format: str, where: PatternFilter) -> str:
    if format not in _FORMATS:
        raise InvalidInput(f"{format!r} is not a format of patterns; use {' or '.join(_FORMATS)}")
    return _FORMATS[format](tx.patterns.stream(where))


@dataclass(frozen=True, slots=True)
class PatternImport:
    """Ids of the patterns that were added and updated, and those that were skipped (`left`) with the reason."""

    added: tuple[str, ...]
    updated: tuple[str, ...]
    left: Mapping[str, str]


def import_patterns(scope: Scope, store: Store, now: datetime, text: str) -> PatternImport:
    """Import all patterns of the file, or none if one of them is invalid."""
    given, added, updated, left = read(text, now=now), list[str](), list[str](), dict[str, str]()
    with store.transaction(scope, now) as tx:
        for pattern in given:
            known = tx.patterns.get(pattern.id)
            if why := _reason_to_skip(tx, known, pattern):
                left[pattern.id] = why
            elif known is None:
                check_content(pattern.content)
                tx.patterns.create(_candidate(tx, pattern), Action.IMPORT, creation_detail(IMPORTED))
                added.append(pattern.id)
            else:
                _update(tx, known, pattern)
                updated.append(pattern.id)
    return PatternImport(tuple(added), tuple(updated), left)


def _reason_to_skip(tx: Transaction, known: Pattern | None, given: Pattern) -> str | None:
    """Why a pattern of the file is skipped; None if it is imported."""
    if given.status is PatternStatus.DEPRECATED or given.deleted_at is not None:
        return "deprecated in the file"
    if known is None:
        return None
    if known.status is PatternStatus.DEPRECATED or known.deleted_at is not None:
        return "deprecated here"
    if _imported_fields(known) == _imported_fields(given):
        return "the same as here"
    if any(_imported_fields(before) == _imported_fields(given) for before in earlier_versions(tx, known.id)):
        return "an earlier version of what is here"
    return None


def _update(tx: Transaction, known: Pattern, given: Pattern) -> None:
    reserved = {name: known.metadata[name] for name in RESERVED_METADATA & known.metadata.keys()}
    changed, detail = apply_changes(
        known, tx.now, {**_imported_fields(given), "metadata": {**reserved, **_metadata(given)}}
    )
    assert changed is not None, "the patterns differ"
    tx.patterns.update(changed, Action.IMPORT, detail)


def _imported_fields(pattern: Pattern) -> dict[str, Any]:
    """The fields that are taken from the file; its visibility is not."""
    return {name: getattr(pattern, name) for name in EDITABLE_FIELDS if name not in ("metadata", "visibility")}


def _candidate(tx: Transaction, given: Pattern) -> Pattern:
    return given.replace(
        version=1,
        status=PatternStatus.CANDIDATE,
        status_since=tx.now,
        evidence=Evidence(began_at=tx.now),
        usage_count=0,
        last_used_at=None,
        owner=tx.scope.principal,
        created_at=tx.now,
        updated_at=tx.now,
        metadata=_metadata(given),
    )


def _metadata(given: Pattern) -> FrozenDict:
    """The file's metadata, plus its status and evidence, which are kept for information only."""
    evidence = given.evidence.model_dump(mode="json", exclude_defaults=True)
    imported: dict[str, Any] = {"version": given.version, "status": given.status.value, "evidence": evidence}
    own = {name: value for name, value in thaw(given.metadata).items() if name not in RESERVED_METADATA}
    return FrozenDict({**own, IMPORTED: imported})
