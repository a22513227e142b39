"""Mines recoveries: what made a failed step succeed, and how often it did.

An attempt lasts from a failure to the next occurrence of the same step, within a limit. The steps between were tried;
the attempt worked if that next occurrence succeeded. Failures are equal if their messages are, without paths and
numbers; all failures of one step are also taken together.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treering.core.conditions import Operator, Test, fields_of
from treering.core.failures import failure_signature
from treering.core.patterns import Applicability, Heuristic, PatternCategory
from treering.core.settings.mining import MiningSettings
from treering.patterns.mining.corpus import Corpus, MinedEpisode, failure_words
from treering.patterns.mining.evidence import best_supported, candidate, times
from treering.patterns.mining.findings import MinedPattern

AGAIN = "the same again, changed"
"""The recovery if there were no steps between."""
_SHOWN_WORDS = 12
# The beginning of a long message says what failed.
_MAX_MESSAGE = 2_000


@dataclass(frozen=True, slots=True)
class Attempt:
    """A failure and the steps until the same step was done again."""

    episode: int
    step: str
    words: tuple[str, ...]
    tried: tuple[str, ...]
    worked: bool


@dataclass(frozen=True, slots=True)
class FailureKey:
    """Identity of a failure: the step and, unless None, the words of its message."""

    step: str
    words: tuple[str, ...] | None


def attempts_of(place: int, episode: MinedEpisode, within: int) -> Iterator[Attempt]:
    failed = {each.place for each in episode.failures}
    for failure in episode.failures:
        step = episode.steps[failure.place]
        for later in range(failure.place + 1, min(len(episode.steps), failure.place + 1 + within)):
            if episode.steps[later] == step:
                tried = tuple(dict.fromkeys(episode.steps[failure.place + 1 : later]))
                yield Attempt(place, step, failure.words, tried, later not in failed)
                break


def recoveries(corpus: Corpus) -> list[MinedPattern]:
    settings = corpus.settings
    by_failure = defaultdict[FailureKey, list[Attempt]](list)
    for place, episode in enumerate(corpus.episodes):
        for attempt in attempts_of(place, episode, settings.recovery_within):
            by_failure[FailureKey(attempt.step, None)].append(attempt)
            if attempt.words:
                by_failure[FailureKey(attempt.step, attempt.words)].append(attempt)
    found = [each for failure, attempts in by_failure.items() for each in _recoveries_of(corpus, failure, attempts)]
    return best_supported(list(_without_generalisations(found)), settings.most_candidates)


def failure_features(
    message: str, step: str | None = None, settings: MiningSettings | None = None
) -> Mapping[str, Mapping[str, Any]]:
    """Features of a failure that the conditions of recoveries test; without `step` if it is unknown.

    `message` and `words` are for conditions written by people, `signature` for mined ones.
    """
    words = failure_words(message, (settings or MiningSettings()).failure_words)
    failed = {} if step is None else {"step": step}
    return {"failure": {**failed, "signature": _signature(words), "words": words, "message": message[:_MAX_MESSAGE]}}


def attempt_features(attempt: Attempt) -> Mapping[str, Mapping[str, str]]:
    """Features of a failure in an episode."""
    return {"failure": {"step": attempt.step, "signature": _signature(attempt.words)}}


def _signature(words: Sequence[str]) -> str:
    return failure_signature(" ".join(words))


def _without_generalisations(found: list[MinedPattern]) -> Iterator[MinedPattern]:
    """Drop a recovery for all failures of a step if it rests on the same episodes as one for a single failure."""
    specific = {(each.steps, each.supporting, each.counter) for each in found if _asks_for_signature(each)}
    for each in found:
        if _asks_for_signature(each) or (each.steps, each.supporting, each.counter) not in specific:
            yield each


def _asks_for_signature(mined: MinedPattern) -> bool:
    return any("failure.signature" in fields_of(condition) for condition in mined.applicability.conditions)


def _recoveries_of(corpus: Corpus, failure: FailureKey, attempts: list[Attempt]) -> Iterator[MinedPattern]:
    """Recoveries that were tried often enough: complete sequences and single steps."""
    base = sum(each.worked for each in attempts) / len(attempts)
    tried = defaultdict[tuple[str, ...], list[Attempt]](list)
    for attempt in attempts:
        sequence = attempt.tried[: corpus.settings.recovery_steps]
        for part in {sequence, *((step,) for step in sequence)}:
            tried[part].append(attempt)
    for steps, uses in tried.items():
        good, bad = _episodes_by_result(uses)
        if good and _enough(corpus, [*good, *bad]):
            yield _recovery(corpus, failure, steps, good=good, bad=bad, base=base)


def _episodes_by_result(uses: list[Attempt]) -> tuple[list[int], list[int]]:
    """Episodes in which it worked most times it was tried, and the others."""
    counted = defaultdict[int, int](int)
    for each in uses:
        counted[each.episode] += 1 if each.worked else -1
    return sorted(e for e, balance in counted.items() if balance > 0), sorted(
        e for e, balance in counted.items() if balance <= 0
    )


def _enough(corpus: Corpus, episodes: list[int]) -> bool:
    sessions = {int(corpus.sessions[place]) for place in episodes}
    # Failures are rare, so a minimum share of all episodes would exclude them.
    return len(episodes) >= corpus.settings.least_sessions and len(sessions) >= corpus.settings.least_sessions


def _recovery(
    corpus: Corpus, failure: FailureKey, steps: tuple[str, ...], *, good: list[int], bad: list[int], base: float
) -> MinedPattern:
    does = ", then ".join(steps) if steps else AGAIN
    words = " ".join(failure.words[:_SHOWN_WORDS]) if failure.words else ""
    about = f"{failure.step} fails" + (f" ({words})" if words else "")
    of_step = Test(field="failure.step", operator=Operator.EQ, value=failure.step)
    of_message = Test(field="failure.signature", operator=Operator.EQ, value=_signature(failure.words or ()))
    action = f"{does}; then {failure.step} again" if steps else AGAIN
    return candidate(
        corpus,
        PatternCategory.RECOVERY,
        (failure.step, " ".join(failure.words or ()), *steps),
        name=f"{failure.step} fails: {does}",
        summary=f"When {about}: {action}. Worked in {len(good):,} of {times(len(good) + len(bad), 'episode')} "
        f"that tried it; of all that was tried, {base:.0%} worked.",
        # The signature is for matching only; the readable condition names the step.
        content=Heuristic(condition=of_step, action=action),
        applicability=Applicability(conditions=(of_message if failure.words else of_step,)),
        good=good,
        bad=bad,
        base_rate=base,
        steps=(failure.step, *steps),
    )
