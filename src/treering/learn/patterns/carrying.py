"""Patterns as files: carried from one project to another, edited by hand, taken back in."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from treering.core.errors import InvalidInput
from treering.core.history import Action
from treering.core.patterns import Evidence, Pattern, PatternStatus
from treering.core.queries import PatternFilter
from treering.core.scope import Scope
from treering.core.values import FrozenDict, thaw
from treering.learn.patterns.keeping import TOLD, begun, changed_to
from treering.learn.patterns.portable import read, to_json, to_yaml
from treering.ports.store import Store, Transaction

IMPORTED = "imported"
_FORMATS: Mapping[str, Callable[[Iterable[Pattern]], str]] = {"yaml": to_yaml, "json": to_json}


def exported(tx: Transaction, format: str, where: PatternFilter) -> str:
    if format not in _FORMATS:
        raise InvalidInput(f"{format!r} is no format of patterns; use {' or '.join(_FORMATS)}")
    return _FORMATS[format](tx.patterns.stream(where))


def import_patterns(scope: Scope, store: Store, now: datetime, text: str) -> Mapping[str, int]:
    """All of the file, or nothing where a part of it is wrong; how many were added, updated and left."""
    given, became = read(text, now=now), dict.fromkeys(("added", "updated", "left"), 0)
    with store.transaction(scope, now) as tx:
        for pattern in given:
            became[_take_in(tx, pattern)] += 1
    return became


def _take_in(tx: Transaction, given: Pattern) -> str:
    """What became of it. What is deprecated, here or there, is left as it is."""
    known = tx.patterns.get(given.id)
    if given.status is PatternStatus.DEPRECATED or given.deleted_at is not None:
        return "left"
    if known is None:
        tx.patterns.create(_candidate(tx, given), Action.IMPORT, begun(IMPORTED))
        return "added"
    if known.status is PatternStatus.DEPRECATED or known.deleted_at is not None or _is_here(known, given):
        return "left"
    told = {name: getattr(given, name) for name in TOLD if name not in ("metadata", "visibility")}
    changed, detail = changed_to(known, tx.now, {**told, "metadata": _metadata(given)})
    if changed is None:
        return "left"
    tx.patterns.update(changed, Action.IMPORT, detail)
    return "updated"


def _is_here(known: Pattern, given: Pattern) -> bool:
    said = known.metadata.get(IMPORTED)
    return given.version == known.version or (isinstance(said, Mapping) and said.get("version") == given.version)


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
    return FrozenDict({**thaw(given.metadata), IMPORTED: said})
