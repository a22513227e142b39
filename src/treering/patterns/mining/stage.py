"""Mining of stored episodes: candidates are stored as patterns under their keys."""

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
from treering.core.settings.mining import MiningSettings
from treering.core.values import FrozenDict
from treering.patterns.audience import Audience, audiences
from treering.patterns.mining.candidates import mine
from treering.patterns.mining.conformance import mined_of
from treering.patterns.mining.findings import MinedPattern
from treering.patterns.provenance import MINED
from treering.patterns.storage import creation_detail
from treering.ports.store import Store, Transaction

# Cold episodes are older than half a year; tainted ones prove nothing.
_MINED_EPISODES = EpisodeFilter(cold=False, tainted=False)
_METADATA_FIELDS = (
    *("name", "summary", "steps", "support", "against", "sessions", "sessions_for", "base_rate", "lift"),
    *("saved_ms", "saved_steps", "usual_ms", "usual_steps", "supporting", "counter"),
)
"""Fields stored in the metadata: those that a pattern lacks, or that may be edited later."""


def mine_patterns(
    scope: Scope, store: Store, now: datetime, settings: MiningSettings, *, dry_run: bool = False
) -> tuple[MinedPattern, ...]:
    """Mine shared episodes and, separately, personal ones; returns the candidates."""
    found = list[MinedPattern]()
    for audience in audiences(scope):
        candidates = _candidates(audience, store, now, settings)
        if not dry_run:
            store_candidates(audience, store, now, candidates, settings)
        found += candidates
    return tuple(found)


def _candidates(audience: Audience, store: Store, now: datetime, settings: MiningSettings) -> list[MinedPattern]:
    with store.reading(audience.scope, now) as tx:
        own = (each for each in tx.episodes.stream(_MINED_EPISODES) if audience.owns(each.visibility))
        found = mine(own, settings).candidates
    return [each.replace(key=_audience_key(audience, each.key)) for each in found]


def _audience_key(audience: Audience, key: str) -> str:
    """Include the principal in the key of a personal pattern, so that it does not reveal patterns of others."""
    if not audience.personal:
        return key
    digest = blake2b(f"{key}\0{audience.scope.principal}".encode(), digest_size=12)
    return f"{MINED}-{digest.hexdigest()}"


def store_candidates(
    audience: Audience, store: Store, now: datetime, found: Iterable[MinedPattern], settings: MiningSettings
) -> None:
    """Store new candidates, and update patterns that were mined before."""
    pending = iter(found)
    while batch := list(islice(pending, settings.page)):
        with store.transaction(audience.scope, now) as tx:
            for mined in batch:
                _store(tx, audience, mined)


def _store(tx: Transaction, audience: Audience, mined: MinedPattern) -> None:
    known = tx.patterns.get(mined.key)
    try:
        if known is None:
            tx.patterns.create(_pattern(tx, audience, mined), Action.CREATE, creation_detail(MINED))
        elif _is_updatable(known) and audience.owns(known.visibility):
            _update(tx, known, mined)
    except Conflict:
        # Another transaction changes it at the same time; the next run finds it again.
        return


def _is_updatable(known: Pattern) -> bool:
    """Whether mining may update the pattern: not if it is deprecated, deleted or its content was edited."""
    return known.status is not PatternStatus.DEPRECATED and known.deleted_at is None and mined_of(known) is not None


def _update(tx: Transaction, known: Pattern, mined: MinedPattern) -> None:
    before = mined_of(known) or {}
    metadata = FrozenDict({**known.metadata, MINED: _metadata(mined)})
    # Keep a summary that was edited.
    summary = mined.summary if known.summary == before.get("summary") else known.summary
    if (metadata, summary) != (known.metadata, known.summary):
        tx.patterns.note(known.replace(metadata=metadata, summary=summary))


def _pattern(tx: Transaction, audience: Audience, mined: MinedPattern) -> Pattern:
    return Pattern.make(
        id=mined.key,
        name=mined.name,
        category=mined.category,
        summary=mined.summary,
        content=mined.content,
        applicability=mined.applicability,
        evidence=Evidence(began_at=tx.now),
        metadata={MINED: _metadata(mined)},
        owner=audience.scope.principal,
        visibility=audience.visibility,
        status_since=tx.now,
        created_at=tx.now,
        updated_at=tx.now,
    )


def _metadata(mined: MinedPattern) -> dict[str, Any]:
    values = {name: getattr(mined, name) for name in _METADATA_FIELDS}
    return {name: value for name, value in values.items() if value is not None}
