"""Time limit for checking a text."""

from collections.abc import Callable
from time import monotonic

from treering.core.errors import CheckTimedOut

CHECK_SECONDS = 10.0
"""Twenty times the duration for 10 MB of prose; only adversarial texts reach it."""

Check = Callable[[], None]
"""Called between small steps of a long computation; raises to end it."""


def unlimited() -> None:
    """No limit."""


def time_limit(clock: Callable[[], float] = monotonic) -> Check:
    """A check that raises `CheckTimedOut` once `CHECK_SECONDS` have passed from now."""
    seconds = CHECK_SECONDS
    until = clock() + seconds

    def check() -> None:
        if clock() > until:
            raise CheckTimedOut(
                f"the text could not be checked for secrets within {seconds:g} s, so it was not stored; "
                "split it into shorter texts, or leave out generated data"
            )

    return check
