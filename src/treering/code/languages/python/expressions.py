"""The expressions of a file: each name refers to the bindings that reach it, each binding is converted once."""

from collections.abc import Callable

from tree_sitter import Node, Parser

from treering.code.languages.python.body import UNKNOWN, Expression, ExpressionKind
from treering.code.languages.python.conversions import CONVERT, MAX_DEPTH, ExpressionSite, receiver_of
from treering.code.languages.python.scopes import Binding, PythonScope, ScopeKind, reaching, visible_inside
from treering.code.languages.syntax_nodes import first_of

_INLINE = frozenset({"definition", "module", "top", "from", "self", "cls"})
_LINK_DEPTH = 12
"""Depth in an expression from which the receiver of a long chain becomes a binding of its own."""
_MAX_LINKED_CHAINS = 3
"""Maximum nesting of long chains in arguments of long chains."""


class PythonExpressions:
    """The expressions of one file. Only bindings that are referred to are converted."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._values: list[Expression] = []
        self._waiting: list[Binding] = []
        self._links: dict[tuple[int, Binding | None], Expression] = {}
        self._linking = 0

    def bindings(self) -> tuple[Expression, ...]:
        """Return the values of all bindings that were referred to."""
        while self._waiting:
            binding = self._waiting.pop()
            self._values[binding.index] = self.value(binding)
        return tuple(self._values)

    def value(self, binding: Binding, declared: bool = False) -> Expression:
        """Return the value of a binding; with `declared`, as other files see it: an annotation takes precedence."""
        annotated = None
        if binding.annotation is not None:
            annotated = Expression(ExpressionKind.TYPED, "", (self.annotation(binding.annotation, binding.scope),))
            if declared or binding.role == "declared":
                return _unpacked(annotated, binding.path)
            if binding.role == "filled":
                return Expression(ExpressionKind.FIRST_KNOWN, "", (annotated, _VALUES["fixture"](self, binding)))
        value = _VALUES[binding.role](self, binding)
        if annotated is not None:
            value = Expression(ExpressionKind.FIRST_KNOWN, "", (value, annotated))
        return _unpacked(value, binding.path)

    def annotation(self, node: Node, scope: PythonScope) -> Expression:
        return self.of(node, ExpressionSite(scope, None, -1, True))

    def of(self, node: Node, place: ExpressionSite, depth: int = 0) -> Expression:
        convert = CONVERT.get(node.type)
        if convert is None or depth > MAX_DEPTH:
            return UNKNOWN
        if depth > _LINK_DEPTH and node.type == "call" and not place.annotation and self._linking < _MAX_LINKED_CHAINS:
            return self._link(node, place)
        return convert(self, node, place, depth + 1)

    def _link(self, call: Node, place: ExpressionSite) -> Expression:
        """Return a call deep in a chain by reference, so that each stored part of a long chain is small."""
        waiting: list[Node] = []
        at: Node | None = call
        depth = _LINK_DEPTH + 1
        while at is not None:
            if depth > _LINK_DEPTH and at.type == "call":
                if (at.id, place.excluded) in self._links:
                    break
                waiting.append(at)
                depth = 0
            at = receiver_of(at)
            depth += 1
        self._linking += 1
        for part in reversed(waiting):
            index = len(self._values)
            self._values.append(UNKNOWN)
            self._values[index] = CONVERT["call"](self, part, place, 1)
            self._links[part.id, place.excluded] = Expression(ExpressionKind.LOCAL, "", (), (index,))
        self._linking -= 1
        return self._links[call.id, place.excluded]

    def _refer(self, bindings: list[Binding]) -> Expression:
        only = bindings[0] if len(bindings) == 1 else None
        if only is not None and only.role in _INLINE:
            if only.written is None:
                only.written = self.value(only)
            return only.written
        for binding in bindings:
            if binding.index < 0:
                binding.index = len(self._values)
                self._values.append(UNKNOWN)
                self._waiting.append(binding)
        return Expression(ExpressionKind.LOCAL, "", (), tuple([binding.index for binding in bindings]))

    def name(self, name: str, place: ExpressionSite, at: int) -> Expression:
        """Return the name as resolved by the enclosing scopes."""
        scope: PythonScope | None = place.scope
        own = True
        while scope is not None:
            if name in scope.declared_scopes:
                scope, own = scope.declared_scopes[name], False
            bindings = scope.of(name) if own or scope.kind is not ScopeKind.CLASS else None
            if bindings:
                if scope.kind is ScopeKind.MODULE:
                    return self._module_name(name, bindings, place, at, own)
                found = reaching(bindings, at, place.excluded) if own else visible_inside(bindings, at, place.excluded)
                if found:
                    return self._refer(found)
                if scope.kind is ScopeKind.FUNCTION and not all(binding.until for binding in bindings):
                    return UNKNOWN
            own = False
            scope = scope.outer
        return Expression(ExpressionKind.NAME, name)

    def narrowed(self, dotted: str, place: ExpressionSite, at: int) -> Expression | None:
        """Return an attribute narrowed by an `isinstance`, if any."""
        bindings = place.scope.of(dotted)
        found = reaching(bindings, at, place.excluded) if bindings else []
        return self._refer(found) if found else None

    def _module_name(self, name: str, bindings: list[Binding], place: ExpressionSite, at: int, own: bool) -> Expression:
        if own and (len(bindings) > 1 or bindings[0].until):
            found = reaching(bindings, at, place.excluded)
            if found and len(found) < len(bindings):
                return self._refer(found)
        return Expression(ExpressionKind.NAME, name)

    def quoted(self, text: str, place: ExpressionSite, at: int, depth: int) -> Expression:
        """Parse an annotation written as a string."""
        root = self._parser.parse(text.strip().encode()).root_node
        statement = first_of(root)
        if root.has_error or statement is None or statement.named_child_count != 1:
            return UNKNOWN
        inside = first_of(statement)
        return UNKNOWN if inside is None else self.of(inside, place._replace(at=at), depth)


def _unpacked(value: Expression, path: tuple[int, ...]) -> Expression:
    for item in path:
        value = Expression(ExpressionKind.UNPACKED, str(item), (value,))
    return value


def _written(made: ExpressionKind) -> Callable[[PythonExpressions, Binding], Expression]:
    def value(expressions: PythonExpressions, binding: Binding) -> Expression:
        return Expression(made, binding.detail, (_plain(expressions, binding),))

    return value


def _plain(expressions: PythonExpressions, binding: Binding) -> Expression:
    if binding.node is None:
        return UNKNOWN
    return expressions.of(binding.node, ExpressionSite(binding.scope, binding))


def _alias(expressions: PythonExpressions, binding: Binding) -> Expression:
    return UNKNOWN if binding.node is None else expressions.annotation(binding.node, binding.scope)


def _excluded(expressions: PythonExpressions, binding: Binding) -> Expression:
    if binding.classes is None:
        return UNKNOWN
    classes = expressions.of(binding.classes, ExpressionSite(binding.scope))
    return Expression(ExpressionKind.EXCLUDED, "", (_plain(expressions, binding), classes))


def _named(made: ExpressionKind) -> Callable[[PythonExpressions, Binding], Expression]:
    return lambda expressions, binding: Expression(made, binding.detail)


def _from(expressions: PythonExpressions, binding: Binding) -> Expression:
    module, _, name = binding.detail.rpartition(" ")
    return Expression(ExpressionKind.FROM, name, (Expression(ExpressionKind.MODULE, module),))


def _parameter(made: ExpressionKind) -> Callable[[PythonExpressions, Binding], Expression]:
    """A parameter without annotation: defined by the language or by pytest, else by its default."""

    def value(expressions: PythonExpressions, binding: Binding) -> Expression:
        method, _, name = binding.detail.rpartition(" ")
        parameter = Expression(made, name, (Expression(ExpressionKind.DEFINITION, method),))
        if binding.node is None:
            return parameter
        return Expression(ExpressionKind.EITHER, "", (parameter, _plain(expressions, binding)))

    return value


_VALUES: dict[str, Callable[[PythonExpressions, Binding], Expression]] = {
    "value": _plain,
    "alias": _alias,
    "declared": _plain,
    "element": _written(ExpressionKind.ELEMENT),
    "entered": _written(ExpressionKind.ENTERED),
    "entered_async": _written(ExpressionKind.ENTERED_ASYNC),
    "instance": _written(ExpressionKind.TYPED),
    "excluded": _excluded,
    "many": _written(ExpressionKind.LIST),
    "keywords": _written(ExpressionKind.DICT),
    "definition": _named(ExpressionKind.DEFINITION),
    "module": _named(ExpressionKind.MODULE),
    "top": _named(ExpressionKind.TOP_MODULE),
    "from": _from,
    "self": _named(ExpressionKind.SELF),
    "cls": _named(ExpressionKind.CLS),
    "parameter": _parameter(ExpressionKind.INHERITED_PARAMETER),
    "fixture": _parameter(ExpressionKind.FIXTURE),
}
