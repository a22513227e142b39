"""Context for a phase: each type has its share, however many records of another type fit the query better."""

from collections import Counter

from tests.conftest import OpenMemory
from treering.core.phases import PHASE_SHARES, Phase

SHARES = PHASE_SHARES[Phase.IMPLEMENT]
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"]


def test_every_type_gets_its_share_where_all_types_have_plenty(open_memory: OpenMemory) -> None:
    memory = open_memory(background=False)
    types = ("gotcha", "error_pattern", "causal_dependency", "pattern", "dead_end", "module_insight")
    for type in types:
        for number in range(40):
            named = " ".join(f"{WORDS[(number * step) % 13]}{number}{type[:step]}" for step in (1, 3, 5))
            memory.remember(f"The payment gateway needs {named}", type=type, source="observer_inferred")
    memory.settle()
    packed = memory.context.build("payment gateway", phase="implement", reflection=False)
    taken: Counter[str] = Counter()
    for item in packed.items:
        taken[memory.get(item.id).type] += item.tokens
    assert packed.tokens > 0.9 * packed.budget
    for type in types[:-1]:
        assert abs(taken[type] / taken.total() - SHARES[type]) < 0.05
