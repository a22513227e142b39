"""What a pattern has to beat: how often what it claims happens without it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from treering.core.patterns import Pattern, PatternCategory
from treering.core.settings.patterns import PatternSettings
from treering.learn.patterns.mining.following import mined_of
from treering.learn.patterns.statistics import BaseRates, Tally
from treering.learn.patterns.validation import SessionCount

Tallies = Mapping[str | None, Tally]
# Without it, half of the tasks take less than usual: that is what the median means.
_HALF = 0.5


def bases_of(
    pattern: Pattern, everything: BaseRates, sessions: Iterable[SessionCount], settings: PatternSettings
) -> BaseRates:
    """Of episodes that did not use it. Where a find claims something else than success, how often that happens."""
    mined, used = mined_of(pattern), tallied(sessions)
    rule = None if mined is None else _CLAIMS.get(pattern.category)
    return everything.without(used) if rule is None or mined is None else rule(mined, everything, used, settings)


def tallied(sessions: Iterable[SessionCount]) -> dict[str | None, Tally]:
    """What the sessions of a pattern add to the base rates, to be left out of its own."""
    found: dict[str | None, Tally] = {}
    for session in sessions:
        for name, _ in session.task_types:
            found[name] = found.get(name, Tally()) + Tally(session.share, 1)
    return found


def _going_wrong(_mined: Mapping[str, Any], everything: BaseRates, used: Tallies, _: PatternSettings) -> BaseRates:
    """A warning succeeds where tasks fail."""
    return everything.without({name: each.turned() for name, each in used.items()}).turned()


def _getting_out(mined: Mapping[str, Any], _: BaseRates, used: Tallies, settings: PatternSettings) -> BaseRates:
    """Of all that was tried after the failure, what worked; known as surely as the sessions it was seen in allow."""
    return _known(float(mined.get("base_rate", _HALF)), mined, used, settings)


def _taking_less(mined: Mapping[str, Any], _: BaseRates, used: Tallies, settings: PatternSettings) -> BaseRates:
    return _known(_HALF, mined, used, settings)


def _known(rate: float, mined: Mapping[str, Any], used: Tallies, settings: PatternSettings) -> BaseRates:
    n = int(mined.get("sessions", 0))
    return BaseRates(dict.fromkeys(used or (None,), Tally(rate * n, n)), settings)


_CLAIMS: Mapping[PatternCategory, Callable[[Mapping[str, Any], BaseRates, Tallies, PatternSettings], BaseRates]] = {
    PatternCategory.FAILURE: _going_wrong,
    PatternCategory.RECOVERY: _getting_out,
    PatternCategory.OPTIMISATION: _taking_less,
}
