"""Extraction of a TypeScript or JavaScript file."""

import re
from collections.abc import Iterable

import msgspec

from treering.code.facts import MODULE, Definition, DefinitionKind, EntryPoint, Facts, SyntaxProblem
from treering.code.languages.syntax_nodes import problems_of
from treering.code.languages.typescript.annotations import TYPES
from treering.code.languages.typescript.entry_points import ROUTE_EXPORTS
from treering.code.languages.typescript.expressions import EXPRESSIONS, LEAVES
from treering.code.languages.typescript.modules import MODULES
from treering.code.languages.typescript.parser import parse
from treering.code.languages.typescript.reader import Tables, TermReader
from treering.code.languages.typescript.statements import STATEMENTS
from treering.code.languages.typescript.terms import TYPE
from treering.code.languages.typescript.uses import read_variables

TABLES = Tables(LEAVES, {**EXPRESSIONS, **STATEMENTS, **MODULES}, TYPES)
TEST_FILE = re.compile(r"(?:[._-](?:test|spec)\.[cm]?[jt]sx?$)|(?:^|/)__tests__/")
REFERENCE = re.compile(rb"^///\s*<reference\s+path\s*=\s*[\"']([^\"']+)[\"']", re.MULTILINE)


def read_source(path: str, source: bytes) -> Facts:
    tree, text, repaired_lines = parse(path, source)
    root = tree.root_node
    reader = TermReader(path, text, TABLES)
    for found in REFERENCE.finditer(text) if text[:4096].find(b"///") >= 0 else ():
        target = found.group(1).decode("utf-8", "replace")
        reader.imports.setdefault(target if target.startswith(".") else "./" + target, 1)
    for statement in root.named_children:
        reader.read(statement)
    _define_used_variables(reader)
    body = reader.body()
    problems = [*problems_of(root, reader.lines, repaired_lines)]
    problems += [SyntaxProblem(line, what) for line, what in reader.problems.items()]
    definitions = _complete_definitions(reader, body.exports, source.count(b"\n") + 1, source.startswith(b"#!"))
    return Facts(path, definitions, body, tuple(problems))


def _define_used_variables(reader: TermReader) -> None:
    """Define variables that hold an imported or computed value only if they are called, passed on or exported."""
    if not reader.variable_lines:
        return
    cells = list(reader.cells)
    used = [cells[call.term][3][0] for call in reader.calls] + list(reader.exports.values())
    used += [kids[1] for op, _, _, kids in cells if op == "field"]
    used += [reader.cell("name", name) for name in read_variables(reader, cells)]
    cells = list(reader.cells)
    for term in used:
        op, text, _, kids = cells[term]
        if op == "constructor":
            op, text, _, kids = cells[kids[0]]
        if op == "name" and text in reader.variable_lines and text not in reader.known:
            line, end = reader.variable_lines[text]
            reader.known[text] = len(reader.definitions)
            reader.definitions.append(Definition(text, DefinitionKind.CONSTANT, line, end, False))


def _complete_definitions(reader: TermReader, exports: Iterable[str], lines: int, runs: bool) -> tuple[Definition, ...]:
    """Complete the definitions with properties of the whole file: exports, tests and entry points."""
    cells = list(reader.cells)
    shown = {name.removeprefix(TYPE) for name in exports}
    for term in reader.exports.values():
        op, text, scope, _ = cells[term]
        if op in ("name", "declared") and scope == 0:
            shown.add(text)
    test_file = bool(TEST_FILE.search(reader.path)) or reader.runs_tests
    finished = []
    if test_file or runs:
        entry = EntryPoint.MAIN if runs else None
        finished.append(Definition(MODULE, DefinitionKind.MODULE, 1, lines, False, test_file, entry))
    for definition in reader.definitions:
        name = definition.qualname
        exported = name.split(".", 1)[0] in shown
        entry, title = reader.entries.get(name, (None, None))
        if entry is None and exported and name in ROUTE_EXPORTS and reader.path.rpartition("/")[2].startswith("route."):
            entry, title = EntryPoint.ROUTE, name
        plain = entry is None and exported == definition.exported
        finished.append(
            definition
            if plain
            else msgspec.structs.replace(definition, exported=exported, entry=entry, entry_name=title)
        )
    return tuple(finished)
