"""Similarities of chunk vectors that are held as 8-bit integers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treering.code.locations.chunk_vectors import ChunkVectors


@given(st.integers(0, 10_000), st.integers(3, 40), st.integers(64, 256))
def test_a_similarity_is_close_to_that_of_the_stored_vectors(seed: int, count: int, size: int) -> None:
    drawn = np.random.default_rng(seed).standard_normal((count, size)).astype("<f2")
    vectors = {str(row): each.tobytes() for row, each in enumerate(drawn)}
    query = np.random.default_rng(seed + 1).standard_normal(size).astype(np.float32)
    apart, asked = (each - drawn.astype(np.float32).mean(axis=0) for each in (drawn.astype(np.float32), query))
    exact = apart @ asked / np.linalg.norm(apart, axis=1) / np.linalg.norm(asked)
    found = ChunkVectors([str(row) for row in range(count)], vectors).similarity(query)
    assert np.abs(found - exact).max() < 0.01


def test_a_chunk_without_a_vector_has_no_similarity() -> None:
    vectors = {"a": np.array([1, 0, 0], "<f2").tobytes(), "b": np.array([0, 1, 0], "<f2").tobytes()}
    found = ChunkVectors(["a", "missing", "b"], vectors).similarity(np.array([1, 0, 0], np.float32))
    assert found[1] == 0
    assert found[0] > 0 > found[2]
