"""How many tokens conversations take."""

from treering.render.token_counts.meter import Failures, Meter
from treering.render.token_counts.rules import RULES, Rules, rules_of

__all__ = ["RULES", "Failures", "Meter", "Rules", "rules_of"]
