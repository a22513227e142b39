"""Base rates: how often what a pattern claims happens without it."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from treering.core.patterns import Pattern, PatternCategory
from treering.core.settings.patterns import PatternSettings
from treering.patterns.mining.conformance import mined_of
from treering.patterns.statistics import BaseRates, Tally
from treering.patterns.validation import SessionCount
from treering.ports.patterns import UsedEpisode

Tallies = Mapping[str | None, Tally]
# Without the pattern, half of the tasks take less than the median.
_HALF = 0.5


def losses_of(used: Iterable[UsedEpisode]) -> dict[str | None, Tally]:
    """What base rates lose, by task type, if the episodes in which a pattern was applied are left out.

    A session keeps the success rate of its other episodes, and is dropped if there are none. Each episode is left out
    once. Applications without an episode were never part of a base rate.
    """
    removed = Counter[tuple[str | None, str, int, int]]()
    succeeded = Counter[tuple[str | None, str, int, int]]()
    for each in {each.episode: each for each in used}.values():
        session = each.task_type, each.session, each.session_successes, each.session_n
        removed[session] += 1
        succeeded[session] += each.succeeded
    found = dict[str | None, Tally]()
    for session, n in removed.items():
        task_type, _, successes, of = session
        others = Tally(successes - succeeded[session], of - n)
        lost = Tally(successes / of - others.share, 0) if others.n else Tally(successes / of, 1)
        found[task_type] = found.get(task_type, Tally()) + lost
    return found


def base_rates_without(
    pattern: Pattern,
    everything: BaseRates,
    lost: Tallies,
    sessions: Iterable[SessionCount],
    settings: PatternSettings,
) -> BaseRates:
    """Base rates of the episodes that did not use the pattern; `lost` is the result of `losses_of`.

    If a mined pattern claims something other than success, the rates at which that happens.
    """
    mined = mined_of(pattern)
    rule = None if mined is None else _CLAIMS.get(pattern.category)
    without = everything.without(lost)
    return without if rule is None or mined is None else rule(mined, without, sessions, settings)


def _failure_rates(
    _mined: Mapping[str, Any], without: BaseRates, _sessions: Iterable[SessionCount], _: PatternSettings
) -> BaseRates:
    """A warning holds if the task fails."""
    return without.inverted()


def _recovery_rates(
    mined: Mapping[str, Any], _: BaseRates, sessions: Iterable[SessionCount], settings: PatternSettings
) -> BaseRates:
    """The share of all attempts after the failure that worked, weighted by the sessions it was seen in."""
    rate = mined.get("base_rate")
    return _constant_rates(rate if isinstance(rate, float) and 0.0 <= rate <= 1.0 else _HALF, mined, sessions, settings)


def _saving_rates(
    mined: Mapping[str, Any], _: BaseRates, sessions: Iterable[SessionCount], settings: PatternSettings
) -> BaseRates:
    return _constant_rates(_HALF, mined, sessions, settings)


def _constant_rates(
    rate: float, mined: Mapping[str, Any], sessions: Iterable[SessionCount], settings: PatternSettings
) -> BaseRates:
    count = mined.get("sessions")
    # Metadata may hold anything; only a number counts.
    n = max(0, count) if isinstance(count, int) else 0
    types = {name for session in sessions for name, _ in session.task_types}
    return BaseRates(dict.fromkeys(types or (None,), Tally(rate * n, n)), settings)


Rule = Callable[[Mapping[str, Any], BaseRates, Iterable[SessionCount], PatternSettings], BaseRates]
_CLAIMS: Mapping[PatternCategory, Rule] = {
    PatternCategory.FAILURE: _failure_rates,
    PatternCategory.RECOVERY: _recovery_rates,
    PatternCategory.OPTIMISATION: _saving_rates,
}
