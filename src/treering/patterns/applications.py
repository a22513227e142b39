"""A pattern was used: what came of it becomes evidence, once for each episode."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

from treering.core.episodes import Episode
from treering.core.errors import InvalidInput, NotFound
from treering.core.history import Action
from treering.core.patterns import Application, Pattern
from treering.core.queries import AuditFilter, Order
from treering.core.scope import Scope, Visibility
from treering.core.task_features import features_of_episode
from treering.patterns.mining.conformance import Followed, Reading, followed, mined_of
from treering.patterns.mining.limits import MiningLimits
from treering.patterns.storage import stored_pattern
from treering.ports.clock import NewId
from treering.ports.store import Store, Transaction

_NARROWEST_FIRST = tuple(Visibility)
STORED = (Action.CREATE, Action.IMPORT)
# Clocks differ, and so do the days of two time zones.
_TOLERANCE = timedelta(days=1)


def record_application(
    scope: Scope,
    store: Store,
    now: datetime,
    new_id: NewId,
    id: str,
    *,
    episode: str | None,
    settings: MiningLimits,
    **known: Any,
) -> Application:
    """Keep it; where the same was told before, that stands and is returned.

    Of a mined pattern, what came of it is what it claims, as `following` has it. Refused is what would prove a pattern
    by itself, an episode that was stored before it took its present form, and what has not happened yet.
    """
    given = {name: value for name, value in known.items() if value is not None}

    def record(tx: Transaction) -> Application:
        pattern = stored_pattern(tx, id)
        if episode is not None:
            told = episode_of(tx, episode)
            before = tx.applications.get(application_id(id, episode))
            return before or _kept(tx, _applied_as_told(tx, pattern, told, given, settings))
        if "outcome" not in given:
            raise InvalidInput("say what came of it: an outcome (SUCCESS, PARTIAL, FAILURE), or the episode that tells")
        return _kept(tx, _applied_alone(scope, now, new_id, pattern, given))

    return store.write(scope, now, record)


def _kept(tx: Transaction, application: Application) -> Application:
    """As it is stored."""
    if application.at > tx.now + _TOLERANCE:
        raise InvalidInput(f"{application.at:%Y-%m-%d} lies in the future; say when the pattern was applied")
    tx.applications.add(application)
    return tx.applications.get(application.id) or application


def _applied_as_told(
    tx: Transaction, pattern: Pattern, episode: Episode, given: Mapping[str, Any], settings: MiningLimits
) -> Application:
    stored = stored_at(tx, episode.id)
    if stored is None or not tells_of(pattern, stored):
        raise InvalidInput(
            f"episode {episode.id!r} was stored before pattern {pattern.id!r} took its present form, and may have "
            "shaped it; tell of episodes that came after"
        )
    done = followed(pattern, Reading.of(episode, settings), settings)
    if done is None and mined_of(pattern) is not None and "outcome" not in given:
        raise InvalidInput(
            f"episode {episode.id!r} did not do what pattern {pattern.id!r} says; give an `outcome` if it was used "
            "all the same"
        )
    return applied_in(pattern, episode, **{**({} if done is None else claimed(done)), **given})


def claimed(done: Followed) -> dict[str, Any]:
    """What came of a mined pattern, in its own terms."""
    saved = {} if done.time_saved_ms is None else {"time_saved_ms": done.time_saved_ms}
    return {"outcome": done.outcome, **saved}


def began(pattern: Pattern) -> datetime:
    """From when on episodes say something about it as it is now."""
    return pattern.evidence.began_at or pattern.created_at


def tells_of(pattern: Pattern, stored: datetime) -> bool:
    """Whether an episode that was stored then says something about a pattern as it is now.

    What it was found in, or narrowed by, was stored up to the moment it began. Who told it looked at nothing.
    """
    return stored > began(pattern) if pattern.evidence.began_at else stored >= began(pattern)


def stored_at(tx: Transaction, id: str) -> datetime | None:
    """When an episode came into the store, whenever it happened."""
    log = tx.audit.find(AuditFilter(subjects=(id,), kinds=("episode",), actions=STORED), order=Order(by="at"), limit=1)
    return log.items[0].at if log.items else None


def episode_of(tx: Transaction, id: str) -> Episode:
    found = tx.episodes.get_complete(id)
    if found is None or found.deleted_at is not None:
        raise NotFound(f"no episode {id!r} in project {tx.scope.project!r}; `treering episodes` finds ids")
    return found


def application_id(pattern: str, episode: str) -> str:
    """The same for the same two: an episode that is told twice counts once."""
    return blake2b(f"{pattern}\0{episode}".encode(), digest_size=16).hexdigest()


def applied_in(pattern: Pattern, episode: Episode, **known: Any) -> Application:
    """An application as its episode tells it; what is `known` besides goes before that.

    Its task type is the one that the episode is stored under, so that base rates, which are counted by that, compare
    like with like.
    """
    told = {
        "session": episode.session,
        "at": episode.at,
        "outcome": episode.outcome.status,
        "task_type": episode.metadata.task_type,
        "features": features_of_episode(episode),
        **known,
    }
    return Application.make(
        id=application_id(pattern.id, episode.id),
        pattern=pattern.id,
        episode=episode.id,
        evidence=pattern.evidence.generation,
        owner=pattern.owner if pattern.visibility is Visibility.PERSONAL else episode.owner,
        visibility=min((pattern.visibility, episode.visibility), key=_NARROWEST_FIRST.index),
        **told,
    )


def _applied_alone(
    scope: Scope, now: datetime, new_id: NewId, pattern: Pattern, known: Mapping[str, Any]
) -> Application:
    """An application that nobody kept an episode of."""
    features = known.get("features") or {}
    if not isinstance(features, Mapping):
        raise InvalidInput("features are a mapping of names to values; `features_of` makes them from a task's words")
    return Application.make(
        id=new_id(),
        pattern=pattern.id,
        evidence=pattern.evidence.generation,
        owner=pattern.owner if pattern.visibility is Visibility.PERSONAL else scope.principal,
        visibility=pattern.visibility,
        **{"at": now, "task_type": features.get("task_type"), **known},
    )
