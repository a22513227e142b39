"""No query ever leaves its scope: every read from every scope against a plain Python model of who may see what."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import psycopg
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st
from sqlalchemy import inspect, make_url

from tests.conftest import OpenMemory
from tests.examples import examples
from tests.property.model import matches, visible
from tests.property.strategies import filters, values
from tests.samples import COLLECTIONS, FILTER_OF, NOW, by_words, collection, put, sample
from treering.adapters.sql.kinds import KINDS as STORED
from treering.adapters.sql.posting_blocks import add_blocks
from treering.adapters.sql.schema import metadata
from treering.core.episodes import Episode
from treering.core.errors import NotFound
from treering.core.queries import KnowledgeFilter, SearchFilter, TurnFilter
from treering.core.scope import EVERY_VISIBILITY, Scope, Visibility
from treering.core.values import Record
from treering.memory import Memory
from treering.ports.code import ReadFile, ResolvedFile
from treering.ports.code_chunks import StoredChunk
from treering.ports.code_history import HistoryState
from treering.search.embedding import store_vectors

TENANTS, PROJECTS, PRINCIPALS = ("t1", "t2"), ("p1", "p2"), ("a", "b")
PLACES = st.sampled_from(tuple(product(TENANTS, PROJECTS)))
KINDS = tuple(COLLECTIONS)
# Worlds are large: making them smaller takes longer than reading what failed.
BIG_WORLDS = examples(3, phases=(Phase.explicit, Phase.reuse, Phase.generate))
WORDS = ("cold", "water", "warm", "air", "fire")
SEARCHED = {kind.value: kind for kind in STORED if kind.searched}
SERVER_TABLES = {"sqlite": set[str](), "postgresql": {"postings", "posting_blocks", "nearby"}}


@dataclass(frozen=True)
class Placed:
    """A record, and the project that holds it."""

    tenant: str
    project: str
    record: Any


def scopes() -> st.SearchStrategy[Scope]:
    some = st.frozensets(st.sampled_from(sorted(EVERY_VISIBILITY)), min_size=1)
    return st.builds(
        Scope,
        tenant=st.sampled_from(TENANTS),
        project=st.sampled_from(PROJECTS),
        principal=st.sampled_from(PRINCIPALS),
        visible=st.just(EVERY_VISIBILITY) | some,
    )


@st.composite
def worlds(draw: st.DrawFn) -> list[Placed]:
    """Records of every kind in several projects; of each kind, two projects hold a record with the same id."""
    world = []
    for cls in KINDS:
        same, other = draw(st.lists(PLACES, unique=True, min_size=2, max_size=2))
        for number, (tenant, project) in ((0, same), (0, other), (1, draw(PLACES))):
            record = draw(values(cls, "narrow")).replace(id=f"{cls.__name__}{number}")
            if cls is Episode:
                # An export holds the artifacts too, and these are invented.
                record = record.replace(outcome=record.outcome.replace(artifacts=()))
            if "owner" in cls.model_fields:
                record = record.replace(owner=draw(st.sampled_from(PRINCIPALS)))
            world.append(Placed(tenant, project, record))
    return world


def build(memory: Memory, world: list[Placed], run: str) -> list[Placed]:
    """Store each record as its owner; what the store has is returned."""
    built = []
    for placed in world:
        cls, record = type(placed.record), placed.record
        if "session" in cls.model_fields and record.session is not None:
            # A shared session would be one person's; here everybody talks in their own.
            record = record.replace(session=f"{record.session}-{getattr(record, 'owner', '')}-{record.visibility}")
        scope = Scope(tenant=run + placed.tenant, project=placed.project, principal=getattr(record, "owner", "a"))
        with memory.store.transaction(scope, NOW) as tx:
            put(tx, [record])
            stored = collection(tx, cls).get(record.id)
        built.append(Placed(placed.tenant, placed.project, stored))
    return built


def seen(world: list[Placed], scope: Scope, cls: type[Record]) -> dict[str, Any]:
    return {
        placed.record.id: placed.record
        for placed in world
        if type(placed.record) is cls
        and (placed.tenant, placed.project) == (scope.tenant, scope.project)
        and visible(scope, placed.record)
    }


@BIG_WORLDS
@given(world=worlds(), data=st.data())
def test_every_read_answers_with_what_its_scope_may_see_and_nothing_else(
    memory: Memory, world: list[Placed], data: st.DataObject
) -> None:
    run = uuid4().hex
    built = build(memory, world, run)
    for _ in range(3):
        scope = data.draw(scopes())
        with memory.store.reading(scope.replace(tenant=run + scope.tenant), NOW) as tx:
            for cls in KINDS:
                where = data.draw(filters(FILTER_OF[cls]))
                wanted = check_reads(collection(tx, cls), seen(built, scope, cls), where)
                if cls in SEARCHED:
                    check_search(tx, cls, wanted, where, data.draw(st.sampled_from(WORDS)))


def check_reads(inside: Any, mine: dict[str, Any], where: Any) -> dict[str, Any]:
    """Rows that the store wrote itself, of the log and of opened sessions, have other ids and are left aside."""
    everyone = [f"{kind.__name__}{number}" for kind in KINDS for number in range(3)]
    assert inside.get_many(everyone) == mine
    assert {id: inside.get(id) for id in everyone if inside.get(id)} == mine
    wanted = {id: record for id, record in mine.items() if matches(where, record)}
    found = {record.id for record in inside.find(where, limit=1_000).items}
    assert found & set(everyone) == set(wanted)
    assert {record.id for record in inside.stream(where)} == found
    assert inside.count(where) == len(found)
    return wanted


def check_search(tx: Any, cls: type[Record], wanted: dict[str, Any], where: Any, word: str) -> None:
    kind: Any = SEARCHED[cls]
    passing = tx.index.matching_numbers({kind.name: where})
    assert {id for _, id in tx.index.matching_ids({kind.name: where}, passing).values()} == set(wanted)
    holding = {id for id, record in wanted.items() if word in re.findall(r"\w+", kind.searched(record).text.lower())}
    assert by_words(tx, word, **{kind.name: where}) == holding


def memory_of(memory: Memory, scope: Scope) -> Memory:
    parts: Any = memory._parts
    return Memory(replace(parts, scope=scope))


@BIG_WORLDS
@given(world=worlds(), reader=scopes())
def test_the_verbs_answer_with_what_their_scope_may_see_and_nothing_else(
    memory: Memory, world: list[Placed], reader: Scope
) -> None:
    run = uuid4().hex
    built = build(memory, world, run)
    eyes = memory_of(memory, reader.replace(tenant=run + reader.tenant))
    mine = {cls.__name__: seen(built, reader, cls) for cls in KINDS}
    live = {name: {id for id, each in found.items() if matches(None, each)} for name, found in mine.items()}

    for options in ({"knowledge": KnowledgeFilter(), "turns": None}, {"knowledge": None, "turns": TurnFilter()}):
        kind = "Turn" if options["turns"] else "Knowledge"
        recalled = eyes.search(" ".join(WORDS), limit=1_000, superseded=True, explain=True, **options)
        assert {id for hit in recalled for id in (hit.id, *hit.also)} == live[kind]
        told = recalled.explanation
        assert {each.id for each in (*told.results, *told.runners_up)} == live[kind]
    for kind in ("Episode", "Pattern"):
        where = SearchFilter(kinds=(kind.lower(),))
        recalled = eyes.search(" ".join(WORDS), limit=1_000, superseded=True, where=where)
        assert {id for hit in recalled for id in (hit.id, *hit.also)} <= live[kind]
    for kind in ("Knowledge", "Turn", "Episode"):
        for number in range(3):
            id = f"{kind}{number}"
            if id in live[kind]:
                # Being found is an access.
                accessed = {"last_accessed_at": mine[kind][id].last_accessed_at} if kind == "Knowledge" else {}
                assert eyes.get(id).replace(**accessed) == mine[kind][id]
            else:
                with pytest.raises(NotFound):
                    eyes.get(id)
    counted = eyes.stats().records
    for name, kind in (("knowledge", "Knowledge"), ("turns", "Turn"), ("episodes", "Episode"), ("patterns", "Pattern"),
                       ("entities", "Entity"), ("observed_sessions", "ObservedSession")):  # fmt: skip
        assert counted[name] == len(live[kind]), name
    check_history(eyes, mine)
    exported = "\n".join(eyes.export_lines(history=True))
    for cls in KINDS:
        for number in range(3):
            id = f"{cls.__name__}{number}"
            shown = f'"id":"{id}"' in exported
            assert shown == (id in mine[cls.__name__] and cls.__name__ != "Job"), id


def check_history(eyes: Memory, mine: dict[str, dict[str, Any]]) -> None:
    told_of = {entry.subject for entry in mine["AuditEntry"].values()}
    for kind in ("Knowledge", "Turn", "Episode", "Pattern", "Entity"):
        for number in range(3):
            id = f"{kind}{number}"
            # What is no person's own is logged for the project.
            logged = id in mine[kind] and (kind != "Entity" or Visibility.PROJECT in eyes.scope.visible)
            if logged or id in told_of:
                assert eyes.history(id)
            else:
                with pytest.raises(NotFound):
                    eyes.history(id)


@BIG_WORLDS
@given(world=worlds(), reader=scopes())
def test_what_a_scope_does_not_see_it_cannot_change(memory: Memory, world: list[Placed], reader: Scope) -> None:
    run = uuid4().hex
    built = build(memory, world, run)
    scope = reader.replace(tenant=run + reader.tenant)
    for cls, verbs in (
        ("Knowledge", ("delete", "restore", "undo", "purge")),
        ("Turn", ("delete", "restore", "purge")),
        ("Episode", ("delete", "purge")),
        ("Pattern", ("delete", "undo", "purge")),
        ("Entity", ("delete", "undo", "purge")),
    ):
        kind = next(each for each in KINDS if each.__name__ == cls)
        hidden = {f"{cls}{number}" for number in range(3)} - set(seen(built, reader, kind))
        for id, verb in product(sorted(hidden), verbs):
            with pytest.raises(NotFound), memory.store.transaction(scope, NOW) as tx:
                getattr(collection(tx, kind), verb)(id)
        for id in sorted(hidden & {"Knowledge0", "Knowledge1", "Knowledge2"}):
            with pytest.raises(NotFound), memory.store.transaction(scope, NOW) as tx:
                tx.knowledge.update(sample(kind, id, owner=reader.principal))
    assert contents(memory, built, run) == {(p.tenant, p.project, p.record.id): p.record for p in built}


def contents(memory: Memory, world: list[Placed], run: str) -> dict[tuple[str, str, str], Any]:
    found = {}
    for placed in world:
        owner = getattr(placed.record, "owner", "a")
        with memory.store.reading(
            Scope(tenant=run + placed.tenant, project=placed.project, principal=owner), NOW
        ) as tx:
            record = collection(tx, type(placed.record)).get(placed.record.id)
        found[placed.tenant, placed.project, placed.record.id] = record
    return found


def test_another_persons_history_stays_theirs(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    diary = ada.remember("dear diary", visibility="personal")
    ada.flag(diary.id, "not so dear")
    with pytest.raises(NotFound):
        bob.history(diary.id)
    assert bob.stats().records["audit entries"] == 0
    exported = "\n".join(bob.export_lines(history=True))
    assert "dear" not in exported
    assert diary.id not in exported
    assert [entry.action.value for entry in ada.history(diary.id)] == ["flag", "create"]


@pytest.fixture
def filled(open_engine: Any, postgres_url: str) -> Iterator[tuple[Memory, psycopg.Connection[Any]]]:
    """A PostgreSQL memory with a row in every table, and a raw connection as the role it uses."""
    memory = open_engine("postgresql")
    memory.remember("indexed words", tags=["t"])
    with memory.store.transaction(memory.scope, NOW) as tx:
        put(tx, [sample(cls, cls.__name__) for cls in COLLECTIONS])
        tx.code.take_lease("me", timedelta(minutes=1))
        generation = tx.code.describe("me", seen=0, root="/r", version="v", complete=True)
        tx.code.put([ReadFile("a.py", "python", "d", "s", 1)], generation)
        tx.code.resolve([ResolvedFile("a.py", b"", b"", b"", 0, 0, {"b.py": 1.0})], generation)
        tx.chunks.put({"a.py": [StoredChunk("a.py", 0, "", 1, 1, "d", 0, b"", b"")]})
        tx.chunks.add_vectors("m", {"d": b"12"})
        tx.code_history.put(HistoryState("/r", "", "v", {"main": "c"}), b"x")
    # Embeds what has no vector yet, and holds the vectors in memory.
    assert memory.search("indexed words")
    store_vectors(memory.scope, memory.store, NOW)
    with memory.store.transaction(memory.scope, NOW) as tx:
        connection: Any = tx._context.connection
        block = np.ones(1, np.int64)
        add_blocks(connection, (memory.scope.tenant, memory.scope.project), block, block, block)
    raw_url = make_url(postgres_url).set(drivername="postgresql").render_as_string(False)
    with psycopg.connect(raw_url) as raw:
        yield memory, raw


def own_tables(raw: psycopg.Connection[Any]) -> list[str]:
    found = raw.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'treering_%'"
    )
    return [name for (name,) in found]


def settle_as(raw: psycopg.Connection[Any], tenant: str, project: str, principal: str) -> None:
    for name, value in (("tenant", tenant), ("project", project), ("principal", principal)):
        raw.execute("SELECT set_config(%s, %s, false)", (f"treering.{name}", value))


def test_row_level_security_is_forced_on_every_table(filled: tuple[Memory, psycopg.Connection[Any]]) -> None:
    _, raw = filled
    found = raw.execute(
        "SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class "
        "WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname NOT LIKE 'treering_%'"
    )
    secured = dict(found.fetchall())
    assert set(secured) == {*metadata.tables, *SERVER_TABLES["postgresql"]}
    assert all(secured.values()), secured


def test_raw_sql_without_a_scope_sees_no_row_of_any_table(filled: tuple[Memory, psycopg.Connection[Any]]) -> None:
    memory, raw = filled
    for name in own_tables(raw):
        assert raw.execute(f'SELECT count(*) FROM "{name}"').fetchone() == (0,), name
    settle_as(raw, memory.scope.tenant, memory.scope.project, "local")
    assert all(raw.execute(f'SELECT count(*) FROM "{name}"').fetchone() != (0,) for name in own_tables(raw))


def test_raw_sql_sees_and_changes_only_its_own_tenant_project_and_person(
    filled: tuple[Memory, psycopg.Connection[Any]], open_engine: Any
) -> None:
    memory, raw = filled
    ada = open_engine("postgresql", principal="ada")
    ada.remember("dear diary", visibility="personal", id="diary")
    for tenant, project in (("stranger", memory.scope.project), (memory.scope.tenant, "stranger")):
        settle_as(raw, tenant, project, "local")
        for name in own_tables(raw):
            assert raw.execute(f'SELECT count(*) FROM "{name}"').fetchone() == (0,), name
            assert raw.execute(f'DELETE FROM "{name}"').rowcount == 0, name
        with pytest.raises(psycopg.errors.InsufficientPrivilege), raw.transaction():
            raw.execute(
                "INSERT INTO facets VALUES (%s, %s, 'knowledge', 'tag', 'x', 1, 'x')",
                (memory.scope.tenant, memory.scope.project),
            )
    settle_as(raw, memory.scope.tenant, memory.scope.project, "bob")
    for name in ("knowledge", "audit"):
        column = "subject" if name == "audit" else "id"
        assert raw.execute(f"SELECT count(*) FROM {name} WHERE {column} = 'diary'").fetchone() == (0,)


def test_the_key_of_every_table_begins_with_tenant_and_project(memory: Memory, tmp_path: Path) -> None:
    with memory.store.reading(memory.scope, NOW) as tx:
        inspector = inspect(tx._context.connection)  # type: ignore[attr-defined]
        names = {name for name in inspector.get_table_names() if not name.startswith("treering_")}
        assert names == {*metadata.tables, *SERVER_TABLES[memory.store.engine]}
        for name in sorted(names):
            key = inspector.get_pk_constraint(name)["constrained_columns"]
            indexes = {index["name"]: index for index in inspector.get_indexes(name)}
            if name in ("documents", "postings"):
                assert key == {"documents": ["number"], "postings": []}[name]
                (key,) = [index["column_names"] for index in indexes.values() if index["unique"]]
            assert key[:2] == ["tenant", "project"], name
            for index in indexes.values():
                # The graph of a model's vectors knows nothing but vectors; its query names the project.
                if index.get("dialect_options", {}).get("postgresql_using") != "hnsw":
                    assert index["column_names"][:2] == ["tenant", "project"], index["name"]
