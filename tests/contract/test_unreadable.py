"""One record that cannot be read is named; it does not take the others with it."""

import json
import shutil
from pathlib import Path

import pytest
from sqlalchemy import create_engine
from sqlalchemy import text as sql

from tests.conftest import OpenMemory
from treering.core.errors import BlobMissing, StoreError, Unreadable
from treering.core.settings import Settings, StoreSettings
from treering.memory import Memory


@pytest.fixture
def memory(engine: str, open_memory: OpenMemory, tmp_path: Path) -> Memory:
    """Where the text of `long` and of the turn `said` went to blobs that are gone."""
    memory = open_memory(settings=Settings(store=StoreSettings(blob_bytes=1_024)), blobs=tmp_path / "gone")
    memory.remember("checkout fails on mondays", id="short")
    memory.remember(f"checkout fails always {'x' * 2_000}", id="long")
    memory.turn(session="s", role="user", text=f"checkout {'y ' * 2_000}", id="said")
    for folder in (tmp_path / "gone").iterdir():
        shutil.rmtree(folder) if folder.is_dir() else folder.unlink()
    return memory


@pytest.mark.parametrize("query", ["checkout", ""])
def test_recall_gives_the_others_and_says_what_is_missing(memory: Memory, query: str) -> None:
    answer = memory.search(query)
    assert [hit.id for hit in answer] == ["short"]
    assert answer.unreadable == ("blob of knowledge long", "blob of turn said")
    assert not {"meaning", "meaning of some"} & set(answer.missing)


def test_asking_for_the_record_itself_says_which_blob(memory: Memory) -> None:
    with pytest.raises(BlobMissing, match="restore it from a backup"):
        memory.get("long")


def test_a_row_that_makes_no_sense_is_a_store_error_that_names_it(
    memory: Memory, engine: str, request: pytest.FixtureRequest
) -> None:
    write_rest(memory, engine, request, "short", {"relations": "none at all"})
    with pytest.raises(Unreadable, match=r"knowledge 'short' cannot be read: .*relations.*restore it from a backup"):
        memory.get("short")
    assert issubclass(Unreadable, StoreError)
    answer = memory.search("mondays")
    assert "knowledge short" in answer.unreadable
    assert "short" not in {hit.id for hit in answer}


def write_rest(memory: Memory, engine: str, request: pytest.FixtureRequest, id: str, rest: object) -> None:
    """Behind the store's back."""
    row = {"tenant": memory.scope.tenant, "project": memory.scope.project, "id": id, "rest": json.dumps(rest)}
    place = f"sqlite:///{memory.store.location}"
    if engine == "postgresql":
        place = request.getfixturevalue("postgres_url").replace("postgresql://", "postgresql+psycopg://")
    database = create_engine(place)
    with database.begin() as connection:
        if engine == "postgresql":
            enter = (
                "SELECT set_config('treering.tenant', :tenant, true), set_config('treering.project', :project, true)"
            )
            connection.execute(sql(enter), row)
        changed = connection.execute(
            sql("UPDATE knowledge SET rest = :rest WHERE tenant = :tenant AND project = :project AND id = :id"), row
        )
        assert changed.rowcount == 1
    database.dispose()
