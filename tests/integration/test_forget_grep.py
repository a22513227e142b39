"""`forget(hard=True)` against a search of the raw bytes: nothing is left, and `prove()` says what grep says."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url, text

from tests.conftest import OpenMemory
from tests.samples import NOW, SMALL_BLOBS
from treering.memory import Memory

WORD = "quetzalcoatlus"
Grep = Callable[[], set[str]]


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(settings=SMALL_BLOBS, clock=lambda: NOW, background=False)


@pytest.fixture
def grep(engine: str, memory: Memory, tmp_path: Path, request: pytest.FixtureRequest) -> Grep:
    """Places whose raw bytes hold the word: files, and on PostgreSQL every row of every table."""

    def holds(data: bytes) -> bool:
        data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        return WORD.encode() in data.lower()

    def in_files() -> set[str]:
        files = (file for file in tmp_path.rglob("*") if file.is_file())
        return {str(file.relative_to(tmp_path)) for file in files if holds(file.read_bytes())}

    def in_tables() -> set[str]:
        if engine == "sqlite":
            return set()
        url = make_url(request.getfixturevalue("postgres_url"))
        admin = make_url(request.getfixturevalue("postgres_admin_url")).set(database=url.database)
        with psycopg.connect(admin.render_as_string(False)) as raw:
            names = [name for (name,) in raw.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
            return {name for name in names if _in_table(raw, name)}

    return lambda: in_files() | in_tables()


def _in_table(raw: psycopg.Connection[Any], name: str) -> bool:
    return any(WORD in repr(row).lower() for row in raw.execute(f'SELECT * FROM "{name}"'))


def of_a_record(memory: Memory) -> str:
    """A record with the word in each of its fields, and in whatever is said about it."""
    record = memory.remember(
        f"The {WORD} lives in the seventh vault. " * 60,
        type="fact",
        tags=[WORD, "animals"],
        files=[f"{WORD}.py"],
        payload={"value": WORD},
    )
    memory.remember("The moon is far away", type="fact")
    memory.confirm(record.id)
    memory.flag(record.id, f"I never saw a {WORD}")
    memory.undo(record.id)
    memory.entities.link(record.id, WORD.title(), kind="person", aliases=[f"Old {WORD}"])
    memory.entities.rename(WORD.title(), f"{WORD.title()} the Elder")
    task = memory.task("Look after the animals", id="care")
    task.retrieve_from_episodic(f"where does the {WORD} live")
    task.save()
    memory.settle()
    memory.context.build(WORD)
    memory.search(WORD)
    return record.id


def of_a_corrected_record(memory: Memory) -> str:
    """The last of three wordings of one record."""
    first = memory.remember(f"The {WORD} lives in the sixth vault", type="decision")
    second = memory.correct(first.id, text=f"The {WORD} lives in the seventh vault")
    return memory.correct(second.id, "too_specific", text=f"The {WORD} lives in a vault").id


def of_a_turn(memory: Memory) -> str:
    talk = memory.conversation("long", model="gpt-4o", limit=1_200, keep_recent=2, strategy="rolling_window")
    told = talk.add("user", f"My {WORD} is called Bertha and lives in Lyon.")
    for number in range(40):
        talk.add("user", f"What does part {number} do, and how does it hang together with the others?")
        talk.add("assistant", f"Part {number} holds one step of the work and calls the next one when it is done.")
    talk.build()
    memory.entities.link(str(told.id), WORD.title(), kind="person")
    memory.settle()
    memory.search(WORD)
    return str(told.id)


def of_an_episode(memory: Memory) -> str:
    task = memory.task(f"Feed the {WORD} every day", id="feed")
    task.set("animal", WORD)
    task.add_intermediate("food", {"for": WORD})
    task.save()
    kept = task.finish("SUCCESS")
    memory.settle()
    memory.search(WORD)
    return str(getattr(kept, "id", kept))


DOORS = {"record": of_a_record, "corrected record": of_a_corrected_record, "turn": of_a_turn, "episode": of_an_episode}


@pytest.mark.parametrize("door", DOORS)
def test_nothing_is_left_and_the_proof_agrees_with_grep(door: str, memory: Memory, grep: Grep) -> None:
    id = DOORS[door](memory)
    assert grep()
    gone = memory.forget(id, hard=True)
    assert gone is not None
    proof = gone.prove()
    assert (grep(), proof.remains) == (set(), ())
    assert WORD in " ".join(proof_pieces(gone))


def proof_pieces(gone: Any) -> tuple[str, ...]:
    return next(cell.cell_contents for cell in gone.prove.__closure__ if isinstance(cell.cell_contents, tuple))


REMNANTS = {
    "sessions": 'UPDATE sessions SET rest = \'{"metadata":{"x":"quetzalcoatlus"}}\' WHERE id = \'left\'',
    "jobs": "UPDATE jobs SET error = 'cannot feed the quetzalcoatlus'",
    "runs": "INSERT INTO runs SELECT tenant, project, 'r', 'forget', 'done', 1, 1, '{\"error\":\"quetzalcoatlus\"}' "
    "FROM principals WHERE principal = ''",
    "facets": "INSERT INTO facets SELECT tenant, project, 'knowledge', 'tag', 'quetzalcoatlus', 1, 'x', '' "
    "FROM principals WHERE principal = ''",
}


@pytest.mark.parametrize("place", [*REMNANTS, "blob"])
def test_a_planted_remnant_is_reported(place: str, memory: Memory, grep: Grep) -> None:
    record = memory.remember(f"The {WORD} lives in the seventh vault", type="fact", tags=["animals"])
    memory.turn(session="left", role="user", text="Hello there, how are things?")
    gone = memory.forget(record.id, hard=True)
    assert gone is not None
    assert gone.prove().clean
    with memory.store.transaction(memory.scope, NOW) as tx:
        if place == "blob":
            tx.blobs.put(memory.scope, f"one more {WORD}".encode())
        else:
            tx._context.connection.execute(text(REMNANTS[place]))  # type: ignore[attr-defined]
    proof = gone.prove()
    assert grep()
    assert any(each.place.startswith(place) for each in proof.remains), proof.remains
