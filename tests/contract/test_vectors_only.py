"""The vectors-only mode: the database finds records and holds none of their text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text as sql

import treering
from tests.conftest import OpenMemory
from tests.samples import NOW
from treering.core.errors import InvalidInput
from treering.core.settings import Settings
from treering.memory import Memory

ONLY = Settings.make(store={"vectors_only": True})
TABLES = ("knowledge", "turns", "episodes", "sessions", "revisions", "audit", "jobs", "documents", "facets", "entities")
WORDS = ("Quillfeather", "Ouagadougou", "Farfallino", "Zebrawood", "Grimalkin")


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(settings=ONLY)


def stored(memory: Memory) -> Iterator[str]:
    """Every value of every row that the project has in the database."""
    with memory.store.transaction(memory.scope, NOW) as tx:
        connection: Any = tx.knowledge._context.connection  # type: ignore[attr-defined]
        for table in TABLES:
            yield from map(str, connection.execute(sql(f"SELECT * FROM {table}")).all())


def fill(memory: Memory) -> None:
    memory.remember("My physician is Quillfeather", id="k", citation="Quillfeather, physician")
    memory.remember("The gate opens for Zebrawood", id="old")
    memory.correct("old", text="The gate opens for Grimalkin")
    memory.turn(session="s", role="user", text="We fly to Ouagadougou", id="t")
    memory.episode("Ask Farfallino", output="Farfallino agreed", id="e")
    memory.settle()


def test_the_database_holds_no_text_and_finds_every_record(memory: Memory) -> None:
    fill(memory)
    assert memory.search("Quillfeather")[0].text == "My physician is Quillfeather"
    assert memory.search("Ouagadougou")[0].id == "t"
    assert memory.search("Farfallino")[0].id == "e"
    assert memory.search("medical doctor")[0].id == "k"
    told = "\n".join(stored(memory))
    assert "wordllama" in "\n".join(treering_models(memory))
    assert not [word for word in WORDS if word.casefold() in told.casefold()]


def treering_models(memory: Memory) -> list[str]:
    with memory.store.reading(memory.scope, NOW) as tx:
        return list(tx.index.models())


def test_every_verb_works_without_text_in_the_database(memory: Memory, tmp_path: Path) -> None:
    fill(memory)
    assert memory.get("k").content == "My physician is Quillfeather"
    assert memory.history("old")
    memory.undo("old")
    assert memory.search("Zebrawood")[0].id == "old"
    memory.export(tmp_path / "all.jsonl")
    assert "Ouagadougou" in (tmp_path / "all.jsonl").read_text()
    assert not [check for check in memory.doctor().checks if not check.fine]
    memory.forget("k", hard=True)
    assert not memory.search("Quillfeather", precise=True).hits


def test_who_has_the_database_alone_reads_no_text(open_memory: OpenMemory, tmp_path: Path) -> None:
    fill(open_memory(settings=ONLY))
    other = open_memory(settings=ONLY, blobs=tmp_path / "another machine")
    found = other.search("Quillfeather")
    assert not found.hits
    assert "k" in str(found.unreadable)


def test_text_that_was_stored_before_is_still_read(open_memory: OpenMemory) -> None:
    open_memory().remember("My physician is Quillfeather", id="k")
    memory = open_memory(settings=ONLY)
    assert memory.search("Quillfeather")[0].text == "My physician is Quillfeather"


def test_blobs_on_another_machine_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="TREERING_BLOBS"):
        treering.open(tmp_path / "m.db", blobs="s3://bucket/prefix", settings=ONLY)
