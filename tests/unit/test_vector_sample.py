"""The number of vectors that a model's mean is taken from depends on their count alone."""

import pytest

from treering.adapters.vectors.signs import SAMPLE, first_sampled


@pytest.mark.parametrize("count", [1, 2, SAMPLE - 1, SAMPLE])
def test_few_vectors_are_all_sampled(count: int) -> None:
    assert first_sampled(count) == count


@pytest.mark.parametrize(("count", "times"), [(1.01, 1), (1.99, 1), (2, 2), (3.99, 2), (4, 4), (1_000, 512)])
def test_of_many_vectors_the_sample_is_spread_over_the_last_doubling(count: float, times: int) -> None:
    assert first_sampled(int(count * SAMPLE)) == times * SAMPLE
