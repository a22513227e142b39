"""Adds, reads and changes single patterns. Every change keeps the version before it."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from treering.core.errors import InvalidInput, NotFound
from treering.core.history import Action
from treering.core.patterns import Evidence, Pattern, PatternStatus, Template, TemplateSubtask
from treering.core.queries import Order, RevisionFilter
from treering.core.scope import Scope
from treering.core.values import EMPTY, FrozenDict, thaw
from treering.patterns.audience import is_personal
from treering.patterns.lifecycle import Cause, moved
from treering.patterns.mining.findings import MINED
from treering.patterns.templates import instantiate, refuse_broken
from treering.ports.clock import NewId
from treering.ports.store import Store, Transaction

TOLD = frozenset(
    {
        *("name", "category", "summary", "description", "explanation", "applicability", "content", "guidance"),
        *("links", "visibility", "metadata"),
    }
)
"""What a person says of a pattern; its status and its evidence are earned."""
RESERVED = frozenset({MINED, "imported", "merged_from"})
"""Of the metadata, what is known of where a pattern came from."""
# Where one of these changes, it is another pattern as far as evidence goes.
_PROVEN = ("category", "applicability", "content")
_MOST_VERSIONS = 1_000


def add_pattern(scope: Scope, store: Store, now: datetime, new_id: NewId, *, id: str | None, **fields: Any) -> Pattern:
    """Keep a new pattern. It starts as a candidate, whoever says that it works."""
    _refuse_unknown(fields)
    _refuse_reserved(fields.get("metadata", EMPTY), EMPTY)
    made = Pattern.make(
        **fields, id=id or new_id(), owner=scope.principal, created_at=now, updated_at=now, status_since=now
    )
    refuse_broken(made.content)
    return store.write(scope, now, lambda tx: tx.patterns.create(made, Action.CREATE, begun("told")))


def stored_pattern(tx: Transaction, id: str) -> Pattern:
    """As it is stored: what is changed and kept, so that nobody's own uses are written into what all see."""
    found = tx.patterns.get(id)
    if found is None or found.deleted_at is not None:
        raise NotFound(f"no pattern {id!r} in project {tx.scope.project!r}; `treering patterns list` shows them")
    return found


def earlier_versions(tx: Transaction, id: str) -> tuple[Pattern, ...]:
    """How it was before each change that was not undone, the latest first."""
    where = RevisionFilter(subjects=(id,), kinds=("pattern",), undone=False)
    found = tx.revisions.find(where, order=Order(by="at"), limit=_MOST_VERSIONS).items
    return tuple(Pattern.from_json(each.before) for each in found if each.before)


def update_pattern(scope: Scope, store: Store, now: datetime, id: str, **changes: Any) -> Pattern:
    """A new version. One that does or applies to something else has to prove itself anew."""
    _refuse_unknown(changes)

    def update(tx: Transaction) -> Pattern:
        known, wanted = _living(tx, id), dict(changes)
        if "metadata" in wanted:
            wanted["metadata"] = _with_reserved(wanted["metadata"], known.metadata)
        changed, detail = changed_to(known, now, wanted)
        return known if changed is None else tx.patterns.update(changed, Action.UPDATE, detail)

    return store.write(scope, now, update)


def changed_to(known: Pattern, now: datetime, changes: Mapping[str, Any]) -> tuple[Pattern | None, dict[str, object]]:
    """A pattern after a change, and what the log says of it; no pattern where nothing differs."""
    changed = known.replace(**changes)
    if changed.to_json() == known.to_json():
        return None, {}
    if _differ(changed, known, ("content",)):
        refuse_broken(changed.content)
        # What it does now was told, not found: mining leaves it alone.
        said = {name: value for name, value in changed.metadata.items() if name != MINED}
        changed = changed.replace(metadata=FrozenDict(said))
    has_other_audience = is_personal(changed.visibility) is not is_personal(known.visibility)
    if has_other_audience:
        changed = _shown_to_others(changed)
    if has_other_audience or _differ(changed, known, _PROVEN):
        changed = begun_anew(changed, now)
    return changed.replace(updated_at=now), _moved(known, changed, Cause.REFINEMENT)


def _differ(one: Pattern, other: Pattern, fields: Collection[str]) -> bool:
    """By what is written: a condition on 1 is not one on true, whatever Python calls equal."""
    return one.model_dump_json(include=set(fields)) != other.model_dump_json(include=set(fields))


def deprecate_pattern(
    scope: Scope, store: Store, now: datetime, id: str, reason: str, *, superseded_by: str | None = None
) -> Pattern:
    """Take a pattern out of use for good. It is kept, with the reason and whatever takes its place."""
    if not reason.strip():
        raise InvalidInput("say why it is taken out of use: that is kept with it")

    def deprecate(tx: Transaction) -> Pattern:
        known = _living(tx, id)
        if superseded_by is not None:
            _refuse_as_successor(_living(tx, superseded_by), known)
        return tx.patterns.update(
            deprecated(known, now, reason, superseded_by), Action.UPDATE, _deprecation(known, reason)
        )

    return store.write(scope, now, deprecate)


def deprecated(known: Pattern, now: datetime, reason: str, superseded_by: str | None = None) -> Pattern:
    return moved(known, PatternStatus.DEPRECATED, Cause.DEPRECATION, now).replace(
        deprecation_reason=reason,
        links=known.links.replace(superseded_by=superseded_by or known.links.superseded_by),
        updated_at=now,
    )


def begun(cause: str) -> dict[str, object]:
    """What the log says of a pattern that came in."""
    return {"cause": cause, "to": PatternStatus.CANDIDATE.value}


def begun_anew(pattern: Pattern, now: datetime) -> Pattern:
    """As a candidate whose evidence starts at nothing; how often it was tested stays known."""
    known = pattern.evidence
    fresh = Evidence(generation=max(known.generation, known.highest) + 1, began_at=now, tests=known.tests)
    return moved(pattern, PatternStatus.CANDIDATE, Cause.REFINEMENT, now).replace(evidence=fresh)


def _shown_to_others(pattern: Pattern) -> Pattern:
    """Without what only those knew who saw it before: in which episodes it was found, and how often it was used."""
    found = pattern.metadata.get(MINED)
    metadata = pattern.metadata
    if isinstance(found, Mapping):
        kept = {name: value for name, value in found.items() if name not in ("supporting", "counter")}
        metadata = FrozenDict({**metadata, MINED: kept})
    return pattern.replace(metadata=metadata, usage_count=0, last_used_at=None)


def instantiated(pattern: Pattern, values: Mapping[str, object]) -> tuple[TemplateSubtask, ...]:
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


def _with_reserved(told: Any, known: Mapping[str, Any]) -> Any:
    """What somebody says of a pattern, and what is known of where it came from: that stays."""
    _refuse_reserved(told, known)
    return {**told, **{name: known[name] for name in RESERVED & known.keys()}} if isinstance(told, Mapping) else told


def _refuse_reserved(told: Any, known: Mapping[str, Any]) -> None:
    """Evidence is counted by what stands there, so that nobody but who found, merged or imported it writes it."""
    given = RESERVED & told.keys() if isinstance(told, Mapping) else frozenset[str]()
    if wrong := sorted(name for name in given if name not in known or thaw(told[name]) != thaw(known[name])):
        raise InvalidInput(f"{', '.join(wrong)} of metadata tells where a pattern came from; leave it out")


def _refuse_as_successor(successor: Pattern, known: Pattern) -> None:
    if successor.id == known.id:
        raise InvalidInput(f"pattern {known.id!r} cannot take its own place; name another one")


def _moved(before: Pattern, after: Pattern, cause: Cause) -> dict[str, object]:
    if (before.status, before.evidence.generation) == (after.status, after.evidence.generation):
        return {}
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
