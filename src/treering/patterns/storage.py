"""Adds, reads and changes single patterns. Every change keeps the version before it."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from treering.core.errors import InvalidInput, NotFound
from treering.core.history import Action
from treering.core.patterns import RESERVED_METADATA, Evidence, Pattern, PatternStatus, Template, TemplateSubtask
from treering.core.queries import Order, RevisionFilter
from treering.core.scope import Scope
from treering.core.values import EMPTY, FrozenDict, thaw
from treering.patterns.audience import is_personal
from treering.patterns.lifecycle import Cause, with_status
from treering.patterns.provenance import MINED
from treering.patterns.templates import check_content, instantiate
from treering.ports.clock import NewId
from treering.ports.store import Store, Transaction

EDITABLE_FIELDS = frozenset(
    {
        *("name", "category", "summary", "description", "explanation", "applicability", "content", "guidance"),
        *("links", "visibility", "metadata"),
    }
)
"""Fields that a caller may set; status and evidence are derived."""
# A change of one of these resets the evidence.
_EVIDENCE_FIELDS = ("category", "applicability", "content")
_MAX_VERSIONS = 1_000


def add_pattern(scope: Scope, store: Store, now: datetime, new_id: NewId, *, id: str | None, **fields: Any) -> Pattern:
    """Store a new pattern as a candidate."""
    _check_fields(fields)
    _check_reserved(fields.get("metadata", EMPTY), EMPTY)
    pattern = Pattern.make(
        **fields, id=id or new_id(), owner=scope.principal, created_at=now, updated_at=now, status_since=now
    )
    check_content(pattern.content)
    return store.write(scope, now, lambda tx: tx.patterns.create(pattern, Action.CREATE, creation_detail("told")))


def stored_pattern(tx: Transaction, id: str) -> Pattern:
    """The pattern as stored, without uses counted on read, which may include personal ones; raises `NotFound`."""
    found = tx.patterns.get(id)
    if found is None or found.deleted_at is not None:
        raise NotFound(f"no pattern {id!r} in project {tx.scope.project!r}; `treering patterns list` shows them")
    return found


def earlier_versions(tx: Transaction, id: str) -> tuple[Pattern, ...]:
    """The versions before each change that was not undone, latest first."""
    where = RevisionFilter(subjects=(id,), kinds=("pattern",), undone=False)
    found = tx.revisions.find(where, order=Order(by="at"), limit=_MAX_VERSIONS).items
    return tuple(Pattern.from_json(each.before) for each in found if each.before)


def update_pattern(scope: Scope, store: Store, now: datetime, id: str, **changes: Any) -> Pattern:
    """Store a new version; a change of category, content or applicability resets the evidence."""
    _check_fields(changes)

    def update(tx: Transaction) -> Pattern:
        known, wanted = _active_pattern(tx, id), dict(changes)
        if "metadata" in wanted:
            wanted["metadata"] = _with_reserved(wanted["metadata"], known.metadata)
        changed, detail = apply_changes(known, now, wanted)
        return known if changed is None else tx.patterns.update(changed, Action.UPDATE, detail)

    return store.write(scope, now, update)


def apply_changes(
    known: Pattern, now: datetime, changes: Mapping[str, Any]
) -> tuple[Pattern | None, dict[str, object]]:
    """The changed pattern and the audit detail; None for the pattern if nothing differs."""
    changed = known.replace(**changes)
    if changed.to_json() == known.to_json():
        return None, {}
    if _differ(changed, known, ("content",)):
        check_content(changed.content)
        # Its content is no longer the mined one, so mining must not update it.
        metadata = {name: value for name, value in changed.metadata.items() if name != MINED}
        changed = changed.replace(metadata=FrozenDict(metadata))
    has_other_audience = is_personal(changed.visibility) is not is_personal(known.visibility)
    if has_other_audience:
        changed = _without_private_details(changed)
    if has_other_audience or _differ(changed, known, _EVIDENCE_FIELDS):
        changed = with_evidence_reset(changed, now)
    return changed.replace(updated_at=now), _transition_detail(known, changed, Cause.REFINEMENT)


def _differ(one: Pattern, other: Pattern, fields: Collection[str]) -> bool:
    """Compare as JSON, since 1 and True are equal in Python but differ as conditions."""
    return one.model_dump_json(include=set(fields)) != other.model_dump_json(include=set(fields))


def deprecate_pattern(
    scope: Scope, store: Store, now: datetime, id: str, reason: str, *, superseded_by: str | None = None
) -> Pattern:
    """Take a pattern out of use for good; the record, the reason and its successor are kept."""
    if not reason.strip():
        raise InvalidInput("the reason is empty; say why the pattern is deprecated")

    def deprecate(tx: Transaction) -> Pattern:
        known = _active_pattern(tx, id)
        if superseded_by is not None:
            _check_successor(_active_pattern(tx, superseded_by), known)
        return tx.patterns.update(
            deprecated(known, now, reason, superseded_by), Action.UPDATE, _deprecation_detail(known, reason)
        )

    return store.write(scope, now, deprecate)


def deprecated(known: Pattern, now: datetime, reason: str, superseded_by: str | None = None) -> Pattern:
    return with_status(known, PatternStatus.DEPRECATED, Cause.DEPRECATION, now).replace(
        deprecation_reason=reason,
        links=known.links.replace(superseded_by=superseded_by or known.links.superseded_by),
        updated_at=now,
    )


def creation_detail(cause: str) -> dict[str, object]:
    """Audit detail of a new pattern."""
    return {"cause": cause, "to": PatternStatus.CANDIDATE.value}


def with_evidence_reset(pattern: Pattern, now: datetime) -> Pattern:
    """The pattern as a candidate without evidence; its number of tests is kept."""
    known = pattern.evidence
    fresh = Evidence(generation=max(known.generation, known.highest) + 1, began_at=now, tests=known.tests)
    return with_status(pattern, PatternStatus.CANDIDATE, Cause.REFINEMENT, now).replace(evidence=fresh)


def _without_private_details(pattern: Pattern) -> Pattern:
    """The pattern without the episodes it was mined from and its uses, which its new readers may not see."""
    metadata = pattern.metadata
    mined = metadata.get(MINED)
    if isinstance(mined, Mapping):
        public = {name: value for name, value in mined.items() if name not in ("supporting", "counter")}
        metadata = FrozenDict({**metadata, MINED: public})
    return pattern.replace(metadata=metadata, usage_count=0, last_used_at=None)


def subtasks_of(pattern: Pattern, values: Mapping[str, object]) -> tuple[TemplateSubtask, ...]:
    """The subtasks of a template; raises `InvalidInput` for other content."""
    if not isinstance(pattern.content, Template):
        raise InvalidInput(f"pattern {pattern.id!r} is a {pattern.content.form}; only templates can be instantiated")
    return instantiate(pattern.content, values)


def _active_pattern(tx: Transaction, id: str) -> Pattern:
    known = stored_pattern(tx, id)
    if known.status is PatternStatus.DEPRECATED:
        reason = f": {known.deprecation_reason}" if known.deprecation_reason else ""
        raise InvalidInput(f"pattern {id!r} is deprecated{reason}; add a new one instead")
    return known


def _check_fields(fields: dict[str, Any]) -> None:
    if unknown := sorted(fields.keys() - EDITABLE_FIELDS):
        raise InvalidInput(f"{', '.join(unknown)} cannot be set; the fields are {', '.join(sorted(EDITABLE_FIELDS))}")


def _with_reserved(given: Any, known: Mapping[str, Any]) -> Any:
    """The given metadata with the reserved keys of the stored pattern."""
    _check_reserved(given, known)
    return (
        {**given, **{name: known[name] for name in RESERVED_METADATA & known.keys()}}
        if isinstance(given, Mapping)
        else given
    )


def _check_reserved(given: Any, known: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` for a change of reserved keys: evidence is counted by them."""
    reserved = RESERVED_METADATA & given.keys() if isinstance(given, Mapping) else frozenset[str]()
    if wrong := sorted(name for name in reserved if name not in known or thaw(given[name]) != thaw(known[name])):
        raise InvalidInput(f"metadata {', '.join(wrong)} is reserved for the origin of a pattern; leave it out")


def _check_successor(successor: Pattern, known: Pattern) -> None:
    if successor.id == known.id:
        raise InvalidInput(f"pattern {known.id!r} cannot supersede itself; name another pattern")


def _transition_detail(before: Pattern, after: Pattern, cause: Cause) -> dict[str, object]:
    if (before.status, before.evidence.generation) == (after.status, after.evidence.generation):
        return {}
    return {
        "cause": cause.value,
        "from": before.status.value,
        "to": after.status.value,
        "generation": after.evidence.generation,
    }


def _deprecation_detail(known: Pattern, reason: str) -> dict[str, object]:
    return {
        "cause": Cause.DEPRECATION.value,
        "from": known.status.value,
        "to": PatternStatus.DEPRECATED.value,
        "reason": reason,
        "sessions": known.evidence.sessions,
        "success_rate": known.evidence.success_rate,
    }
