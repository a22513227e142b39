"""Token counts of conversations."""

from treering.render.token_counts.meter import Meter, TokenizerFailures
from treering.render.token_counts.rules import RULES, CountingRules, rules_of

__all__ = ["RULES", "CountingRules", "Meter", "TokenizerFailures", "rules_of"]
