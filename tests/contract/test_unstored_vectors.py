"""Vectors that a search made and has not stored yet: none is lost, and none is stored that should not be."""

from collections.abc import Sequence
from itertools import count
from threading import Thread

import numpy as np
import pytest

from tests.conftest import OpenMemory
from treering.adapters.sql.index_base import SqlIndex
from treering.adapters.sql.unstored_vectors import MadeVector, PendingVectors
from treering.compose import now
from treering.core.errors import StoreError, StoreFull
from treering.core.records import Knowledge
from treering.core.settings import Settings
from treering.memory import Memory
from treering.ports.index import Coverage
from treering.ports.models import Embedder
from treering.search import embedding as embed
from treering.search.embedding import catch_up, drop_other_models, embed_all, store_vectors

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
        numbers = tx.documents.numbers("knowledge", ids)
    vector = np.ones(dimension or embedder_of(memory).dimension, np.float32)
    return [(numbers[id], f"digest {id}", vector) for id in ids]


def keep(memory: Memory, model: str, vectors: Sequence[MadeVector]) -> None:
    with memory.store.reading(memory.scope, now()) as tx:
        tx.index.hold_vectors(model, vectors)


def models(memory: Memory) -> Sequence[str]:
    with memory.store.reading(memory.scope, now()) as tx:
        return tx.index.models()


def store_all(memory: Memory) -> None:
    store_vectors(memory.scope, memory.store, now())


def stored(memory: Memory, model: str) -> Coverage:
    """Documents and vectors in the database."""
    with memory.store.reading(memory.scope, now()) as tx:
        assert tx.index.unstored_vectors(model) == []
        return tx.index.coverage(model)


def full(*_given: object, **_options: object) -> None:
    raise StoreFull("the disk is full")


def test_two_threads_that_keep_vectors_at_once_lose_none() -> None:
    kept, vector = PendingVectors(), np.ones(2, np.float32)
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
    assert "meaning of some" not in memory.search(QUERY).missing


def test_a_gap_among_kept_vectors_is_not_kept_by_the_index_in_memory(open_memory: OpenMemory) -> None:
    memory = filled(open_memory)
    model = embedder_of(memory).model
    keep(memory, model, made(memory, 3, 4, 5))
    with memory.store.reading(memory.scope, now()) as tx:
        tx.index.load(model)
    keep(memory, model, made(memory, 0, 1, 2))
    store_all(memory)
    assert stored(memory, model) == Coverage(RECORDS, RECORDS)


def test_dropped_models_are_neither_listed_nor_stored_again(open_memory: OpenMemory) -> None:
    memory = filled(open_memory)
    embedder = embedder_of(memory)
    memory.search(QUERY)
    keep(memory, "other", made(memory, 0, 1, 2, dimension=8))
    drop_other_models(memory.scope, memory.store, now(), embedder.model)
    assert models(memory) == [embedder.model]
    store_all(memory)
    assert models(memory) == [embedder.model]


def test_an_index_in_memory_forgets_the_vectors_of_a_dropped_model(open_memory: OpenMemory) -> None:
    memory = filled(open_memory)
    model = embedder_of(memory).model
    memory.search(QUERY)
    store_all(memory)
    assert drop_other_models(memory.scope, memory.store, now(), "other") == RECORDS
    assert stored(memory, model) == Coverage(RECORDS, 0)


def test_kept_vectors_give_way_to_a_model_that_another_process_chose(open_memory: OpenMemory) -> None:
    memory = filled(open_memory)
    keep(memory, "ours", made(memory, 0, 1, 2, dimension=8))
    with open_memory(background=False) as other, other.store.transaction(other.scope, now()) as tx:
        tx.index.add_vectors("theirs", made(memory, 0, dimension=8))
    assert models(memory) == ["theirs"]
    store_all(memory)
    assert models(memory) == ["theirs"]
    assert not memory.store.has_unstored_vectors(memory.scope)


@pytest.mark.usefixtures("postgres_url")
def test_a_vector_stays_in_memory_while_another_transaction_holds_its_document(open_engine: OpenMemory) -> None:
    memory = filled(lambda **options: open_engine("postgresql", **options))
    model, vectors = embedder_of(memory).model, made(memory, 0, 1)
    keep(memory, model, vectors)
    with memory.store.transaction(memory.scope, now()) as tx:
        held = "SELECT FROM documents WHERE number = %s FOR UPDATE"
        tx._context.connection.exec_driver_sql(held, (vectors[0][0],))  # type: ignore[attr-defined]
        store_all(memory)
        with memory.store.reading(memory.scope, now()) as reading:
            assert [number for number, *_ in reading.index.unstored_vectors(model)] == [vectors[0][0]]
    store_all(memory)
    assert stored(memory, model).vectors == 2


def test_the_vector_of_a_purged_document_leaves_the_memory(open_memory: OpenMemory) -> None:
    memory = filled(open_memory)
    model = embedder_of(memory).model
    keep(memory, model, made(memory, 0, 1))
    memory.forget("k0", hard=True)
    store_all(memory)
    assert stored(memory, model) == Coverage(RECORDS - 1, 1)


def test_a_memory_closes_although_its_kept_vectors_cannot_be_stored(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = filled(open_memory)
    keep(memory, embedder_of(memory).model, made(memory, 0, 1))
    monkeypatch.setattr(memory.store, "write_if_free", full)
    memory.close()
    with pytest.raises(StoreError, match="is closed"):
        memory.get("k0")


@pytest.mark.usefixtures("postgres_url")
def test_embedding_ends_although_another_transaction_holds_a_document(open_engine: OpenMemory) -> None:
    memory = filled(lambda **options: open_engine("postgresql", **options))
    embedder, settings = embedder_of(memory), memory.settings.embedder
    with memory.store.transaction(memory.scope, now()) as tx:
        held = "SELECT FROM documents WHERE number = %s FOR UPDATE"
        tx._context.connection.exec_driver_sql(held, (made(memory, 0)[0][0],))  # type: ignore[attr-defined]
        rounds = list[int]()

        def between(done: int) -> bool:
            rounds.append(done)
            return len(rounds) < 5

        assert embed_all(memory.scope, memory.store, now(), embedder, settings, between=between) == RECORDS - 1
    assert rounds == [RECORDS - 1]
    assert embed_all(memory.scope, memory.store, now(), embedder, settings) == 1


def test_a_search_embeds_few_long_documents_and_all_of_a_small_store(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any time for it: one group, which always is embedded."""
    monkeypatch.setattr("treering.search.embedding.INLINE_SECONDS", 0.0)
    short, long = open_memory(background=False), open_memory(project="long")
    for number in range(40):
        short.remember(f"Crane {number} lifts {number} tons.")
        long.remember(f"Crane {number} " + "lifts heavy loads " * 1_000)
    for memory, embedded in ((short, 40), (long, 3)):
        catch_up(memory.scope, memory.store, now(), embedder_of(memory), memory.settings.embedder)
        assert stored(memory, embedder_of(memory).model) == Coverage(40, embedded)


def test_one_document_that_is_longer_than_a_group_is_embedded(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.search.embedding.INLINE_SECONDS", 0.0)
    memory = open_memory(background=False)
    memory.remember("heavy loads " * 20_000)
    catch_up(memory.scope, memory.store, now(), embedder_of(memory), memory.settings.embedder)
    assert stored(memory, embedder_of(memory).model) == Coverage(1, 1)


def test_embedding_during_a_search_ends_with_its_time(open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = open_memory(background=False)
    moments = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), now())
    memory.remember_many(
        Knowledge.make(id=f"k{n}", type="fact", content=f"Crane {n} lifts {n} tons", **moments) for n in range(300)
    )
    seconds = count()
    monkeypatch.setattr(embed, "monotonic", lambda: float(next(seconds)))
    catch_up(memory.scope, memory.store, now(), embedder_of(memory), memory.settings.embedder)
    assert stored(memory, embedder_of(memory).model) == Coverage(300, 128)


def test_a_search_that_cannot_store_vectors_answers_and_says_why(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = filled(open_memory)
    monkeypatch.setattr(embed, "_EMBEDDED_WITHIN", 0)
    with monkeypatch.context() as patch:
        patch.setattr(SqlIndex, "add_vectors", full)
        found = memory.search(QUERY)
    assert found[0].id == "k3"
    assert "meaning of some" not in found.missing
    assert "the disk is full" in found.missing["stored vectors"]
    assert "stored vectors" not in memory.search(QUERY).missing


def test_a_search_stores_no_vectors_until_there_are_many(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed, "_STORED_TOGETHER", 8)
    memory = filled(open_memory)
    model = embedder_of(memory).model
    assert memory.search(QUERY)[0].id == "k3"
    assert stored(open_memory(background=False), model) == Coverage(RECORDS, 0)
    for number in range(RECORDS, 8):
        memory.remember(f"Crane {number} lifts {number} tons.", id=f"k{number}")
        assert memory.search(f"which crane lifts {number} tons?")[0].id == f"k{number}"
    memory.search(QUERY)
    assert stored(open_memory(background=False), model) == Coverage(8, 8)


def test_vectors_of_searches_are_stored_at_the_end(open_memory: OpenMemory) -> None:
    memory = filled(open_memory)
    model = embedder_of(memory).model
    memory.search(QUERY)
    memory.close()
    assert stored(open_memory(background=False), model) == Coverage(RECORDS, RECORDS)


def test_vectors_that_cannot_be_stored_are_kept_up_to_a_limit(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.make(embedder={"inline": 1})
    memory = open_memory(settings=settings, background=False)
    for number in range(12):
        memory.remember(f"Crane {number} lifts {number} tons.")
    monkeypatch.setattr(memory.store, "write_if_free", lambda *_given, **_options: False)
    missing = [memory.search(QUERY).missing["meaning of some"][:8] for _ in range(12)]
    assert missing[8:] == ["3 of 12 ", "2 of 12 ", "2 of 12 ", "2 of 12 "]
