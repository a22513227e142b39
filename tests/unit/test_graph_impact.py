"""What a change reaches, case by case, on code small enough to check by hand."""

import pytest

from treering.code.facts import CallFlow, Definition, DefinitionKind, Edge, EntryPoint
from treering.code.graph import CodeGraph, FlowKind
from treering.core.errors import NotFound
from treering.core.graph import EdgeKind, GraphSource


def define(*names: str, entry: str | None = None) -> tuple[Definition, ...]:
    return tuple(
        Definition(
            name,
            DefinitionKind.METHOD
            if "." in name
            else DefinitionKind.CLASS
            if name[0].isupper()
            else DefinitionKind.FUNCTION,
            10 * place + 1,
            10 * place + 9,
            test=name.startswith("test_"),
            entry=EntryPoint.COMMAND if name == entry else None,
        )
        for place, name in enumerate(names)
    )


def calls(origin: str, target: str, confidence: float = 1.0, flow: int = 0) -> Edge:
    return Edge(origin, target, EdgeKind.CALLS, confidence, 1, flow)


def tie(origin: str, kind: EdgeKind, target: str) -> Edge:
    return Edge(origin, target, kind, 1.0, 1)


@pytest.fixture
def graph() -> CodeGraph:
    """Tokens are verified by a service, which a command and a test call."""
    made = CodeGraph()
    made.replace_file(
        "auth/tokens.py", define("verify", "decode"), [calls("auth/tokens.py::verify", "auth/tokens.py::decode")]
    )
    made.replace_file(
        "auth/service.py",
        define("Base", "Base.login", "Service", "Service.login"),
        [
            tie("auth/service.py", EdgeKind.IMPORTS, "auth/tokens.py"),
            calls("auth/service.py::Service.login", "auth/tokens.py::verify"),
            tie("auth/service.py::Service", EdgeKind.EXTENDS, "auth/service.py::Base"),
            tie("auth/service.py::Service.login", EdgeKind.IMPLEMENTS, "auth/service.py::Base.login"),
        ],
    )
    made.replace_file("auth/__init__.py", (), [tie("auth/__init__.py", EdgeKind.EXPORTS, "auth/tokens.py::verify")])
    made.replace_file(
        "cli.py",
        define("main", entry="main"),
        [tie("cli.py", EdgeKind.IMPORTS, "auth/service.py"), calls("cli.py::main", "auth/service.py::Base.login", 0.9)],
    )
    made.replace_file(
        "tests/test_auth.py",
        define("test_login"),
        [calls("tests/test_auth.py::test_login", "auth/service.py::Service.login")],
    )
    return made


def test_one_score_sums_those_of_the_dependents(graph: CodeGraph) -> None:
    found = graph.impact("auth/tokens.py::decode")
    assert found.score == pytest.approx(sum(each.score for each in found.dependents), abs=0.001)
    near = graph.impact("auth/tokens.py::decode", depth=1)
    assert 0 < near.score < found.score
    assert graph.impact("cli.py::main", depth=0).score == 0.0


def test_a_change_passes_from_callee_to_caller_with_path_and_score(graph: CodeGraph) -> None:
    answer = graph.impact("auth/tokens.py::decode")
    by_id = {each.id: each for each in answer.dependents}
    assert answer.dependents.ids == (
        "auth/tokens.py::verify",
        "auth/service.py::Service.login",
        "tests/test_auth.py::test_login",
        "cli.py::main",
    )
    assert by_id["tests/test_auth.py::test_login"].path == (
        "auth/tokens.py::decode",
        "auth/tokens.py::verify",
        "auth/service.py::Service.login",
        "tests/test_auth.py::test_login",
    )
    assert by_id["tests/test_auth.py::test_login"].score == pytest.approx(0.8**3)
    assert answer.tests == ("tests/test_auth.py::test_login",)
    assert (answer.total, answer.tests_total, answer.capped) == (4, 1, False)
    assert [each.id for each in answer.direct] == ["auth/tokens.py::verify"]


def test_an_override_reaches_callers_of_the_overridden_method_but_no_sibling(graph: CodeGraph) -> None:
    graph.replace_file(
        "other.py",
        define("Other", "Other.login"),
        [tie("other.py::Other.login", EdgeKind.IMPLEMENTS, "auth/service.py::Base.login")],
    )
    answer = graph.impact("other.py::Other.login")
    (main,) = answer.dependents
    assert (main.id, main.depth, main.through) == ("cli.py::main", 1, "auth/service.py::Base.login")
    assert main.score == pytest.approx(0.7 * 0.8 * 0.9)
    assert "other.py::Other.login" in graph.dependencies("cli.py::main").dependencies.ids


@pytest.mark.parametrize(("depth", "reached"), [(0, 0), (1, 1), (2, 2), (3, 4), (4, 4), (None, 4)])
def test_depth_is_the_number_of_layers_that_are_walked(graph: CodeGraph, depth: int | None, reached: int) -> None:
    whole = graph.impact("auth/tokens.py::decode")
    near = graph.impact("auth/tokens.py::decode", depth=depth)
    assert near.dependents.ids == whole.dependents.ids[:reached]
    assert near.total == whole.total == 4


@pytest.mark.parametrize(("least", "served"), [(0.9, True), (0.91, False)])
def test_an_edge_of_exactly_the_least_confidence_is_served(graph: CodeGraph, least: float, served: bool) -> None:
    answer = graph.impact("auth/service.py::Base.login", min_confidence=least)
    assert ("cli.py::main" in answer.dependents.ids) is served
    assert answer.total == len(answer.dependents)


def test_a_base_reaches_its_subclasses_and_overrides(graph: CodeGraph) -> None:
    assert "auth/service.py::Service" in graph.impact("auth/service.py::Base").dependents.ids
    assert "auth/service.py::Service.login" in graph.impact("auth/service.py::Base.login").dependents.ids


def test_a_class_includes_its_methods(graph: CodeGraph) -> None:
    answer = graph.impact("auth/service.py::Service")
    assert answer.members == ("auth/service.py::Service.login",)
    assert answer.dependents.ids == ("tests/test_auth.py::test_login", "cli.py::main")


def test_a_file_reaches_importers_and_users_of_its_definitions(graph: CodeGraph) -> None:
    answer = graph.impact("auth/service.py")
    assert set(answer.dependents.ids) == {"cli.py", "cli.py::main", "tests/test_auth.py::test_login"}
    assert answer.importers == ("cli.py",)


def test_re_exporting_files_are_reached_but_not_walked_through(graph: CodeGraph) -> None:
    graph.replace_file("app.py", (), [tie("app.py", EdgeKind.IMPORTS, "auth/__init__.py")])
    answer = graph.impact("auth/tokens.py::verify")
    handing_on = next(each for each in answer.dependents if each.id == "auth/__init__.py")
    assert (handing_on.kind, handing_on.score, handing_on.depth) == (EdgeKind.EXPORTS, pytest.approx(0.6), 1)
    assert "app.py" not in answer.dependents.ids
    assert answer.importers == ("app.py", "auth/service.py")
    assert "auth/__init__.py" not in graph.impact("auth/tokens.py::decode").dependents.ids


def test_a_stale_file_is_not_served_but_reported(graph: CodeGraph) -> None:
    graph.mark_stale("auth/service.py")
    answer = graph.impact("auth/tokens.py::verify")
    assert answer.dependents.ids == ("auth/__init__.py",)
    assert answer.status.stale == ("auth/service.py",)
    assert not answer.status.up_to_date
    # What it defines is still what others mean.
    assert graph.impact("auth/service.py::Service.login").dependents.ids == ("tests/test_auth.py::test_login",)


def test_an_edge_waits_for_its_target_to_come_back(graph: CodeGraph) -> None:
    definitions = graph.definitions("auth/tokens.py")
    graph.remove_file("auth/tokens.py")
    assert all(edge.target != "auth/tokens.py::verify" for edge in graph.edges())
    with pytest.raises(NotFound):
        graph.impact("auth/tokens.py::verify")
    graph.replace_file("auth/tokens.py", definitions, ())
    assert "auth/service.py::Service.login" in graph.impact("auth/tokens.py::verify").dependents.ids


def test_edges_that_are_not_sure_enough_are_not_walked(graph: CodeGraph) -> None:
    sure = graph.impact("auth/service.py::Base.login", min_confidence=0.95)
    assert "cli.py::main" not in sure.dependents.ids
    assert sure.total == 2


def test_a_cap_keeps_the_best_and_the_total_stays_exact() -> None:
    made = CodeGraph()
    made.replace_file("a.py", define("f"), ())
    for number in range(9):
        made.replace_file(f"u{number}.py", define("g"), [calls(f"u{number}.py::g", "a.py::f", 0.5 + number / 20)])
    answer = made.impact("a.py::f", cap=2)
    assert answer.dependents.ids == ("u8.py::g", "u7.py::g")
    assert (answer.total, answer.capped) == (9, True)


def test_totals_stay_exact_when_they_are_counted_for_all_nodes_at_once(graph: CodeGraph) -> None:
    for _ in range(120):
        assert graph.impact("auth/tokens.py::decode", cap=1).total == 4
    graph.replace_file("more.py", define("h"), [calls("more.py::h", "cli.py::main")])
    assert graph.impact("auth/tokens.py::decode", cap=1).total == 5


def test_edges_of_other_sources_live_as_long_as_the_file_they_belong_to(graph: CodeGraph) -> None:
    edge = calls("cli.py::main", "auth/tokens.py::decode")
    graph.replace_file("cli.py", graph.definitions("cli.py"), (), {GraphSource.SCIP: [edge]})
    assert [each.source for each in graph.edges() if each.target == edge.target and each.origin == edge.origin] == [
        "scip"
    ]
    graph.replace_file("cli.py", graph.definitions("cli.py"), ())
    assert all(each.source is GraphSource.AST for each in graph.edges())


def test_answers_say_that_the_index_is_being_made(graph: CodeGraph) -> None:
    assert graph.module_map().status.up_to_date
    graph.set_indexing(True)
    assert graph.impact("cli.py::main").status.incomplete
    assert graph.module_map().status.incomplete
    graph.set_indexing(False)
    assert graph.impact("cli.py::main").status.up_to_date
    assert graph.module_map().status.up_to_date


def test_an_answer_stays_as_it_is_while_the_graph_changes(graph: CodeGraph) -> None:
    answer = graph.impact("auth/tokens.py::decode")
    graph.remove_file("auth/service.py")
    graph.replace_file("zzz.py", define("new"), ())
    assert answer.dependents[1].id == "auth/service.py::Service.login"
    assert [each.test for each in answer.dependents] == [False, False, True, False]


def test_a_path_lists_each_step(graph: CodeGraph) -> None:
    route = graph.path("cli.py::main", "auth/tokens.py::decode")
    assert route is not None
    assert route.ids == (
        "cli.py::main",
        "auth/service.py::Service.login",
        "auth/tokens.py::verify",
        "auth/tokens.py::decode",
    )
    assert route.steps[1].through == "auth/service.py::Base.login"
    assert not graph.path("auth/tokens.py::decode", "cli.py::main")


def test_entry_points_and_which_of_them_come_to_a_node(graph: CodeGraph) -> None:
    assert [entry.id for entry in graph.entry_points()] == ["cli.py::main"]
    (entry,) = graph.entry_points("auth/tokens.py::decode")
    assert (entry.id, entry.kind, entry.depth) == ("cli.py::main", EntryPoint.COMMAND, 3)
    assert entry.path[0] == "cli.py::main"
    assert not graph.entry_points(kind=EntryPoint.ROUTE)


def test_data_goes_with_arguments_to_callees_and_with_results_to_callers() -> None:
    made = CodeGraph()
    made.replace_file(
        "a.py",
        define("read", "save", "other", "clean", "print"),
        [
            calls("a.py::save", "a.py::read", flow=CallFlow.RESULT),
            calls("a.py::save", "a.py::clean", flow=CallFlow.ARGUMENTS | CallFlow.RESULT),
            calls("a.py::save", "a.py::print"),
            calls("a.py::other", "a.py::save", flow=CallFlow.RESULT),
        ],
    )
    found = made.data_flow("a.py::save")
    assert [(each.id, each.carried) for each in found.sources] == [
        ("a.py::clean", FlowKind.RESULT),
        ("a.py::read", FlowKind.RESULT),
    ]
    assert [(each.id, each.carried) for each in found.sinks] == [
        ("a.py::other", FlowKind.RESULT),
        ("a.py::clean", FlowKind.ARGUMENT),
    ]


def test_data_of_a_callee_is_not_taken_to_reach_what_else_its_caller_calls() -> None:
    made = CodeGraph()
    made.replace_file(
        "a.py",
        define("load", "main", "version"),
        [
            calls("a.py::main", "a.py::load", flow=CallFlow.RESULT),
            calls("a.py::main", "a.py::version", flow=CallFlow.ARGUMENTS),
        ],
    )
    assert [each.id for each in made.data_flow("a.py::load").sinks] == ["a.py::main"]
    assert [each.id for each in made.data_flow("a.py::version").sources] == ["a.py::main"]


def test_explicit_flows_are_followed_further() -> None:
    made = CodeGraph()
    ends = (("a", "b"), ("b", "c"))
    flows = [tie(f"a.py::{one}", EdgeKind.FLOWS_TO, f"a.py::{other}") for one, other in ends]
    made.replace_file("a.py", define("a", "b", "c"), flows)
    assert [each.path for each in made.data_flow("a.py::c").sources] == [
        ("a.py::b", "a.py::c"),
        ("a.py::a", "a.py::b", "a.py::c"),
    ]


def test_tests_speak_for_no_module_of_code() -> None:
    made = CodeGraph()
    made.replace_file("tests/conftest.py", define("database"), [])
    for name in ("rows", "cells", "plugins"):
        edges = [tie(f"tests/test_{name}.py", EdgeKind.IMPORTS, "tests/conftest.py")]
        made.replace_file(f"tests/test_{name}.py", define(f"test_{name}"), edges)
    made.replace_file("store/rows.py", define("Rows"), [])
    made.replace_file("store/cells.py", define("Cells"), [tie("store/cells.py", EdgeKind.IMPORTS, "store/rows.py")])
    # Only this test uses the migrations, and it uses nothing else as much.
    made.replace_file("store/migrations.py", define("run", "undo", "plan"), [])
    uses = [calls("tests/test_migrations.py::test_run", f"store/migrations.py::{name}") for name in ("run", "undo")]
    shared = [tie("tests/test_migrations.py", EdgeKind.IMPORTS, "tests/conftest.py")]
    made.replace_file("tests/test_migrations.py", define("test_run"), [*uses, *shared])
    found = made.module_map()
    assert {module.name for module in found.modules} == {"tests", "store"}
    assert [(edge.origin, edge.target) for edge in found.edges] == [("tests", "store")]


def test_a_test_beside_the_code_is_part_of_its_module_but_not_a_use_by_it() -> None:
    made = CodeGraph()
    made.replace_file("render/json.go", define("Render"), [])
    made.replace_file("render/xml.go", define("Xml"), [calls("render/xml.go::Xml", "render/json.go::Render")])
    made.replace_file("golden/files.go", define("Read"), [])
    made.replace_file("golden/paths.go", define("Path"), [calls("golden/files.go::Read", "golden/paths.go::Path")])
    uses = [
        calls("render/json_test.go::test_it", target) for target in ("render/json.go::Render", "golden/files.go::Read")
    ]
    made.replace_file("render/json_test.go", define("test_it"), uses)
    found = made.module_map()
    assert next(module for module in found.modules if module.name == "render").size == 3
    assert not found.edges


def test_cycles_of_files_and_of_symbols() -> None:
    made = CodeGraph()
    made.replace_file(
        "a.py",
        define("f"),
        [tie("a.py", EdgeKind.IMPORTS, "b.py"), calls("a.py::f", "b.py::g"), calls("a.py::f", "a.py::f")],
    )
    made.replace_file("b.py", define("g"), [tie("b.py", EdgeKind.IMPORTS, "a.py")])
    (cycle,) = made.cycles()
    assert (cycle.members, cycle.example) == (("a.py", "b.py"), ("a.py", "b.py", "a.py"))
    assert not made.cycles("symbol")


def test_an_override_of_an_override_reaches_the_callers_of_the_first_of_them() -> None:
    made = CodeGraph()
    made.replace_file(
        "a.py",
        define("C.m", "B.m", "A.m", "use", "use_use"),
        [
            tie("a.py::A.m", EdgeKind.IMPLEMENTS, "a.py::B.m"),
            tie("a.py::B.m", EdgeKind.IMPLEMENTS, "a.py::C.m"),
            calls("a.py::use", "a.py::C.m"),
            calls("a.py::use_use", "a.py::use"),
        ],
    )
    answer = made.impact("a.py::A.m")
    assert answer.dependents.ids == ("a.py::use", "a.py::use_use")
    assert answer.dependents[0].through == "a.py::C.m"
    made.prepare()
    assert made.impact("a.py::A.m", cap=0).total == 2


def test_an_exact_call_reaches_no_override() -> None:
    made = CodeGraph()
    exact = [calls("a.py::make", "a.py::B.m", flow=CallFlow.EXACT), calls("a.py::use", "a.py::B.m")]
    files = {"a.py": (define("B.m", "make", "use"), exact), "b.py": (define("A.m"), [])}
    override = tie("b.py::A.m", EdgeKind.IMPLEMENTS, "a.py::B.m")
    for path, (defined, edges) in files.items():
        made.replace_file(path, defined, edges if path == "a.py" else [override])
    for graph in (made, CodeGraph.load([made.columns()])):
        assert graph.impact("b.py::A.m").dependents.ids == ("a.py::use",)
        assert graph.dependencies("a.py::make").dependencies.ids == ("a.py::B.m",)
        assert set(graph.dependencies("a.py::use").dependencies.ids) == {"a.py::B.m", "b.py::A.m"}
        assert {each.kind for each in graph.impact("a.py::B.m").dependents if each.id.endswith("make")} == {
            EdgeKind.CALLS
        }
        graph.prepare()
        assert graph.impact("b.py::A.m", cap=0).total == 1


def test_an_override_below_the_confidence_connects_nothing() -> None:
    made = CodeGraph()
    made.replace_file(
        "a.py",
        define("B.m", "A.m", "use"),
        [
            Edge("a.py::A.m", "a.py::B.m", EdgeKind.IMPLEMENTS, 0.5, 1),
            calls("a.py::use", "a.py::B.m"),
        ],
    )
    assert made.impact("a.py::A.m").dependents.ids == ("a.py::use",)
    assert made.impact("a.py::A.m", min_confidence=0.9).dependents.ids == ()
    assert made.impact("a.py::A.m", cap=0, min_confidence=0.9).total == 0
    assert "a.py::A.m" not in made.dependencies("a.py::use", min_confidence=0.9).dependencies.ids


def test_an_override_counts_from_the_edit_that_brings_it_to_the_one_that_takes_it() -> None:
    made = CodeGraph()
    made.replace_file("a.py", define("B.m", "use"), [calls("a.py::use", "a.py::B.m")])
    override = [tie("b.py::A.m", EdgeKind.IMPLEMENTS, "a.py::B.m")]
    for edges, expected in (((), ()), (override, ("a.py::use",)), ((), ())):
        made.replace_file("b.py", define("A.m"), edges)
        assert made.impact("b.py::A.m").dependents.ids == expected
