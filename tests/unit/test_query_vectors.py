"""Vectors of queries are kept for a week, a bounded number of them, without the text."""

import pickle

import numpy as np
import pytest

from treering.adapters.models import query_vectors
from treering.adapters.models.query_vectors import QueryVectors

WEEK = 7 * 86_400
VECTOR = np.ones((1, 3), np.float32)


def test_a_query_is_known_for_seven_days() -> None:
    now = [0.0]
    kept = QueryVectors(lambda: now[0])
    kept.put("who?", VECTOR)
    now[0] = WEEK - 1
    found = kept.get("who?")
    assert found is not None
    assert (found == VECTOR).all()
    assert kept.get("who") is None
    now[0] = WEEK
    assert kept.get("who?") is None


def test_the_query_that_was_not_asked_for_longest_leaves_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_vectors, "_MAX_QUERIES", 2)
    kept = QueryVectors()
    for text in ("a", "b"):
        kept.put(text, VECTOR)
    kept.get("a")
    kept.put("c", VECTOR)
    assert [kept.get(text) is not None for text in "abc"] == [True, False, True]


def test_a_caller_cannot_change_what_is_kept() -> None:
    kept, vector = QueryVectors(), VECTOR.copy()
    kept.put("a", vector)
    vector[:] = 0
    found = kept.get("a")
    assert found is not None
    found[:] = 0
    assert (kept.get("a") == VECTOR).all()


def test_no_text_of_a_query_is_kept() -> None:
    kept = QueryVectors()
    kept.put("my name is Anna", VECTOR)
    assert b"Anna" not in pickle.dumps(list(kept._vectors.items()))
