"""Whatever is stored comes back equal, on both engines, from the table and from the blob store."""

from typing import Any
from uuid import uuid4

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from tests.examples import examples
from tests.property.model import typed
from tests.property.strategies import RECORDS, values
from tests.samples import COLLECTIONS, NOW, SMALL_BLOBS, collection, free_of_secrets, knowledge, put, turn
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.core.settings import Settings, StoreSettings
from treering.core.values import Record
from treering.memory import Memory


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(settings=SMALL_BLOBS)


def own_scope(value: Any) -> Scope:
    """A scope of its own for each example, of whoever owns the record."""
    return Scope(tenant=uuid4().hex, project="p", principal=getattr(value, "owner", "local"))


def stored_again(memory: Memory, value: Record) -> Any:
    scope = own_scope(value)
    with memory.store.transaction(scope, NOW) as tx:
        put(tx, [value])
    with memory.store.reading(scope, NOW) as tx:
        return collection(tx, type(value)).get(value.id)


def but_for_its_place(value: Any) -> Any:
    """A turn's place in its session is the store's to give."""
    return value.replace(seq=0) if "seq" in type(value).model_fields else value


def test_every_kind_of_record_has_a_collection() -> None:
    assert set(COLLECTIONS) == set(RECORDS)


@pytest.mark.parametrize("cls", RECORDS, ids=lambda cls: cls.__name__)
@examples(12)
@given(data=st.data())
def test_a_record_of_any_kind_comes_back_as_it_was_stored(
    cls: type[Record], memory: Memory, data: st.DataObject
) -> None:
    value = data.draw(values(cls))
    assume(free_of_secrets(value))
    assert typed(but_for_its_place(stored_again(memory, value))) == typed(but_for_its_place(value))


@examples(12)
@given(values(Knowledge), values(Knowledge))
def test_a_revised_record_comes_back_as_revised_and_then_as_it_was(
    memory: Memory, first: Knowledge, second: Knowledge
) -> None:
    assume(free_of_secrets(first) and free_of_secrets(second))
    first = first.replace(version=1)
    kept = {"id": first.id, "created_at": first.created_at, "version": 1, "owner": first.owner, "uses": first.uses}
    scope, changed = own_scope(first), second.replace(**kept)
    with memory.store.transaction(scope, NOW) as tx:
        tx.knowledge.create(first)
        tx.knowledge.update(changed)
        assert tx.knowledge.get(first.id) == changed.replace(version=2, updated_at=NOW)
        tx.knowledge.undo(first.id)
        assert tx.knowledge.get(first.id) == first.replace(version=3, updated_at=NOW)


@examples(10)
@example(text="🌳 שלום\u202e\r\n\t" * 200)
@example(text="x" * 300_000)
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=2_000))
def test_text_that_moved_to_the_blob_store_is_the_same_text(memory: Memory, text: str) -> None:
    for value in (knowledge(content=text), turn(text=text, metadata={"note": text})):
        if free_of_secrets(value):
            assert stored_again(memory, value) == value


@pytest.mark.parametrize(("first", "then"), [(1_024, 1_000_000), (1_000_000, 1_024)])
def test_records_are_read_changed_and_repaired_after_the_blob_threshold_moved(
    open_memory: OpenMemory, first: int, then: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.adapters.sql.integrity.ORPHAN_BLOB_HOURS", 0)
    long = "long text " * 500
    before = open_memory(settings=Settings(store=StoreSettings(blob_bytes=first)))
    record, other = before.remember(long), before.remember(f"{long} other")
    after = open_memory(settings=Settings(store=StoreSettings(blob_bytes=then)))

    assert after.doctor(repair=True).healthy
    assert after.get(record.id).content == long
    after.pin(record.id)
    after.forget(record.id)
    after.undo(record.id)
    assert after.get(record.id).content == long
    for each in (record, other):
        after.forget(each.id, hard=True)
    assert after.store.sizes(after.scope)["blobs"] == 0
