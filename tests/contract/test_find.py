"""Structured queries against a plain Python predicate: every filter field, every order, every page."""

import base64
import zlib
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from tests.examples import examples
from tests.property.model import PREDICATES, matches, ordered
from tests.property.strategies import FILTERS, field, filters, records
from tests.samples import COLLECTIONS, FILTER_OF, NOW, collection, knowledge, put, sample
from treering.adapters.sql.kinds import KINDS
from treering.core.entities import Entity
from treering.core.errors import InvalidInput
from treering.core.patterns import Pattern
from treering.core.queries import KnowledgeFilter, Order
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.core.values import Record
from treering.memory import Memory

ORDERS = [(kind.value, by) for kind in KINDS for by in kind.orders]
every_kind = pytest.mark.parametrize("cls", COLLECTIONS, ids=lambda cls: cls.__name__)


def own_scope() -> Scope:
    return Scope(tenant=uuid4().hex, project="p", principal="a")


def stored(memory: Memory, scope: Scope, values: Sequence[Record]) -> list[Record]:
    """The values as the store has them: a turn got its place."""
    with memory.store.transaction(scope, NOW) as tx:
        put(tx, values)
        return [collection(tx, type(value)).get(value.id) for value in values]


def drawn(data: st.DataObject, cls: type[Any]) -> list[Any]:
    """Records that their only reader may write."""
    return data.draw(records(cls, **({"owner": "a"} if "owner" in cls.model_fields else {})))


def test_the_model_knows_every_field_of_every_filter() -> None:
    assert set(PREDICATES) == set(FILTERS)
    for where, fields in PREDICATES.items():
        assert set(fields) == set(where.model_fields), where.__name__


@every_kind
@examples(4)
@given(data=st.data())
def test_each_field_of_a_filter_finds_what_it_says(cls: type[Record], memory: Memory, data: st.DataObject) -> None:
    scope, where = own_scope(), FILTER_OF[cls]
    kept = stored(memory, scope, drawn(data, cls))
    asked = [where.make(**{name: data.draw(field(where, name), label=name)}) for name in where.model_fields]
    asked.append(data.draw(filters(where)))
    with memory.store.reading(scope, NOW) as tx:
        inside = collection(tx, cls)
        for each in (None, *asked):
            wanted = {record.id for record in kept if matches(each, record)}
            assert {record.id for record in inside.find(each, limit=100).items} == wanted, each
            assert {record.id for record in inside.stream(each)} == wanted
            assert inside.count(each) == len(wanted)
        counts = inside.count_by("tenant", asked)
    assert counts == ({scope.tenant: [sum(matches(each, record) for record in kept) for each in asked]} if kept else {})


@pytest.mark.parametrize(("cls", "by"), ORDERS, ids=lambda part: getattr(part, "__name__", part))
@examples(4)
@given(data=st.data())
def test_pages_hold_every_record_once_and_in_order(cls: Any, by: str, memory: Memory, data: st.DataObject) -> None:
    scope, order = own_scope(), Order(by=by, descending=data.draw(st.booleans()))
    size = data.draw(st.integers(1, 4))
    kept = [each for each in stored(memory, scope, drawn(data, cls)) if matches(None, each)]
    with memory.store.reading(scope, NOW) as tx:
        found, cursor = [], None
        for _ in range(len(kept) + 1):
            page = collection(tx, cls).find(order=order, limit=size, after=cursor)
            found += page.items
            assert len(page.items) == size or page.next is None
            if (cursor := page.next) is None:
                break
    assert cursor is None
    assert [record.id for record in found] == [record.id for record in ordered(kept, order)]


@pytest.mark.parametrize("descending", [True, False])
def test_records_that_arrive_between_pages_disturb_nobody(memory: Memory, descending: bool) -> None:
    order, seen, cursor = Order(by="confidence", descending=descending), list[str](), None
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.knowledge.create_many(knowledge(f"old{n:02}", confidence=n % 3 / 2) for n in range(12))
    for round in range(12):
        with memory.store.transaction(memory.scope, NOW) as tx:
            page = tx.knowledge.find(order=order, limit=3, after=cursor)
            seen += [record.id for record in page.items]
            tx.knowledge.create_many(knowledge(f"new{round}-{n}", confidence=n / 2) for n in range(3))
            if seen[-1].startswith("old"):
                tx.knowledge.purge(seen[-1])
        if (cursor := page.next) is None:
            break
    assert len(seen) == len(set(seen))
    assert {id for id in seen if id.startswith("old")} == {f"old{n:02}" for n in range(12)}


def cursor_of(memory: Memory, cls: type[Record] = Knowledge, order: Order | None = None) -> str:
    with memory.store.transaction(memory.scope, NOW) as tx:
        if not collection(tx, cls).count():
            put(tx, [sample(cls, "first"), sample(cls, "second")])
        cursor = collection(tx, cls).find(order=order, limit=1).next
    assert cursor is not None
    return str(cursor)


@pytest.mark.parametrize(
    ("cls", "order"),
    [(Pattern, None), (Knowledge, Order(by="updated_at")), (Knowledge, Order(by="created_at", descending=False)),
     (Entity, Order(by="name"))],
)  # fmt: skip
def test_a_cursor_of_another_query_is_refused(memory: Memory, cls: type[Record], order: Order | None) -> None:
    foreign = cursor_of(memory, cls, order)
    with memory.store.reading(memory.scope, NOW) as tx, pytest.raises(InvalidInput, match="another query"):
        tx.knowledge.find(after=foreign)


@given(data=st.data())
def test_a_damaged_or_invented_cursor_is_refused(memory: Memory, data: st.DataObject) -> None:
    good = cursor_of(memory)
    place = data.draw(st.integers(0, len(good) - 1))
    forged = [b"5", b"{}", b"[]", b'["knowledge","created_at",true,NaN,"a"]', b"[" * 9_000, b"\xff\xff"]
    bad = data.draw(
        st.text(max_size=40)
        | st.characters().map(lambda other: good[:place] + other + good[place + 1 :])
        | st.just(good[:place])
        | st.sampled_from(forged).map(lambda raw: base64.urlsafe_b64encode(b"\0\0\0\0" + raw).decode())
    )
    with memory.store.reading(memory.scope, NOW) as tx:
        if bad != good:
            with pytest.raises(InvalidInput, match="cursor"):
                tx.knowledge.find(after=bad)


@pytest.mark.parametrize(
    "stop",
    [
        '["knowledge", "created_at", true, 1.5, "a"]',
        '["knowledge", "created_at", true, true, "a"]',
        '["knowledge", "created_at", true, 9223372036854775808, "a"]',
        '["knowledge", "created_at", true, null, "a"]',
        '["knowledge", "created_at", true, 1, 5]',
        '["knowledge", "created_at", true, 1, "\\u0000"]',
        '["knowledge", "created_at", true, 1, "\\ud800"]',
    ],
)
def test_a_forged_cursor_with_a_right_checksum_is_refused_too(memory: Memory, stop: str) -> None:
    text = stop.encode()
    forged = base64.urlsafe_b64encode(zlib.crc32(text).to_bytes(4, "big") + text).decode()
    with memory.store.reading(memory.scope, NOW) as tx, pytest.raises(InvalidInput, match="not a cursor"):
        tx.knowledge.find(after=forged)


@pytest.mark.parametrize(
    ("asked", "says"), [({"limit": 0}, "at least 1"), ({"order": Order(by="content")}, "use one of")]
)
def test_a_query_that_cannot_be_meant_is_refused(memory: Memory, asked: dict[str, Any], says: str) -> None:
    with memory.store.reading(memory.scope, NOW) as tx, pytest.raises(InvalidInput, match=says):
        tx.knowledge.find(**asked)


def test_a_file_is_found_by_its_whole_path_only(memory: Memory) -> None:
    memory.remember("about a", files=["src/a.py"])
    assert memory.search("", knowledge=KnowledgeFilter(files=("src/a.py",)))
    assert not memory.search("", knowledge=KnowledgeFilter(files=("a.py",)))


def test_knowledge_is_found_by_what_it_was_made_from_and_by_what_it_touches(memory: Memory) -> None:
    memory.remember("made of two", id="made", source_ids=["a", "b"], node="n1", impacted_nodes=["n2", "n3"])
    memory.remember("made of one", id="other", source_ids=["c"], node="n4")
    for where, wanted in (
        (KnowledgeFilter(derived_from=("b",)), ["made"]),
        (KnowledgeFilter(derived_from=("a", "c")), ["made", "other"]),
        (KnowledgeFilter(nodes=("n1",)), ["made"]),
        (KnowledgeFilter(nodes=("n3", "n4")), ["made", "other"]),
        (KnowledgeFilter(derived_from=("c",), nodes=("n1",)), []),
    ):
        assert sorted(hit.id for hit in memory.search("", knowledge=where, turns=None)) == wanted


def test_a_filter_ignores_labels_of_a_record_with_the_same_id_in_another_project(open_memory: OpenMemory) -> None:
    """Ids are unique within a project only."""
    here, elsewhere = open_memory(), open_memory(project="elsewhere")
    here.remember("without labels", id="same")
    elsewhere.remember("with labels", id="same", tags=["urgent"], pinned=True)
    with here.store.reading(here.scope, NOW) as tx:
        for where in (KnowledgeFilter(tags=("urgent",)), KnowledgeFilter(pinned=True)):
            assert tx.knowledge.find(where).items == ()
            assert tx.knowledge.count(where) == 0
            assert not len(tx.index.matching_numbers({"knowledge": where}))
