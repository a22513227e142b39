"""Where things stand when a session begins or goes on, and what waits for a person's eye."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from treering.context.rules import standing_rules
from treering.core.episodes import Episode
from treering.core.errors import InvalidInput
from treering.core.queries import EpisodeFilter, KnowledgeFilter
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.ports.store import Store, Transaction

_KEPT, _IN_PROGRESS, _RULES = 20, 3, 10
"""Of each as many as a model takes in at once; more is found by a search."""

_STANDING = KnowledgeFilter(deprecated=False, flagged=False)
_TRUSTED = _STANDING.replace(tainted=False)
_REVIEW_FILTERS = tuple(
    KnowledgeFilter(deprecated=False, **{state: True}) for state in ("flagged", "needs_review", "tainted", "stale")
)


@dataclass(frozen=True, slots=True)
class Briefing:
    """What this session kept, what earlier ones left in progress, the rules that stand, and the latest tasks.

    What is tainted is never among the rules. `untold` counts what else the session kept, `rules_left_out` the rules
    that apply beside those.
    """

    kept: tuple[Knowledge, ...]
    in_progress: tuple[Knowledge, ...]
    rules: tuple[Knowledge, ...]
    episodes: tuple[Episode, ...]
    untold: int = 0
    rules_left_out: int = 0


def briefing(
    scope: Scope, store: Store, now: datetime, session: str | None, episodes: int, *, tainted: bool = False
) -> Briefing:
    """Without what is tainted; with it, if asked for, among what the session kept and the latest tasks."""
    if episodes < 0:
        raise InvalidInput(f"episodes is {episodes}; ask for none (0) or more")
    with store.reading(scope, now) as tx:
        seen = _STANDING if tainted else _TRUSTED
        own = seen.replace(sessions=(session,)) if session is not None else None
        done = EpisodeFilter(tainted=None if tainted else False)
        kept = () if own is None else _newest(tx, [own], _KEPT)
        work = _newest(tx, [_TRUSTED.replace(types=("work_state",))], _IN_PROGRESS)
        applying = standing_rules(tx)
        rules = applying[:_RULES]
        return Briefing(
            kept=kept,
            in_progress=tuple(each for each in work if each not in kept),
            rules=rules,
            episodes=tuple(match.value for match in tx.episodes.newest(done, limit=episodes)) if episodes else (),
            rules_left_out=len(applying) - len(rules),
            untold=0 if own is None or len(kept) < _KEPT else _untold(tx, own, (*kept, *work, *rules)),
        )


def _untold(tx: Transaction, own: KnowledgeFilter, told: Iterable[Knowledge]) -> int:
    """How many records of the session are among none of those."""
    return tx.knowledge.count(own) - tx.knowledge.count(own.replace(ids=tuple({each.id for each in told})))


def to_review(scope: Scope, store: Store, now: datetime, limit: int) -> tuple[Knowledge, ...]:
    """Records that somebody doubts, that were learned and not yet confirmed, came from outside, or grew stale."""
    if limit < 1:
        raise InvalidInput(f"limit is {limit}; ask for at least one record")
    with store.reading(scope, now) as tx:
        return _newest(tx, _REVIEW_FILTERS, limit)


def _newest(tx: Transaction, filters: Iterable[KnowledgeFilter], limit: int) -> tuple[Knowledge, ...]:
    """The newest that pass the first filter, then those of the next, each once."""
    found = {match.value.id: match.value for where in filters for match in tx.knowledge.newest(where, limit=limit)}
    return tuple(found.values())[:limit]
