"""Applications of patterns: each use with its outcome is evidence, at most once per episode."""

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
from treering.core.settings.mining import MiningSettings
from treering.core.task_features import features_of_episode
from treering.patterns.mining.conformance import EpisodeReading, FollowedPattern, match_episode, mined_of
from treering.patterns.storage import stored_pattern
from treering.ports.clock import NewId
from treering.ports.store import Store, Transaction

_NARROWEST_FIRST = tuple(Visibility)
STORE_ACTIONS = (Action.CREATE, Action.IMPORT)
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
    settings: MiningSettings,
    **known: Any,
) -> Application:
    """Store an application; if the episode's application is stored already, return that one.

    For a mined pattern the outcome is whether its claim held (see `conformance`). Raises `InvalidInput` for an episode
    stored before the pattern took its present form, which would not be independent evidence, and for a future date.
    """
    given = {name: value for name, value in known.items() if value is not None}

    def record(tx: Transaction) -> Application:
        pattern = stored_pattern(tx, id)
        if episode is not None:
            source = episode_of(tx, episode)
            before = tx.applications.get(application_id(id, episode))
            return before or _store(tx, _application_of_episode(tx, pattern, source, given, settings))
        if "outcome" not in given:
            raise InvalidInput("the outcome is missing; give an outcome (SUCCESS, PARTIAL, FAILURE) or an episode")
        return _store(tx, _application_without_episode(scope, now, new_id, pattern, given))

    return store.write(scope, now, record)


def _store(tx: Transaction, application: Application) -> Application:
    if application.at > tx.now + _TOLERANCE:
        raise InvalidInput(
            f"{application.at:%Y-%m-%d} is in the future; give the time at which the pattern was applied"
        )
    tx.applications.add(application)
    return tx.applications.get(application.id) or application


def _application_of_episode(
    tx: Transaction, pattern: Pattern, episode: Episode, given: Mapping[str, Any], settings: MiningSettings
) -> Application:
    stored = stored_at(tx, episode.id)
    if stored is None or not counts_as_evidence(pattern, stored):
        raise InvalidInput(
            f"episode {episode.id!r} was stored before pattern {pattern.id!r} took its present form, and may have "
            "shaped it; record episodes that were stored later"
        )
    done = match_episode(pattern, EpisodeReading.of(episode, settings), settings)
    if done is None and mined_of(pattern) is not None and "outcome" not in given:
        raise InvalidInput(
            f"episode {episode.id!r} did not follow pattern {pattern.id!r}; give an `outcome` if it was used anyway"
        )
    return application_in(pattern, episode, **{**({} if done is None else claimed_outcome(done)), **given})


def claimed_outcome(done: FollowedPattern) -> dict[str, Any]:
    """Whether the claim of a mined pattern held, as fields of an application."""
    saved = {} if done.time_saved_ms is None else {"time_saved_ms": done.time_saved_ms}
    return {"outcome": done.outcome, **saved}


def evidence_start(pattern: Pattern) -> datetime:
    """Episodes stored from then on are evidence for the pattern in its present form."""
    return pattern.evidence.began_at or pattern.created_at


def counts_as_evidence(pattern: Pattern, stored: datetime) -> bool:
    """Whether an episode stored at that time is evidence for the pattern in its present form.

    Episodes that a pattern was mined from or narrowed by were stored up to its start, so the start itself is excluded;
    a pattern added by a person was not derived from any.
    """
    return stored > evidence_start(pattern) if pattern.evidence.began_at else stored >= evidence_start(pattern)


def stored_at(tx: Transaction, id: str) -> datetime | None:
    """When the episode was stored, which may be long after it happened; None if unknown."""
    log = tx.audit.find(
        AuditFilter(subjects=(id,), kinds=("episode",), actions=STORE_ACTIONS), order=Order(by="at"), limit=1
    )
    return log.items[0].at if log.items else None


def episode_of(tx: Transaction, id: str) -> Episode:
    found = tx.episodes.get_complete(id)
    if found is None or found.deleted_at is not None:
        raise NotFound(f"no episode {id!r} in project {tx.scope.project!r}; `treering episodes` lists ids")
    return found


def application_id(pattern: str, episode: str) -> str:
    """Deterministic, so that an episode counts once per pattern."""
    return blake2b(f"{pattern}\0{episode}".encode(), digest_size=16).hexdigest()


def application_in(pattern: Pattern, episode: Episode, **known: Any) -> Application:
    """The application of a pattern in an episode; `known` overrides fields of the episode.

    Its task type is that of the stored episode, because base rates are counted by it.
    """
    fields = {
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
        **fields,
    )


def _application_without_episode(
    scope: Scope, now: datetime, new_id: NewId, pattern: Pattern, known: Mapping[str, Any]
) -> Application:
    """An application without an episode."""
    features = known.get("features") or {}
    if not isinstance(features, Mapping):
        raise InvalidInput("features must be a mapping of names to values; `features_of` makes one from a task's words")
    return Application.make(
        id=new_id(),
        pattern=pattern.id,
        evidence=pattern.evidence.generation,
        owner=pattern.owner if pattern.visibility is Visibility.PERSONAL else scope.principal,
        visibility=pattern.visibility,
        **{"at": now, "task_type": features.get("task_type"), **known},
    )
