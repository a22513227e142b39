"""The trust level of a project: stored with the project, raised by what its sessions show."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from treering.audit import project_entry
from treering.core.history import Action
from treering.core.injections import ItemKind, ItemOutcome
from treering.core.project_settings import TRUST, ProjectSetting
from treering.core.queries import InjectedItemFilter, KnowledgeFilter, ObservedSessionFilter, Order, TimeRange
from treering.core.records import Source
from treering.core.trust import TrustEvidence, TrustLevel, next_level
from treering.observe.promotion.rates import is_rejected

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.ports.clock import NewId
    from treering.ports.store import Store, Transaction

_MAX_CONSIDERED = 200  # latest records, and latest items that sessions used: enough for a share of 5 %
_LEARNED = KnowledgeFilter(
    sources=(Source.OBSERVER_INFERRED, Source.AGENT_EXPLICIT, Source.QA_AUTO, Source.MCP_AUTO), deleted=None
)
"""Records that a person has to judge: not what people said themselves, nor what is computed from other records."""
_JUDGED = InjectedItemFilter(kinds=(ItemKind.KNOWLEDGE,), outcomes=(ItemOutcome.USED, ItemOutcome.CONTRADICTED))
_TRUST_CLAIM = "trust level of the project"
_ADVANCING = frozenset({TrustLevel.CAUTIOUS, TrustLevel.STANDARD})


def trust_level(tx: Transaction) -> TrustLevel:
    """The level of the project; a new project is cautious."""
    setting = tx.project_settings.get(TRUST)
    # An unknown level was stored by another release: the careful one is safe then.
    known = {each.value: each for each in TrustLevel}
    return TrustLevel.CAUTIOUS if setting is None else known.get(str(setting.values.get("level")), TrustLevel.CAUTIOUS)


def trust_since(tx: Transaction) -> datetime | None:
    """When the level was set or reached; None if it is the one that the project began with."""
    setting = tx.project_settings.get(TRUST)
    return None if setting is None else setting.changed_at


def trust_evidence(tx: Transaction) -> TrustEvidence:
    """What was counted since the level was set: sessions that began since, records that were stored or used since.

    A record that was flagged, corrected or forgotten is rejected; `flagged_in_last_session` counts those that the
    last session created or was given.
    """
    set_at = trust_since(tx)
    since = None if set_at is None else TimeRange.make(since=set_at)
    learned = [match.value for match in tx.knowledge.newest(_LEARNED.replace(created=since), limit=_MAX_CONSIDERED)]
    rejected = sum(1 for each in learned if is_rejected(each))
    confirmed = sum(1 for each in learned if each.user_verified and not is_rejected(each))
    judged = _JUDGED.replace(injected=since)
    items = tx.injected_items.find(judged, order=Order(by="injected_at"), limit=_MAX_CONSIDERED).items
    used = {each.item for each in items}
    contradicted = {each.item for each in items if each.outcome is ItemOutcome.CONTRADICTED}
    return TrustEvidence(
        sessions=tx.observed_sessions.count(ObservedSessionFilter(finished=True, started=since)),
        reviewed=rejected + confirmed,
        confirmed=confirmed,
        used=len(used),
        corrected=len(contradicted | _rejected(tx, used)),
        flagged_in_last_session=_flagged_in_last_session(tx, since),
    )


def set_trust(tx: Transaction, level: TrustLevel, new_id: NewId) -> None:
    """Store the level and note it in the audit log; evidence for the next one is counted from now on."""
    tx.claim(_TRUST_CLAIM)
    tx.project_settings.put_many([ProjectSetting.make(id=TRUST, changed_at=tx.now, values={"level": level.value})])
    tx.audit.create(project_entry(tx.scope, tx.now, new_id(), Action.UPDATE, trust=level.value))


def advance_trust(scope: Scope, store: Store, now: datetime, new_id: NewId) -> TrustLevel:
    """Raise the level by one step if its rule is met; return the level. Writes only if it changes."""
    with store.reading(scope, now) as tx:
        level, since = trust_level(tx), trust_since(tx)
        reached = next_level(level, trust_evidence(tx)) if level in _ADVANCING else level
    if reached is level:
        return level

    def advance(tx: Transaction) -> TrustLevel:
        tx.claim(_TRUST_CLAIM)
        if (trust_level(tx), trust_since(tx)) == (level, since):
            set_trust(tx, reached, new_id)
        return trust_level(tx)

    return store.write(scope, now, advance)


def _rejected(tx: Transaction, ids: set[str]) -> set[str]:
    known = tx.knowledge.get_many(ids)
    return {id for id in ids if is_rejected(known.get(id))}


def _flagged_in_last_session(tx: Transaction, since: TimeRange | None) -> int:
    where = ObservedSessionFilter(finished=True, started=since)
    latest = tx.observed_sessions.find(where, order=Order(by="started_at"), limit=1).items
    if not latest:
        return 0
    own = (latest[0].id,)
    created = tx.knowledge.newest(_LEARNED.replace(sessions=own), limit=_MAX_CONSIDERED)
    given = tx.injected_items.find(InjectedItemFilter(sessions=own, kinds=(ItemKind.KNOWLEDGE,)), limit=_MAX_CONSIDERED)
    rejected = {match.value.id for match in created if is_rejected(match.value)}
    return len(rejected | _rejected(tx, {each.item for each in given.items}))
