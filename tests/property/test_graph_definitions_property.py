"""What is kept of definitions side by side is what was given, through any edits and through storing."""

from hypothesis import given
from hypothesis import strategies as st

from treering.code.facts import Definition, DefinitionKind, EntryPoint
from treering.code.graph import CodeGraph

PATHS = ("a.py", "b/c.py")
definitions = st.builds(
    Definition,
    st.sampled_from(("f", "g", "K", "K.m", "K.m.<locals>.f")),
    st.sampled_from(DefinitionKind),
    st.integers(1, 1_000_000),
    st.integers(1, 1_000_000),
    st.booleans(),
    st.booleans(),
    st.none() | st.sampled_from(EntryPoint),
    st.none() | st.text(max_size=4),
)
files = st.dictionaries(
    st.sampled_from(PATHS), st.lists(definitions, max_size=5, unique_by=lambda each: each.qualname).map(tuple)
)


@given(files, st.lists(files, max_size=3))
def test_definitions_are_those_that_were_given_last(
    first: dict[str, tuple[Definition, ...]], edits: list[dict[str, tuple[Definition, ...]]]
) -> None:
    graph = CodeGraph()
    for files in (first, *edits):
        for path in PATHS:
            graph.remove_file(path)
        for path, given_now in files.items():
            graph.replace_file(path, given_now, ())
        for each in (graph, CodeGraph.load([graph.columns()])):
            assert {path: each.definitions(path) for path in each.paths} == files
            entries = sorted(
                (one.test, f"{path}::{one.qualname}", one)
                for path, all in files.items()
                for one in all
                if one.entry is not None
            )
            assert [(entry.test, entry.id, entry.definition) for entry in each.entry_points()] == entries


@given(st.lists(definitions, max_size=5, unique_by=lambda each: each.qualname), st.integers(1, 1_000_000))
def test_a_line_refers_to_the_innermost_definition(defined: list[Definition], line: int) -> None:
    graph = CodeGraph()
    graph.replace_file("a.py", defined, ())
    around = [each for each in defined if each.line <= line <= each.end_line]
    found = graph.find(f"a.py:{line}").only
    if not around:
        assert found == "a.py"
    else:
        least = min((each.end_line - each.line, -each.line) for each in around)
        ids = [f"a.py::{each.qualname}" for each in around if (each.end_line - each.line, -each.line) == least]
        assert found in ids
