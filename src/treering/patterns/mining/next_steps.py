"""Likely next steps, from mined habits.

Every context that fits (the last one, two or three steps, each earlier step, the features of the task) multiplies the
likelihood of a step by its lift over the wider context. After a failure only failures count: those with similar words,
smoothed with what follows failures in general. The steps of the current run count a little, too.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from treering.core.episodes import TraceEntry
from treering.core.settings.mining import AdviceSettings, MiningSettings
from treering.core.values import Count, Label, Share, Text, Value
from treering.patterns.mining.corpus import failure_words, feature_names
from treering.patterns.mining.findings import FailureHabit, Mining, StepHabit
from treering.patterns.mining.habits import AFTER, BEGINNING, FEATURE, NEAR, WIDER
from treering.patterns.mining.steps import FAILED, levels_of, step_of

_NOTHING: Mapping[str, Any] = {}
Likely = dict[str, float]
Reason = tuple[str, int, int]


class Suggestion(Value):
    """A likely next step with the reason."""

    step: Label
    share: Share
    """Probability among all steps."""
    because: Text
    times: Count = 0
    """How often it followed in that context, out of `of`."""
    of: Count = 0


def next_steps(
    mined: Mining,
    history: Sequence[TraceEntry],
    features: Mapping[str, Any] = _NOTHING,
    *,
    limit: int = 3,
    message: str | None = None,
    advice: AdviceSettings | None = None,
    mining: MiningSettings | None = None,
) -> list[Suggestion]:
    """The likeliest next steps after `history`, likeliest first; none if nothing was mined.

    `message` is an error message whose step is unknown: only failures with common words count then, and without any
    there is no advice. `mining` are the settings that were used for mining.
    """
    if not mined.shares:
        return []
    weights, found = advice or AdviceSettings(), mining or MiningSettings()
    recent = history[-weights.own_memory :]
    steps = [step_of(entry) for entry in recent]
    failed = _CurrentFailure.read(recent, message, found)
    if failed is not None and mined.failures:
        scores, because = _after_failure(mined, failed, weights)
        if failed.step is None and not because:
            return []
    elif message is not None:
        return []
    else:
        scores, because = _by_habit(mined, recent, features, weights, found)
    own = _only_own(mined, steps, weights)
    likely = _likely(scores, 1 - math.fsum(own.values())) | own
    best = sorted(likely, key=lambda step: (-likely[step], step))[:limit]
    otherwise = "done often" if failed is None else "after other failures"
    return [_suggestion(step, likely[step], because.get(step), otherwise) for step in best]


class _CurrentFailure(NamedTuple):
    """The failure to advise on; `step` is None if unknown."""

    step: str | None
    words: frozenset[str]

    @classmethod
    def read(cls, recent: Sequence[TraceEntry], message: str | None, found: MiningSettings) -> "_CurrentFailure | None":
        if message is not None:
            return cls(None, frozenset(failure_words(message, found.failure_words)))
        if not recent or not recent[-1].is_error:
            return None
        last = recent[-1]
        return cls(step_of(last), frozenset(failure_words(last.output or last.action, found.failure_words)))


def _likely(scores: Likely, total: float) -> Likely:
    """Log scores as shares that sum to `total`."""
    top = max(scores.values())
    raised = {step: math.exp(score - top) for step, score in scores.items()}
    sum_raised = math.fsum(raised.values())
    return {step: total * share / sum_raised for step, share in raised.items()}


def _only_own(mined: Mining, steps: list[str], weights: AdviceSettings) -> Likely:
    """Shares of steps that occur only in this run, which no habit covers."""
    following, done = _following(steps), Counter(steps)
    use = {step: count / (len(steps) + weights.own_prior) for step, count in done.items()}
    own = {step: (following[step] + share) / (following.total() + 1) for step, share in use.items()}
    return {step: weights.own_new * share for step, share in own.items() if step not in mined.shares}


def _following(steps: list[str]) -> Counter[str]:
    """Steps that followed earlier occurrences of the last step in this run."""
    return Counter(later for step, later in pairwise(steps) if step == steps[-1])


def _suggestion(step: str, share: float, reason: Reason | None, otherwise: str) -> Suggestion:
    if reason is None:
        return Suggestion(step=step, share=share, because=otherwise)
    where, times, of = reason
    return Suggestion(step=step, share=share, because=f"{where}: {times:,} of {of:,} times", times=times, of=of)


def _by_habit(
    mined: Mining,
    history: Sequence[TraceEntry],
    features: Mapping[str, Any],
    weights: AdviceSettings,
    found: MiningSettings,
) -> tuple[Likely, dict[str, Reason]]:
    shares, steps = mined.shares, [step_of(entry) for entry in history]
    marks = [step + FAILED if entry.is_error else step for step, entry in zip(steps, history, strict=True)]
    scores = {step: math.log(share) for step, share in shares.items()}
    reasons, wider = dict[str, Reason](), shares
    for habit, weight in _contexts(mined, marks, features, weights, found):
        if habit.kind in (AFTER, WIDER):
            narrower = _refined(habit, wider, weights.prior)
            _weigh(scores, narrower, wider, weight)
            wider = narrower
            reasons |= {step: (_describe(habit), times, habit.times) for step, times in habit.then}
        else:
            _weigh(scores, _refined(habit, shares, weights.prior), shares, weight)
    _weigh_own(scores, shares, steps, weights)
    return scores, reasons


def _contexts(
    mined: Mining, marks: list[str], features: Mapping[str, Any], weights: AdviceSettings, found: MiningSettings
) -> Iterator[tuple[StepHabit, float]]:
    line = [BEGINNING, *marks]
    if (AFTER, (line[-1],)) not in mined.by_context:
        names = ((WIDER, (name,)) for name in reversed(levels_of(line[-1])[1:]))
        yield from ((mined.by_context[name], weights.weights[0]) for name in names if name in mined.by_context)
    for order, weight in enumerate(weights.weights[: found.habit_order], 1):
        if len(line) >= order and (habit := mined.by_context.get((AFTER, tuple(line[-order:])))):
            yield habit, weight
    for mark in dict.fromkeys(reversed(marks[-found.habit_window : -1])):
        if habit := mined.by_context.get((NEAR, (mark,))):
            yield habit, weights.near
    for name in feature_names(features):
        if habit := mined.by_context.get((FEATURE, (name,))):
            yield habit, weights.feature


def _refined(habit: StepHabit, wider: Likely, prior: float) -> Likely:
    """Shares of the steps after the habit, smoothed with the wider context."""
    then = dict(habit.then)
    return {step: (then.get(step, 0) + prior * share) / (habit.times + prior) for step, share in wider.items()}


def _weigh(scores: Likely, narrower: Likely, wider: Likely, weight: float) -> None:
    for step, share in narrower.items():
        scores[step] += weight * math.log(share / wider[step])


def _weigh_own(scores: Likely, shares: Likely, steps: list[str], weights: AdviceSettings) -> None:
    """Weigh the steps of this run, and those that followed the last step in it."""
    for counts, weight in ((_following(steps), weights.own_following), (Counter(steps), weights.own_use)):
        prior, total = weights.own_prior, counts.total()
        if weight and total:
            own = {step: (counts[step] + prior * share) / (total + prior) for step, share in shares.items()}
            _weigh(scores, own, shares, weight)


def _describe(habit: StepHabit) -> str:
    return "after " + ", ".join("the beginning" if step == BEGINNING else step for step in habit.after)


def _after_failure(mined: Mining, failed: _CurrentFailure, weights: AdviceSettings) -> tuple[Likely, dict[str, Reason]]:
    """Failures vote with their similarity; dissimilar ones only count as a whole."""
    votes, weight_of_all = defaultdict[str, float](float), 0.0
    reasons, best = dict[str, Reason](), 0.0
    for failure in mined.failures:
        likeness = _likeness(mined, failure, failed, weights)
        weight_of_all += likeness * failure.times
        _vote(votes, failure, likeness, weights.worked)
        if likeness > best:
            best = likeness
            where = f"after {failure.step} failed" + (f" ({' '.join(failure.words[:8])})" if failure.words else "")
            reasons = {each: (where, times, failure.times) for each, times in failure.then}
    any_failure = Counter[str]()
    for failure in mined.failures:
        any_failure.update(dict(failure.then))
    total, prior = any_failure.total(), weights.prior
    wider = {each: (any_failure[each] + prior * share) / (total + prior) for each, share in mined.shares.items()}
    smoothing = weights.failure_prior
    return {
        each: math.log((votes[each] + smoothing * share) / (weight_of_all + smoothing)) for each, share in wider.items()
    }, reasons


def _vote(votes: dict[str, float], failure: FailureHabit, likeness: float, worked: float) -> None:
    """Vote for the steps that followed and those that worked, `failure.times` votes in total."""
    if not likeness:
        return
    recovered = sum(times for _, times in failure.worked)
    for step, times in failure.then:
        votes[step] += likeness * times * (1 - worked if recovered else 1)
    for step, times in failure.worked:
        votes[step] += likeness * failure.times * worked * times / recovered


def _likeness(mined: Mining, failure: FailureHabit, failed: _CurrentFailure, weights: AdviceSettings) -> float:
    own = frozenset(failure.words)
    shared, all_ = _weight(mined, own & failed.words), _weight(mined, own | failed.words)
    similarity = shared / all_ if all_ else 0.0
    same = weights.same_step if failure.step == failed.step else 0.0
    return float(((similarity + same) / (1 + weights.same_step)) ** weights.failure_power)


def _weight(mined: Mining, words: frozenset[str]) -> float:
    """Rare words weigh more."""
    known, total = mined.failures_by_word, len(mined.failures)
    return math.fsum(math.log(1 + total / max(1, len(known.get(word, ())))) for word in words)
