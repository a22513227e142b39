"""A pattern was used: what came of it becomes evidence, once for each episode."""

from collections.abc import Mapping
from datetime import datetime
from hashlib import blake2b
from typing import Any

from treering.core.episodes import Episode
from treering.core.errors import InvalidInput, NotFound
from treering.core.patterns import Application, Pattern
from treering.core.scope import Scope, Visibility
from treering.core.settings.mining import MiningSettings
from treering.core.task_features import features_of_episode
from treering.learn.patterns.keeping import stored_pattern
from treering.learn.patterns.mining.following import Reading, followed
from treering.ports.clock import NewId
from treering.ports.store import Store, Transaction

_NARROWEST_FIRST = tuple(Visibility)


def record_application(
    scope: Scope,
    store: Store,
    now: datetime,
    new_id: NewId,
    id: str,
    *,
    episode: str | None,
    settings: MiningSettings,
    **known: Any,
) -> Application:
    """Keep it; where the same was told before, that stands and is returned.

    Of a mined pattern, what came of it is what it claims, as `following` has it.
    """
    given = {name: value for name, value in known.items() if value is not None}
    with store.transaction(scope, now) as tx:
        pattern = stored_pattern(tx, id)
        if episode is not None:
            told = episode_of(tx, episode)
            done = followed(pattern, Reading.of(told, settings), settings)
            claimed = {} if done is None else {"outcome": done.outcome}
            return kept(tx, applied_in(pattern, told, **{**claimed, **given}))
        if "outcome" not in given:
            raise InvalidInput("say what came of it: an outcome (SUCCESS, PARTIAL, FAILURE), or the episode that tells")
        return kept(tx, _applied_alone(scope, now, new_id, pattern, given))


def kept(tx: Transaction, application: Application) -> Application:
    """As it is stored."""
    tx.applications.add(application)
    return tx.applications.get(application.id) or application


def episode_of(tx: Transaction, id: str) -> Episode:
    found = tx.episodes.whole(id)
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
