"""Removing a line or bracket of a top-level statement does not affect the other statements.

That holds for statements that begin at the left edge and hold no text over several lines: a quote that is lost before
such a text turns it inside out, and then nobody can say what was code.
"""

import re

from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Parser

from tests.broken_sources import ALL, Written, calls_of, names_of, read
from treering.code.languages.error_recovery import parse_with_recovery
from treering.code.languages.python.statements import GRAMMAR

BODIES = {
    "python": (
        "{}()",
        "x = [{}(), 2]",
        "if x:\n        {}(1)",
        "for y in {}():\n        y(1)",
        "return {}({{'k': 1}})",
    ),
    "go": ("{}()", "x := []int{{{}(), 2}}", "if true {{\n\t\t{}(1)\n\t}}", "for {}() {{\n\t\tf(1)\n\t}}"),
    "typescript": ("{}()", "const x = [{}(), 2]", "if (x) {{\n    {}(1)\n  }}", "f({{ k: {}(), l: [1] }})"),
    "rust": (
        "{}();",
        "let x = ({}(), 2);",
        "if true {{\n        {}(1);\n    }}",
        "while {}() {{\n        f(1);\n    }}",
    ),
}
FUNCTIONS = {
    "python": "def {}():\n    {}\n",
    "go": "func {}() {{\n\t{}\n}}\n",
    "typescript": "function {}() {{\n  {}\n}}\n",
    "rust": "fn {}() {{\n    {}\n}}\n",
}
SEPARATORS = {"python": "\n    ", "go": "\n\t", "typescript": "\n  ", "rust": "\n    "}
CLASSES = {
    "python": "class {}:\n    def m(self):\n        f0()\n\n    def n(self):\n        f1(1)\n",
    "go": "type {} struct {{\n\tname string\n}}\n",
    "typescript": "class {} {{\n  m() {{\n    f0()\n  }}\n\n  n() {{\n    f1(1)\n  }}\n}}\n",
    "rust": "trait {} {{\n    fn m(&self) {{\n        f0();\n    }}\n}}\n",
}
BRACKET = re.compile(r"[()\[\]{}:]")


@st.composite
def _statements(draw: st.DrawFn, language: str) -> list[str]:
    count = draw(st.integers(2, 5))
    statements = []
    for number in range(count):
        kinds = draw(st.lists(st.sampled_from(BODIES[language]), min_size=1, max_size=3))
        body = SEPARATORS[language].join(kind.format(f"f{draw(st.integers(0, count - 1))}") for kind in kinds)
        statements.append(FUNCTIONS[language].format(f"f{number}", body))
    statements.insert(draw(st.integers(0, count)), CLASSES[language].format("K"))
    return statements


@st.composite
def _broken(draw: st.DrawFn, statement: str) -> str:
    """Return the statement without one of its lines, the end of one, or one of its brackets."""
    lines = statement.split("\n")
    at = draw(st.integers(0, len(lines) - 2))
    how = draw(st.sampled_from(("line", "end", "bracket")))
    if how == "bracket":
        places = [found.start() for found in BRACKET.finditer(statement)]
        place = draw(st.sampled_from(places))
        return statement[:place] + statement[place + 1 :]
    kept = "" if how == "line" else lines[at][: draw(st.integers(0, len(lines[at])))]
    return "\n".join([*lines[:at], kept, *lines[at + 1 :]])


def _of(names: set[str], statement: str, language: str) -> set[str]:
    """Return the names that the statement defines."""
    own = re.search(r"\b(f\d|K)\b", statement)
    assert own is not None, language
    return {name for name in names if name.partition(".")[0] == own[1]}


@given(st.data(), st.sampled_from(sorted(ALL)))
def test_a_broken_statement_loses_no_definition_or_call_of_another(data: st.DataObject, language: str) -> None:
    written: Written = ALL[language]
    statements = data.draw(_statements(language))
    at = data.draw(st.integers(0, len(statements) - 1))
    broken = [*statements[:at], data.draw(_broken(statements[at])), *statements[at + 1 :]]
    whole, half = ("\n".join((written.opening, *each)) for each in (statements, broken))
    touched = _of(names_of(written, whole), statements[at], language)
    assert names_of(written, whole) - touched <= names_of(written, half)
    kept = {(caller, callee) for caller, callee in calls_of(written, whole) if not {caller, callee} & touched}
    assert kept <= calls_of(written, half)


@given(st.data())
def test_recovery_keeps_lines_and_reports_changed_ones(data: st.DataObject) -> None:
    source = data.draw(
        st.lists(st.sampled_from(['"""', "def f(", "):", "\n", "    ", "x", "class K", "(", "{", "\r\n", "#", "\\"]))
    )
    text = "".join(source).encode()
    found = parse_with_recovery(Parser(GRAMMAR), text, "python")
    written, mended = text.split(b"\n"), found.text.split(b"\n")
    assert len(written) == len(mended)
    assert bool(found.lines) == (text != found.text)
    for line in found.lines:
        assert written[line - 1] != mended[line - 1]
    assert bool(read(ALL["python"], text).problems) == Parser(GRAMMAR).parse(text).root_node.has_error
