"""Searches return the recorded results in the recorded order, on both engines.

A change that is meant to keep results must pass; one that is meant to improve them records them again.
"""

from tests.conftest import OpenMemory
from tests.golden.rankings.talk import GOLDEN, results, tell, ticking


def test_results_and_their_order_are_as_recorded(open_memory: OpenMemory) -> None:
    memory = open_memory(clock=ticking())
    tell(memory)
    assert results(memory) == GOLDEN.read_text("utf-8")
