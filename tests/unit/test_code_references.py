"""Reference edges: what every language shares, and what the graph does with them."""

from importlib import import_module

import pytest

from tests.resolver_projects import edges_of
from treering.code.facts import CallFlow, Definition, DefinitionKind, Edge, Unresolved
from treering.code.graph import CodeGraph
from treering.code.graph.kinds import KIND_CODE, WEIGHTS
from treering.code.languages.edges import SURE, EdgeSet
from treering.code.languages.references import REFERENCE_KINDS, CodeReference, add_references
from treering.core.graph import EdgeKind

STORED_CODES = {
    EdgeKind.IMPORTS: 0,
    EdgeKind.CALLS: 1,
    EdgeKind.APPLIES_PATTERN: 9,
    EdgeKind.REFERENCES: 10,
    EdgeKind.REGISTERS: 11,
    EdgeKind.ANNOTATES: 12,
    EdgeKind.RAISES: 13,
    EdgeKind.CATCHES: 14,
}


def collected(*references: CodeReference) -> tuple[Edge, ...]:
    edges = EdgeSet()
    add_references(edges, references)
    return edges.all()


def graph_of(**edges: tuple[Edge, ...]) -> CodeGraph:
    """A graph of one file per letter, each with a function `f` and a class `K` with a method `m`."""
    graph = CodeGraph()
    for name in "abcd":
        definitions = [
            Definition("f", DefinitionKind.FUNCTION, 1, 2),
            Definition("K", DefinitionKind.CLASS, 3, 9),
            Definition("K.m", DefinitionKind.METHOD, 4, 5),
        ]
        graph.replace_file(f"{name}.py", definitions, edges.get(name, ()))
    return graph


def test_stored_codes_of_kinds_do_not_change() -> None:
    assert {kind: KIND_CODE[kind] for kind in STORED_CODES} == STORED_CODES


@pytest.mark.parametrize("kind", sorted(REFERENCE_KINDS))
def test_impact_and_dependencies_follow_every_kind_of_reference(kind: EdgeKind) -> None:
    graph = graph_of(a=(Edge("a.py::f", "b.py::f", kind, SURE, 1),))
    (dependent,) = graph.impact("b.py::f").dependents
    (dependency,) = graph.dependencies("a.py::f").dependencies
    assert (dependent.id, dependent.kind, dependent.score) == ("a.py::f", kind, pytest.approx(WEIGHTS[kind]))
    assert (dependency.id, dependency.kind) == ("b.py::f", kind)


@pytest.mark.parametrize("kind", sorted(REFERENCE_KINDS))
def test_data_does_not_flow_along_references(kind: EdgeKind) -> None:
    flow = graph_of(a=(Edge("a.py::f", "b.py::f", kind, SURE, 1, int(CallFlow.ARGUMENTS)),)).data_flow("a.py::f")
    assert flow.sinks == flow.sources == ()


@pytest.mark.parametrize("kind", sorted(REFERENCE_KINDS))
def test_overrides_are_reached_through_references_that_may_call(kind: EdgeKind) -> None:
    graph = graph_of(
        a=(Edge("a.py::f", "b.py::K.m", kind, SURE, 1),),
        c=(Edge("c.py::K.m", "b.py::K.m", EdgeKind.IMPLEMENTS, SURE, 1),),
    )
    calls = kind in (EdgeKind.REFERENCES, EdgeKind.REGISTERS)
    users = {each.id: each for each in graph.impact("c.py::K.m").dependents}
    used = {each.id: each for each in graph.dependencies("a.py::f").dependencies}
    assert ("a.py::f" in users) is calls
    assert ("c.py::K.m" in used) is calls
    if calls:
        assert (users["a.py::f"].through, users["a.py::f"].kind) == ("b.py::K.m", kind)
        assert (used["c.py::K.m"].through, used["c.py::K.m"].kind) == ("b.py::K.m", kind)
        assert graph.impact("c.py::K.m", depth=1, cap=1).total == graph.impact("c.py::K.m").total


def test_a_registry_of_another_file_reaches_what_is_registered_until_that_file_changes() -> None:
    graph = graph_of(
        a=(Edge("b.py::K", "a.py::f", EdgeKind.REGISTERS, SURE, 1),),
        c=(Edge("c.py::f", "b.py::K", EdgeKind.CALLS, SURE, 1),),
    )
    assert graph.impact("a.py::f").dependents.ids == ("b.py::K", "c.py::f")
    graph.mark_stale("a.py")
    assert graph.impact("a.py::f").dependents.ids == ()


def test_a_definition_does_not_refer_to_itself_or_to_one_around_it() -> None:
    annotates = EdgeKind.ANNOTATES
    assert (
        collected(
            CodeReference("a.py::K", "a.py::K", annotates, 1), CodeReference("a.py::K.m", "a.py::K", annotates, 1)
        )
        == ()
    )
    (kept,) = collected(CodeReference("a.py::Kind", "a.py::K", annotates, 1))
    assert kept.target == "a.py::K"


def test_a_plain_reference_is_left_out_beside_an_edge_that_says_more() -> None:
    edges = EdgeSet()
    edges.add(Edge("a.py::f", "b.py::f", EdgeKind.CALLS, SURE, 3))
    add_references(
        edges, [CodeReference("a.py::f", target, EdgeKind.REFERENCES, 1) for target in ("b.py::f", "b.py::K")]
    )
    assert [(each.target, each.kind) for each in edges.all()] == [
        ("b.py::K", EdgeKind.REFERENCES),
        ("b.py::f", EdgeKind.CALLS),
    ]


def test_a_call_is_not_a_reference() -> None:
    with pytest.raises(AssertionError, match="calls is not a kind of reference"):
        collected(CodeReference("a.py::f", "b.py::f", EdgeKind.CALLS, 1))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("filter", "filter"),
        ("a.b().filter", "filter"),
        ("x[…]", "x"),
        ("$el.on", "on"),
        ("", ""),
        ("…", ""),
        ("a.$", "$"),
    ],
)
def test_the_name_of_an_unresolved_use_is_the_last_in_its_text(text: str, name: str) -> None:
    assert Unresolved("a.py", text, 1).used_name == name
    assert Unresolved("a.py", text, 1, "given").used_name == "given"


INITIALIZERS = {
    "python": ("a.py", "def make(): ...\nTABLE = make()\ndef use():\n    return TABLE\n", "a.py::TABLE"),
    "typescript": ("a.ts", "function make() {}\nexport const TABLE = make()\n", "a.ts::TABLE"),
    "go": ("a.go", "package a\nfunc make() int { return 1 }\nvar table = sum(\n\tmake(),\n)\n", "a.go::table"),
    "rust": (
        "src/main.rs",
        "const fn make() -> u8 { 1 }\nstatic TABLE: Lazy<u8> = Lazy::new(|| make());\n",
        "src/main.rs::TABLE",
    ),
}


@pytest.mark.parametrize("name", INITIALIZERS)
def test_a_constant_depends_on_what_initializes_it(name: str) -> None:
    path, text, constant = INITIALIZERS[name]
    language = import_module(f"treering.code.languages.{name}").LANGUAGE
    manifest = {"go.mod": "module a\n", "Cargo.toml": '[package]\nname = "app"\nversion = "0.1.0"\n'}
    found = edges_of({**manifest, path: text} if name in ("go", "rust") else {path: text}, language)
    assert (path, "calls", f"{path}::make") in found
    assert (constant, "depends_logically", f"{path}::make") in found
    assert not any(origin == constant and target == constant for origin, _, target in found)


def test_constants_of_one_long_line_do_not_depend_on_everything_in_it() -> None:
    functions = "".join(f"def g{number}(): ...\n" for number in range(6))
    line = "".join(f"A{number} = g{number}(); " for number in range(6))
    found = edges_of({"a.py": f"{functions}{line}\n"}, import_module("treering.code.languages.python").LANGUAGE)
    assert ("a.py", "calls", "a.py::g5") in found
    assert not any(kind == "depends_logically" for _, kind, _ in found)
