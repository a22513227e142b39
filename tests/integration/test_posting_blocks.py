"""Words in blocks on a server: found and counted as if each had a row, whatever is moved, removed or interrupted."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import numpy as np
import pytest

from tests.samples import NOW, by_words, turn
from treering.adapters.sql import posting_blocks, server_words
from treering.adapters.sql.posting_blocks import BLOCK, move_to_blocks
from treering.core.language.terms import code_of
from treering.core.queries import TurnFilter
from treering.core.turns import Turn
from treering.memory import Memory

WORDS = ("cold", "water", "warm", "air", "fire", "stone", "wood", "iron")
HERE = "tenant = %(tenant)s AND project = %(project)s"
OpenEngine = Callable[..., Memory]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five documents go to blocks at once, and rows of any number are moved."""
    monkeypatch.setattr(server_words, "BULK", 5)
    monkeypatch.setattr(posting_blocks, "DUE", 1)
    monkeypatch.setattr(posting_blocks, "CHECKED_EVERY", 1)


@pytest.fixture
def memory(open_engine: OpenEngine, postgres_url: str, small_blocks: None) -> Memory:
    return open_engine("postgresql", background=False)


def numbered(memory: Memory) -> dict[str, Any]:
    return {"tenant": memory.scope.tenant, "project": memory.scope.project}


def read(memory: Memory, statement: str) -> list[Any]:
    with memory.store.reading(memory.scope, NOW) as tx:
        connection = tx._context.connection  # type: ignore[attr-defined]
        return list(connection.exec_driver_sql(statement, numbered(memory)).all())


def move(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        move_in(tx)


def move_in(tx: Any) -> None:
    move_to_blocks(tx._context.connection, (tx.scope.tenant, tx.scope.project), [0])


def store(memory: Memory, texts: Sequence[str], **fields: Any) -> dict[str, str]:
    found = {f"t{place}": text for place, text in enumerate(texts)}
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.turns.create_many([turn(id, text, **fields) for id, text in found.items()])
    return found


def numbers_in_blocks(memory: Memory) -> list[int]:
    """Every number, once for each of its words."""
    number = "(first >> 22 << 22) + (posting >> 41)"
    return [
        each
        for (each,) in read(memory, f"SELECT {number} FROM posting_blocks, unnest(postings) AS posting WHERE {HERE}")
    ]


def rows(memory: Memory) -> int:
    return int(read(memory, f"SELECT count(*) FROM postings WHERE {HERE}")[0][0])


def assert_counted(memory: Memory, texts: Mapping[str, str]) -> None:
    """Frequencies and documents of each word are those of the stored texts, and the check agrees."""
    held = Counter(word for text in texts.values() for word in set(text.split()))
    with memory.store.reading(memory.scope, NOW, for_search=True) as tx:
        index: Any = tx.index
        codes = np.array([code_of(word) for word in WORDS], np.uint32)
        assert index._count(codes) == {code_of(word): held[word] for word in WORDS}
        for word in WORDS:
            with_word = {id for id, text in texts.items() if word in text.split()}
            assert by_words(tx, word, turn=TurnFilter()) == with_word, word
    assert [check for check in memory.doctor().checks if check.name == "search index" and not check.fine] == []


@pytest.mark.parametrize("seed", range(4))
def test_words_are_counted_and_found_wherever_they_are(memory: Memory, seed: int) -> None:
    chance, ids, texts = random.Random(seed), count(), dict[str, str]()

    def new() -> Turn:
        text = " ".join(chance.choices(WORDS, k=chance.randint(1, 5)))
        made = turn(f"t{next(ids)}", text)
        texts[made.id] = text
        return made

    for _ in range(25):
        step = chance.choice(("one", "many", "few", "move", "purge", "rebuild"))
        with memory.store.transaction(memory.scope, NOW) as tx:
            if step == "one":
                tx.turns.create(new())
            elif step in ("many", "few"):
                tx.turns.create_many([new() for _ in range(20 if step == "many" else 3)])
            elif step == "purge" and texts:
                gone = chance.sample(sorted(texts), min(len(texts), 3))
                for id in gone:
                    tx.turns.purge(id)
                    del texts[id]
        if step == "move":
            move(memory)
            assert rows(memory) == 0
        if step == "rebuild" and chance.random() < 0.2:
            memory.store.rebuild(memory.scope, NOW)  # type: ignore[attr-defined]
        assert_counted(memory, texts)


def test_a_common_word_takes_several_full_blocks(memory: Memory) -> None:
    texts = store(memory, [f"cold {WORDS[place % 7 + 1]}" for place in range(2 * BLOCK + 10)])
    for extra in range(3):
        with memory.store.transaction(memory.scope, NOW) as tx:
            tx.turns.create(turn(f"extra{extra}", "cold"))
        texts[f"extra{extra}"] = "cold"
        move(memory)
    held = read(memory, f"SELECT held FROM posting_blocks WHERE {HERE} AND code = {code_of('cold')} ORDER BY first")
    assert [each for (each,) in held] == [BLOCK, BLOCK, 13]
    assert_counted(memory, texts)


def test_numbers_far_apart_are_in_separate_blocks(memory: Memory) -> None:
    texts = store(memory, ["cold water"] * 5)
    read_here = f"SELECT max(number) FROM documents WHERE {HERE}"
    far = (read(memory, read_here)[0][0] | 2**22 - 1) - 1
    with memory.store.transaction(memory.scope, NOW) as tx:
        connection = tx._context.connection  # type: ignore[attr-defined]
        connection.exec_driver_sql(f"SELECT setval(pg_get_serial_sequence('documents', 'number'), {far})")
        tx.turns.create_many([turn(f"far{place}", "cold stone") for place in range(5)])
    texts |= {f"far{place}": "cold stone" for place in range(5)}
    assert len(set(read(memory, f"SELECT first >> 22 FROM posting_blocks WHERE {HERE}"))) == 2
    assert_counted(memory, texts)


def test_forms_of_a_word_are_counted_once_per_document(memory: Memory) -> None:
    store(memory, ["cold water", "cold", "water", "stone", "cold water stone"])
    codes = sorted(map(code_of, ("cold", "water")))
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.turns.purge("t1")
        connection = tx._context.connection  # type: ignore[attr-defined]
        counted = posting_blocks.DISTINCT.format(codes=f"ARRAY{codes}::bigint[]")
        assert connection.exec_driver_sql(f"SELECT {counted}", numbered(memory)).scalar_one() == 3


def test_a_purge_leaves_nothing_in_blocks(memory: Memory) -> None:
    texts = store(memory, ["cold water", "warm air", "cold fire", "stone", "wood"])
    ((gone,),) = read(memory, f"SELECT number FROM documents WHERE {HERE} AND id = 't2'")
    assert numbers_in_blocks(memory).count(gone) == 2
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.turns.purge("t2")
    del texts["t2"]
    assert gone not in numbers_in_blocks(memory)
    assert gone not in [each for (each,) in read(memory, f"SELECT number FROM postings WHERE {HERE}")]
    assert_counted(memory, texts)


def test_a_purge_of_a_personal_record_leaves_nothing_in_blocks(memory: Memory) -> None:
    store(memory, ["cold water", "warm air", "cold fire", "stone", "wood"], visibility="personal", owner="local")
    ((gone,),) = read(memory, f"SELECT number FROM documents WHERE {HERE} AND id = 't2'")
    assert numbers_in_blocks(memory).count(gone) == 2
    memory.forget("t2", hard=True)
    assert gone not in numbers_in_blocks(memory)
    # Its neighbours have new numbers, so that three words are left in blocks.
    assert len(numbers_in_blocks(memory)) == 3


def test_a_document_removed_while_its_words_are_moved_is_gone(memory: Memory) -> None:
    texts = store(memory, ["cold water", "cold stone"])
    with ThreadPoolExecutor(1) as pool:
        with memory.store.transaction(memory.scope, NOW) as tx:
            move_in(tx)
            removal = pool.submit(memory.forget, "t0", hard=True)
            with pytest.raises(TimeoutError):
                removal.result(timeout=0.3)
        removal.result(timeout=20)
    del texts["t0"]
    assert_counted(memory, texts)


def test_moving_skips_words_that_are_being_removed(memory: Memory) -> None:
    texts = store(memory, ["cold water", "cold stone"])
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.turns.purge("t0")
        move(memory)
    del texts["t0"]
    assert_counted(memory, texts)


def test_an_interrupted_move_changes_nothing(memory: Memory) -> None:
    texts = store(memory, ["cold water", "cold stone"])
    before = rows(memory)

    def fail(tx: Any) -> None:
        move_in(tx)
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        memory.store.write(memory.scope, NOW, fail)
    assert (rows(memory), numbers_in_blocks(memory)) == (before, [])
    assert_counted(memory, texts)


def test_only_one_transaction_moves_words_at_a_time(memory: Memory) -> None:
    texts = store(memory, ["cold water", "cold stone"])
    with memory.store.transaction(memory.scope, NOW) as tx:
        move_in(tx)
        move(memory)
    assert_counted(memory, texts)


def test_embedding_moves_the_words_of_new_documents(
    open_engine: OpenEngine, postgres_url: str, small_blocks: None
) -> None:
    memory = open_engine("postgresql")
    memory.turn(session="s", role="user", text="cold water")
    memory.settle()
    assert memory.search("cold water").hits
    memory.vectors.update()
    assert rows(memory) == 0
    assert len(numbers_in_blocks(memory)) == 2
