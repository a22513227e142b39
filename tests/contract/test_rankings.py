"""Searches return the results that were recorded before the index and the pipeline were made faster, in that order."""

from tests.conftest import OpenMemory
from tests.golden.rankings.talk import GOLDEN, results, tell, ticking


def test_results_and_their_order_are_as_recorded(open_memory: OpenMemory) -> None:
    memory = open_memory(clock=ticking())
    tell(memory)
    assert results(memory) == GOLDEN.read_text("utf-8")
