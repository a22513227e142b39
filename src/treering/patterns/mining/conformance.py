"""Whether an episode did what a mined pattern says, and whether that worked: how a candidate earns evidence.

Success means what the candidate claims. A sequence, a tool or a plan: the task succeeded. A warning: it went wrong. A
recovery: the step that had failed succeeded in the end. A saving: the task succeeded and took less than usual.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from treering.core.applicability import applies
from treering.core.episodes import Episode, OutcomeStatus
from treering.core.patterns import Pattern, PatternCategory, Procedure, Template
from treering.core.task_features import features_of_episode
from treering.patterns.mining.corpus import Told, told_of
from treering.patterns.mining.findings import MINED
from treering.patterns.mining.limits import MiningLimits
from treering.patterns.mining.recoveries import attempt_features, attempts_of

_SUCCESS, _PARTIAL, _FAILURE = OutcomeStatus.SUCCESS, OutcomeStatus.PARTIAL, OutcomeStatus.FAILURE
_WENT_WRONG = {_SUCCESS: _FAILURE, _PARTIAL: _PARTIAL, _FAILURE: _SUCCESS}


@dataclass(frozen=True, slots=True)
class Reading:
    """An episode, read once for many patterns."""

    episode: Episode
    told: Told
    features: Mapping[str, Any]

    @classmethod
    def of(cls, episode: Episode, settings: MiningLimits) -> "Reading":
        features = features_of_episode(episode)
        told = told_of(episode, settings, lambda _episode: features)
        return cls(episode, told, features)


@dataclass(frozen=True, slots=True)
class Followed:
    """An episode did what a pattern says; what came of that."""

    outcome: OutcomeStatus
    time_saved_ms: float | None = None


def mined_of(pattern: Pattern) -> Mapping[str, Any] | None:
    """What a pattern was found by; None where somebody told it."""
    found = pattern.metadata.get(MINED)
    return found if isinstance(found, Mapping) else None


def followed(pattern: Pattern, read: Reading, settings: MiningLimits) -> Followed | None:
    """What came of a mined pattern in an episode; None where the episode did not do what it says."""
    mined, rule = mined_of(pattern), _RULES.get(pattern.category)
    if mined is None or rule is None or not read.told.tools.issuperset(_steps(mined)):
        return None
    if pattern.category is not PatternCategory.RECOVERY and not applies(pattern.applicability, read.features):
        return None
    return rule(pattern, mined, read, settings)


def _sequence(pattern: Pattern, mined: Mapping[str, Any], read: Reading, settings: MiningLimits) -> Followed | None:
    if not isinstance(pattern.content, Procedure):
        return None
    wanted = tuple(step.action for step in pattern.content.steps)
    line = read.told.steps if _steps(mined) else read.told.plan
    return Followed(read.episode.outcome.status) if holds_in_order(line, wanted, settings.most_gap) else None


def _warning(pattern: Pattern, mined: Mapping[str, Any], read: Reading, settings: MiningLimits) -> Followed | None:
    done = _sequence(pattern, mined, read, settings)
    return None if done is None else Followed(_WENT_WRONG[done.outcome])


def _recovery(pattern: Pattern, mined: Mapping[str, Any], read: Reading, settings: MiningLimits) -> Followed | None:
    """As mining counts it: it worked in an episode where it worked most times it was tried there."""
    (failing, *tried), worth, seen = _steps(mined), 0, False
    for attempt in attempts_of(0, read.told, settings.recovery_within):
        whole = attempt.tried[: settings.recovery_steps]
        is_tried = tuple(tried) == whole or (len(tried) == 1 and tried[0] in whole)
        met = {**read.features, **attempt_features(attempt)}
        if attempt.step == failing and is_tried and applies(pattern.applicability, met):
            seen, worth = True, worth + (1 if attempt.worked else -1)
    return Followed(_SUCCESS if worth > 0 else _FAILURE) if seen else None


def _tool(_pattern: Pattern, mined: Mapping[str, Any], read: Reading, _settings: MiningLimits) -> Followed | None:
    """That it was used is known already: all steps of the pattern are among those of the episode, or its tools."""
    return Followed(read.episode.outcome.status) if _steps(mined) else None


def _plan(pattern: Pattern, _mined: Mapping[str, Any], read: Reading, _settings: MiningLimits) -> Followed | None:
    if not isinstance(pattern.content, Template):
        return None
    wanted = tuple(each.title for each in pattern.content.structure)
    return Followed(read.episode.outcome.status) if tuple(dict.fromkeys(read.told.plan)) == wanted else None


def _saving(_pattern: Pattern, mined: Mapping[str, Any], read: Reading, _settings: MiningLimits) -> Followed | None:
    done, told = _steps(mined), read.told
    if not done or (len(done) > 1 and done not in set(pairwise(told.steps))):
        return None
    usual_ms, usual_steps = mined.get("usual_ms"), mined.get("usual_steps")
    if usual_ms is not None and told.duration_ms is not None:
        saved = usual_ms - told.duration_ms
        return Followed(_SUCCESS if told.succeeded and saved > 0 else _FAILURE, saved)
    if usual_steps is None:
        return None
    return Followed(_SUCCESS if told.succeeded and len(told.steps) < usual_steps else _FAILURE)


def holds_in_order(line: tuple[str, ...], wanted: tuple[str, ...], most_gap: int) -> bool:
    """Whether the steps stand in this order with so many others between two at most; repeated ones count as one."""
    steps = [step for step, _ in groupby(line)]
    ends = {place for place, step in enumerate(steps) if wanted and step == wanted[0]}
    for step in wanted[1:]:
        reached = {end + distance for end in ends for distance in range(1, most_gap + 2)}
        ends = {place for place in reached if place < len(steps) and steps[place] == step}
    return bool(ends)


def _steps(mined: Mapping[str, Any]) -> tuple[str, ...]:
    steps = mined.get("steps", ())
    return tuple(step for step in steps if isinstance(step, str)) if isinstance(steps, tuple) else ()


Rule = Callable[[Pattern, Mapping[str, Any], Reading, MiningLimits], Followed | None]
_RULES: Mapping[PatternCategory, Rule] = {
    PatternCategory.SEQUENCE: _sequence,
    PatternCategory.FAILURE: _warning,
    PatternCategory.RECOVERY: _recovery,
    PatternCategory.TOOL_SELECTION: _tool,
    PatternCategory.DECOMPOSITION: _plan,
    PatternCategory.OPTIMISATION: _saving,
}
