"""Adds, reads and changes single patterns. Every change keeps the version before it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from treering.core.errors import InvalidInput, NotFound
from treering.core.history import Action
from treering.core.patterns import Evidence, Pattern, PatternStatus, Subtask, Template
from treering.core.scope import Scope
from treering.core.values import FrozenDict
from treering.learn.patterns.lifecycle import Cause, allowed
from treering.learn.patterns.mining.mined import MINED
from treering.learn.patterns.templates import instantiate
from treering.ports.clock import NewId
from treering.ports.store import Store, Transaction

TOLD = frozenset(
    {
        *("name", "category", "summary", "description", "explanation", "applicability", "content", "guidance"),
        *("links", "visibility", "metadata"),
    }
)
"""What a person says of a pattern; its status and its evidence are earned."""
# Where one of these changes, it is another pattern as far as evidence goes.
_PROVEN = ("applicability", "content")


def add_pattern(scope: Scope, store: Store, now: datetime, new_id: NewId, *, id: str | None, **fields: Any) -> Pattern:
    """Keep a new pattern. It starts as a candidate, whoever says that it works."""
    _refuse_unknown(fields)
    made = Pattern.make(
        **fields, id=id or new_id(), owner=scope.principal, created_at=now, updated_at=now, status_since=now
    )
    with store.transaction(scope, now) as tx:
        return tx.patterns.create(made, Action.CREATE, begun("told"))


def stored_pattern(tx: Transaction, id: str) -> Pattern:
    """As it is stored: what is changed and kept, so that nobody's own uses are written into what all see."""
    found = tx.patterns.get(id)
    if found is None or found.deleted_at is not None:
        raise NotFound(f"no pattern {id!r} in project {tx.scope.project!r}; `treering patterns list` shows them")
    return found


def pattern_of(tx: Transaction, id: str) -> Pattern:
    """With its uses as they are now, also those after the last validation."""
    found = stored_pattern(tx, id)
    used = tx.applications.used([id]).get(id)
    if used is None or (used.times, used.last_at) == (found.usage_count, found.last_used_at):
        return found
    return found.replace(usage_count=max(found.usage_count, used.times), last_used_at=used.last_at)


def update_pattern(scope: Scope, store: Store, now: datetime, id: str, **changes: Any) -> Pattern:
    """A new version. One that does or applies to something else has to prove itself anew."""
    _refuse_unknown(changes)
    with store.transaction(scope, now) as tx:
        known = _living(tx, id)
        changed, detail = changed_to(known, now, changes)
        return known if changed is None else tx.patterns.update(changed, Action.UPDATE, detail)


def changed_to(known: Pattern, now: datetime, changes: Mapping[str, Any]) -> tuple[Pattern | None, dict[str, object]]:
    """A pattern after a change, and what the log says of it; no pattern where nothing differs."""
    changed = known.replace(**changes)
    if changed == known:
        return None, {}
    if changed.content != known.content:
        # What it does now was told, not found: mining leaves it alone.
        said = {name: value for name, value in changed.metadata.items() if name != MINED}
        changed = changed.replace(metadata=FrozenDict(said))
    if any(getattr(changed, name) != getattr(known, name) for name in _PROVEN):
        changed = begun_anew(changed, now)
    return changed.replace(updated_at=now), _moved(known, changed, Cause.REFINEMENT)


def deprecate_pattern(
    scope: Scope, store: Store, now: datetime, id: str, reason: str, *, superseded_by: str | None = None
) -> Pattern:
    """Take a pattern out of use for good. It is kept, with the reason and whatever takes its place."""
    with store.transaction(scope, now) as tx:
        known = _living(tx, id)
        if superseded_by is not None:
            _refuse_as_successor(_living(tx, superseded_by), known)
        return tx.patterns.update(
            deprecated(known, now, reason, superseded_by), Action.UPDATE, _deprecation(known, reason)
        )


def deprecated(known: Pattern, now: datetime, reason: str, superseded_by: str | None = None) -> Pattern:
    return known.replace(
        status=PatternStatus.DEPRECATED,
        status_since=now,
        deprecation_reason=reason,
        links=known.links.replace(superseded_by=superseded_by or known.links.superseded_by),
        updated_at=now,
    )


def begun(cause: str) -> dict[str, object]:
    """What the log says of a pattern that came in."""
    return {"cause": cause, "to": PatternStatus.CANDIDATE.value}


def begun_anew(pattern: Pattern, now: datetime) -> Pattern:
    """As a candidate whose evidence starts at nothing."""
    fresh = Evidence(generation=pattern.evidence.generation + 1, began_at=now)
    since = pattern.status_since if pattern.status is PatternStatus.CANDIDATE else now
    return pattern.replace(status=PatternStatus.CANDIDATE, status_since=since, evidence=fresh)


def instantiated(pattern: Pattern, values: Mapping[str, object]) -> tuple[Subtask, ...]:
    """The subtasks of a template; nothing else has any."""
    if not isinstance(pattern.content, Template):
        raise InvalidInput(f"pattern {pattern.id!r} is a {pattern.content.form}; only a template is made into subtasks")
    return instantiate(pattern.content, values)


def _living(tx: Transaction, id: str) -> Pattern:
    known = stored_pattern(tx, id)
    if known.status is PatternStatus.DEPRECATED:
        told = f": {known.deprecation_reason}" if known.deprecation_reason else ""
        raise InvalidInput(f"pattern {id!r} is deprecated{told}; add a new one instead")
    return known


def _refuse_unknown(fields: dict[str, Any]) -> None:
    if unknown := sorted(fields.keys() - TOLD):
        raise InvalidInput(f"{', '.join(unknown)} cannot be set; say {', '.join(sorted(TOLD))}")


def _refuse_as_successor(successor: Pattern, known: Pattern) -> None:
    if successor.id == known.id:
        raise InvalidInput(f"pattern {known.id!r} cannot take its own place; name another one")


def _moved(before: Pattern, after: Pattern, cause: Cause) -> dict[str, object]:
    if (before.status, before.evidence.generation) == (after.status, after.evidence.generation):
        return {}
    assert before.status is after.status or allowed(before.status, after.status, cause), f"{before} → {after}"
    return {
        "cause": cause.value,
        "from": before.status.value,
        "to": after.status.value,
        "generation": after.evidence.generation,
    }


def _deprecation(known: Pattern, reason: str) -> dict[str, object]:
    return {
        "cause": Cause.DEPRECATION.value,
        "from": known.status.value,
        "to": PatternStatus.DEPRECATED.value,
        "reason": reason,
        "sessions": known.evidence.sessions,
        "success_rate": known.evidence.success_rate,
    }
