"""The SQL statements of one search on the embedded engine: their number is part of what a search costs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

import treering
from treering.adapters.sql.embedded_index import EmbeddedIndex
from treering.adapters.sql.index_base import SqlIndex
from treering.core.queries import KnowledgeFilter
from treering.core.settings import Settings
from treering.memory import Memory

# One BEGIN, two look-ups of the embedding models, what is new of documents and vectors, entities by name, candidates
# that pass the filters, words of the best results, the records, and words and vectors of those that are compared.
OF_KNOWLEDGE = 11
# Beside them: entities merged into the one that is named, its links, the turns that mention it, their documents, and
# what was learned from the first turns.
OF_A_CONVERSATION = OF_KNOWLEDGE + 6


def remember_procedures(memory: Memory) -> None:
    for part in ("cache", "queue", "database", "network"):
        memory.remember(f"the deployment of the {part} is described in the handbook")


def talk_about_tools(memory: Memory) -> None:
    for tool in ("Redis", "Kafka", "Postgres", "Terraform"):
        memory.turn(session="s", role="user", text=f"Can you check whether {tool} is in the handbook?")
        memory.turn(session="s", role="assistant", text=f"The handbook describes the deployment of {tool}.")


@pytest.mark.parametrize(
    ("fill", "named", "most"),
    [(remember_procedures, "queue", OF_KNOWLEDGE), (talk_about_tools, "Kafka", OF_A_CONVERSATION)],
    ids=["knowledge", "conversation"],
)
def test_a_search_makes_few_statements(tmp_path: Path, fill: Callable[[Memory], None], named: str, most: int) -> None:
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        statements.append(statement)

    with treering.open(tmp_path / "memory.db", project="p", background=False) as memory:
        fill(memory)
        memory.settle(timeout=30)
        memory.search(f"deployment of {named} in the handbook")
        event.listen(memory.store._engine, "before_cursor_execute", note)  # type: ignore[attr-defined]
        answer = memory.search(f"deployment of {named} in the handbook")
    assert named in answer[0].text
    assert not answer.missing.keys() & {"meaning", "meaning of some"}
    assert statements.count("BEGIN") == 1
    assert len(statements) <= most, "\n".join(statements)


def test_a_precise_search_reads_few_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words in memory show that no further document matches, although a better candidate does not pass."""
    checked: list[int] = []

    def note(index: EmbeddedIndex, filters: Any, numbers: Any) -> Any:
        checked.append(len(numbers))
        return SqlIndex.matching_ids(index, filters, numbers)

    settings = Settings.make(embedder={"provider": "none"}, search={"candidates": 10})
    with treering.open(tmp_path / "memory.db", project="p", background=False, settings=settings) as memory:
        memory.remember_many([f"berth {place} has a bollard" for place in range(40)])
        memory.remember("bollard torque", id="torque", tags=["kept"])
        memory.remember("torque of a bollard", id="other")
        monkeypatch.setattr(EmbeddedIndex, "matching_ids", note)
        monkeypatch.delattr(SqlIndex, "matching_numbers")
        found = memory.search("bollard torque", precise=True, knowledge=KnowledgeFilter(tags=("kept",)))
    assert [hit.id for hit in found] == ["torque"]
    assert max(checked) == 2
