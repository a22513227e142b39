"""Extraction of a Rust file or a Cargo.toml."""

import posixpath
import re
from collections.abc import Callable

import tree_sitter_rust
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, QueryCursor

from treering.code.facts import MODULE, Definition, DefinitionKind, EntryPoint, Facts
from treering.code.languages.error_recovery import parse_with_recovery
from treering.code.languages.line_index import LineIndex
from treering.code.languages.queries import query_of
from treering.code.languages.rust.body import RustBody
from treering.code.languages.rust.cargo import read_manifest
from treering.code.languages.rust.items import ItemReader
from treering.code.languages.rust.syntax_conversion import path_text
from treering.code.languages.syntax_nodes import first_of, in_order, problems_of, text_of

MANIFEST = "Cargo.toml"

GRAMMAR = Grammar(tree_sitter_rust.language())
_QUERY = query_of(GRAMMAR, "rust")
_MARKS = ("test", "main", "command", "route")
_ROUTE = b".route("
_TESTS = re.compile(r"(^|/)tests/")


def extract(path: str, source: bytes) -> Facts:
    """Extract the facts of a file; never raises, for any bytes."""
    if posixpath.basename(path) == MANIFEST:
        manifest, problems = read_manifest(path, source)
        return Facts(path, (), RustBody(manifest=manifest), problems)
    parser = Parser(GRAMMAR)
    tree, source, repaired_lines = parse_with_recovery(parser, source, "rust")
    root = tree.root_node
    lines = LineIndex(source)
    items = ItemReader(parser, _attribute_classifier(), lines)
    items.read(root.named_children, None, 0)
    captured = QueryCursor(_QUERY).captures(root) if _ROUTE in source else {}
    routes = _routes(in_order(captured.get("handler", ())))
    definitions = tuple(_routed(definition, routes) for definition in items.definitions)
    if _TESTS.search(path) and any(_makes_test(child) for child in root.named_children):
        definitions = (Definition(MODULE, DefinitionKind.MODULE, 1, lines.of(root.end_byte), False, True), *definitions)
    return Facts(path, definitions, RustBody(items.in_order()), problems_of(root, lines, repaired_lines))


def _makes_test(item: Node) -> bool:
    """Whether it is a call of a macro outside functions whose name says that it makes tests: `cli_test!(…)`."""
    called = first_of(item) if item.type == "expression_statement" else item
    return called is not None and called.type == "macro_invocation" and "test" in text_of(called.named_children[0])


def _attribute_classifier() -> Callable[[Node], str]:
    """Return a function that classifies attributes by the query; results are cached by text."""
    known: dict[bytes, str] = {}

    def mark(attribute: Node) -> str:
        written = attribute.text or b""
        if written not in known:
            captured = QueryCursor(_QUERY).captures(attribute)
            known[written] = next((name for name in _MARKS if name in captured), "")
        return known[written]

    return mark


def _routes(handlers: list[Node]) -> dict[str, str]:
    """Map handler names in `.route("/users", get(list).post(create))` to the first path each is registered for."""
    found: dict[str, str] = {}
    for handler in handlers:
        path = text_of(handler.prev_named_sibling).strip('"')
        call: Node | None = handler
        while call is not None and call.type == "call_expression":
            arguments = call.child_by_field_name("arguments")
            for argument in arguments.named_children if arguments is not None else ():
                if argument.type == "identifier":
                    found.setdefault(path_text(argument), path)
            function = call.child_by_field_name("function")
            inner = function.child_by_field_name("value") if function is not None else None
            call = inner
    return found


def _routed(definition: Definition, routes: dict[str, str]) -> Definition:
    if definition.entry is not None or definition.qualname not in routes:
        return definition
    return Definition(
        definition.qualname,
        definition.kind,
        definition.line,
        definition.end_line,
        definition.exported,
        definition.test,
        EntryPoint.ROUTE,
        routes[definition.qualname],
    )
