"""Entry points: `main`, functions passed to routers, and commands."""

import re
from collections.abc import Sequence

import msgspec
from tree_sitter import Node

from treering.code.facts import Definition, DefinitionKind, EntryPoint
from treering.code.languages.go.body import GoExpression, GoRoute
from treering.code.languages.go.declarations import DeclarationCollector
from treering.code.languages.go.syntax_conversion import SyntaxConverter, items
from treering.code.languages.syntax_nodes import text_of

_METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "CONNECT", "TRACE")
VERBS = {
    **{verb: verb for verb in _METHODS},
    **{verb.capitalize(): verb for verb in _METHODS},
    **dict.fromkeys(("Handle", "HandleFunc", "Any", "All", "HandlerFunc", "Handler"), ""),
}
"""Names of router methods that take a path and a function, with the HTTP method of each."""

_PATTERN = re.compile(r'["`]((?:[A-Z]+ )?[\w.\-{}]*/[^"`]*)["`]$')
_FUNCTION_NODES = frozenset(("identifier", "selector_expression", "func_literal"))
_COMMAND_NAMES = frozenset(("Use", "Name"))
_COMMAND_ACTIONS = frozenset(("Run", "RunE", "Action"))


class EntryPoints:
    """Collects entry points; a handler of another file is stored as a route for resolution."""

    def __init__(self, converter: SyntaxConverter, declarations: DeclarationCollector, in_tests: bool) -> None:
        self.routes: list[GoRoute] = []
        self._in_tests = in_tests
        self._converter = converter
        self._declarations = declarations
        self._handled: list[tuple[GoExpression, int, EntryPoint, str]] = []

    def route(self, verb: str, arguments: Sequence[Node], caller: int, line: int) -> None:
        """`router.GET("/x", h)`: a router method, a path, and a function as the last argument."""
        if self._in_tests or len(arguments) < 2 or arguments[-1].type not in _FUNCTION_NODES:
            return
        pattern = _PATTERN.match(text_of(arguments[0]))
        if pattern is not None:
            self._add_handler(arguments[-1], caller, line, EntryPoint.ROUTE, f"{VERBS[verb]} {pattern[1]}".strip())

    def command(self, node: Node, caller: int, line: int) -> None:
        """`cobra.Command{Use: "serve", Run: run}`."""
        if self._in_tests:
            return
        given: dict[str, Node] = {}
        for each in items(node.child_by_field_name("body")):
            if each.type == "keyed_element":
                value = items(each.child_by_field_name("value"))
                given[text_of(each.child_by_field_name("key"))] = value[0] if value else each
        name = next((text_of(given[key]) for key in given if key in _COMMAND_NAMES), "").strip('"`').split()
        action = next((given[key] for key in given if key in _COMMAND_ACTIONS), None)
        if name and action is not None and action.type in _FUNCTION_NODES:
            holder = caller if caller >= 0 else self._enclosing_variable(node)
            self._add_handler(action, holder, line, EntryPoint.COMMAND, name[0])

    def _enclosing_variable(self, node: Node) -> int:
        """A command with an anonymous action is represented by the variable that holds it."""
        around: Node | None = node
        while around is not None and around.type != "var_spec":
            around = around.parent
        name = text_of(around.child_by_field_name("name")) if around is not None else ""
        return self._declarations.define(name, DefinitionKind.CONSTANT, around) if name and around is not None else -1

    def _add_handler(self, node: Node, caller: int, line: int, kind: EntryPoint, name: str) -> None:
        handler = self._converter.value(node)
        self._handled.append((handler, caller, kind, name))
        self._converter.names.mark_needed()
        if handler.op != "func":
            self.routes.append(GoRoute(caller, handler, line, len(self._converter.names.bindings)))

    def marked_definitions(self, package: str) -> tuple[Definition, ...]:
        """Return the file's definitions with entry points marked."""
        found: dict[int, tuple[EntryPoint, str | None]] = {}
        for handler, caller, kind, name in self._handled:
            number = caller if handler.op == "func" else self._number_of(handler)
            if number >= 0:
                found.setdefault(number, (kind, name))
        main = self._declarations.number_of("main")
        if package == "main" and main >= 0:
            found[main] = (EntryPoint.MAIN, None)
        definitions = self._declarations.finished()
        for number, (kind, external_name) in found.items():
            definitions[number] = msgspec.structs.replace(definitions[number], entry=kind, entry_name=external_name)
        return tuple(definitions)

    def _number_of(self, handler: GoExpression) -> int:
        """Return the index of a function of this file, or of a method whose name is unique in this file."""
        if handler.op == "name":
            return self._declarations.number_of(handler.name)
        methods = [
            number
            for number, each in enumerate(self._declarations.definitions)
            if each.kind is DefinitionKind.METHOD and each.qualname.endswith(f".{handler.name}")
        ]
        return methods[0] if handler.op == "sel" and len(methods) == 1 else -1
