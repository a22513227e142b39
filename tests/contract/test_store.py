"""What the store promises about transactions, versions, bulk and reading, on both engines."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import func, select

from tests.conftest import OpenMemory
from tests.samples import COLLECTIONS, NOW, by_words, collection, knowledge, put, sample, turn
from treering.adapters.sql.schema import metadata
from treering.adapters.sql.tables import documents
from treering.core.co_access import CoAccessEdge
from treering.core.entities import Entity, EntityLink
from treering.core.episodes import Episode, EpisodeLifecycle
from treering.core.errors import Conflict, InvalidInput, NotFound
from treering.core.history import Action
from treering.core.injections import InjectedItem
from treering.core.jobs import Job
from treering.core.observations import ObservedSession, SavedScratchpad, SignalEvidence
from treering.core.patterns import Pattern
from treering.core.project_settings import ProjectSetting
from treering.core.queries import AuditFilter, CoAccessFilter, EntityFilter, KnowledgeFilter, PatternFilter, TurnFilter
from treering.core.records import Knowledge
from treering.core.runs import Run
from treering.core.scope import Scope
from treering.core.turns import Session, Turn
from treering.core.values import Record
from treering.memory import Memory

LEARNED = (Knowledge, Pattern, Entity)
DERIVED = (
    EntityLink,
    CoAccessEdge,
    ObservedSession,
    SavedScratchpad,
    SignalEvidence,
    Run,
    InjectedItem,
    ProjectSetting,
)
EVERYTHING = {
    Knowledge: KnowledgeFilter(deleted=None),
    Pattern: PatternFilter(deleted=None),
    Entity: EntityFilter(deleted=None),
}


def row_counts(memory: Memory) -> dict[str, int]:
    """Rows of this memory's tenant in every table, the derived ones included."""
    with memory.store.reading(memory.scope, NOW) as tx:
        connection = tx._context.connection  # type: ignore[attr-defined]
        return {
            table.name: connection.execute(
                select(func.count()).select_from(table).where(table.c.tenant == memory.scope.tenant)
            ).scalar_one()
            for table in metadata.sorted_tables
        }


class Stop(Exception):
    """Raised by a test in the middle of a transaction."""


def test_an_exception_rolls_back_everything_the_block_did(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.knowledge.create(knowledge("before", tags=("a",)))
    before = row_counts(memory)

    with suppress(Stop), memory.store.transaction(memory.scope, NOW) as tx:
        put(tx, [sample(cls, f"new-{cls.__name__}") for cls in COLLECTIONS])
        tx.knowledge.update(tx.knowledge.get("before").replace(content="changed", tags=("b", "c")))
        tx.knowledge.delete("before")
        tx.knowledge.purge("before")
        raise Stop

    assert row_counts(memory) == before
    assert memory.get("before").content == "water is wet"
    assert [hit.id for hit in memory.search("wet", knowledge=KnowledgeFilter(tags=("a",)))] == ["before"]


def test_what_a_block_wrote_is_there_for_the_next_one_and_for_another_store(open_memory: OpenMemory) -> None:
    first, second = open_memory(), open_memory()
    with first.store.transaction(first.scope, NOW) as tx:
        put(tx, [sample(cls, cls.__name__) for cls in COLLECTIONS])
        assert all(collection(tx, cls).get(cls.__name__) for cls in COLLECTIONS)
    with second.store.reading(second.scope, NOW) as tx:
        assert all(collection(tx, cls).get(cls.__name__).id == cls.__name__ for cls in COLLECTIONS)


def test_a_reader_sees_one_snapshot_while_others_write(open_memory: OpenMemory) -> None:
    reader, writer = open_memory(), open_memory()
    writer.remember("first")
    with reader.store.reading(reader.scope, NOW) as tx:
        assert tx.knowledge.count() == 1
        writer.remember("second")
        assert tx.knowledge.count() == 1
        assert len(list(tx.knowledge.stream())) == 1
    assert reader.stats().records["knowledge"] == 2


@pytest.mark.parametrize("cls", [cls for cls in COLLECTIONS if cls not in DERIVED], ids=lambda cls: cls.__name__)
def test_an_id_that_is_taken_is_a_conflict_and_leaves_the_rest_of_the_block_alone(
    cls: type[Record], memory: Memory
) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        put(tx, [sample(cls, "taken")])
        with pytest.raises(Conflict, match="taken"):
            collection(tx, cls).create_many([sample(cls, "other"), sample(cls, "taken")])
        tx.knowledge.create(knowledge("after"))
    with memory.store.reading(memory.scope, NOW) as tx:
        assert collection(tx, cls).get("taken") is not None
        assert collection(tx, cls).get("other") is None
        assert tx.knowledge.get("after") is not None


@pytest.mark.parametrize("cls", DERIVED, ids=lambda cls: cls.__name__)
def test_what_is_computed_again_replaces_what_was_there(cls: type[Record], memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        into = collection(tx, cls)
        assert into.put_many([sample(cls, "x"), sample(cls, "y")]) == 2
        assert into.put_many([sample(cls, "x")]) == 1
        assert into.count() == 2
        assert into.get("x") == sample(cls, "x")


def test_removing_computed_records_takes_a_filter_that_says_what(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.co_access.put_many([sample(CoAccessEdge, "a", first="a.py"), sample(CoAccessEdge, "b", first="c.py")])
        with pytest.raises(InvalidInput, match="everything"):
            tx.co_access.remove(CoAccessFilter())
        assert tx.co_access.remove(CoAccessFilter(files=("a.py",))) == 1
        assert [edge.id for edge in tx.co_access.stream()] == ["b"]


@pytest.mark.parametrize("cls", LEARNED, ids=lambda cls: cls.__name__)
def test_an_update_at_a_stale_version_is_a_conflict_and_changes_nothing(cls: Any, memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        into = collection(tx, cls)
        read = into.create(sample(cls, "x"))
        newer = into.update(read.replace(updated_at=NOW))
        assert newer.version == read.version + 1
        with pytest.raises(Conflict, match="version 2, not 1"):
            into.update(read)
        assert into.get("x") == newer


def test_of_two_writers_who_read_the_same_version_one_wins(open_memory: OpenMemory) -> None:
    first, second = open_memory(), open_memory()
    record = first.remember("shared")
    with first.store.transaction(first.scope, NOW) as tx:
        tx.knowledge.update(record.replace(content="first"))
    with pytest.raises(Conflict), second.store.transaction(second.scope, NOW) as tx:
        tx.knowledge.update(record.replace(content="second"))
    assert second.get(record.id).content == "first"


def test_a_session_is_updated_by_version_and_keeps_its_count(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.turns.create_many([turn("a"), turn("b")])
        session = tx.sessions.get("s")
        assert session.turns == 2
        ended = tx.sessions.update(session.replace(title="done", turns=99))
        assert (ended.turns, ended.title, ended.version) == (2, "done", 2)
        with pytest.raises(Conflict):
            tx.sessions.update(session.replace(title="again"))
        assert tx.sessions.open(sample(Session, "s", title="ignored")) == ended


def test_an_update_of_a_session_keeps_what_the_store_counts_meanwhile(memory: Memory) -> None:
    """Neither the end of a session nor learning from it makes a new version."""
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.turns.create_many([turn("a"), turn("b")])
        session = tx.sessions.get("s")
        assert tx.sessions.end("s")
        assert tx.sessions.mark_learned("s", known=0, learned=2)
        updated = tx.sessions.update(session.replace(title="done"))
        assert (updated.ended_at, updated.learned) == (session.last_at, 2)
        assert tx.sessions.get("s") == updated


def test_the_moment_of_birth_never_changes(memory: Memory) -> None:
    record = memory.remember("fixed")
    with pytest.raises(InvalidInput, match="created_at"), memory.store.transaction(memory.scope, NOW) as tx:
        tx.knowledge.update(record.replace(created_at=NOW))


@pytest.mark.parametrize("cls", LEARNED, ids=lambda cls: cls.__name__)
def test_a_deleted_record_is_met_only_by_those_who_ask_for_it(cls: Any, memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        into = collection(tx, cls)
        into.create_many([sample(cls, "kept"), sample(cls, "gone")])
        into.delete("gone")
        assert [each.id for each in into.find().items] == ["kept"]
        assert [each.id for each in into.stream()] == ["kept"]
        assert into.count() == 1
        assert {each.id for each in into.find(EVERYTHING[cls]).items} == {"kept", "gone"}
        assert into.get("gone").deleted_at == NOW
        into.restore("gone")
        assert into.count() == 2


def test_turns_and_episodes_leave_softly_and_come_back(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        for cls in (Turn, Episode):
            into, id = collection(tx, cls), cls.__name__
            stored = into.create(sample(cls, id))
            into.delete(id)
            assert into.count() == 0
            into.restore(id)
            assert into.get(id) == stored


def test_only_the_lifecycle_of_an_episode_moves_on(memory: Memory) -> None:
    moved = EpisodeLifecycle(status="mature", access_count=3, last_accessed_at=NOW, referenced_by=("k",))
    with memory.store.transaction(memory.scope, NOW) as tx:
        stored = tx.episodes.create(sample(Episode, "x"))
        assert tx.episodes.set_lifecycle("x", moved) == stored.replace(lifecycle=moved, version=2)
        assert tx.episodes.get("x") == stored.replace(lifecycle=moved, version=2)


@pytest.mark.parametrize("verb", ["delete", "restore", "purge", "undo"])
@pytest.mark.parametrize("id", ["missing", "nul\x00", "\ud800", ""])
def test_what_is_not_there_is_not_found(verb: str, id: str, memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        assert tx.knowledge.get(id) is None
        assert tx.knowledge.get_many([id]) == {}
        with pytest.raises(NotFound):
            getattr(tx.knowledge, verb)(id)


def test_get_many_answers_for_those_it_finds(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.knowledge.create_many(knowledge(f"k{number}") for number in range(1_200))
        found = tx.knowledge.get_many([f"k{number}" for number in range(0, 3_000, 2)] * 2)
    assert set(found) == {f"k{number}" for number in range(0, 1_200, 2)}
    assert all(record.id == id for id, record in found.items())


def test_a_bulk_load_is_the_same_as_one_record_at_a_time(open_memory: OpenMemory) -> None:
    one, many = open_memory(project="one"), open_memory(project="many")
    records = [
        knowledge(
            f"k{number:05}", f"water number {number}", tags=(f"tag{number % 7}",), files=(f"src/{number % 5}.py",)
        )
        for number in range(2_500)
    ]
    with one.store.transaction(one.scope, NOW) as tx:
        for record in records[:300]:
            tx.knowledge.create(record)
        tx.turns.create(turn("a"))
        tx.turns.create(turn("b", session="other"))
        tx.turns.create(turn("c"))
    with many.store.transaction(many.scope, NOW) as tx:
        assert tx.knowledge.create_many(iter(records[:300])) == 300
        assert tx.turns.create_many([turn("a"), turn("b", session="other"), turn("c")]) == 3

    def indexed(tx: Any) -> Any:
        """All but the numbers, which go on from project to project."""
        columns = [column for column in documents.c if column.name not in ("number", "tenant", "project")]
        here = (documents.c.tenant == tx.scope.tenant, documents.c.project == tx.scope.project)
        return tx._context.connection.execute(select(*columns).where(*here).order_by(documents.c.number)).all()

    def content(memory: Memory) -> Any:
        where = KnowledgeFilter(tags=("tag3",), files=("src/1.py",))
        with memory.store.reading(memory.scope, NOW) as tx:
            return (
                list(tx.knowledge.stream()),
                list(tx.turns.stream()),
                list(tx.sessions.stream()),
                tx.knowledge.find(where).items,
                by_words(tx, "17", knowledge=KnowledgeFilter()),
                indexed(tx),
                [(entry.action, entry.kind, entry.subject) for entry in tx.audit.stream()],
            )

    assert content(one) == content(many)

    with many.store.transaction(many.scope, NOW) as tx:
        tx.knowledge.create_many(records[300:])
    with many.store.reading(many.scope, NOW) as tx:
        assert list(tx.knowledge.stream()) == records
        assert tx.knowledge.count() == len(records)
        assert by_words(tx, "2400", knowledge=KnowledgeFilter()) == {"k02400"}


def test_turns_get_their_places_in_the_order_they_came(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.turns.create_many(turn(f"t{number}", session=f"s{number % 2}", seq=7) for number in range(6))
        said = list(tx.turns.stream(TurnFilter(sessions=("s1",))))
    assert [(each.id, each.seq) for each in said] == [("t1", 0), ("t3", 1), ("t5", 2)]


def test_every_write_is_in_the_audit_log_without_the_text(memory: Memory) -> None:
    text = "unmistakable-words"
    for change in (
        lambda tx: tx.knowledge.create(knowledge(content=text)),
        lambda tx: tx.knowledge.update(knowledge(content=text, tags=(text,))),
        lambda tx: tx.knowledge.delete("k"),
        lambda tx: tx.knowledge.undo("k"),
        lambda tx: tx.knowledge.purge("k"),
    ):
        with memory.store.transaction(memory.scope, NOW) as tx:
            change(tx)
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.turns.create(turn(text=text))
        tx.episodes.create(sample(Episode, "e", task={"input": text}))
        tx.patterns.create(sample(Pattern, "p", name=text))
        tx.entities.create(sample(Entity, "n", name=text))
        tx.observed_sessions.put_many([sample(ObservedSession, "v", prompts=(text,))])
        tx.jobs.enqueue(sample(Job, "j", payload={"text": text}))
        log = list(tx.audit.stream())
        assert [entry.action for entry in tx.audit.stream(AuditFilter(subjects=("k",)))] == [
            Action.CREATE,
            Action.UPDATE,
            Action.DELETE,
            Action.UNDO,
            Action.PURGE,
        ]
    assert {entry.kind for entry in log} == {"knowledge", "turn", "episode", "pattern", "entity"}
    assert {entry.actor for entry in log} == {memory.scope.principal}
    assert not [entry for entry in log if text in entry.to_json()]


def test_many_threads_write_through_one_memory_and_nothing_is_lost(memory: Memory) -> None:
    threads, each = 8, 50
    failures: list[BaseException] = []

    def write(name: int) -> None:
        try:
            for number in range(each):
                if number % 2:
                    memory.remember(f"thread {name} wrote {number}")
                else:
                    memory.turn(session="shared", role="user", text=f"{name}:{number}", id=f"{name}:{number}")
        except BaseException as exc:  # noqa: BLE001 - the thread has nobody to raise it to
            failures.append(exc)

    running = [threading.Thread(target=write, args=(name,)) for name in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()

    assert failures == []
    assert memory.stats().records["knowledge"] == threads * each / 2
    with memory.store.reading(memory.scope, NOW) as tx:
        assert [said.seq for said in tx.turns.stream()] == list(range(threads * each // 2))
        assert tx.sessions.get("shared").turns == threads * each / 2


def test_a_memory_closes_with_its_block_and_keeps_what_it_was_told(open_memory: OpenMemory) -> None:
    with open_memory() as memory:
        record = memory.remember("kept after closing")
    with open_memory() as again:
        assert again.get(record.id).content == "kept after closing"


def test_reading_pages_of_a_stream_needs_no_place_in_memory(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.knowledge.create_many(knowledge(f"k{number:04}") for number in range(30))
        stream = tx.knowledge.stream()
        assert isinstance(stream, Iterator)
        assert next(stream).id == "k0000"


def test_a_personal_record_is_written_by_its_owner_only(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    mine = ada.remember("mine alone", visibility="personal")
    shared = ada.remember("for all", visibility="project")
    for write in (
        lambda tx: tx.knowledge.create(knowledge(visibility="personal", owner="ada")),
        lambda tx: tx.knowledge.create_many([knowledge(visibility="personal", owner="ada")]),
        lambda tx: tx.turns.create(turn(visibility="personal", owner="ada")),
        lambda tx: tx.knowledge.update(shared.replace(visibility="personal")),
    ):
        with (
            pytest.raises(InvalidInput, match="belongs to its writer"),
            bob.store.transaction(bob.scope, NOW) as tx,
        ):
            write(tx)
    with pytest.raises(Conflict), bob.store.transaction(bob.scope, NOW) as tx:
        tx.knowledge.create(knowledge(mine.id))
    assert ada.get(mine.id) == mine
    assert ada.get(shared.id) == shared


def test_a_session_of_another_person_cannot_be_lengthened(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    ada.turn(session="diary", role="user", text="dear diary", visibility="personal")
    with pytest.raises(Conflict, match="taken"):
        bob.turn(session="diary", role="user", text="let me in")
    with ada.store.reading(ada.scope, NOW) as tx:
        assert tx.sessions.get("diary").turns == 1


def test_projects_of_one_database_hold_the_same_ids_apart(open_memory: OpenMemory) -> None:
    here, there = open_memory(project="here"), open_memory(project="there")
    for memory in (here, there):
        with memory.store.transaction(memory.scope, NOW) as tx:
            put(tx, [sample(cls, cls.__name__) for cls in COLLECTIONS])
            tx.knowledge.update(tx.knowledge.get("Knowledge").replace(content=memory.scope.project))
    here.forget("Knowledge", hard=True)
    assert there.get("Knowledge").content == "there"
    with here.store.reading(Scope(tenant=here.scope.tenant, project="nowhere"), NOW) as tx:
        assert all(collection(tx, cls).get(cls.__name__) is None for cls in COLLECTIONS)


def test_a_database_is_known_by_its_identity_whoever_opens_it(open_memory: OpenMemory) -> None:
    first, again = open_memory(), open_memory(principal="somebody-else")
    assert first.store.identity == again.store.identity != ""
