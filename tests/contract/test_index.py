"""The index finds the same on both engines, for the same reasons, and nothing that is gone or another person's."""

from collections.abc import Callable, Sequence
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import treering
from tests.conftest import ENGINES, OpenMemory, create_pgvector, own_database
from tests.samples import NOW, sample
from treering.core.language.terms import code_of
from treering.core.patterns import Pattern
from treering.core.queries import KnowledgeFilter, TurnFilter
from treering.core.records import Knowledge
from treering.core.turns import Turn
from treering.memory import Memory
from treering.ports.index import Candidates, IndexQuery
from treering.ports.store import Check

MODEL = "test:64 it's 100 % numbers"
KINDS = ("knowledge", "turn", "episode", "pattern")
VOCABULARY = [f"w{place:03}x" for place in range(300)]


def unit(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def texts(count: int) -> list[str]:
    """Some words are in every second text, most in few."""
    chance = np.random.default_rng(1)
    share = 1 / np.arange(3, len(VOCABULARY) + 3)
    share /= share.sum()
    return [" ".join(chance.choice(VOCABULARY, chance.integers(1, 40), p=share)) for _ in range(count)]


def fill(memory: Memory, *, embedded: int = 250) -> None:
    """200 turns in four conversations and 100 records; most of them have a vector."""
    written = texts(300)
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.turns.create_many(
            sample(Turn, f"t{place}", session=f"s{place % 4}", text=text) for place, text in enumerate(written[:200])
        )
        tx.knowledge.create_many(
            sample(Knowledge, f"k{place}", content=text) for place, text in enumerate(written[200:])
        )
    embed(memory, list(range(embedded)))


def embed(memory: Memory, places: Sequence[int], seed: int = 2) -> None:
    made = unit(np.random.default_rng(seed).normal(0.3, 1, (300, 64)))
    with memory.store.transaction(memory.scope, NOW) as tx:
        numbers = {**tx.documents.numbers("turn", [f"t{place}" for place in range(200)])}
        numbers |= tx.documents.numbers("knowledge", [f"k{place}" for place in range(100)])
        ids = [f"t{place}" if place < 200 else f"k{place - 200}" for place in places]
        tx.index.add_vectors(
            MODEL, [(numbers[id], f"digest {id}", made[place]) for place, id in zip(places, ids, strict=True)]
        )


def asking(*words: str | tuple[str, ...], seed: int | None = 3) -> IndexQuery:
    forms = [(word,) if isinstance(word, str) else word for word in words]
    vector = None if seed is None else unit(np.random.default_rng(seed).normal(0.3, 1, (1, 64)))
    return IndexQuery([[code_of(form) for form in each] for each in forms], vector, "" if seed is None else MODEL)


QUERIES = {
    "a rare word": asking(VOCABULARY[200], seed=None),
    "several words": asking(*VOCABULARY[5:60:9], seed=None),
    "forms of a word": asking((VOCABULARY[3], VOCABULARY[4], VOCABULARY[90]), VOCABULARY[50], seed=None),
    "no such word": asking("nowhere", seed=None),
    "a vector": asking(),
    "words and a vector": asking(VOCABULARY[1], VOCABULARY[40], seed=4),
    "words that count unequally": IndexQuery([[code_of(word)] for word in VOCABULARY[20:23]], shares=(1.0, 0.5, 0.0)),
    "nothing": IndexQuery([]),
}


def look(memory: Memory, work: Callable[[Any], Any]) -> Any:
    with memory.store.reading(memory.scope, NOW) as tx:
        return work(tx)


def names(tx: Any, numbers: NDArray[np.int64]) -> list[tuple[str, str]]:
    """Kind and id of documents, past every filter and scope."""
    known = dict[int, tuple[str, str]]()
    for number, kind, id in tx._context.connection.exec_driver_sql("SELECT number, kind, id FROM documents"):
        known[number] = (kind, id)
    return [known[number] for number in numbers.tolist()]


def found(memory: Memory, wanted: IndexQuery, **options: Any) -> tuple[Candidates, list[tuple[str, str]]]:
    def work(tx: Any) -> tuple[Candidates, list[tuple[str, str]]]:
        chosen = {"kinds": KINDS, "limit": 20} | options
        candidates = tx.index.candidates(wanted, **chosen)
        return candidates, names(tx, candidates.number)

    return look(memory, work)


def by_words(memory: Memory, *words: str, **options: Any) -> set[str]:
    candidates, ids = found(memory, asking(*words, seed=None), **options)
    return {id for (_, id), score in zip(ids, candidates.words, strict=True) if score > 0}


@pytest.fixture
def both(open_engine: Callable[..., Memory], postgres_url: str) -> tuple[Memory, ...]:
    memories = tuple(open_engine(engine) for engine in ENGINES)
    for memory in memories:
        fill(memory)
    return memories


@pytest.mark.parametrize("kinds", [KINDS, ("knowledge",)], ids=["all kinds", "one kind"])
@pytest.mark.parametrize("query", QUERIES)
def test_both_engines_have_the_same_candidates_with_the_same_scores(
    both: tuple[Memory, ...], query: str, kinds: tuple[str, ...]
) -> None:
    (one, ids), (other, other_ids) = [found(memory, QUERIES[query], kinds=kinds) for memory in both]
    assert ids == other_ids
    for name in ("kind", "at", "speaker", "marks", "length", "neighbours"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    np.testing.assert_allclose(one.words, other.words, rtol=1e-4)
    np.testing.assert_allclose(one.meaning, other.meaning, atol=5e-3)
    assert one.words_weight == pytest.approx(other.words_weight, rel=1e-4)


def test_both_engines_look_at_chosen_documents_alike(both: tuple[Memory, ...]) -> None:
    wanted, looked = QUERIES["words and a vector"], []
    for memory in both:

        def work(tx: Any) -> Any:
            numbers = np.array(list(tx.documents.numbers("turn", ["t7", "t11", "t150"]).values()), np.int64)
            seen = tx.index.columns_of(wanted, numbers)
            compared = tx.index.similarity(MODEL, seen.number, numbers)
            np.testing.assert_allclose(
                tx.index.word_scores(wanted, seen.number), seen.words / seen.words_weight, rtol=1e-4
            )
            return names(tx, seen.number), seen, compared

        looked.append(look(memory, work))
    (ids, one, cosines), (other_ids, other, other_cosines) = looked
    assert ids == other_ids
    assert {"t7", "t11", "t150", "t3", "t15", "t19"} <= {id for _, id in ids}
    np.testing.assert_allclose(one.words, other.words, rtol=1e-4)
    np.testing.assert_allclose(one.meaning, other.meaning, atol=5e-3)
    np.testing.assert_allclose(cosines, other_cosines, atol=5e-3)
    np.testing.assert_array_equal(one.neighbours, other.neighbours)


def test_both_engines_know_the_same_of_the_project(both: tuple[Memory, ...]) -> None:
    codes = np.array([code_of(word) for word in (*VOCABULARY[:50], "nowhere")], np.uint32)

    def work(tx: Any) -> Any:
        waiting = [each.record.id for each in tx.index.unembedded(MODEL, limit=7)]
        return (
            tx.index.languages(),
            set(tx.index.speakers()),
            tx.index.coverage(MODEL),
            tx.index.models(),
            waiting,
            tx.index.rarity(codes),
        )

    (*one, rare), (*other, other_rare) = [look(memory, work) for memory in both]
    assert one == other
    np.testing.assert_allclose(rare, other_rare, rtol=1e-6)


def test_what_is_written_is_found_at_once_and_what_is_purged_is_not(memory: Memory) -> None:
    fill(memory)
    assert by_words(memory, "zebra") == set()
    record = memory.remember("a zebra crossing", id="z")
    assert by_words(memory, "zebra") == {"z"}
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.knowledge.update(record.replace(content="a pelican crossing"))
    visible = look(memory, lambda tx: tx.documents.numbers("knowledge", ["z"]))
    assert set(visible) == {"z"}
    assert passing(memory, "pelican") == {"z"}
    assert passing(memory, "zebra") == set()
    memory.forget("z", hard=True)
    assert passing(memory, "pelican") == set()


def test_the_embedded_index_ranks_as_if_a_purged_record_had_never_been_there(open_engine: OpenMemory) -> None:
    memory = open_engine("sqlite")
    for id, text in (("z", "a zebra and another zebra cross the road"), ("a", "a zebra"), ("b", "a pelican")):
        memory.remember(text, id=id)
    assert passing(memory, "zebra") == {"a", "z"}
    memory.forget("z", hard=True)
    assert passing(memory, "zebra") == {"a"}
    here, read_anew = (found(each, asking("zebra", seed=None))[0] for each in (memory, open_engine("sqlite")))
    assert (here.number.tolist(), here.words.tolist()) == (read_anew.number.tolist(), read_anew.words.tolist())


def passing(memory: Memory, word: str) -> set[str]:
    """What is found and still there, as retrieval asks it."""

    def work(tx: Any) -> set[str]:
        candidates = tx.index.candidates(asking(word, seed=None), KINDS, limit=20)
        there = tx.index.matching_ids({"knowledge": KnowledgeFilter(), "turn": TurnFilter()}, candidates.number)
        return {id for _, id in there.values()}

    return look(memory, work)


def test_a_deleted_record_does_not_pass(memory: Memory) -> None:
    memory.remember("a zebra crossing", id="z")
    assert passing(memory, "zebra") == {"z"}
    memory.forget("z")
    assert passing(memory, "zebra") == set()


def test_vectors_of_a_purged_record_are_gone_from_every_table(memory: Memory, engine: str) -> None:
    fill(memory)
    number = look(memory, lambda tx: tx.documents.numbers("knowledge", ["k3"])["k3"])
    memory.forget("k3", hard=True)

    def work(tx: Any) -> None:
        assert tx.index.matching_ids({"knowledge": KnowledgeFilter()}, np.array([number])) == {}
        tables = {"sqlite": ("documents", "vectors"), "postgresql": ("documents", "postings", "vectors", "nearby")}
        for table in tables[engine]:
            counted = f"SELECT count(*), sum(CASE number WHEN {number} THEN 1 ELSE 0 END) FROM {table}"
            total, left = tx._context.connection.exec_driver_sql(counted).one()
            assert (total > 0, left) == (True, 0), table

    look(memory, work)


def test_turns_beside_a_purged_turn_lose_their_vectors(memory: Memory) -> None:
    """A model that reads in context made them from its words as well."""
    fill(memory)

    def embedded(tx: Any) -> set[str]:
        numbers = tx.documents.numbers("turn", ["t0", "t4", "t8", "t12", "t16"])
        made = tx.index.vectors(MODEL, np.array(sorted(numbers.values())))
        return {id for id, number in numbers.items() if number in made}

    assert look(memory, embedded) == {"t0", "t4", "t8", "t12", "t16"}
    memory.forget("t8", hard=True)
    assert look(memory, embedded) == {"t0", "t16"}


def test_a_record_that_is_purged_while_it_is_embedded_gets_no_vector(memory: Memory) -> None:
    memory.remember("a secret to be purged", id="gone")
    number = look(memory, lambda tx: tx.index.unembedded(MODEL, limit=1))[0].number
    memory.forget("gone", hard=True)
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.index.add_vectors(MODEL, [(number, "digest", np.full(64, 0.125, np.float32))])
    assert look(memory, lambda tx: tx.index.known_vectors(MODEL, ["digest"])) == {}


def test_a_changed_text_loses_its_vector_and_keeps_its_neighbours_theirs(memory: Memory) -> None:
    fill(memory)
    with memory.store.transaction(memory.scope, NOW) as tx:
        record = tx.knowledge.get("k1")
        tx.knowledge.update(record.replace(content="quite another text"))
        numbers = np.array([tx.documents.numbers("knowledge", [id])[id] for id in ("k1", "k2")], np.int64)
        np.testing.assert_array_equal(np.isnan(tx.index.similarity(MODEL, numbers, numbers)), [True, False])


def test_only_those_among_the_given_numbers_are_found(memory: Memory) -> None:
    fill(memory)
    wanted = QUERIES["words and a vector"]

    def work(tx: Any) -> None:
        numbers = np.array(
            list(tx.documents.numbers("knowledge", [f"k{place}" for place in range(10)]).values()), np.int64
        )
        candidates = tx.index.candidates(wanted, KINDS, limit=20, among=numbers)
        assert set(candidates.number) <= set(numbers)
        assert len(candidates) == 10
        assert len(tx.index.candidates(wanted, KINDS, limit=20, among=numbers[:0])) == 0
        assert len(tx.index.candidates(wanted, ("turn",), limit=20, among=numbers)) == 0

    look(memory, work)


def test_only_the_asked_kinds_are_found(memory: Memory) -> None:
    fill(memory)
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.patterns.create(sample(Pattern, "p", name=f"{VOCABULARY[0]} steps"))
    for kind, first in (("knowledge", "k"), ("pattern", "p")):
        _, ids = found(memory, asking(VOCABULARY[0]), kinds=(kind,))
        assert ids
        assert {id[0] for _, id in ids} == {first}


def test_what_belongs_to_another_person_is_neither_found_nor_counted(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    fill(ada, embedded=300)
    ada.remember("my own zebra", visibility="personal", id="diary")
    bob.remember("a zebra for all", id="shared")
    bob.remember("bob rides a zebra", visibility="personal", id="his")
    own = unit(np.random.default_rng(3).normal(0.3, 1, (1, 64)))[0]
    with ada.store.transaction(ada.scope, NOW) as tx:
        tx.index.add_vectors(MODEL, [(tx.documents.numbers("knowledge", ["diary"])["diary"], "own", own)])
    assert by_words(ada, "zebra") == {"diary", "shared"}
    assert by_words(bob, "zebra") == {"his", "shared"}
    assert "diary" in {id for _, id in found(ada, asking())[1]}
    assert "diary" not in {id for _, id in found(bob, asking())[1]}
    documents = 302
    for memory in (ada, bob):
        weight = found(memory, asking("zebra", seed=None))[0].words_weight
        assert weight == pytest.approx(log(1 + (documents - 2 + 0.5) / (2 + 0.5)), rel=1e-4)


def test_vectors_of_another_model_can_be_dropped(memory: Memory) -> None:
    fill(memory)
    with memory.store.transaction(memory.scope, NOW) as tx:
        number = tx.documents.numbers("turn", ["t0"])["t0"]
        tx.index.add_vectors("other of 8 numbers", [(number, "d", np.ones(8, np.float32) / 8**0.5)])
        assert tx.index.drop_vectors(but="other of 8 numbers") == 250
    assert look(memory, lambda tx: tx.index.models()) == ["other of 8 numbers"]
    assert look(memory, lambda tx: len(tx.index.unembedded("other of 8 numbers", limit=1_000))) > 0


def test_a_vector_is_known_by_the_digest_of_its_text(memory: Memory) -> None:
    fill(memory)
    known = look(memory, lambda tx: tx.index.known_vectors(MODEL, ["digest t5", "digest of nothing"]))
    assert list(known) == ["digest t5"]
    assert known["digest t5"].shape == (64,)


def test_without_pgvector_the_same_is_found_and_once_it_is_there_it_gets_every_vector(
    postgres_admin_url: str, tmp_path: Path
) -> None:
    wanted = QUERIES["words and a vector"]
    with (
        own_database(postgres_admin_url, pgvector=False) as url,
        treering.open(url, project="p", blobs=tmp_path) as memory,
        treering.open(tmp_path / "memory.db", project="p") as embedded,
    ):
        for each in (memory, embedded):
            fill(each, embedded=200)
        assert "CREATE EXTENSION vector" in pgvector_check(memory).advice
        alone, ids = found(memory, wanted)
        reference, expected = found(embedded, wanted)
        assert ids == expected
        np.testing.assert_allclose(alone.meaning, reference.meaning, atol=5e-3)

        create_pgvector(postgres_admin_url, url)
        assert found(memory, wanted)[1] == ids
        embed(memory, [299])
        assert pgvector_check(memory).detail.startswith("0.8")
        assert found(memory, wanted)[1] == ids
        counted = "SELECT count(*) FROM nearby"
        assert look(memory, lambda tx: tx._context.connection.exec_driver_sql(counted).scalar()) == 201


def pgvector_check(memory: Memory) -> Check:
    return next(check for check in memory.store.check(memory.scope, NOW) if check.name == "pgvector")


def test_words_that_are_too_common_to_look_up_still_count(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, rare, common = open_memory(), VOCABULARY[150], VOCABULARY[0]
    fill(memory)
    wanted = asking(rare, common, seed=None)
    whole, _ = found(memory, wanted, limit=300)
    for module in ("server_index", "server_statistics"):
        monkeypatch.setattr(f"treering.adapters.sql.{module}.MAX_POSTINGS", 20)
    bounded, _ = found(memory, wanted, limit=300)
    assert set(bounded.number) <= set(whole.number)
    same = np.isin(whole.number, bounded.number)
    np.testing.assert_allclose(bounded.words, whole.words[same], rtol=1e-4)
    assert len(found(memory, asking(common, seed=None), limit=300)[0]) >= 20


def test_a_filter_leaves_what_it_allows_of_a_word_that_is_too_common_to_look_up(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, wanted = open_memory(), asking(VOCABULARY[0], seed=None)
    fill(memory)
    allowed = look(memory, lambda tx: tx.index.matching_numbers({"knowledge": KnowledgeFilter()}))[:30]
    whole, _ = found(memory, wanted, limit=300, among=allowed)
    for module in ("server_index", "server_statistics"):
        monkeypatch.setattr(f"treering.adapters.sql.{module}.MAX_POSTINGS", 20)
    bounded, _ = found(memory, wanted, limit=300, among=allowed)
    assert len(bounded) > 5
    np.testing.assert_array_equal(bounded.number, whole.number)


def test_words_are_known_of_each_document(memory: Memory, engine: str) -> None:
    fill(memory)
    memory.forget("k3", hard=True)
    words = [[code_of(VOCABULARY[0])], [code_of(VOCABULARY[40]), code_of(VOCABULARY[1])], [code_of("nowhere")]]

    def work(tx: Any) -> None:
        numbers = tx.index.matching_numbers({"knowledge": KnowledgeFilter(), "turn": TurnFilter()})
        codes = {number: set(found.tolist()) for number, (found, _) in tx.index.words_of(numbers).items()}
        wanted = [[not codes[number].isdisjoint(forms) for forms in words] for number in numbers.tolist()]
        assert tx.index.containing(words, numbers).tolist() == wanted
        assert not tx.index.containing(words, np.array([10**9])).any()
        holding = tx.index.holding(words[1:], KINDS)
        if engine == "sqlite":
            assert set(numbers[[row[1] for row in wanted]].tolist()) <= set(holding.tolist())
            assert not tx.index.holding(words[1:], ["pattern"]).size
        else:
            assert holding is None

    look(memory, work)
