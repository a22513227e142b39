"""Review of a session: what it used of the memory, what was learned from it, and what a person should decide."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.core.errors import NotFound
from treering.core.injections import ItemOutcome
from treering.core.queries import InjectedItemFilter, KnowledgeFilter, Order
from treering.core.records import Source
from treering.core.trust import TrustLevel
from treering.observe.promotion.rates import is_rejected
from treering.observe.trust import trust_level

if TYPE_CHECKING:
    from treering.core.injections import InjectedItem
    from treering.core.records import Knowledge
    from treering.ports.store import Transaction

MAX_REVIEWED = 200  # records of one review; the next review has the rest
_MAX_ITEMS = 1_000
_WAITING = tuple(
    KnowledgeFilter(deprecated=False, **{state: True}) for state in ("flagged", "needs_review", "tainted", "stale")
)
_OBSERVED = KnowledgeFilter(deprecated=False, user_verified=False, sources=(Source.OBSERVER_INFERRED,))


@dataclass(frozen=True, slots=True)
class SessionReview:
    """What a session was given and used, and the records that wait for a decision.

    `learned` are trusted records, `tainted` those from outside. `not_shown` counts new records that the project's trust
    `level` does not ask about. Without a session, both hold what waits or was observed, the newest session first.
    """

    session: str | None
    level: TrustLevel
    given: tuple[InjectedItem, ...]
    learned: tuple[Knowledge, ...]
    tainted: tuple[Knowledge, ...]
    not_shown: int = 0

    @property
    def used(self) -> tuple[InjectedItem, ...]:
        """The items that the session used."""
        return tuple(each for each in self.given if each.outcome is ItemOutcome.USED)

    @property
    def tokens(self) -> int:
        """Tokens of everything that the session was given."""
        return sum(each.tokens for each in self.given)

    @property
    def confirms_all(self) -> bool:
        """Whether to confirm all is the default answer for `learned`: from the level standard on."""
        return self.level is not TrustLevel.CAUTIOUS


def waiting_records(tx: Transaction, limit: int) -> tuple[Knowledge, ...]:
    """Flagged, unconfirmed, tainted and stale records, in this order; the newest of each first."""
    found = {match.value.id: match.value for where in _WAITING for match in tx.knowledge.newest(where, limit=limit)}
    return tuple(found.values())[:limit]


def review_of(tx: Transaction, session: str | None, *, every: bool = False) -> SessionReview:
    """The review of a session, or of all sessions; `every` includes what the trust level leaves out.

    Cautious and standard projects are asked about every new record, confident ones about those that need a review,
    autonomous ones about none. Raises `NotFound` if nothing is known about the session.
    """
    level = trust_level(tx)
    given = () if session is None else _given(tx, session)
    new = _waiting_or_observed(tx) if session is None else _new_records(tx, session)
    if session is not None and not given and not new and tx.observed_sessions.get(session) is None:
        raise NotFound(
            f"no observed session with id {session!r} in project {tx.scope.project!r}; `treering sessions` lists them"
        )
    shown = [each for each in new if every or _is_asked(each, level)]
    ordered = _newest_session_first(shown)
    return SessionReview(
        session,
        level,
        given,
        learned=tuple(each for each in ordered if not each.tainted),
        tainted=tuple(each for each in ordered if each.tainted),
        not_shown=len(new) - len(shown),
    )


def _is_asked(record: Knowledge, level: TrustLevel) -> bool:
    if level is TrustLevel.AUTONOMOUS:
        return False
    return level is not TrustLevel.CONFIDENT or record.needs_review or record.tainted or record.flagged


def _given(tx: Transaction, session: str) -> tuple[InjectedItem, ...]:
    where, order = InjectedItemFilter.make(sessions=(session,)), Order(by="injected_at", descending=False)
    return tx.injected_items.find(where, order=order, limit=_MAX_ITEMS).items


def _new_records(tx: Transaction, session: str) -> tuple[Knowledge, ...]:
    """Records that the session created, promoted or recorded, that no person has judged."""
    observed = tx.observed_sessions.get(session)
    promoted = tx.knowledge.get_many(observed.promoted_ids if observed else ()).values()
    recorded = tx.knowledge.newest(KnowledgeFilter.make(sessions=(session,), deprecated=False), limit=MAX_REVIEWED)
    found = {each.id: each for each in (*promoted, *(match.value for match in recorded))}
    return tuple(each for each in found.values() if not each.is_from_person and (each.flagged or not is_rejected(each)))


def _waiting_or_observed(tx: Transaction) -> tuple[Knowledge, ...]:
    """Everything that waits, and what was learned from sessions of agents and no person has judged."""
    observed = (match.value for match in tx.knowledge.newest(_OBSERVED, limit=MAX_REVIEWED))
    found = {each.id: each for each in (*waiting_records(tx, MAX_REVIEWED), *observed)}
    return tuple(found.values())[:MAX_REVIEWED]


def _newest_session_first(records: Iterable[Knowledge]) -> list[Knowledge]:
    by_age = sorted(records, key=lambda each: (each.created_at, each.id), reverse=True)
    sessions = {each.session: place for place, each in reversed(list(enumerate(by_age)))}
    return sorted(by_age, key=lambda each: (each.session is None, sessions[each.session]))
