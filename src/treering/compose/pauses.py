"""Off switches of the environment for what an agent is given unasked."""

import os

from treering.core.injections import InjectionPoint

_OFF = frozenset({"off", "0", "false", "no"})
_VARIABLES = ("TREERING_INJECT", "TREERING_HOOKS")


def is_off(session: str, point: InjectionPoint) -> bool:
    """Whether TREERING_INJECT or TREERING_HOOKS is off."""
    return any(os.environ.get(name, "").strip().lower() in _OFF for name in _VARIABLES)
