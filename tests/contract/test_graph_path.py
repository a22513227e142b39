"""The way through the graph on both engines: what is tied to the files and names in play, and what never is."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event

from tests.conftest import OpenMemory
from tests.samples import NOW, knowledge, put, sample, turn
from treering.core.co_access import CoAccessEdge
from treering.core.entities import Entity, EntityLink
from treering.core.episodes import Episode
from treering.core.errors import InvalidInput
from treering.core.records import Knowledge, Relation, RelationKind
from treering.core.turns import Turn
from treering.core.values import Record
from treering.memory import Memory
from treering.ports.code import ReadFile, ResolvedFile
from treering.ports.store import Transaction
from treering.search.entity_names import entities_in_query
from treering.search.graph_path import (
    GraphMatch,
    changed_top,
    coupled_files,
    files_in,
    graph_matches,
    neighbourhood_boost,
)


@contextmanager
def reading(memory: Memory, *stored: Record) -> Iterator[Transaction]:
    with memory.store.transaction(memory.scope, NOW) as tx:
        put(tx, stored)
    with memory.store.reading(memory.scope, NOW) as tx:
        yield tx


def together(first: str, second: str, weight: float) -> CoAccessEdge:
    edge: CoAccessEdge = sample(CoAccessEdge, f"{first}-{second}", first=first, second=second, weight=weight)
    return edge


def index_code(memory: Memory, **uses: dict[str, float]) -> None:
    """Store a code index in which each file uses others, with the weight of the strongest edge."""
    with memory.store.transaction(memory.scope, NOW) as tx:
        assert tx.code.take_lease("me", timedelta(minutes=1))
        generation = tx.code.describe("me", seen=0, root="/r", version="v", complete=True)
        paths = [f"{name}.py" for name in uses]
        tx.code.put([ReadFile(path, "python", path, "1:2:3", 4) for path in paths], generation)
        ties = [{f"{name}.py": weight for name, weight in each.items()} for each in uses.values()]
        resolved = [ResolvedFile(path, b"", b"", b"", 0, 0, named) for path, named in zip(paths, ties, strict=True)]
        tx.code.resolve(resolved, generation)


def entity(id: str, name: str, **fields: Any) -> Entity:
    made: Entity = sample(Entity, id, name=name, **fields)
    return made


def link(entity: str, record: str, kind: str = "knowledge", **fields: Any) -> EntityLink:
    made: EntityLink = sample(
        EntityLink, f"{entity}-{record}", entity=entity, record=record, record_kind=kind, **fields
    )
    return made


def weights(found: Sequence[GraphMatch]) -> dict[str, Any]:
    return {tie.id: pytest.approx(tie.weight) for tie in found}


def test_a_project_without_a_graph_has_no_ties(memory: Memory) -> None:
    with reading(memory, knowledge("k", "about nothing in particular")) as tx:
        assert graph_matches(tx, "what did Ada say about auth.py?", ["src/auth.py"]) == ()
        assert graph_matches(tx, "", []) == ()
        assert coupled_files(tx, []) == {}
        assert entities_in_query(tx, "") == ()


def test_a_query_in_a_project_without_a_graph_costs_one_statement(memory: Memory) -> None:
    statements: list[str] = []
    with reading(memory, knowledge("k")) as tx:
        connection = tx._context.connection  # type: ignore[attr-defined]
        event.listen(connection, "before_cursor_execute", lambda *told: statements.append(told[2]))
        assert graph_matches(tx, "what did Ada and the others say about the water last week?", []) == ()
    assert len(statements) == 1


def test_knowledge_about_files_in_play_is_tied_most_firmly(memory: Memory) -> None:
    about = knowledge("about", files=("src/auth.py", "other.py"))
    with reading(memory, about, knowledge("else", files=("other.py",))) as tx:
        expected = (GraphMatch("knowledge", "about", 1.0, "about src/auth.py"),)
        assert graph_matches(tx, "", ["./src/auth.py"]) == expected
        assert graph_matches(tx, "why does `src/auth.py:12` fail?", []) == expected


def test_a_path_that_leaves_the_project_is_refused(memory: Memory) -> None:
    with reading(memory) as tx, pytest.raises(InvalidInput, match="is outside the project"):
        graph_matches(tx, "", ["../secret.py"])


def test_files_touched_together_are_coupled_in_both_directions(memory: Memory) -> None:
    edges = together("a.py", "b.py", 0.7), together("c.py", "a.py", 0.4), together("x.py", "y.py", 1.0)
    with reading(memory, *edges, together("a.py", "chance.py", 0.05)) as tx:
        assert list(coupled_files(tx, ["a.py"]).items()) == [("b.py", 0.7), ("c.py", 0.4)]
        assert coupled_files(tx, ["a.py", "b.py"]) == {"c.py": 0.4}


def test_files_whose_code_uses_each_other_are_coupled_in_both_directions(memory: Memory) -> None:
    index_code(memory, a={"b": 0.45, "chance": 0.05}, c={"a": 0.8}, x={"y": 1.0})
    with reading(memory) as tx:
        assert coupled_files(tx, ["a.py"]) == {"c.py": 0.8, "b.py": 0.45}
        assert coupled_files(tx, ["a.py", "b.py"]) == {"c.py": 0.8}


def test_the_strongest_reason_couples_two_files(memory: Memory) -> None:
    index_code(memory, a={"b": 0.9, "c": 0.2})
    with reading(memory, together("a.py", "b.py", 0.3), together("a.py", "c.py", 0.4)) as tx:
        assert coupled_files(tx, ["a.py"]) == {"b.py": 0.9, "c.py": 0.4}


def test_coupled_files_are_as_many_as_asked_for_and_the_closest(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.search.graph_path.MAX_COUPLED_FILES", 3)
    monkeypatch.setattr("treering.search.graph_path.MAX_EDGES", 10)
    edges = [together("a.py", f"f{number}.py", 0.2 + number / 100) for number in range(20)]
    with reading(memory, *edges) as tx:
        found = coupled_files(tx, ["a.py"])
        assert list(found) == ["f19.py", "f18.py", "f17.py"]


def test_closely_coupled_files_bring_their_gotchas_first(memory: Memory) -> None:
    near = [knowledge(f"near {type}", files=("near.py",), type=type) for type in ("gotcha", "error_pattern", "fact")]
    far = knowledge("far gotcha", files=("far.py",), type="gotcha")
    coupling = together("a.py", "near.py", 0.8), together("a.py", "far.py", 0.6)
    with reading(memory, *near, far, *coupling, knowledge("own", files=("a.py",))) as tx:
        found = graph_matches(tx, "", ["a.py"])
        assert weights(found) == {
            "own": 1.0,
            "near gotcha": 0.85,
            "near error_pattern": 0.85,
            "near fact": 0.4,
            "far gotcha": 0.3,
        }
        assert found[0].id == "own"
        assert {tie.why for tie in found if tie.id == "near fact"} == {"about near.py, coupled 0.80"}


def test_many_other_records_do_not_keep_a_gotcha_of_a_coupled_file_away(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.search.graph_path.MAX_RECORDS", 5)
    noise = [knowledge(f"n{number}", files=("b.py",), content=f"noise {number}") for number in range(20)]
    with reading(memory, knowledge("a", files=("b.py",), type="gotcha"), *noise, together("a.py", "b.py", 0.9)) as tx:
        assert graph_matches(tx, "", ["a.py"])[0].id == "a"


def test_what_a_named_entity_is_linked_with_is_tied_by_confidence_and_rarity(memory: Memory) -> None:
    stored = [
        entity("ada", "Ada Lovelace", aliases=("the countess",)),
        knowledge("sure"),
        turn("unsure"),
        sample(Episode, "lived"),
        link("ada", "sure", confidence=1.0),
        link("ada", "unsure", "turn", confidence=0.5),
        link("ada", "lived", "episode", confidence=0.8),
    ]
    with reading(memory, *stored) as tx:
        found = graph_matches(tx, "What does The Countess's husband do?", [])
        assert [(tie.kind, tie.id, tie.why) for tie in found] == [
            ("knowledge", "sure", "mentions Ada Lovelace"),
            ("episode", "lived", "mentions Ada Lovelace"),
            ("turn", "unsure", "mentions Ada Lovelace"),
        ]
        assert found[1].weight / found[0].weight == pytest.approx(0.8)
        assert 0.7 < found[0].weight < 1.0
        assert graph_matches(tx, "ADA LOVELACE?", []) == found
        assert graph_matches(tx, "somebody else", []) == ()


def test_an_entity_that_few_records_speak_of_says_more(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [knowledge(f"k{number}", f"text {number}") for number in range(10)]
    links = [link("everywhere", record.id) for record in records] + [link("rare", "k3")]
    with reading(memory, entity("everywhere", "web"), entity("rare", "Zig"), *records, *links) as tx:
        found = graph_matches(tx, "is Zig on the web?", [])
        assert found[0].id == "k3"
        assert found[0].weight == pytest.approx(1.0)
        assert found[1].weight < 0.6
        monkeypatch.setattr("treering.search.entity_names.MAX_LINKS", 9)
        assert graph_matches(tx, "the web", []) == ()


def test_two_names_tie_the_record_that_speaks_of_both_more_firmly(memory: Memory) -> None:
    records = [knowledge(f"k{number}", f"text {number}") for number in range(4)]
    links = [link("ada", "k0"), link("ada", "k1"), link("bob", "k1"), link("bob", "k2"), link("bob", "k3")]
    with reading(memory, entity("ada", "Ada"), entity("bob", "Bob"), *records, *links) as tx:
        found = graph_matches(tx, "Ada and Bob", [])
        assert found[0].id == "k1"
        assert found[1].weight < found[0].weight <= 1.0


def test_merged_entities_are_followed(memory: Memory) -> None:
    stored: list[Record] = [
        entity("old", "Augusta", merged_into="middle"),
        entity("middle", "Augusta Ada", merged_into="new"),
        entity("new", "Ada"),
        entity("x", "Xeno", merged_into="y"),
        entity("y", "Ypsilon", merged_into="x"),
        entity("lost", "Lost", merged_into="nowhere"),
        knowledge("before", "before"),
        knowledge("since", "since"),
        knowledge("circle", "circle"),
        link("old", "before"),
        link("new", "since"),
        link("x", "circle"),
        link("lost", "circle"),
    ]
    with reading(memory, *stored) as tx:
        (named,) = entities_in_query(tx, "augusta")
        assert (named.entity.id, named.ids) == ("new", ("new", "old", "middle"))
        assert {tie.id for tie in graph_matches(tx, "Augusta", [])} == {"before", "since"}
        assert graph_matches(tx, "Xeno and Lost", []) == ()


def test_a_name_inside_a_longer_one_does_not_count(memory: Memory) -> None:
    with reading(memory, entity("city", "New York"), entity("paper", "New York Times"), entity("t", "Times")) as tx:
        assert [each.entity.id for each in entities_in_query(tx, "who reads the New York Times?")] == ["paper"]
        assert [each.entity.id for each in entities_in_query(tx, "in New York")] == ["city"]


def test_names_in_scripts_without_spaces_are_found(memory: Memory) -> None:
    with reading(memory, entity("tower", "東京タワー"), knowledge("k"), link("tower", "k")) as tx:
        assert [tie.id for tie in graph_matches(tx, "昨日東京タワーに行きました", [])] == ["k"]


def test_relations_lead_one_hop_either_way(memory: Memory) -> None:
    def related(kind: RelationKind, record: str, confidence: float = 1.0) -> tuple[Relation, ...]:
        return (Relation(kind=kind, record=record, confidence=confidence),)

    stored = [
        knowledge("seed", "seed", files=("a.py",), relations=related(RelationKind.REQUIRED_WITH, "needed", 0.5)),
        knowledge("needed", "needed", relations=related(RelationKind.REQUIRED_WITH, "two hops")),
        knowledge("two hops", "two hops"),
        knowledge("check", "check", relations=related(RelationKind.VALIDATES, "seed")),
        knowledge("newer", "newer", relations=related(RelationKind.SUPERSEDES, "seed")),
        knowledge("against", "against", relations=related(RelationKind.CONFLICTS_WITH, "seed")),
    ]
    with reading(memory, *stored) as tx:
        found = graph_matches(tx, "", ["a.py"])
        assert weights(found) == {"seed": 1.0, "newer": 0.9, "check": 0.6, "needed": 0.4}
        assert {tie.id: tie.why for tie in found}["newer"] == "supersedes seed"


def test_deleted_records_and_entities_are_never_tied(memory: Memory) -> None:
    gone: list[Knowledge | Turn] = [
        knowledge("file", "1", files=("a.py",)),
        knowledge("coupled", "2", files=("b.py",), type="gotcha"),
        knowledge("linked", "3"),
        turn("said"),
        knowledge("related", "4"),
    ]
    seed = knowledge("seed", "5", files=("a.py",), relations=(Relation(kind="derived_from", record="related"),))
    stored: list[Record] = [*gone, seed, together("a.py", "b.py", 0.9), entity("ada", "Ada"), entity("bob", "Bob")]
    links = [link("ada", "linked"), link("ada", "said", "turn"), link("bob", "seed"), link("ada", "never was", "dream")]
    with memory.store.transaction(memory.scope, NOW) as tx:
        put(tx, [*stored, *links])
        assert {tie.id for tie in graph_matches(tx, "Ada", ["a.py"])} == {each.id for each in gone} | {"seed"}
        for each in gone:
            (tx.turns if each.id == "said" else tx.knowledge).delete(each.id)
        tx.entities.delete("bob")
    with memory.store.reading(memory.scope, NOW) as tx:
        assert [tie.id for tie in graph_matches(tx, "Ada and Bob", ["a.py"])] == ["seed"]
        assert graph_matches(tx, "Ada and Bob", []) == ()


def test_ties_are_no_more_than_asked_for(memory: Memory) -> None:
    with reading(memory, *[knowledge(f"k{number:02}", f"{number}", files=("a.py",)) for number in range(30)]) as tx:
        assert len(graph_matches(tx, "", ["a.py"])) == 15
        assert len(graph_matches(tx, "", ["a.py"], limit=3)) == 3


def test_links_from_the_same_time_are_followed_in_the_order_of_their_records(memory: Memory) -> None:
    records = [knowledge(f"k{number:02}", f"text {number}") for number in range(20)]
    links = [
        link("ada", record.id).replace(id=f"{number * 7 % 20:02}", confidence=0.5)
        for number, record in enumerate(records)
    ]
    with reading(memory, entity("ada", "Ada"), *records, *links) as tx:
        found = graph_matches(tx, "Ada", [])
        assert [match.id for match in found] == [f"k{number:02}" for number in range(19, 4, -1)]


def test_nothing_of_another_project_tenant_or_person_is_tied(open_memory: OpenMemory) -> None:
    mine = open_memory(project="mine", principal="ada")
    theirs = open_memory(project="theirs", principal="ada")
    stranger = open_memory(project="mine", tenant="stranger", principal="ada")
    graph: list[Record] = [
        together("a.py", "b.py", 0.9),
        entity("e", "Ada"),
        link("e", "k1"),
        link("e", "said", "turn"),
        knowledge("k1", "one", files=("a.py",)),
        knowledge("k2", "two", files=("b.py",), type="gotcha"),
        knowledge("k3", "three", relations=(Relation(kind="validates", record="own"),)),
        turn("said", session="elsewhere"),
    ]
    for other in (theirs, stranger):
        with other.store.transaction(other.scope, NOW) as tx:
            put(tx, graph)
        index_code(other, a={"c": 0.9})
    with reading(mine, knowledge("own", files=("a.py",))) as tx:
        assert coupled_files(tx, ["a.py"]) == {}
        assert entities_in_query(tx, "Ada") == ()
        assert [tie.id for tie in graph_matches(tx, "Ada", ["a.py"])] == ["own"]

    bob = open_memory(project="theirs", principal="bob")
    with theirs.store.transaction(theirs.scope, NOW) as tx:
        diary = {"owner": "ada", "visibility": "personal"}
        put(tx, [knowledge("diary", "d", files=("a.py",), **diary), turn("whisper", session="own", **diary)])
        put(tx, [link("e", "diary"), link("e", "whisper", "turn")])
    with theirs.store.reading(theirs.scope, NOW) as tx:
        assert {"diary", "whisper"} <= {tie.id for tie in graph_matches(tx, "Ada", ["a.py"])}
    with bob.store.reading(bob.scope, NOW) as tx:
        assert {tie.id for tie in graph_matches(tx, "Ada", ["a.py"])} == {"k1", "k2", "said"}


@pytest.mark.parametrize(
    ("query", "files"),
    [
        ("why does `src/auth/login.py:42` break?", ["src/auth/login.py"]),
        ("run ./tests/test_x.py::test_y, then (docs/a.md).", ["tests/test_x.py", "docs/a.md"]),
        ("in auth.py and src\\win\\x.ts", ["auth.py", "src/win/x.ts"]),
        ("app/[id]/page.tsx#L10-L20 under src/core/", ["app/[id]/page.tsx", "src/core/"]),
        ("and/or, 24/7, TCP/IP, v1.2.3, e.g. asyncio.gather on 2024/05/01", []),
        ("https://example.com/a.py /etc/passwd.conf ../up.py ~/x.py C:\\a\\b.py", []),
        ("", []),
    ],
)
def test_files_in_a_query(query: str, files: list[str]) -> None:
    assert list(files_in(query)) == files


def test_results_that_touch_the_neighbourhood_of_the_leaders_gain_their_share() -> None:
    leaders = [(f"lead{number}", 1.0, frozenset({"a.py", f"{number % 2}.py"})) for number in range(10)]
    followers = [
        ("one", 0.5, frozenset({"n1.py", "elsewhere.py"})),
        ("many", 0.5, frozenset({f"n{number}.py" for number in range(9)})),
        ("none", 0.5, frozenset({"elsewhere.py"})),
    ]
    last = [(f"{number}", 0.1, frozenset({"n1.py"})) for number in range(14, 60)]
    neighbours = {f"n{number}.py": 0.5 for number in range(9)}
    boosts = neighbourhood_boost([*leaders, *followers, *last], neighbours)
    assert boosts["one"] == pytest.approx(0.1)
    assert boosts["many"] == pytest.approx(0.3)
    assert set(boosts) == {"one", "many", *map(str, range(14, 51))}
    assert neighbourhood_boost(leaders, neighbours) == {}
    assert neighbourhood_boost([("x", 1.0, frozenset[str]())] * 20, neighbours) == {}
    assert neighbourhood_boost([], {}) == {}


def test_whether_the_top_changed() -> None:
    assert not changed_top("abcdefghij", "abcdefghji")
    assert changed_top("abcdefghij", "abcdefgihj")
    assert changed_top("abcdefghij", "bacdefghij")
