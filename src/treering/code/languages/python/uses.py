"""Names and attributes that a file reads without calling: possible constants and properties."""

import re
import sys
from bisect import bisect_right
from collections.abc import Sequence

from tree_sitter import Node

from treering.code.facts import Definition, DefinitionKind
from treering.code.languages.python.body import Expression, ExpressionKind, PythonUses
from treering.code.languages.python.conversions import ExpressionSite
from treering.code.languages.python.expressions import PythonExpressions
from treering.code.languages.python.scopes import PythonScope
from treering.code.languages.python.syntax_walk import DefinitionSyntax, ParsedFile
from treering.code.languages.syntax_nodes import first_of

_MODULES = frozenset({"module", "top"})
_IMPORTING = frozenset({"dotted_name", "aliased_import"})
_BEFORE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")
_NOT_A_READ = re.compile(rb"[\w.(]|\s*:?=(?!=)")
"""Text that follows a longer name, an attribute access, a call or an assignment."""
_MAX_TEXT = 200


def uses_of(
    source: bytes, found: ParsedFile, expressions: PythonExpressions, definitions: Sequence[Definition]
) -> tuple[PythonUses, ...]:
    reading = _ReadCollector(source, found, expressions)
    reading.names({one.qualname for one in definitions if one.kind is DefinitionKind.CONSTANT})
    reading.attributes()
    reading.contexts()
    return reading.all()


def _is_class_name(name: str) -> bool:
    """Whether a name is spelled like a class."""
    return name[:1].isupper() and not name.isupper()


def _is_standard_module(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


class _ReadCollector:
    """Each name and attribute once per definition that reads it."""

    def __init__(self, source: bytes, found: ParsedFile, expressions: PythonExpressions) -> None:
        self._source, self._found, self._expressions = source, found, expressions
        self._starts = [defined.start for defined in found.defined]
        self._uses: dict[str, dict[Expression, int]] = {}

    def all(self) -> tuple[PythonUses, ...]:
        return tuple([PythonUses(origin, tuple(read), tuple(read.values())) for origin, read in self._uses.items()])

    def names(self, constants: set[str]) -> None:
        """Collect the file's own constants, and names imported from modules that may belong to the project."""
        imported = {
            name
            for name, module in self._found.from_imports.items()
            if not _is_class_name(name) and not _is_standard_module(module)
        }
        for name in sorted(constants | imported):
            self._name(name, own=name in constants)

    def _name(self, name: str, own: bool) -> None:
        source, written = self._source, name.encode()
        met: set[str] = set()
        at = source.find(written)
        while at >= 0:
            end = at + len(written)
            if (not at or source[at - 1] not in _BEFORE) and not _NOT_A_READ.match(source, end):
                defined, scope = self._around(at)
                origin = "" if defined is None else defined.qualname
                parameter = defined is not None and at < defined.body and name in defined.inner.names
                if origin not in met and (origin or not own) and not parameter and self._is_read(at, end):
                    read = self._expressions.name(name, ExpressionSite(scope), at)
                    if read.kind in (ExpressionKind.NAME, ExpressionKind.FROM):
                        met.add(origin)
                        self._add(origin, read, at)
            at = source.find(written, end)

    def _is_read(self, start: int, end: int) -> bool:
        """Whether it is a name in code, outside import statements."""
        root = self._found.root
        node = None if root is None else root.descendant_for_byte_range(start, end)
        if node is None or node.type != "identifier":
            return False
        around = node.parent
        return around is None or around.type not in _IMPORTING

    def attributes(self) -> None:
        """Collect attributes that are neither called nor decorators: those are recorded as calls."""
        called: dict[int, int] = {}
        for call in self._found.called:
            start, end = call.node.start_byte, call.node.end_byte
            called[start] = max(end, called.get(start, 0))
        longest: dict[int, tuple[int, Node]] = {}
        for node in self._found.attributes:
            start, end = node.start_byte, node.end_byte
            if end > called.get(start, 0) and (start not in longest or end > longest[start][0]):
                longest[start] = (end, node)
        for decorated in self._found.defined:
            for decorator in decorated.decorators:
                longest.pop(decorator.start_byte + 1, None)
        standard = self._standard_modules()
        met: set[tuple[str, bytes]] = set()
        for start in sorted(longest):
            end, node = longest[start]
            written = self._source[start : min(end, start + _MAX_TEXT)]
            receiver, _, rest = written.partition(b".")
            name = rest.rpartition(b".")[2]
            if receiver in standard or name.startswith(b"__") or (name[:1].isupper() and not name.isupper()):
                continue
            defined, scope = self._around(start)
            origin = "" if defined is None else defined.qualname
            if (origin, written) in met:
                continue
            met.add((origin, written))
            if _is_field(scope, receiver, rest):
                continue
            read = self._expressions.of(node, ExpressionSite(scope))
            if read.kind is ExpressionKind.ATTRIBUTE and _root(read).kind is not ExpressionKind.UNKNOWN:
                self._add(origin, read, start)

    def contexts(self) -> None:
        """Collect the context expressions of `with`."""
        for node in sorted(self._found.contexts, key=lambda each: each.start_byte):
            value = first_of(node) if node.type == "as_pattern" else node
            if value is None:
                continue
            defined, scope = self._around(value.start_byte)
            read = self._expressions.of(value, ExpressionSite(scope))
            if _root(read).kind is not ExpressionKind.UNKNOWN:
                kind = ExpressionKind.ENTERED_ASYNC if _is_async(node) else ExpressionKind.ENTERED
                origin = "" if defined is None else defined.qualname
                self._add(origin, Expression(kind, "", (read,)), value.start_byte)

    def _add(self, origin: str, read: Expression, at: int) -> None:
        self._uses.setdefault(origin, {}).setdefault(read, self._found.lines.of(at))

    def _around(self, at: int) -> tuple[DefinitionSyntax | None, PythonScope]:
        place = bisect_right(self._starts, at) - 1
        defined = self._found.defined[place] if place >= 0 else None
        while defined is not None and at >= defined.end:
            defined = defined.around
        if defined is None:
            return None, self._found.module
        return defined, defined.inner if at >= defined.body else defined.outer

    def _standard_modules(self) -> set[bytes]:
        """Return the names under which the file imports modules of the standard library."""
        return {
            name.encode()
            for name, bindings in self._found.module.names.items()
            if all(one.role in _MODULES and _is_standard_module(one.detail) for one in bindings)
        }


def _is_field(scope: PythonScope, receiver: bytes, name: bytes) -> bool:
    """Whether the attribute is assigned by the receiver's class itself, so that it is not a property."""
    if scope.owner is None or receiver != scope.receiver.encode():
        return False
    attribute = name.decode("utf-8", "replace")
    bindings = scope.owner.names.get(attribute)
    return bindings[0].role != "definition" if bindings else attribute in scope.owner.attributes


def _root(expression: Expression) -> Expression:
    while expression.parts:
        expression = expression.parts[0]
    return expression


def _is_async(context: Node) -> bool:
    item = context.parent
    clause = item.parent if item is not None else None
    statement = clause.parent if clause is not None else None
    return statement is not None and statement.child_count > 0 and statement.children[0].type == "async"
