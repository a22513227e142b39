"""Vectors that a search made and has not stored yet: none is lost, and none is stored that should not be."""

from collections.abc import Sequence
from threading import Thread

import numpy as np

from tests.conftest import OpenMemory
from treering.adapters.sql.kept_vectors import KeptVectors, MadeVector
from treering.compose import now
from treering.memory import Memory
from treering.ports.index import Coverage
from treering.ports.models import Embedder
from treering.retrieve.embed import catch_up, store_kept

RECORDS = 6
QUERY = "which crane lifts 3 tons?"


def filled(open_memory: OpenMemory) -> Memory:
    memory = open_memory(background=False)
    for number in range(RECORDS):
        memory.remember(f"Crane {number} lifts {number} tons.", id=f"k{number}")
    return memory


def embedder_of(memory: Memory) -> Embedder:
    return memory.models.embedder((), hurried=False)


def made(memory: Memory, *places: int, dimension: int | None = None) -> Sequence[MadeVector]:
    """A vector for each of these records."""
    ids = [f"k{place}" for place in places]
    with memory.store.reading(memory.scope, now()) as tx:
        numbers = tx.index.numbers("knowledge", ids)
    vector = np.ones(dimension or embedder_of(memory).dimension, np.float32)
    return [(numbers[id], f"digest {id}", vector) for id in ids]


def keep(memory: Memory, model: str, vectors: Sequence[MadeVector]) -> None:
    with memory.store.reading(memory.scope, now()) as tx:
        tx.index.keep_vectors(model, vectors)


def store_all(memory: Memory) -> None:
    store_kept(memory.scope, memory.store, now())


def stored(memory: Memory, model: str) -> Coverage:
    """Documents and vectors in the database."""
    with memory.store.reading(memory.scope, now()) as tx:
        assert tx.index.kept_vectors(model) == []
        return tx.index.coverage(model)


def test_two_threads_that_keep_vectors_at_once_lose_none() -> None:
    kept, vector = KeptVectors(), np.ones(2, np.float32)
    other = Thread(target=lambda: kept.add("m", [(3, "c", vector)]))

    class Interrupting(int):
        """A number whose comparison lets the other thread go first."""

        def __lt__(self, than: int) -> bool:
            if not other.ident:
                other.start()
                other.join(timeout=0.2)
            return int(self) < int(than)

    kept.add("m", [(Interrupting(2), "b", vector), (Interrupting(1), "a", vector)])
    other.join()
    assert list(kept.of("m")) == [1, 2, 3]


def test_a_gap_among_kept_vectors_is_filled(open_memory: OpenMemory) -> None:
    memory = filled(open_memory)
    embedder = embedder_of(memory)
    keep(memory, embedder.model, made(memory, 3, 4, 5))
    for _ in range(2):
        catch_up(memory.scope, memory.store, now(), embedder, memory.settings.embedder)
    assert stored(memory, embedder.model) == Coverage(RECORDS, RECORDS)
    assert "meaning of some" not in memory.recall(QUERY).missing


def test_a_gap_among_kept_vectors_is_not_kept_by_the_index_in_memory(open_memory: OpenMemory) -> None:
    memory = filled(open_memory)
    model = embedder_of(memory).model
    keep(memory, model, made(memory, 3, 4, 5))
    with memory.store.reading(memory.scope, now()) as tx:
        tx.index.ready(model)
    keep(memory, model, made(memory, 0, 1, 2))
    store_all(memory)
    assert stored(memory, model) == Coverage(RECORDS, RECORDS)
