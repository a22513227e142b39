"""What a pattern has to beat: how often what it claims happens without it."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from treering.core.patterns import Pattern, PatternCategory
from treering.patterns.mining.conformance import mined_of
from treering.patterns.statistics import BaseRates, Tally
from treering.patterns.validation import SessionCount
from treering.ports.patterns import UsedEpisode

Tallies = Mapping[str | None, Tally]
# Without it, half of the tasks take less than usual: that is what the median means.
_HALF = 0.5


def left_out(used: Iterable[UsedEpisode]) -> dict[str | None, Tally]:
    """What base rates lose by task type without the episodes in which a pattern was applied.

    A session keeps the share of the others in it; where there are none, it is gone. One episode is left out once. An
    application that has no episode leaves out nothing: what it came to was never part of a base rate.
    """
    gone = Counter[tuple[str | None, str, int, int]]()
    succeeded = Counter[tuple[str | None, str, int, int]]()
    for each in {each.episode: each for each in used}.values():
        session = each.task_type, each.session, each.session_successes, each.session_n
        gone[session] += 1
        succeeded[session] += each.succeeded
    found = dict[str | None, Tally]()
    for session, n in gone.items():
        task_type, _, successes, of = session
        others = Tally(successes - succeeded[session], of - n)
        lost = Tally(successes / of - others.share, 0) if others.n else Tally(successes / of, 1)
        found[task_type] = found.get(task_type, Tally()) + lost
    return found


def bases_of(
    pattern: Pattern,
    everything: BaseRates,
    lost: Tallies,
    sessions: Iterable[SessionCount],
) -> BaseRates:
    """Of episodes that did not use it: `lost` is what all lose without the others (`left_out`).

    Where a find claims something else than success, how often that happens.
    """
    mined = mined_of(pattern)
    rule = None if mined is None else _CLAIMS.get(pattern.category)
    without = everything.without(lost)
    return without if rule is None or mined is None else rule(mined, without, sessions)


def _going_wrong(_mined: Mapping[str, Any], without: BaseRates, _sessions: Iterable[SessionCount]) -> BaseRates:
    """A warning succeeds where tasks fail."""
    return without.turned()


def _getting_out(mined: Mapping[str, Any], _: BaseRates, sessions: Iterable[SessionCount]) -> BaseRates:
    """Of all that was tried after the failure, what worked; known as surely as the sessions it was seen in allow."""
    told = mined.get("base_rate")
    return _known(told if isinstance(told, float) and 0.0 <= told <= 1.0 else _HALF, mined, sessions)


def _taking_less(mined: Mapping[str, Any], _: BaseRates, sessions: Iterable[SessionCount]) -> BaseRates:
    return _known(_HALF, mined, sessions)


def _known(rate: float, mined: Mapping[str, Any], sessions: Iterable[SessionCount]) -> BaseRates:
    told = mined.get("sessions")
    # Metadata is what anybody may write; what is no count counts for nothing.
    n = max(0, told) if isinstance(told, int) else 0
    types = {name for session in sessions for name, _ in session.task_types}
    return BaseRates(dict.fromkeys(types or (None,), Tally(rate * n, n)))


Rule = Callable[[Mapping[str, Any], BaseRates, Iterable[SessionCount]], BaseRates]
_CLAIMS: Mapping[PatternCategory, Rule] = {
    PatternCategory.FAILURE: _going_wrong,
    PatternCategory.RECOVERY: _getting_out,
    PatternCategory.OPTIMISATION: _taking_less,
}
