"""What is forgotten for good leaves no copy: in no table, no index, no file, no blob."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from tests.conftest import OpenMemory
from tests.samples import NOW, SMALL_BLOBS, sample
from treering.core.entities import EntityLink
from treering.core.episodes import Episode
from treering.core.errors import BlobMissing, NotFound, NothingToUndo
from treering.core.records import Knowledge
from treering.core.turns import Turn
from treering.memory import Memory

SECRET_WORD = "xylophonist"
LONG = f"{SECRET_WORD} plays on and on. " * 100

AllRows = Callable[[], dict[str, list[str]]]


@pytest.fixture
def all_rows(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> AllRows:
    """Every row of every table as text, read past the store and past row-level security."""

    def sqlite_rows() -> dict[str, list[str]]:
        with closing(sqlite3.connect(tmp_path / "memory.db")) as raw:
            names = [name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return {name: [repr(row) for row in raw.execute(f'SELECT * FROM "{name}"')] for name in names}

    def postgres_rows() -> dict[str, list[str]]:
        url = request.getfixturevalue("postgres_url")
        admin = make_url(request.getfixturevalue("postgres_admin_url")).set(database=make_url(url).database)
        with psycopg.connect(admin.render_as_string(False)) as raw:
            names = [name for (name,) in raw.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
            return {name: [repr(row) for row in raw.execute(f'SELECT * FROM "{name}"')] for name in names}

    return {"sqlite": sqlite_rows, "postgresql": postgres_rows}[engine]


def holding(rows: dict[str, list[str]], text: str) -> set[str]:
    return {name for name, found in rows.items() if any(text in row for row in found)}


def a_changed_record(memory: Memory) -> str:
    record = memory.remember(LONG, id="purge-me-knowledge", tags=[SECRET_WORD], files=[f"{SECRET_WORD}.py"])
    memory.pin(record.id)
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.knowledge.update(tx.knowledge.get(record.id).replace(content=f"short {SECRET_WORD}", tags=("other",)))
        tx.entity_links.put_many([sample(EntityLink, "link", record=record.id, mention=SECRET_WORD)])
    memory.forget(record.id)
    return record.id


def a_turn(memory: Memory) -> str:
    return memory.turn(session="s", role="user", text=LONG, id="purge-me-turn", metadata={"note": LONG}).id


def an_episode(memory: Memory) -> str:
    with memory.store.transaction(memory.scope, NOW) as tx:
        outcome = {"status": "SUCCESS", "output": LONG}
        return tx.episodes.create(sample(Episode, "purge-me-episode", task={"input": SECRET_WORD}, outcome=outcome)).id


MAKERS: dict[type[Any], Callable[[Memory], str]] = {Knowledge: a_changed_record, Turn: a_turn, Episode: an_episode}


@pytest.mark.parametrize("cls", MAKERS, ids=lambda cls: cls.__name__)
def test_a_purged_record_is_nowhere_but_in_the_audit_log(
    cls: Any, open_memory: OpenMemory, all_rows: AllRows, tmp_path: Path
) -> None:
    memory = open_memory(settings=SMALL_BLOBS)
    bystander = memory.remember("a bystander stays", tags=["stays"])
    id = MAKERS[cls](memory)
    assert holding(all_rows(), id) - {"audit"}
    assert memory.store.sizes(memory.scope)["blobs"] > 0

    memory.forget(id, hard=True)

    assert holding(all_rows(), id) == {"audit"}
    assert holding(all_rows(), SECRET_WORD) == set()
    assert memory.store.sizes(memory.scope)["blobs"] == 0
    with pytest.raises(NotFound):
        memory.get(id)
    with pytest.raises(NotFound):
        memory.undo(id)
    assert memory.get(bystander.id) == bystander
    memory.close()
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or SECRET_WORD.encode() not in file.read_bytes(), file


def test_a_blob_that_another_record_still_needs_stays(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=SMALL_BLOBS)
    first = memory.remember(LONG, type="fact")
    second = memory.remember(LONG, type="decision")

    memory.forget(first.id, hard=True)
    assert memory.get(second.id).content == LONG

    memory.forget(second.id, hard=True)
    assert memory.store.sizes(memory.scope)["blobs"] == 0


def test_purging_removes_also_the_states_that_only_another_person_saw(
    open_memory: OpenMemory, all_rows: AllRows
) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    diary = ada.remember(f"dear {SECRET_WORD}", visibility="personal", id="published-diary")
    with ada.store.transaction(ada.scope, NOW) as tx:
        tx.knowledge.update(diary.replace(content="a public word", visibility="project"))
    assert "revisions" in holding(all_rows(), SECRET_WORD)

    bob.forget(diary.id, hard=True)

    assert holding(all_rows(), SECRET_WORD) == set()
    assert holding(all_rows(), diary.id) == {"audit"}


def test_history_answers_for_a_purged_record_without_its_text(open_memory: OpenMemory) -> None:
    memory = open_memory(clock=lambda: NOW)
    id = a_changed_record(memory)
    memory.forget(id, hard=True)
    told = memory.history(id)
    assert [entry.action.value for entry in told] == ["purge", "delete", "update", "pin", "create"]
    assert all(entry.content_before is None for entry in told)


def without_blobs(tmp_path: Path) -> None:
    """Lose every blob, as a disk does."""
    lost = [path for path in tmp_path.rglob("*") if path.is_file() and "blobs" in str(path.parent)]
    assert lost
    for path in lost:
        path.unlink()


@pytest.mark.parametrize("cls", MAKERS, ids=lambda cls: cls.__name__)
def test_what_lost_its_text_can_still_be_purged(
    cls: Any, open_memory: OpenMemory, all_rows: AllRows, tmp_path: Path
) -> None:
    memory = open_memory(settings=SMALL_BLOBS)
    id = MAKERS[cls](memory)
    without_blobs(tmp_path)

    memory.forget(id, hard=True)

    assert holding(all_rows(), id) == {"audit"}
    assert holding(all_rows(), SECRET_WORD) == set()


@pytest.mark.parametrize("made", [lambda memory: memory.remember(LONG).id, a_turn, an_episode])
def test_what_lost_its_text_is_forgotten_and_brought_back(
    made: Callable[[Memory], str], open_memory: OpenMemory, tmp_path: Path
) -> None:
    memory = open_memory(settings=SMALL_BLOBS)
    id = made(memory)
    without_blobs(tmp_path)

    memory.forget(id)
    with pytest.raises(NotFound):
        memory.forget(id)

    with pytest.raises(BlobMissing):
        memory.undo(id)
    with pytest.raises(NothingToUndo):
        memory.undo(id)


def test_the_artifacts_of_a_purged_episode_leave_with_it(open_memory: OpenMemory) -> None:
    memory = open_memory()
    with memory.store.transaction(memory.scope, NOW) as tx:
        digest = memory._parts.blobs.put(memory.scope, b"a picture")  # type: ignore[attr-defined]
        artifact = {"name": "picture.png", "digest": digest, "size": 9}
        outcome = {"status": "SUCCESS", "output": "painted", "artifacts": [artifact]}
        tx.episodes.create(sample(Episode, "painted", outcome=outcome))
    assert memory.store.sizes(memory.scope)["blobs"] > 0

    memory.forget("painted", hard=True)

    assert memory.store.sizes(memory.scope)["blobs"] == 0
