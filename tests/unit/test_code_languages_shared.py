"""Helpers shared by all languages: lines, node texts, problems, edges, paths, TOML."""

import ast
import subprocess
import sys
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest
import tree_sitter_go
from hypothesis import example, given
from hypothesis import strategies as st
from tree_sitter import Language, Node, Parser

from treering.code import languages
from treering.code.facts import Edge, Facts, SyntaxProblem
from treering.code.languages.edges import EVIDENT, SURE, EdgeSet
from treering.code.languages.go import LANGUAGE as GO
from treering.code.languages.line_index import LineIndex
from treering.code.languages.paths import joined
from treering.code.languages.python import LANGUAGE as PYTHON
from treering.code.languages.rust import LANGUAGE as RUST
from treering.code.languages.syntax_nodes import MAX_PROBLEMS, first_of, problems_of, text_of
from treering.code.languages.toml import read_toml
from treering.code.languages.typescript import LANGUAGE as TYPESCRIPT
from treering.core.graph import EdgeKind

MODULES = sorted(Path(languages.__file__).parent.rglob("*.py"))
GRAMMAR = Language(tree_sitter_go.language())


def parsed(source: bytes) -> Node:
    return Parser(GRAMMAR).parse(source).root_node


def points_asked(source: str) -> list[str]:
    asked = (node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute))
    return [name for name in asked if name.endswith("_point") or "point_range" in name]


def test_no_language_reads_the_points_of_a_node() -> None:
    assert len(MODULES) > 50
    assert {path.name: found for path in MODULES if (found := points_asked(path.read_text("utf-8")))} == {}


def test_reading_points_would_be_detected() -> None:
    assert points_asked("line = node.start_point[0] + tree.root.end_point.row") == ["start_point", "end_point"]


@given(source=st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"\x0c", b"\xe2\x80\xa8", b"\x00"])).map(b"".join))
@example(source=b"")
@example(source=b"a\n")
@example(source=b"a\nb")
def test_the_line_of_an_offset_is_one_more_than_the_newlines_before_it(source: bytes) -> None:
    lines = LineIndex(source)
    assert [lines.of(place) for place in range(len(source) + 1)] == [
        source.count(b"\n", 0, place) + 1 for place in range(len(source) + 1)
    ]


def test_a_part_of_a_text_begins_at_its_own_line() -> None:
    lines = LineIndex(b"a\nb\n", 7)
    assert [lines.of(place) for place in (0, 1, 2, 4)] == [7, 7, 8, 9]


@pytest.mark.parametrize(
    ("extract", "path", "source"),
    [
        (PYTHON.extract, "a.py", b"x = 1\r\n\r\ndef f():\r\n    return 1\r\n"),
        (TYPESCRIPT.extract, "a.ts", b"// x\n\nfunction f() {\n}\n"),
        (GO.extract, "a.go", b"package a\n\nfunc f() {\n}\n"),
        (RUST.extract, "a.rs", "// ä\n\nfn f() {\n}".encode()),
    ],
)
def test_every_language_records_first_and_last_line(
    extract: Callable[[str, bytes], Facts], path: str, source: bytes
) -> None:
    assert [(one.qualname, one.line, one.end_line) for one in extract(path, source).definitions] == [("f", 3, 4)]


def test_code_in_a_macro_keeps_its_line() -> None:
    facts = RUST.extract(
        "a.rs",
        b"fn f() {\n    run!(\n        1,\n        {\n            fn g() {\n            }\n        }\n    );\n}\n",
    )
    assert [(one.qualname, one.line, one.end_line) for one in facts.definitions if one.qualname.endswith("g")] == [
        ("f.g", 5, 6)
    ]


def test_the_text_of_a_node_accepts_any_bytes() -> None:
    root = parsed(b'package a\nvar s = "\xff"\n')
    assert text_of(root) == 'package a\nvar s = "\ufffd"\n'
    assert text_of(None) == ""


def test_the_first_child_of_a_leaf_is_none() -> None:
    assert first_of(parsed(b"")) is None
    clause = first_of(parsed(b"package a"))
    assert clause is not None
    assert clause.type == "package_clause"


def test_a_valid_file_has_no_problems() -> None:
    source = b"package a\n"
    assert problems_of(parsed(source), LineIndex(source)) == ()


@pytest.mark.parametrize(
    ("extract", "path", "sound", "broken"),
    [
        (PYTHON.extract, "a.py", b"x = 1\n", b"x = = 1\n"),
        (TYPESCRIPT.extract, "a.ts", b"let x = 1\n", b"let = = 1 }\n"),
        (GO.extract, "a.go", b"package a\n", b"func func ) {\n"),
        (RUST.extract, "a.rs", b"const A: u8 = 1;\n", b"fn fn ) {\n"),
    ],
)
def test_every_language_reports_syntax_errors(
    extract: Callable[[str, bytes], Facts], path: str, sound: bytes, broken: bytes
) -> None:
    assert extract(path, sound * 4).problems == ()
    assert 5 in {problem.line for problem in extract(path, sound * 4 + broken).problems}


def test_only_the_first_problems_are_reported_in_order() -> None:
    source = b"package a\n" + b"func f() { x = = 1 }\n" * 100
    found = problems_of(parsed(source), LineIndex(source))
    assert len(found) == MAX_PROBLEMS == len(set(found))
    assert [problem.line for problem in found] == sorted(problem.line for problem in found)
    assert found[0].line == 2


def test_a_missing_token_is_named() -> None:
    source = b"package a\nfunc f() {\n    g(1\n}\n"
    assert problems_of(parsed(source), LineIndex(source)) == (SyntaxProblem(3, "missing )"),)


def test_equal_uses_become_one_edge_in_any_order() -> None:
    uses = [
        Edge("a", "b", EdgeKind.CALLS, EVIDENT, 3, 1),
        Edge("a", "b", EdgeKind.CALLS, SURE, 9, 0),
        Edge("a", "b", EdgeKind.CALLS, EVIDENT, 5, 2),
        Edge("a", "b", EdgeKind.IMPORTS, EVIDENT, 4),
    ]
    for order in permutations(uses):
        edges = EdgeSet()
        for edge in order:
            edges.add(edge)
        assert edges.all() == (Edge("a", "b", EdgeKind.CALLS, SURE, 3, 3), uses[3])


@pytest.mark.parametrize(
    ("directory", "relative", "path"),
    [
        ("a/b", "../c.rs", "a/c.rs"),
        ("a", "./x/./y", "a/x/y"),
        ("", ".", ""),
        ("a", "..", ""),
        ("", "x.go", "x.go"),
        ("a", "../../x", "../x"),
    ],
)
def test_a_path_seen_from_a_directory(directory: str, relative: str, path: str) -> None:
    assert joined(directory, relative) == path


@pytest.mark.parametrize("source", [b"a = ", b"\xff", b"a = " + b"[" * 100_000])
def test_toml_that_cannot_be_read_is_a_problem(source: bytes) -> None:
    assert isinstance(read_toml(source), SyntaxProblem)


def test_toml_is_read() -> None:
    assert read_toml(b"[a]\nb = 1\n") == {"a": {"b": 1}}


SAME_EVERYWHERE = {
    "python": (
        "a.py",
        "import os\nfrom app import things\nLIMIT = 3\n\n\n"
        + "".join(
            f"def f{n}(x: things.T{n}):\n    with x.lock{n}:\n        x.read{n}\n        LIMIT\n" for n in range(40)
        ),
    ),
    "typescript": ("a.ts", "".join(f"const value{number} = make{number}.it\n" for number in range(40))),
    "go": (
        "a.go",
        'package p\nimport "m/store"\n'
        + "".join(f"func F{n}(s store.T{n}) int {{ return s.Get{n}(store.Max{n}) }}\n" for n in range(40)),
    ),
    "rust": ("a.rs", "".join(f"pub fn f{n}(s: T{n}) -> u8 {{ s.get{n}(MAX{n}) }}\n" for n in range(40))),
}


PRINT_FACTS = f"""
import msgspec
from treering.code.language_choice import load_language
for language, (path, source) in {SAME_EVERYWHERE!r}.items():
    print(language, msgspec.json.encode(load_language(language).extract(path, source.encode())))
"""


def test_the_facts_of_a_file_are_the_same_in_every_process() -> None:
    """An unchanged file must not look changed: no order may depend on hashes or addresses."""
    one, other = (
        subprocess.check_output(
            [sys.executable, "-c", PRINT_FACTS],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            text=True,
        ).splitlines()
        for seed in ("1", "2")
    )
    assert [line.split()[0] for line in one] == list(SAME_EVERYWHERE)
    assert one == other
