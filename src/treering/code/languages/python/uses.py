"""Names and attributes that a file uses without calling them: definitions, constants, properties."""

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from treering.code.facts import Definition
from treering.code.languages.python.body import Expression, ExpressionKind, PythonUses, UseKind
from treering.code.languages.python.conversions import ExpressionSite
from treering.code.languages.python.expressions import PythonExpressions
from treering.code.languages.python.name_sites import ConstantSites, NameSite, name_site
from treering.code.languages.python.scopes import PythonScope, ScopeKind
from treering.code.languages.python.surface import CONSTANTS
from treering.code.languages.python.syntax_walk import DefinitionSyntax, ParsedFile
from treering.code.languages.syntax_nodes import first_of

_MODULES = frozenset({"module", "top"})
_CONSTRUCTOR = ".__init__"

_BEFORE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")
_LONGER = re.compile(rb"[\w.(]")
"""Text that follows a longer name, an attribute access or a call."""
_WORD = re.compile(rb"(?<![\w.])[A-Za-z_]\w*")
_ASSIGNED = re.compile(rb"\s*:?=(?!=)")
_MAX_TEXT = 200
_MAX_LEVELS = 12
_STATEMENTS = frozenset({"block", "module", "expression_statement"})
_OWN_SCOPES = frozenset(
    {"lambda", "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
)
_NAMES = frozenset({ExpressionKind.NAME, ExpressionKind.FROM, ExpressionKind.DEFINITION})


def uses_of(
    source: bytes, found: ParsedFile, expressions: PythonExpressions, definitions: Sequence[Definition]
) -> tuple[PythonUses, ...]:
    constants = {one.qualname for one in definitions if one.kind in CONSTANTS}
    reading = _ReadCollector(source, found, expressions, constants)
    reading.names()
    reading.attributes()
    reading.contexts()
    reading.exceptions()
    reading.decorators()
    return reading.all()


def _is_standard_module(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


class _ReadCollector:
    """Each name and attribute once per definition and kind of use."""

    def __init__(self, source: bytes, found: ParsedFile, expressions: PythonExpressions, constants: set[str]) -> None:
        self._source, self._found, self._expressions = source, found, expressions
        self._constants = constants
        self._starts = [defined.start for defined in found.defined]
        self._sites = ConstantSites(found.module, constants)
        self._uses: dict[str, dict[tuple[Expression, UseKind], int]] = {}

    def all(self) -> tuple[PythonUses, ...]:
        return tuple(
            [
                PythonUses(
                    origin,
                    tuple([expression for expression, _ in read]),
                    tuple(read.values()),
                    tuple([kind for _, kind in read]),
                )
                for origin, read in self._uses.items()
            ]
        )

    def names(self) -> None:
        """Collect the file's own definitions and constants, and names from modules that may belong to the project."""
        imported = {name for name, module in self._found.from_imports.items() if not _is_standard_module(module)}
        own = {
            defined.qualname.rpartition(".")[2]
            for defined in self._found.defined
            if defined.outer.kind is not ScopeKind.CLASS
        }
        for name in sorted(self._constants | imported | own):
            self._name(name, constant=name in self._constants)
        self._methods()

    def _methods(self) -> None:
        """Collect the methods that the values in the body of their class name: `get = fetch`, `STEPS = [load, run]`."""
        for defined in self._found.defined:
            bound = defined.inner.names if defined.is_class else {}
            methods = {name for name, bindings in bound.items() if any(one.role == "definition" for one in bindings)}
            values = {
                one.node.start_byte: one.node.end_byte
                for bindings in bound.values()
                for one in bindings
                if one.role == "value" and one.node is not None
            }
            met: dict[str, set[tuple[str, UseKind]]] = {name: set() for name in methods}
            for start, end in values.items() if methods else ():
                for word in _WORD.finditer(self._source, start, end):
                    name = word.group().decode()
                    if name in methods:
                        assigned = _ASSIGNED.match(self._source, word.end()) is not None
                        self._name_at(name, word.span(), met[name], assigned=assigned, constant=False)

    def _has_own_scope(self, at: int) -> bool:
        """Whether a name of a class body is in a lambda or comprehension, which do not see the names of the class."""
        root = self._found.root
        node = None if root is None else root.descendant_for_byte_range(at, at + 1)
        for _ in range(_MAX_LEVELS):
            if node is None or node.type in _STATEMENTS:
                break
            if node.type in _OWN_SCOPES:
                return True
            node = node.parent
        return False

    def _name(self, name: str, constant: bool) -> None:
        source, written = self._source, name.encode()
        met: set[tuple[str, UseKind]] = set()
        at = source.find(written)
        while at >= 0:
            end = at + len(written)
            if (not at or source[at - 1] not in _BEFORE) and not _LONGER.match(source, end):
                assigned = _ASSIGNED.match(source, end) is not None
                self._name_at(name, (at, end), met, assigned=assigned, constant=constant)
            at = source.find(written, end)

    def _name_at(
        self, name: str, span: tuple[int, int], met: set[tuple[str, UseKind]], *, assigned: bool, constant: bool
    ) -> None:
        at, end = span
        defined, scope = self._around(at)
        if defined is not None and at < defined.body and name in defined.inner.names:
            return
        origin = self._sites.at(at) if defined is None else defined.qualname
        root = self._found.root
        node = None if root is None else root.descendant_for_byte_range(at, end)
        site = None if node is None else name_site(node, self._constants if defined is None else ())
        if site is None or (assigned and site.kind is not UseKind.ANNOTATION):
            return
        origin, kind = _placed(origin, site, defined)
        if (origin, kind) in met or (constant and (not origin or origin == name)):
            return
        if scope.kind is ScopeKind.CLASS and scope.outer is not None and self._has_own_scope(at):
            scope = scope.outer
        read = self._expressions.name(name, ExpressionSite(scope), at)
        named = [read] if read.kind in _NAMES else _local_definitions(name, scope)
        for each in named:
            met.add((origin, kind))
            self._add(origin, each, at, kind)

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
        met: set[tuple[PythonScope, str, bytes]] = set()
        for start in sorted(longest):
            end, node = longest[start]
            written = self._source[start : min(end, start + _MAX_TEXT)]
            receiver, _, rest = written.partition(b".")
            if receiver in standard or rest.rpartition(b".")[2].startswith(b"__"):
                continue
            defined, scope = self._around(start)
            origin = self._sites.at(start) if defined is None else defined.qualname
            if (scope, origin, written) in met:
                continue
            if _is_field(scope, receiver, rest):
                met.add((scope, origin, written))
                continue
            read = self._expressions.of(node, ExpressionSite(scope))
            if read.kind is ExpressionKind.LOCAL:
                continue  # narrowed by `isinstance`: the attribute itself is read elsewhere
            met.add((scope, origin, written))
            if read.kind is ExpressionKind.ATTRIBUTE and _root(read).kind is not ExpressionKind.UNKNOWN:
                site = name_site(node, self._constants if defined is None else ())
                if site is not None:
                    origin, kind = _placed(origin, site, defined)
                    self._add(origin, read, start, kind)

    def contexts(self) -> None:
        """Collect the context expressions of `with`."""
        for node in self._found.contexts:
            value = first_of(node) if node.type == "as_pattern" else node
            if value is None:
                continue
            defined, scope = self._around(value.start_byte)
            read = self._expressions.of(value, ExpressionSite(scope))
            if _root(read).kind is not ExpressionKind.UNKNOWN:
                kind = ExpressionKind.ENTERED_ASYNC if _is_async(node) else ExpressionKind.ENTERED
                origin = "" if defined is None else defined.qualname
                self._add(origin, Expression(kind, "", (read,)), value.start_byte)

    def exceptions(self) -> None:
        """Collect the classes that are raised, by name or by call, and those that are caught."""
        for kind, statements, classes in (
            (UseKind.RAISED, self._found.raised, _raised),
            (UseKind.CAUGHT, self._found.caught, _caught),
        ):
            for statement in statements:
                defined, scope = self._around(statement.start_byte)
                for node in classes(statement):
                    read = self._expressions.of(node, ExpressionSite(scope))
                    if _root(read).kind is not ExpressionKind.UNKNOWN:
                        self._add("" if defined is None else defined.qualname, read, node.start_byte, kind)

    def decorators(self) -> None:
        """Collect what decorates each definition: it may register it."""
        for defined in self._found.defined:
            for decorator in defined.decorators:
                node = first_of(decorator)
                if node is not None and node.type == "call":
                    node = node.child_by_field_name("function")
                if node is not None:
                    read = self._expressions.of(node, ExpressionSite(defined.outer))
                    if _root(read).kind is not ExpressionKind.UNKNOWN:
                        self._add(defined.qualname, read, decorator.start_byte, UseKind.DECORATOR)

    def _add(self, origin: str, read: Expression, at: int, kind: UseKind = UseKind.READ) -> None:
        self._uses.setdefault(origin, {}).setdefault((read, kind), self._found.lines.of(at))

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
    """Whether the receiver's class binds the attribute or its constructor assigns it, so that it is not a property.

    What other methods assign may be a property with a setter that the class inherits.
    """
    if scope.owner is None or receiver != scope.receiver.encode():
        return False
    attribute = name.decode("utf-8", "replace")
    bindings = scope.owner.names.get(attribute)
    if bindings:
        return bindings[0].role != "definition"
    return any(one.scope.qualname.endswith(_CONSTRUCTOR) for one in scope.owner.attributes.get(attribute, ()))


def _local_definitions(name: str, scope: PythonScope) -> list[Expression]:
    """The functions and classes inside functions that a name may be, if other values may be bound to it, too."""
    around: PythonScope | None = scope
    while around is not None and name not in around.names:
        around = around.outer
    bindings = around.names[name] if around is not None and around.kind is ScopeKind.FUNCTION else []
    details = dict.fromkeys(one.detail for one in bindings if one.role == "definition")
    return [Expression(ExpressionKind.DEFINITION, detail) for detail in details]


def _root(expression: Expression) -> Expression:
    while expression.parts:
        expression = expression.parts[0]
    return expression


def _is_async(context: Node) -> bool:
    item = context.parent
    clause = item.parent if item is not None else None
    statement = clause.parent if clause is not None else None
    return statement is not None and statement.child_count > 0 and statement.children[0].type == "async"


def _placed(origin: str, site: NameSite, defined: DefinitionSyntax | None) -> tuple[str, UseKind]:
    """Return the origin and kind of a use: a table registers its items if it belongs to a module or class."""
    if site.kind is UseKind.REGISTERED and defined is not None and not defined.is_class:
        return origin, UseKind.READ
    return site.registry or origin, site.kind


def _raised(statement: Node) -> Iterator[Node]:
    raised = first_of(statement)
    if raised is not None and raised.type == "call":
        raised = raised.child_by_field_name("function")
    if raised is not None:
        yield raised


def _caught(clause: Node) -> Iterator[Node]:
    value = clause.child_by_field_name("value")
    if value is not None and value.type == "as_pattern":
        value = first_of(value)
    while value is not None and value.type == "parenthesized_expression":
        value = first_of(value)
    if value is not None:
        yield from value.named_children if value.type == "tuple" else (value,)
