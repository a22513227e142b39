"""How many tokens conversations take."""

from treering.session.counting.meter import Failures, Meter
from treering.session.counting.rules import RULES, Rules, rules_of

__all__ = ["RULES", "Failures", "Meter", "Rules", "rules_of"]
