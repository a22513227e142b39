"""The names that `import treering` offers, and how its values look in a terminal and a notebook."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import treering
from treering.core.fields import EpisodeFields, KnowledgeFields, TurnFields
from treering.core.turns import Turn
from treering.episodes.storage import _PART_OF, _PARTS, _TOP_LEVEL

NOW = datetime(2026, 11, 17, tzinfo=UTC)
MOMENTS = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), NOW)


def hit(text: str) -> treering.Hit:
    record = treering.Knowledge(id="k1", type="fact", content=text, **MOMENTS)
    return treering.Hit("k1", "knowledge", text, 0.91234, "fact, 2026-11-17", record)


@pytest.mark.parametrize("name", treering.__all__)
def test_every_public_name_is_listed_and_can_be_imported(name: str) -> None:
    assert name in dir(treering)
    assert getattr(treering, name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = treering.nonsense


def test_reprs_are_short_and_name_the_record() -> None:
    long = hit("word " * 500)
    assert repr(long).startswith("Hit(id='k1', score=0.912, text='word word")
    assert len(repr(long)) < 120
    assert repr(long.record).startswith("Knowledge(id='k1', type='fact', content='word")
    assert len(repr(long.record)) < 120
    assert repr(treering.Answer("which words?", (long,))).startswith("Answer(query='which words?', confidence='high'")


def test_an_answer_is_a_table_in_a_notebook_and_its_text_stays_text() -> None:
    shown = treering.Answer("<b>who</b>", (hit("<script>alert(1)</script>"),))._repr_html_()
    assert "<table>" in shown
    assert "<script>" not in shown
    assert "<b>who" not in shown


def test_typed_keyword_arguments_name_the_fields_of_the_records() -> None:
    assert set(KnowledgeFields.__annotations__) == set(treering.Knowledge.model_fields) - {"type", "content"}
    given = {"session", "role", "text", "id", "at", "seq", "recorded_at", "owner", "deleted_at"}
    assert set(TurnFields.__annotations__) == set(Turn.model_fields) - given
    assert set(EpisodeFields.__annotations__) == {*_PART_OF, *_PARTS, *_TOP_LEVEL} - {
        "id",
        "at",
        "artifacts",
        "task",
        "outcome",
        "output",
        "session",
    }


def test_the_parts_of_a_memory_have_short_reprs(tmp_path: Path) -> None:
    with treering.open(tmp_path / "memory.db", project="shop", background=False) as memory:
        nouns = (memory.context, memory.knowledge, memory.episodes, memory.patterns, memory.entities, memory.code)
        assert all(repr(each).endswith("(project='shop')") for each in (*nouns, memory.maintenance))
        assert repr(memory).startswith("Memory(project='shop', location=")
        assert repr(memory.task("Fix the login", id="t")) == "Task(id='t', description='Fix the login')"
        assert repr(memory.conversation("c", model="gpt-4o")).startswith("Conversation(id='c', model='gpt-4o'")
        assert repr(memory.context.build("login")).startswith("RenderedContext(tokens=")
