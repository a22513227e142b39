"""Whether an episode followed a mined pattern, and whether the claim of the pattern held.

The claim of a sequence, a tool or a plan: the task succeeds; of a warning: it fails; of a recovery: the failed step
succeeds in the end; of a saving: the task succeeds and takes less than usual.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from treering.core.applicability import applies
from treering.core.episodes import Episode, OutcomeStatus
from treering.core.patterns import Pattern, PatternCategory, Procedure, Template
from treering.core.settings.mining import MiningSettings
from treering.core.task_features import features_of_episode
from treering.patterns.mining.corpus import MinedEpisode, read_episode
from treering.patterns.mining.recoveries import attempt_features, attempts_of
from treering.patterns.provenance import MINED

_SUCCESS, _PARTIAL, _FAILURE = OutcomeStatus.SUCCESS, OutcomeStatus.PARTIAL, OutcomeStatus.FAILURE
_INVERTED = {_SUCCESS: _FAILURE, _PARTIAL: _PARTIAL, _FAILURE: _SUCCESS}


@dataclass(frozen=True, slots=True)
class EpisodeReading:
    """An episode, read once for many patterns."""

    episode: Episode
    mined: MinedEpisode
    features: Mapping[str, Any]

    @classmethod
    def of(cls, episode: Episode, settings: MiningSettings) -> "EpisodeReading":
        features = features_of_episode(episode)
        mined = read_episode(episode, settings, lambda _episode: features)
        return cls(episode, mined, features)


@dataclass(frozen=True, slots=True)
class FollowedPattern:
    """Outcome of a pattern in an episode that followed it."""

    outcome: OutcomeStatus
    time_saved_ms: float | None = None


def mined_of(pattern: Pattern) -> Mapping[str, Any] | None:
    """The mining result that a pattern was made from; None if it was not mined."""
    found = pattern.metadata.get(MINED)
    return found if isinstance(found, Mapping) else None


def match_episode(pattern: Pattern, read: EpisodeReading, settings: MiningSettings) -> FollowedPattern | None:
    """Outcome of a mined pattern in an episode; None if the episode did not follow it."""
    mined, rule = mined_of(pattern), _RULES.get(pattern.category)
    if mined is None or rule is None or not read.mined.tools.issuperset(_steps(mined)):
        return None
    if pattern.category is not PatternCategory.RECOVERY and not applies(pattern.applicability, read.features):
        return None
    return rule(pattern, mined, read, settings)


def _sequence(
    pattern: Pattern, mined: Mapping[str, Any], read: EpisodeReading, settings: MiningSettings
) -> FollowedPattern | None:
    if not isinstance(pattern.content, Procedure):
        return None
    wanted = tuple(step.action for step in pattern.content.steps)
    line = read.mined.steps if _steps(mined) else read.mined.plan
    return FollowedPattern(read.episode.outcome.status) if holds_in_order(line, wanted, settings.most_gap) else None


def _warning(
    pattern: Pattern, mined: Mapping[str, Any], read: EpisodeReading, settings: MiningSettings
) -> FollowedPattern | None:
    done = _sequence(pattern, mined, read, settings)
    return None if done is None else FollowedPattern(_INVERTED[done.outcome])


def _recovery(
    pattern: Pattern, mined: Mapping[str, Any], read: EpisodeReading, settings: MiningSettings
) -> FollowedPattern | None:
    """As mining counts it: it worked in an episode if it worked most times it was tried there."""
    (failing, *tried), balance, seen = _steps(mined), 0, False
    for attempt in attempts_of(0, read.mined, settings.recovery_within):
        attempted = attempt.tried[: settings.recovery_steps]
        is_tried = tuple(tried) == attempted or (len(tried) == 1 and tried[0] in attempted)
        met = {**read.features, **attempt_features(attempt)}
        if attempt.step == failing and is_tried and applies(pattern.applicability, met):
            seen, balance = True, balance + (1 if attempt.worked else -1)
    return FollowedPattern(_SUCCESS if balance > 0 else _FAILURE) if seen else None


def _tool(
    _pattern: Pattern, mined: Mapping[str, Any], read: EpisodeReading, _settings: MiningSettings
) -> FollowedPattern | None:
    """The caller has checked that the episode has all steps of the pattern."""
    return FollowedPattern(read.episode.outcome.status) if _steps(mined) else None


def _plan(
    pattern: Pattern, _mined: Mapping[str, Any], read: EpisodeReading, _settings: MiningSettings
) -> FollowedPattern | None:
    if not isinstance(pattern.content, Template):
        return None
    wanted = tuple(each.title for each in pattern.content.structure)
    return FollowedPattern(read.episode.outcome.status) if tuple(dict.fromkeys(read.mined.plan)) == wanted else None


def _saving(
    _pattern: Pattern, mined: Mapping[str, Any], read: EpisodeReading, _settings: MiningSettings
) -> FollowedPattern | None:
    done, episode = _steps(mined), read.mined
    if not done or (len(done) > 1 and done not in set(pairwise(episode.steps))):
        return None
    usual_ms, usual_steps = mined.get("usual_ms"), mined.get("usual_steps")
    if usual_ms is not None and episode.duration_ms is not None:
        saved = usual_ms - episode.duration_ms
        return FollowedPattern(_SUCCESS if episode.succeeded and saved > 0 else _FAILURE, saved)
    if usual_steps is None:
        return None
    return FollowedPattern(_SUCCESS if episode.succeeded and len(episode.steps) < usual_steps else _FAILURE)


def holds_in_order(line: tuple[str, ...], wanted: tuple[str, ...], max_gap: int) -> bool:
    """Whether the steps occur in this order with at most `max_gap` others between two; repeats in a row count once."""
    steps = [step for step, _ in groupby(line)]
    ends = {place for place, step in enumerate(steps) if wanted and step == wanted[0]}
    for step in wanted[1:]:
        reached = {end + distance for end in ends for distance in range(1, max_gap + 2)}
        ends = {place for place in reached if place < len(steps) and steps[place] == step}
    return bool(ends)


def _steps(mined: Mapping[str, Any]) -> tuple[str, ...]:
    steps = mined.get("steps", ())
    return tuple(step for step in steps if isinstance(step, str)) if isinstance(steps, tuple) else ()


Rule = Callable[[Pattern, Mapping[str, Any], EpisodeReading, MiningSettings], FollowedPattern | None]
_RULES: Mapping[PatternCategory, Rule] = {
    PatternCategory.SEQUENCE: _sequence,
    PatternCategory.FAILURE: _warning,
    PatternCategory.RECOVERY: _recovery,
    PatternCategory.TOOL_SELECTION: _tool,
    PatternCategory.DECOMPOSITION: _plan,
    PatternCategory.OPTIMISATION: _saving,
}
