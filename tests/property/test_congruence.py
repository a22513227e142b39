"""Two engines and a plain dictionary are told the same things: the same answers, the same errors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

from tests.conftest import ENGINES
from tests.examples import examples
from tests.property.model import matches, ordered
from tests.property.strategies import filters, values
from tests.samples import NOW, by_words, sample
from treering.core.errors import Conflict, InvalidInput, NotFound, NothingToUndo, TreeringError
from treering.core.queries import KnowledgeFilter, Order, TurnFilter
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.core.turns import Turn
from treering.memory import Memory

IDS = ("k1", "k2", "k3", "k4")
SESSIONS = ("s1", "s2")
_SENTENCE = (
    "cold water warm air fire running runs ran generously skies dying news the a of src/db.py snake_case CamelCase "
    "v16.2 100 naïve café Ünïﬁed user@example.com don't C++ 3rd utf8s 我们 שלום x"
)
WORDS = _SENTENCE.split()
STOP_WORDS = {"the", "a", "of", "don't"}

ids = st.sampled_from(IDS)
knowledge = values(Knowledge, "narrow").map(lambda each: each.replace(owner="local", version=1, uses=0))
orders = st.builds(
    Order, by=st.sampled_from(("created_at", "updated_at", "confidence", "content")), descending=st.booleans()
)
operations = st.one_of(
    st.tuples(st.just("create"), ids, knowledge),
    st.tuples(st.just("bulk"), st.lists(st.tuples(ids, knowledge), max_size=3)),
    st.tuples(st.just("update"), ids, knowledge, st.sampled_from((0, 0, 0, 1))),
    st.tuples(st.just("delete"), ids),
    st.tuples(st.just("undo"), ids),
    st.tuples(st.just("purge"), ids),
    st.tuples(st.just("find"), filters(KnowledgeFilter), orders, st.integers(0, 3)),
    st.tuples(st.just("count"), filters(KnowledgeFilter)),
    st.tuples(st.just("say"), st.sampled_from(SESSIONS), values(Turn, "narrow")),
    st.tuples(st.just("said"), filters(TurnFilter)),
)


@dataclass
class Dictionary:
    """The store, as simply as it can be said."""

    records: dict[str, Knowledge] = field(default_factory=dict)
    before: dict[str, list[Knowledge]] = field(default_factory=dict)
    turns: dict[str, Turn] = field(default_factory=dict)

    def create(self, id: str, value: Knowledge) -> Any:
        return self.bulk([(id, value)])

    def bulk(self, pairs: list[tuple[str, Knowledge]]) -> Any:
        new = [id for id, _ in pairs]
        if set(new) & set(self.records) or len(new) != len(set(new)):
            raise Conflict
        self.records |= {id: value.replace(id=id) for id, value in pairs}

    def update(self, id: str, value: Knowledge, stale: int) -> Any:
        before = self._existing(id)
        if stale:
            raise Conflict
        kept = {"id": id, "version": before.version, "created_at": before.created_at}
        self._change(before, value.replace(**kept))

    def delete(self, id: str) -> Any:
        before = self._existing(id)
        self._change(before, before.replace(deleted_at=NOW))

    def undo(self, id: str) -> Any:
        current = self._existing(id)
        if not self.before.get(id):
            raise NothingToUndo
        earlier = self.before[id].pop()
        self.records[id] = earlier.replace(version=current.version + 1, updated_at=NOW)

    def purge(self, id: str) -> Any:
        self._existing(id)
        del self.records[id]
        self.before.pop(id, None)

    def find(self, where: KnowledgeFilter, order: Order, limit: int) -> Any:
        if limit < 1 or order.by == "content":
            raise InvalidInput
        found = ordered([record for record in self.records.values() if matches(where, record)], order)
        return [found[start : start + limit] for start in range(0, len(found), limit)] or [[]]

    def count(self, where: KnowledgeFilter) -> Any:
        return sum(matches(where, record) for record in self.records.values())

    def say(self, session: str, turn: Turn) -> Any:
        place = sum(said.session == session for said in self.turns.values())
        if f"{session}-{turn.id}" in self.turns:
            raise Conflict
        self.turns[f"{session}-{turn.id}"] = turn.replace(
            id=f"{session}-{turn.id}", session=session, seq=place, owner="local"
        )

    def said(self, where: TurnFilter) -> Any:
        found = sorted(self.turns.values(), key=lambda turn: (turn.session, turn.seq))
        return [turn for turn in found if matches(where, turn)]

    def _existing(self, id: str) -> Knowledge:
        if id not in self.records:
            raise NotFound
        return self.records[id]

    def _change(self, before: Knowledge, after: Knowledge) -> None:
        self.before.setdefault(before.id, []).append(before)
        self.records[before.id] = after.replace(version=before.version + 1, updated_at=NOW)


class Stored:
    """The same verbs on a store, each in a transaction of its own."""

    def __init__(self, memory: Memory, scope: Scope) -> None:
        self._memory, self._scope = memory, scope

    def _run(self, work: Callable[[Any], Any]) -> Any:
        with self._memory.store.transaction(self._scope, NOW) as tx:
            return work(tx)

    def create(self, id: str, value: Knowledge) -> None:
        self._run(lambda tx: tx.knowledge.create(value.replace(id=id)))

    def bulk(self, pairs: list[tuple[str, Knowledge]]) -> None:
        self._run(lambda tx: tx.knowledge.create_many(value.replace(id=id) for id, value in pairs))

    def update(self, id: str, value: Knowledge, stale: int) -> None:
        def work(tx: Any) -> None:
            before = tx.knowledge.get(id) or sample(Knowledge, id)
            version = before.version - 1 if stale else before.version
            tx.knowledge.update(value.replace(id=id, version=version, created_at=before.created_at))

        self._run(work)

    def delete(self, id: str) -> None:
        self._run(lambda tx: tx.knowledge.delete(id))

    def undo(self, id: str) -> None:
        self._run(lambda tx: tx.knowledge.undo(id))

    def purge(self, id: str) -> None:
        self._run(lambda tx: tx.knowledge.purge(id))

    def find(self, where: KnowledgeFilter, order: Order, limit: int) -> Any:
        return self._run(lambda tx: [list(page) for page in pages(tx, where, order, limit)])

    def count(self, where: KnowledgeFilter) -> Any:
        return self._run(lambda tx: tx.knowledge.count(where))

    def say(self, session: str, turn: Turn) -> None:
        said = turn.replace(id=f"{session}-{turn.id}", session=session, owner="local", visibility=turn.visibility)
        self._run(lambda tx: tx.turns.create(said))

    def said(self, where: TurnFilter) -> Any:
        return self._run(lambda tx: list(tx.turns.stream(where)))


def pages(tx: Any, where: KnowledgeFilter, order: Order, limit: int) -> Iterator[tuple[Knowledge, ...]]:
    cursor = None
    for _ in range(len(IDS) + 1):
        page = tx.knowledge.find(where, order=order, limit=limit, after=cursor)
        yield page.items
        cursor = page.next
        if cursor is None:
            return


def answer(told: Any, operation: tuple[Any, ...]) -> Any:
    verb, *arguments = operation
    try:
        return getattr(told, verb)(*arguments)
    except TreeringError as exc:
        return type(exc)


@pytest.fixture
def both(open_engine: Callable[..., Memory]) -> tuple[Memory, ...]:
    return tuple(open_engine(engine) for engine in ENGINES)


@given(told=st.lists(operations, max_size=14))
def test_both_engines_and_a_dictionary_agree(both: tuple[Memory, ...], told: list[tuple[Any, ...]]) -> None:
    scope, model = Scope(tenant=uuid4().hex, project="p"), Dictionary()
    engines = [Stored(memory, scope) for memory in both]
    for operation in told:
        wanted = answer(model, operation)
        assert [answer(engine, operation) for engine in engines] == [wanted] * len(engines), operation
    for memory in both:
        with memory.store.reading(scope, NOW) as tx:
            assert list(tx.knowledge.stream(KnowledgeFilter(deleted=None))) == [
                record for _, record in sorted(model.records.items())
            ]
            assert list(tx.turns.stream(TurnFilter(deleted=None))) == model.said(TurnFilter(deleted=None))


@examples(25, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=1, max_size=8),
    queries=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
)
def test_both_engines_find_the_same_records_for_the_same_words(
    both: tuple[Memory, ...], texts: list[list[str]], queries: list[str]
) -> None:
    scope, found = Scope(tenant=uuid4().hex, project="p"), []
    for memory in both:
        with memory.store.transaction(scope, NOW) as tx:
            tx.knowledge.create_many(
                sample(Knowledge, f"k{place}", content=" ".join(text)) for place, text in enumerate(texts)
            )
            found.append(by_words(tx, " ".join(queries), knowledge=KnowledgeFilter()))
    telling = set(queries) - STOP_WORDS
    holding = {f"k{place}" for place, text in enumerate(texts) if set(text) & telling}
    assert found[0] == found[1]
    assert holding <= found[0]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("see src/db.py for the pool", "db"),
        ("see src/db.py for the pool", "src/db.py"),
        ("the the the", "the"),
        ("café au lait", "CAFE"),
        ("my_function_name returns", "function"),
        ("mail ada@example.com", "example"),
        ("https://example.com/path?q=1", "path"),
        ("running tests", "run"),
        ("version v16.2.1", "16.2.1"),
        ("pi is 3.140", "3.14"),
        ("İstanbul", "istanbul"),
        ("word" * 600, "word" * 600),
        ("我们使用 PostgreSQL", "我们使用"),
    ],
)
def test_a_word_is_found_on_both_engines_however_it_is_written(both: tuple[Memory, ...], text: str, query: str) -> None:
    for memory in both:
        record = memory.remember(text)
        assert [hit.id for hit in memory.search(query)] == [record.id], memory.store.engine
        with memory.store.reading(memory.scope, NOW) as tx:
            assert by_words(tx, query, knowledge=KnowledgeFilter()) == {record.id}, memory.store.engine
