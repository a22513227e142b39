"""From a failing step to what made the same step succeed: the recovery, how often it worked and how often it did not.

An attempt lasts from a failure to the next time the same step is tried, within some steps. What was done between is
what was tried; the attempt worked if that next time succeeded. Failures are the same when their messages are, without
paths and numbers; where these say too little, all failures of one step are taken together.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treering.core.conditions import Operator, Test, fields_of
from treering.core.failures import failure_signature
from treering.core.patterns import Applicability, Heuristic, PatternCategory
from treering.patterns.mining.corpus import Corpus, Told, failure_words
from treering.patterns.mining.evidence import best_supported, candidate, times
from treering.patterns.mining.findings import Mined
from treering.patterns.mining.limits import MiningLimits

AGAIN = "the same again, changed"
"""The recovery where nothing lay between."""
_SHOWN_WORDS = 12
# Of a long message the beginning tells what failed.
_MESSAGE = 2_000


@dataclass(frozen=True, slots=True)
class Attempt:
    """One failure and what was tried until the same step was done again."""

    episode: int
    step: str
    words: tuple[str, ...]
    tried: tuple[str, ...]
    worked: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """What counts as one failure: the step that failed and, where known, the words of its message."""

    step: str
    words: tuple[str, ...] | None


def attempts_of(place: int, told: Told, within: int) -> Iterator[Attempt]:
    failed = {each.place for each in told.failures}
    for failure in told.failures:
        step = told.steps[failure.place]
        for later in range(failure.place + 1, min(len(told.steps), failure.place + 1 + within)):
            if told.steps[later] == step:
                tried = tuple(dict.fromkeys(told.steps[failure.place + 1 : later]))
                yield Attempt(place, step, failure.words, tried, later not in failed)
                break


def recoveries(corpus: Corpus) -> list[Mined]:
    settings = corpus.settings
    by_failure = defaultdict[Failure, list[Attempt]](list)
    for place, told in enumerate(corpus.told):
        for attempt in attempts_of(place, told, settings.recovery_within):
            by_failure[Failure(attempt.step, None)].append(attempt)
            if attempt.words:
                by_failure[Failure(attempt.step, attempt.words)].append(attempt)
    found = [each for failure, attempts in by_failure.items() for each in _of_failure(corpus, failure, attempts)]
    return best_supported(list(_told_once(found)), settings.most_candidates)


def failure_features(
    message: str, step: str | None = None, settings: MiningLimits | None = None
) -> Mapping[str, Mapping[str, Any]]:
    """What recoveries ask of a task that has just met this failure; `step` is left out where nobody says which it was.

    `message` and `words` are there for conditions that people write, `signature` for those that were mined.
    """
    words = failure_words(message, (settings or MiningLimits()).failure_words)
    failed = {} if step is None else {"step": step}
    return {"failure": {**failed, "signature": _signature(words), "words": words, "message": message[:_MESSAGE]}}


def attempt_features(attempt: Attempt) -> Mapping[str, Mapping[str, str]]:
    """What is kept of a failure that was met."""
    return {"failure": {"step": attempt.step, "signature": _signature(attempt.words)}}


def _signature(words: Sequence[str]) -> str:
    return failure_signature(" ".join(words))


def _told_once(found: list[Mined]) -> Iterator[Mined]:
    """What all failures of a step have in common is not told beside one failure that it was all learned from."""
    of_one = {(each.steps, each.supporting, each.counter) for each in found if _asks_for_signature(each)}
    for each in found:
        if _asks_for_signature(each) or (each.steps, each.supporting, each.counter) not in of_one:
            yield each


def _asks_for_signature(mined: Mined) -> bool:
    return any("failure.signature" in fields_of(condition) for condition in mined.applicability.conditions)


def _of_failure(corpus: Corpus, failure: Failure, attempts: list[Attempt]) -> Iterator[Mined]:
    """What was tried often enough after it: as a whole where that is frequent, else single steps."""
    base = sum(each.worked for each in attempts) / len(attempts)
    tried = defaultdict[tuple[str, ...], list[Attempt]](list)
    for attempt in attempts:
        whole = attempt.tried[: corpus.settings.recovery_steps]
        for part in {whole, *((step,) for step in whole)}:
            tried[part].append(attempt)
    for steps, uses in tried.items():
        good, bad = _judged(uses)
        if good and _enough(corpus, [*good, *bad]):
            yield _recovery(corpus, failure, steps, good=good, bad=bad, base=base)


def _judged(uses: list[Attempt]) -> tuple[list[int], list[int]]:
    """Episodes in which it worked most times it was tried, and the others."""
    counted = defaultdict[int, int](int)
    for each in uses:
        counted[each.episode] += 1 if each.worked else -1
    return sorted(e for e, worth in counted.items() if worth > 0), sorted(
        e for e, worth in counted.items() if worth <= 0
    )


def _enough(corpus: Corpus, episodes: list[int]) -> bool:
    sessions = {int(corpus.sessions[place]) for place in episodes}
    # Failures are rare: a share of all episodes would leave none.
    return len(episodes) >= corpus.settings.least_sessions and len(sessions) >= corpus.settings.least_sessions


def _recovery(
    corpus: Corpus, failure: Failure, steps: tuple[str, ...], *, good: list[int], bad: list[int], base: float
) -> Mined:
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
        # A signature tells nobody anything: it is for matching, and what is said speaks of the step.
        content=Heuristic(condition=of_step, action=action),
        applicability=Applicability(conditions=(of_message if failure.words else of_step,)),
        good=good,
        bad=bad,
        base_rate=base,
        steps=(failure.step, *steps),
    )
