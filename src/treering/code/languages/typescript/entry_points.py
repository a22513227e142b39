"""Entry points: tests, routes, commands."""

from tree_sitter import Node

from treering.code.facts import EntryPoint
from treering.code.languages.typescript.reader import TermReader

TEST_CALLS = frozenset(("describe", "it", "test", "suite", "bench"))
ROUTE_METHODS = frozenset(("get", "post", "put", "patch", "delete", "head", "options", "all"))
ROUTE_EXPORTS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"))


def record_registration(r: TermReader, callee: Node, verb: Node, arguments: Node) -> None:
    """Record a call that passes a function to a test runner, a router or a command line."""
    word = r.text(verb)
    if verb is callee:
        if word in TEST_CALLS:
            r.runs_tests = True
        return
    if word in ROUTE_METHODS:
        passed = arguments.named_children
        path = r.string(passed[0]) if len(passed) > 1 else None
        if path is not None and path.startswith("/"):
            _add_entry_points(r, passed[1:], EntryPoint.ROUTE, f"{word.upper()} {path}")
    elif word == "action":
        _add_entry_points(r, arguments.named_children[:1], EntryPoint.COMMAND, _command_name(r, callee))


def _add_entry_points(r: TermReader, handlers: list[Node], kind: EntryPoint, name: str) -> None:
    for handler in handlers:
        if handler.type == "identifier":
            r.entries.setdefault(r.position.prefix + r.text(handler), (kind, name))


def _command_name(r: TermReader, node: Node) -> str:
    """Return the name in the `.command('name')` at the start of a chain."""
    current: Node | None = node
    while current is not None:
        if current.type == "call_expression":
            callee, arguments = current.child_by_field_name("function"), current.child_by_field_name("arguments")
            verb = callee.child_by_field_name("property") if callee is not None else None
            if verb is not None and r.text(verb) == "command" and arguments is not None and arguments.named_children:
                return (r.string(arguments.named_children[0]) or "").split(" ")[0]
            current = callee
        else:
            current = current.child_by_field_name("object")
    return ""
