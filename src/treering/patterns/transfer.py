"""Patterns as files: carried from one project to another, edited by hand, taken back in."""

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
from treering.patterns.portable import read, to_json, to_yaml
from treering.patterns.storage import TOLD, begun, changed_to, earlier_versions
from treering.patterns.templates import refuse_broken
from treering.ports.store import Store, Transaction

IMPORTED = "imported"
_FORMATS: Mapping[str, Callable[[Iterable[Pattern]], str]] = {"yaml": to_yaml, "json": to_json}


def exported(tx: Transaction, format: str, where: PatternFilter) -> str:
    if format not in _FORMATS:
        raise InvalidInput(f"{format!r} is not a format of patterns; use {' or '.join(_FORMATS)}")
    return _FORMATS[format](tx.patterns.stream(where))


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What became of a file's patterns, by their ids; of those that were left, why."""

    added: tuple[str, ...]
    updated: tuple[str, ...]
    left: Mapping[str, str]


def import_patterns(scope: Scope, store: Store, now: datetime, text: str) -> TakenIn:
    """All of the file, or nothing where a part of it is wrong."""
    given, added, updated, left = read(text, now=now), list[str](), list[str](), dict[str, str]()
    with store.transaction(scope, now) as tx:
        for pattern in given:
            known = tx.patterns.get(pattern.id)
            if why := _reason_to_leave(tx, known, pattern):
                left[pattern.id] = why
            elif known is None:
                refuse_broken(pattern.content)
                tx.patterns.create(_candidate(tx, pattern), Action.IMPORT, begun(IMPORTED))
                added.append(pattern.id)
            else:
                _update(tx, known, pattern)
                updated.append(pattern.id)
    return TakenIn(tuple(added), tuple(updated), left)


def _reason_to_leave(tx: Transaction, known: Pattern | None, given: Pattern) -> str | None:
    """Why a pattern of the file changes nothing here, if so. What is deprecated, here or there, is left as it is."""
    if given.status is PatternStatus.DEPRECATED or given.deleted_at is not None:
        return "deprecated in the file"
    if known is None:
        return None
    if known.status is PatternStatus.DEPRECATED or known.deleted_at is not None:
        return "deprecated here"
    if _told(known) == _told(given):
        return "the same as here"
    if any(_told(before) == _told(given) for before in earlier_versions(tx, known.id)):
        return "an earlier version of what is here"
    return None


def _update(tx: Transaction, known: Pattern, given: Pattern) -> None:
    kept = {name: known.metadata[name] for name in RESERVED_METADATA & known.metadata.keys()}
    changed, detail = changed_to(known, tx.now, {**_told(given), "metadata": {**kept, **_metadata(given)}})
    assert changed is not None, "what is told differs"
    tx.patterns.update(changed, Action.IMPORT, detail)


def _told(pattern: Pattern) -> dict[str, Any]:
    """What a file says of a pattern that is believed; who may see it is decided here."""
    return {name: getattr(pattern, name) for name in TOLD if name not in ("metadata", "visibility")}


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
    """With what the file said of status and evidence: nobody here has seen it."""
    evidence = given.evidence.model_dump(mode="json", exclude_defaults=True)
    said: dict[str, Any] = {"version": given.version, "status": given.status.value, "evidence": evidence}
    own = {name: value for name, value in thaw(given.metadata).items() if name not in RESERVED_METADATA}
    return FrozenDict({**own, IMPORTED: said})
