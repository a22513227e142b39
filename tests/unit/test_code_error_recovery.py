"""Files saved in the middle of a line: only the broken part is lost."""

import pytest
from tree_sitter import Parser

from tests.broken_sources import ALL, calls_of, names_of, read
from treering.code.languages.error_recovery import parse_with_recovery
from treering.code.languages.python.statements import GRAMMAR

BROKEN = {
    "python": (
        "x = foo(",
        "x = [1, 2",
        "x = {'a': foo(1,",
        "def b():\n    x = [1, 2",
        "def b():\n    return foo(",
        "def b(:\n    x = = 3",
        "def b(",
        "def b()",
        "def b() -> int",
        "class Q(",
        "class Q(Base:\n    def q(self):\n        pass",
        "if x",
        "if x:",
        "for each in",
        "with open(",
        "@decorated(",
        '"""unclosed',
        'def b():\n    """unclosed\n    foo()',
        "x = 'unclosed",
        "from x import (",
        "<<<<<<< HEAD\ndef e():\n    foo()\n=======\ndef f():\n    foo(1)\n>>>>>>> other",
    ),
    "go": (
        "func b() {",
        "func b() {\n\tfoo()",
        "func b() { if true {",
        "func b(",
        "func b() (int,",
        "var x = foo(",
        "var x = []int{1, 2",
        "const (\n\tX = 1",
        "type Q struct {",
        "type Q struct {\n\tname string",
        "type Q interface {\n\tRun()",
        "var s = `unclosed",
        'var s = "unclosed',
        "/* unclosed",
    ),
    "typescript": (
        "function b() {",
        "function b() {\n  foo()",
        "function b() { return [1, 2",
        "function b(",
        "const x = foo(",
        "const x = { y: 1,",
        "const f = () => {",
        "if (x) {",
        "if (x",
        "class Q {",
        "class Q extends",
        "class Q {\n  q() {\n    foo(",
        "interface Q {",
        "describe('x', () => {\n  it('y', () => {",
        "const s = `unclosed",
        "const s = 'unclosed",
        "import { x",
        "/* unclosed",
    ),
    "rust": (
        "fn b() {",
        "fn b() {\n    foo();",
        "fn b() { if true {",
        "fn b(",
        "static X: i32 = foo(",
        "struct Q {",
        "struct Q {\n    name: String,",
        "enum Q {",
        "impl Q {",
        "impl Q {\n    fn q(&self) {",
        "use std::{",
        'const S: &str = "unclosed',
        "/* unclosed",
    ),
}
EXPECTED_CALLS = {("c", "a"), ("K.m", "c"), ("d", "K.m")}
CONSTRUCTIONS = {("d", "K")}


@pytest.mark.parametrize(("language", "broken"), [(name, text) for name, texts in BROKEN.items() for text in texts])
def test_an_incomplete_statement_loses_no_other_definition_or_edge(language: str, broken: str) -> None:
    written = ALL[language]
    source = written.with_between(broken)
    assert {"a", "c", "K", "K.m", "d"} <= names_of(written, source)
    assert calls_of(written, source) - CONSTRUCTIONS == EXPECTED_CALLS


@pytest.mark.parametrize(
    ("language", "line", "broken"),
    [
        ("python", 4, "x = foo("),
        ("python", 5, "def b():\n    x = [1, 2"),
        ("go", 6, "func b() {"),
        ("typescript", 4, "const x = foo("),
        ("rust", 4, "fn b() {"),
    ],
)
def test_the_broken_line_is_reported(language: str, line: int, broken: str) -> None:
    problems = read(ALL[language], ALL[language].with_between(broken)).problems
    assert [(problem.line, problem.message) for problem in problems] == [(line, "syntax error")]


@pytest.mark.parametrize(
    ("language", "broken"),
    [
        ("python", "    def half(self, x="),
        ("python", "    def half(self):\n        return [1,"),
        ("python", "    @property\n    def half(self"),
        ("python", '    def half(self):\n        """unclosed'),
        ("typescript", "  half() {"),
        ("typescript", "  half() {\n    return foo("),
        ("typescript", "  half(x: string"),
        ("rust", "    fn half(&self) {"),
        ("rust", "    fn half(&self) {\n        foo("),
    ],
)
def test_a_broken_method_loses_no_other_method(language: str, broken: str) -> None:
    written = ALL[language]
    source = "\n".join((written.opening + written.first, written.members.replace("{}", broken, 1), *written.rest))
    assert {"a", "B", "B.n", "B.o", "c", "K", "K.m", "d"} <= names_of(written, source)
    assert {("B.n", "a"), ("B.o", "a")} | EXPECTED_CALLS <= calls_of(written, source)


def test_statements_around_a_broken_one_keep_their_edges() -> None:
    source = "def a(): ...\n\ndef b():\n    a()\n    x = [1,\n    c()\n\ndef c(): ...\n"
    assert calls_of(ALL["python"], source) == {("b", "a"), ("b", "c")}


def test_what_follows_a_broken_line_keeps_its_line_number() -> None:
    whole = {d.qualname: (d.line, d.end_line) for d in read(ALL["python"], ALL["python"].with_between("x")).definitions}
    for broken in ("x = foo(", '"""', "if x"):
        found = read(ALL["python"], ALL["python"].with_between(broken)).definitions
        assert {d.qualname: (d.line, d.end_line) for d in found} == whole


def test_code_inside_strings_does_not_trigger_recovery() -> None:
    source = b'TEXT = """\ndef inside():\n"""\n\ndef b(:\n    pass\n\n\ndef after():\n    pass\n'
    found = parse_with_recovery(Parser(GRAMMAR), source, "python")
    assert b'"""\ndef inside():\n"""' in found.text
    assert {"b", "after"} <= names_of(ALL["python"], source)
    assert "inside" not in names_of(ALL["python"], source)


@pytest.mark.parametrize("language", ALL)
def test_a_valid_text_has_no_problem(language: str) -> None:
    assert read(ALL[language], ALL[language].with_between("")).problems == ()


def test_a_valid_text_is_parsed_unchanged() -> None:
    source = ALL["python"].with_between("").encode()
    found = parse_with_recovery(Parser(GRAMMAR), source, "python")
    assert found.text is source
    assert found.lines == ()
