"""However few documents a filter or a scope leaves, the nearest of them are found, and never one that it refuses."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.conftest import OpenMemory
from tests.lengths import at_length
from tests.samples import NOW, sample
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge
from treering.memory import Memory
from treering.ports.index import IndexQuery

MODEL, DIMENSION, SIZE = "test:isolation", 64, at_length(4_000, full=20_000)
ONE_IN = (1, 2, 5, 10, 100, SIZE // 2)
"""From every document down to two of them."""
KINDS = ("knowledge", "turn", "episode", "pattern")


def clustered(count: int, seed: int) -> NDArray[np.float32]:
    """Vectors as models make them: in groups, and all of them somewhat alike."""
    chance = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(0.2, 1, (100, DIMENSION))
    vectors = centres[chance.integers(0, 100, count)] + chance.normal(0, 0.7, (count, DIMENSION))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def fill(memory: Memory, count: int, seed: int, **fields: Any) -> None:
    vectors = clustered(count, seed)
    for start in range(0, count, 5_000):
        places = range(start, min(start + 5_000, count))
        with memory.store.transaction(memory.scope, NOW) as tx:
            tx.knowledge.create_many(
                sample(
                    Knowledge,
                    f"{seed}-{place}",
                    content=f"note {place}",
                    tags=tuple(f"one-in-{step}" for step in ONE_IN if place % step == 0),
                    owner=memory.scope.principal,
                    **fields,
                )
                for place in places
            )
            numbers = tx.documents.numbers("knowledge", [f"{seed}-{place}" for place in places])
            tx.index.add_vectors(
                MODEL, [(numbers[f"{seed}-{place}"], f"{seed}-{place}", vectors[place]) for place in places]
            )


def recall_at_10(tx: Any, allowed: NDArray[np.int64], query: NDArray[np.float32], among: Any) -> float:
    """How many of the ten that are nearest by comparing all were found; none that is not allowed."""
    likeness = tx.index.columns_of(IndexQuery((), query, MODEL), allowed).meaning
    nearest = set(allowed[np.argsort(-likeness)[:10]].tolist())
    found = tx.index.candidates(IndexQuery((), query, MODEL), KINDS, limit=50, among=among)
    assert set(found.number.tolist()) <= set(allowed.tolist())
    best = found.number[np.argsort(-found.meaning)[:10]]
    return len(nearest & set(best.tolist())) / len(nearest)


def test_no_filter_costs_recall_and_nothing_outside_the_scope_is_found(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    elsewhere, another_tenant = open_memory(project="elsewhere"), open_memory(tenant="another")
    fill(ada, SIZE, seed=1)
    for stranger, fields in ((bob, {"visibility": "personal"}), (elsewhere, {}), (another_tenant, {})):
        fill(stranger, 1_000, seed=2, **fields)
    with ada.store.transaction(ada.scope, NOW) as tx:
        tx._context.dialect.after_bulk(tx._context.connection)  # type: ignore[attr-defined]
    queries = clustered(20, seed=3)
    with ada.store.reading(ada.scope, NOW) as tx:
        everything = tx.index.matching_numbers({"knowledge": KnowledgeFilter()})
        assert len(everything) == SIZE
        reached = {"no filter": [recall_at_10(tx, everything, query[None], None) for query in queries]}
        for step in ONE_IN:
            allowed = tx.index.matching_numbers({"knowledge": KnowledgeFilter(tags=(f"one-in-{step}",))})
            assert len(allowed) == SIZE // step
            reached[f"one in {step}"] = [recall_at_10(tx, allowed, query[None], allowed) for query in queries]
    poor = {name: np.mean(recalls) for name, recalls in reached.items() if np.mean(recalls) < 0.98}
    assert not poor
