"""A query is words, never syntax: any text is answered or refused, inside its scope."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from treering.core.errors import InvalidInput, NotFound, NothingToUndo
from treering.core.queries import KnowledgeFilter
from treering.memory import Memory

_GRAMMAR = (
    "' \" ' OR 1=1 -- ; DROP TABLE knowledge; NEAR(water, 5) water* ^water terms:water -water +water (water) AND OR "
    "NOT !water & | <-> :* $$ \\ % _ %s :x ? {water} [water] water~2 /water/ \x00 \ud800 \U0001f333 ي א ﬁ \u202e \x1f"
)
SYNTAX = _GRAMMAR.split(" ")

texts = (
    st.text()
    | st.text(st.characters(), max_size=20)
    | st.lists(st.sampled_from((*SYNTAX, "water")), max_size=8).map(" ".join)
    | st.lists(st.sampled_from((*SYNTAX, "water")), max_size=8).map("".join)
)


@pytest.fixture
def memories(open_memory: OpenMemory) -> tuple[Memory, Memory]:
    """Mine, and one of another project with the same words in it."""
    mine, other = open_memory(project="mine"), open_memory(project="other")
    for memory in (mine, other):
        memory.remember(f"water of {memory.scope.project} drop table knowledge or and not near terms", id="k")
        memory.turn(session="s", role="user", text=f"said in {memory.scope.project}: water", id="t")
    return mine, other


@example(query="water" * 50_000)
@example(query="water " * 50_000)
@example(query="\x00" * 250_000)
@example(query="é" * 250_000)
@example(query=" ".join(str(number) for number in range(40_000)))
@given(query=texts)
def test_any_query_is_answered_within_its_scope_or_refused(memories: tuple[Memory, Memory], query: str) -> None:
    for memory in memories:
        try:
            answer = memory.search(query)
        except InvalidInput:
            continue
        assert {hit.id for hit in answer} <= {"k", "t"}
        assert all(memory.scope.project in hit.text for hit in answer)
        if "water" in query.split():
            assert {hit.id for hit in answer} == {"k", "t"}


@given(text=texts)
def test_any_text_in_a_filter_is_data(memories: tuple[Memory, Memory], text: str) -> None:
    mine, _ = memories
    try:
        where = KnowledgeFilter.make(tags=(text,), language=text, ids=(text,))
    except InvalidInput:
        return
    assert len(mine.search("water", knowledge=where, turns=None)) == 0


@given(id=texts)
def test_any_text_as_an_id_is_looked_up_and_not_found(memories: tuple[Memory, Memory], id: str) -> None:
    mine, _ = memories
    for verb in (mine.get, mine.confirm, mine.forget, mine.undo, mine.history, mine.pin):
        with pytest.raises((NotFound, InvalidInput, NothingToUndo)):
            verb(id)


def test_after_all_of_it_the_memory_is_whole(memories: tuple[Memory, Memory]) -> None:
    mine, _ = memories
    for text in SYNTAX:
        mine.search(text)
    assert mine.doctor().healthy
    assert mine.search("water")[0].score == 1.0
