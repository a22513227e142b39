"""How answers about code are drawn and told, without a memory."""

import json

import pytest

from tests.golden.code import drawing
from treering.code.facts import Definition, DefinitionKind, EntryPoint
from treering.code.graph import IndexStatus
from treering.interfaces.cli.code import documents
from treering.interfaces.cli.output import _plain

WHOLE = {
    "impact": drawing.IDS[1:],
    "deps": (drawing.TEST, drawing.SERVICE, drawing.VERIFY, drawing.DECODE),
    "route": (drawing.ROUTE, drawing.SERVICE, drawing.VERIFY, drawing.DECODE),
    "flow": (drawing.SERVICE,),
    "related": (drawing.LOGIN, drawing.TOKENS, drawing.TESTS),
    "map": ("services/accounts/authentication", "tests", "app"),
    "cycles": (drawing.TOKENS, drawing.LOGIN, drawing.TESTS),
    "entries": (drawing.ROUTE,),
    "index": (drawing.DONE.root, "app/broken_10.py:10"),
    "status": (drawing.STATUS.root,),
}


@pytest.mark.parametrize(("name", "width"), drawing.DRAWN)
def test_a_picture_is_drawn_as_its_golden_file_shows(name: str, width: int) -> None:
    """Changed on purpose? `.venv/bin/python -m tests.golden.code.drawing`, then read the diff."""
    assert drawing.drawn(name, width) == drawing.golden(name, width).read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100])
@pytest.mark.parametrize("name", WHOLE)
def test_names_and_paths_are_never_truncated(name: str, width: int) -> None:
    shown = drawing.drawn(name, width)
    assert [each for each in WHOLE[name] if each not in shown.split()] == []
    # What is too long for a line is only ever a path, or stands behind one.
    assert [line for line in shown.splitlines() if len(line) > width and "/" not in line] == []


@pytest.mark.parametrize("name", drawing.PICTURES)
def test_nothing_that_a_terminal_obeys_is_drawn(name: str) -> None:
    assert not set(drawing.drawn(name, 200)) & set("\x1b\u202e")


def test_lists_say_how_much_they_leave_out() -> None:
    graph = drawing.GRAPH
    assert documents.impact(drawing.IMPACT, 2)["left_out"] == 3
    assert documents.dependencies(graph.dependencies(drawing.TEST), 1)["left_out"] == 3
    flow = graph.data_flow(drawing.SERVICE)
    told = documents.data_flow(flow, 1)
    assert (len(told["sources"]), len(told["sinks"])) == (1, 1)
    assert told["left_out"] == len(flow.sources) + len(flow.sinks) - 2
    modules = documents.module_map(graph.module_map(), 2)
    assert (len(modules["modules"]), modules["left_out"]) == (2, 1)
    assert {name for edge in modules["edges"] for name in (edge["origin"], edge["target"])} <= {
        module["name"] for module in modules["modules"]
    }
    rounds = documents.cycles(drawing.ROUND.cycles("file"), 1)
    assert (len(rounds["cycles"]), rounds["left_out"]) == (1, 1)
    entries = documents.entries(graph.entry_points(), 1)
    assert (len(entries["entries"]), entries["left_out"]) == (1, 1)


def test_entries_in_tests_are_left_out_and_counted() -> None:
    graph = drawing._graph()
    inner = Definition("test_it.index", DefinitionKind.FUNCTION, 1, 2, entry=EntryPoint.ROUTE, entry_name="/")
    for path in ("a_tests/other.py", "tests/test_a.py", "examples/b.py"):
        graph.replace_file(path, (inner,), ())
    every = graph.entry_points()
    assert [each.test for each in every] == [False] * 4 + [True]
    assert every[3].id == "examples/b.py::test_it.index"
    told = documents.entries(every, None)
    assert (len(told["entries"]), told["left_out"], told["tests_left_out"]) == (4, 0, 1)
    told = documents.entries(every, 1, tests=True)
    assert (len(told["entries"]), told["left_out"], told["tests_left_out"]) == (1, 4, 0)


def test_every_document_contains_the_index_status() -> None:
    graph = drawing._graph()
    graph.mark_stale(drawing.TESTS)
    told = [
        documents.dependencies(graph.dependencies(drawing.VERIFY), 9),
        documents.route("a", "b", graph.path(drawing.DECODE, drawing.ROUTE)),
        documents.data_flow(graph.data_flow(drawing.VERIFY), 9),
        documents.module_map(graph.module_map(), None),
        documents.cycles(graph.cycles("file"), None),
        documents.entries(graph.entry_points(), None),
    ]
    limits = {"incomplete": False, "guessed": (), "definitions_only": (), "notes": ()}
    stale = {"stale": (drawing.TESTS,), **limits, "up_to_date": False}
    assert [each["status"] for each in told] == [stale] * len(told)
    assert documents.relations(drawing.RELATED)["status"] == stale
    assert IndexStatus().up_to_date
    for each in told:
        json.dumps(each, default=_plain)
