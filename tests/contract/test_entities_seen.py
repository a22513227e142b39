"""Who sees which entity, and what is left of one when records are forgotten: on both engines."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import OpenMemory
from tests.samples import NOW
from treering.core.errors import InvalidInput, NotFound
from treering.core.scope import Visibility
from treering.memory import Memory

PERSONAL = Visibility.PERSONAL


def records_about(memory: Memory, name: str) -> set[str]:
    return {each.id for each in memory.entities.about(name).records}


def test_what_one_person_keeps_is_no_entity_of_others(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    ada.remember("Mr Moriarty owes me money", visibility=PERSONAL, id="mine")
    assert ada.entities.about("Moriarty").entity.visibility is PERSONAL
    with pytest.raises(NotFound) as refused:
        bob.entities.about("Moriarti")
    assert "Moriarty" not in str(refused.value)
    bob.remember("Mr Moriarty speaks", id="shared")
    assert records_about(bob, "Moriarty") == {"shared"}
    assert records_about(ada, "Moriarty") == {"mine", "shared"}
    assert bob.entities.about("Moriarty").mentions == 1


def test_a_personal_record_adds_nothing_to_what_others_see(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    bob.remember("Mr Holmes plays the violin", id="shared")
    before = bob.entities.about("Holmes")
    ada.remember("Mr Holmes takes cocaine", visibility=PERSONAL, id="mine")
    ada.entities.link("mine", "Holmes", aliases=["Sherlock"])
    assert records_about(ada, "holmes") == {"mine", "shared"}
    assert ada.entities.about("Sherlock").entity.name == "Holmes"
    assert bob.entities.about("Holmes") == before
    with pytest.raises(NotFound):
        bob.entities.about("Sherlock")


def test_what_all_see_is_not_merged_into_what_one_sees(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    bob.remember("Mr Watson writes", id="shared")
    ada.remember("Mr Johnny sleeps", visibility=PERSONAL, id="mine")
    with pytest.raises(InvalidInput, match="instead"):
        ada.entities.merge("Watson", into="Johnny")
    ada.entities.merge("Johnny", into="Watson")
    assert records_about(ada, "Johnny") == {"mine", "shared"}
    assert bob.entities.about("Watson").aliases == ()
    with pytest.raises(NotFound):
        bob.entities.about("Johnny")


@pytest.fixture
def raw_text(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[], str]:
    """Every row of every table as one text, past the store and past row-level security."""

    def sqlite_rows() -> str:
        with closing(sqlite3.connect(tmp_path / "memory.db")) as raw:
            names = [name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return "\n".join(repr(row) for name in names for row in raw.execute(f'SELECT * FROM "{name}"'))

    def postgres_rows() -> str:
        import psycopg
        from sqlalchemy import make_url

        url = request.getfixturevalue("postgres_url")
        admin = make_url(request.getfixturevalue("postgres_admin_url")).set(database=make_url(url).database)
        with psycopg.connect(admin.render_as_string(False)) as raw:
            names = [name for (name,) in raw.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
            return "\n".join(repr(row) for name in names for row in raw.execute(f'SELECT * FROM "{name}"'))

    return {"sqlite": sqlite_rows, "postgresql": postgres_rows}[engine]


def test_a_name_leaves_with_the_last_record_that_held_it(
    open_memory: OpenMemory, raw_text: Callable[[], str], tmp_path: Path
) -> None:
    memory = open_memory()
    memory.remember("Mr Glockenist owes money", id="k")
    memory.turn(session="s", role="user", text="ask Mr Glockenist", id="t")
    memory.remember("Mr Bystander stays", id="b")
    assert records_about(memory, "Glockenist") == {"k", "t"}
    memory.forget("k", hard=True)
    assert memory.entities.about("Glockenist").entity.mentions == 1
    memory.forget("t", hard=True)
    assert "lockenist" not in raw_text()
    with pytest.raises(NotFound):
        memory.entities.about("Glockenist")
    assert records_about(memory, "Bystander") == {"b"}
    memory.close()
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"lockenist" not in file.read_bytes(), file


def test_an_entity_linked_by_hand_leaves_with_its_last_record(memory: Memory) -> None:
    first, last = memory.remember("she likes tea"), memory.remember("she plays chess")
    for record in (first, last):
        memory.entities.link(record.id, "Ada")
    memory.forget(first.id, hard=True)
    assert records_about(memory, "Ada") == {last.id}
    memory.forget(last.id)
    assert memory.entities.about("Ada").records == ()
    memory.forget(last.id, hard=True)
    with pytest.raises(NotFound):
        memory.entities.about("Ada")


def test_what_only_personal_records_still_speak_of_is_no_longer_seen_by_others(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    bob.remember("Mr Fiddler plays", id="shared")
    bob.entities.about("Fiddler")
    ada.remember("Mr Fiddler owes me money", visibility=PERSONAL, id="mine")
    assert records_about(ada, "Fiddler") == {"mine", "shared"}
    bob.forget("shared", hard=True)
    with pytest.raises(NotFound):
        bob.entities.about("Fiddler")
    assert records_about(ada, "Fiddler") == {"mine"}
    assert ada.entities.about("Fiddler").entity.visibility is PERSONAL


def test_a_record_that_becomes_personal_takes_its_names_along(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    record = ada.remember("Mr Fiddler plays")
    assert bob.entities.about("Fiddler")
    with ada.store.transaction(ada.scope, NOW) as tx:
        tx.knowledge.update(record.replace(visibility=PERSONAL, content="Mr Fiddler plays well"))
    assert records_about(ada, "Fiddler") == {record.id}
    with pytest.raises(NotFound):
        bob.entities.about("Fiddler")
