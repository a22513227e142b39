"""Names that a Go file uses without calling: possible constants, variables, functions and types of packages."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from tree_sitter import Node

from treering.code.facts import Definition
from treering.code.languages.go.body import GoUse, WrittenType
from treering.code.languages.go.error_sites import error_site
from treering.code.languages.go.names import GoNames, Qualifiers
from treering.code.languages.go.predeclared import BASIC, BUILTINS
from treering.code.languages.line_index import LineIndex
from treering.code.languages.syntax_nodes import text_of

_WRITTEN = re.compile(rb"(?<![\w.\"])(?:(\w+)\.)?([A-Z]\w*)(?![\w({])")
"""An exported name that is neither called nor the type of a literal, with its qualifier."""


def read_names(source: bytes, root: Node, qualifiers: Qualifiers) -> dict[str, list[Node]]:
    """Return exported names of the file's own package, and qualified names of others.

    They are searched in the text: querying every identifier of the tree is several times slower.
    """
    named: list[Node] = []
    qualified: list[Node] = []
    for written in _WRITTEN.finditer(source):
        qualifier = written[1]
        behind = qualifier is not None and qualifiers.likely_import(qualifier.decode()) is not None
        if not behind and qualifier is not None and not qualifier[:1].isupper():
            continue
        end = written.end() if behind or qualifier is None else written.end(1)
        node = root.descendant_for_byte_range(written.start(), end)
        if node is not None and node.type == ("selector_expression" if behind else "identifier"):
            (qualified if behind else named).append(node)
    return {"named": named, "qualified": qualified}


class UseCollector:
    """Collects read names, each once per function."""

    def __init__(self, names: GoNames, qualifiers: Qualifiers, lines: LineIndex) -> None:
        self.lines = lines
        self._names, self._qualifiers = names, qualifiers
        self._met: dict[int, tuple[int, str, WrittenType | None, int, str]] = {}

    def all(self, definitions: Sequence[Definition]) -> tuple[GoUse, ...]:
        """The uses, those outside functions as uses by the type or variable that is declared there."""
        first: dict[tuple[int, str, WrittenType | None, str], int] = {}
        declared = sorted((each.line, -each.end_line, number) for number, each in enumerate(definitions))
        for caller, name, imports, line, how in self._met.values():
            origin = caller if caller >= 0 else _around(declared, line)
            first.setdefault((origin, name, imports, how), line)
        return tuple(GoUse(each[0], each[1], each[2], line, each[3]) for each, line in first.items())

    def _meet(self, node: Node, caller: int, name: str, imports: WrittenType | None) -> None:
        self._met[node.id] = (caller, name, imports, self.lines.of(node.start_byte), error_site(node))

    def named(self, node: Node, caller: int) -> None:
        name = text_of(node)
        if name in _PREDECLARED or self._names.is_bound(name) or self._qualifiers.likely_import(name) is not None:
            return
        if not _is_not_read(node):
            self._meet(node, caller, name, None)

    def typed(self, node: Node, caller: int) -> None:
        around = node.parent
        if around is None or around.type == "qualified_type":
            return
        if around.type in _TYPE_DECLARATIONS and around.child_by_field_name("name") == node:
            return
        name = text_of(node)
        if name not in BASIC and (not self._names.is_bound(name) or _is_of_package(node, name)):
            self._meet(node, caller, name, None)

    def outside_type(self, node: Node, caller: int) -> None:
        imports = self._qualifiers.likely_import(text_of(node.child_by_field_name("package")))
        if imports is not None:
            name = text_of(node.child_by_field_name("name"))
            self._meet(node, caller, name, imports)

    def qualified(self, node: Node, caller: int) -> None:
        qualifier = text_of(node.child_by_field_name("operand"))
        imports = None if self._names.is_bound(qualifier) else self._qualifiers.likely_import(qualifier)
        if imports is not None:
            name = text_of(node.child_by_field_name("field"))
            self._meet(node, caller, name, imports)


def _around(declared: Sequence[tuple[int, int, int]], line: int) -> int:
    """The last declaration that begins before a line, if it ends after it; else -1, the file."""
    place = bisect_right(declared, (line, 1, 0)) - 1
    return declared[place][2] if place >= 0 and line <= -declared[place][1] else -1


def _is_of_package(node: Node, name: str) -> bool:
    """Whether a type is in the signature of a function outside others, where parameters do not hide it.

    A type parameter does.
    """
    around: Node | None = node
    while around is not None and around.type not in _BODIES:
        if around.type in _FUNCTIONS:
            parameters = [around.child_by_field_name(field) for field in ("type_parameters", "receiver")]
            return not any(name in _WORDS.findall(text_of(each)) for each in parameters)
        around = around.parent
    return False


_FUNCTIONS = frozenset({"function_declaration", "method_declaration"})
_BODIES = frozenset({"block", "source_file"})
_WORDS = re.compile(r"\w+")
_TYPE_DECLARATIONS = frozenset({"type_spec", "type_alias"})
_PREDECLARED = BASIC | BUILTINS | {"nil", "true", "false", "iota", "_", "error"}
_DECLARING = frozenset(
    {
        "const_spec",
        "function_declaration",
        "parameter_declaration",
        "type_parameter_declaration",
        "var_spec",
        "variadic_parameter_declaration",
    }
)
_BINDING = frozenset({"short_var_declaration", "range_clause", "receive_statement"})


def _is_not_read(node: Node) -> bool:
    """Whether the name is declared here, or is a field name in a composite literal."""
    around = node.parent
    if around is None:
        return False
    if around.type in _DECLARING:
        return node.id in {name.id for name in around.children_by_field_name("name")}
    pair = around.parent
    if pair is not None and pair.type in _BINDING:
        left = pair.child_by_field_name("left")
        return left is not None and left.id == around.id
    key = pair.named_child(0) if pair is not None and pair.type == "keyed_element" else None
    return key is not None and key.id == around.id
