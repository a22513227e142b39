"""Finds become candidates: all episodes are searched, and what is found is kept under its key."""

from collections.abc import Iterable
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import Any

from treering.core.errors import Conflict
from treering.core.history import Action
from treering.core.patterns import Evidence, Pattern, PatternStatus
from treering.core.queries import EpisodeFilter
from treering.core.scope import Scope
from treering.core.values import FrozenDict
from treering.patterns.audience import Audience, audiences
from treering.patterns.mining.candidates import mine
from treering.patterns.mining.conformance import mined_of
from treering.patterns.mining.findings import MINED, Mined
from treering.patterns.mining.limits import MiningLimits
from treering.patterns.storage import begun
from treering.ports.store import Store, Transaction

PAGE_EPISODES = 100  # new episodes compared with mined patterns between two commits: the most that a crash costs

# What was moved to the blob store is older than half a year, and what others planted proves nothing.
_SEARCHED = EpisodeFilter(cold=False, tainted=False)
_TOLD = (
    *("name", "summary", "steps", "support", "against", "sessions", "sessions_for", "base_rate", "lift"),
    *("saved_ms", "saved_steps", "usual_ms", "usual_steps", "supporting", "counter"),
)
"""Of what was found, what the pattern has no place for, or may say otherwise one day."""


def mine_patterns(
    scope: Scope, store: Store, now: datetime, settings: MiningLimits, *, dry_run: bool = False
) -> tuple[Mined, ...]:
    """Search what is shared, and apart from it what is the principal's own; what was found is returned."""
    found = list[Mined]()
    for audience in audiences(scope):
        candidates = _candidates(audience, store, now, settings)
        if not dry_run:
            keep_mined(audience, store, now, candidates, settings)
        found += candidates
    return tuple(found)


def _candidates(audience: Audience, store: Store, now: datetime, settings: MiningLimits) -> list[Mined]:
    with store.reading(audience.scope, now) as tx:
        own = (each for each in tx.episodes.stream(_SEARCHED) if audience.owns(each.visibility))
        found = mine(own, settings).candidates
    return [each.replace(key=_own_key(audience, each.key)) for each in found]


def _own_key(audience: Audience, key: str) -> str:
    """Two people who find the same for themselves do not learn of each other by its name."""
    if not audience.personal:
        return key
    digest = blake2b(f"{key}\0{audience.scope.principal}".encode(), digest_size=12)
    return f"{MINED}-{digest.hexdigest()}"


def keep_mined(audience: Audience, store: Store, now: datetime, found: Iterable[Mined], settings: MiningLimits) -> None:
    """As candidates, or as what is newly known of patterns that were found before."""
    waiting = iter(found)
    while batch := list(islice(waiting, PAGE_EPISODES)):
        with store.transaction(audience.scope, now) as tx:
            for mined in batch:
                _keep(tx, audience, mined)


def _keep(tx: Transaction, audience: Audience, mined: Mined) -> None:
    known = tx.patterns.get(mined.key)
    try:
        if known is None:
            tx.patterns.create(_pattern(tx, audience, mined), Action.CREATE, begun(MINED))
        elif _is_as_found(known) and audience.owns(known.visibility):
            _bring_up_to_date(tx, known, mined)
    except Conflict:
        # Somebody else keeps or changes it at this moment; the next night finds it again.
        return


def _is_as_found(known: Pattern) -> bool:
    """What was taken out of use stays so, and what somebody made his own is left to him."""
    return known.status is not PatternStatus.DEPRECATED and known.deleted_at is None and mined_of(known) is not None


def _bring_up_to_date(tx: Transaction, known: Pattern, mined: Mined) -> None:
    before = mined_of(known) or {}
    metadata = FrozenDict({**known.metadata, MINED: _found(mined)})
    # A person or a model may have told it better.
    summary = mined.summary if known.summary == before.get("summary") else known.summary
    if (metadata, summary) != (known.metadata, known.summary):
        tx.patterns.note(known.replace(metadata=metadata, summary=summary))


def _pattern(tx: Transaction, audience: Audience, mined: Mined) -> Pattern:
    return Pattern.make(
        id=mined.key,
        name=mined.name,
        category=mined.category,
        summary=mined.summary,
        content=mined.content,
        applicability=mined.applicability,
        evidence=Evidence(began_at=tx.now),
        metadata={MINED: _found(mined)},
        owner=audience.scope.principal,
        visibility=audience.visibility,
        status_since=tx.now,
        created_at=tx.now,
        updated_at=tx.now,
    )


def _found(mined: Mined) -> dict[str, Any]:
    told = {name: getattr(mined, name) for name in _TOLD}
    return {name: value for name, value in told.items() if value is not None}
