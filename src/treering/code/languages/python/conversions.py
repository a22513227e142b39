"""Conversion of syntax nodes to expressions, by a table of node types."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import Node

from treering.code.languages.python.body import UNKNOWN, Expression, ExpressionKind
from treering.code.languages.python.scopes import Binding, PythonScope
from treering.code.languages.python.string_literals import string_content
from treering.code.languages.syntax_nodes import first_of, text_of

if TYPE_CHECKING:
    from treering.code.languages.python.expressions import PythonExpressions

MAX_DEPTH = 40
"""Expressions nested deeper have no evident type."""
MAX_ARGUMENTS = 2
"""Positional arguments kept per call: as many as `cast`, `partial` and the like need."""
MAX_ITEMS = 4
"""Items of a list literal that are inspected for the element type."""

MAX_NARROWED_LENGTH = 200
"""Maximum length of a dotted name that is checked for `isinstance` narrowing."""

_TYPE_VARIABLES = frozenset({"TypeVar", "typing.TypeVar", "t.TypeVar"})


class ExpressionSite(NamedTuple):
    """Where an expression is written, for looking up its names."""

    scope: PythonScope
    excluded: Binding | None = None
    """The binding whose own value this is; excluded from lookup."""
    at: int = -1
    """Offset used for the whole expression: a quoted annotation has no offsets of its own."""
    annotation: bool = False


_Convert = Callable[["PythonExpressions", Node, ExpressionSite, int], Expression]


def receiver_of(node: Node) -> Node | None:
    """Return the receiver of a chain: the object of an attribute, the callee, the subscripted or awaited value."""
    field = _RECEIVERS.get(node.type)
    return None if field is None else node.child_by_field_name(field) if field else first_of(node)


_NOT_POSITIONAL = frozenset({"keyword_argument", "list_splat", "dictionary_splat"})
_RECEIVERS = {
    "attribute": "object",
    "call": "function",
    "subscript": "value",
    "await": "",
    "parenthesized_expression": "",
}


def _identifier(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
    return expressions.name(text_of(node), place, node.start_byte if place.at < 0 else place.at)


def _attribute(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
    value = node.child_by_field_name("object")
    if value is None:
        return UNKNOWN
    if place.scope.dotted and place.at < 0 and node.end_byte - node.start_byte < MAX_NARROWED_LENGTH:
        narrowed = expressions.narrowed(text_of(node), place, node.start_byte)
        if narrowed is not None:
            return narrowed
    name = text_of(node.child_by_field_name("attribute"))
    return Expression(ExpressionKind.ATTRIBUTE, name, (expressions.of(value, place, depth),))


def _dotted(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
    first, *rest = node.named_children
    value = _identifier(expressions, first, place, depth)
    for part in rest:
        value = Expression(ExpressionKind.ATTRIBUTE, text_of(part), (value,))
    return value


def _call(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
    function = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    if function is None:
        return UNKNOWN
    plain = function.type == "identifier"
    name = text_of(function if plain else function.child_by_field_name("attribute"))
    if plain and name == "super" and place.scope.owner is not None:
        after = first_of(arguments) if arguments is not None else None
        named = () if after is None else (expressions.of(after, place, depth),)
        return Expression(ExpressionKind.SUPER, place.scope.owner.qualname, named)
    parts = [expressions.of(function, place, depth)]
    if arguments is None or arguments.type != "argument_list":
        return Expression(ExpressionKind.CALL, "" if arguments is None else _rest(arguments), tuple(parts))
    given = [each for each in arguments.named_children if each.type != "comment"]
    if name == "TypeVar" and text_of(function) in _TYPE_VARIABLES:
        given = [bound for bound in (_keyword(given, "bound"),) if bound is not None]
        place = place._replace(annotation=True)
    elif name == "cast":
        place = place._replace(annotation=True)
    for argument in given[:MAX_ARGUMENTS]:
        if argument.type in _NOT_POSITIONAL:
            break
        parts.append(expressions.of(argument, place, depth))
    rest = " ".join([_rest(argument) for argument in given[len(parts) - 1 :]])
    return Expression(ExpressionKind.CALL, rest, tuple(parts))


def _rest(argument: Node) -> str:
    """Return what an argument that is not evaluated tells about the call, as in `ExpressionKind.CALL`."""
    if argument.type == "keyword_argument":
        return text_of(argument.child_by_field_name("name"))
    return "*" if argument.type in _NOT_POSITIONAL else "?"


def _keyword(arguments: list[Node], name: str) -> Node | None:
    for argument in arguments:
        if argument.type == "keyword_argument" and text_of(argument.child_by_field_name("name")) == name:
            return argument.child_by_field_name("value")
    return None


def _subscript(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
    value, *indexes = node.named_children or [node]
    if value.id == node.id:
        return UNKNOWN
    if indexes and indexes[0].type == "type_parameter":
        indexes = indexes[0].named_children
    inside = expressions.of(value, place, depth)
    if len(indexes) == 1 and indexes[0].type == "slice":
        return inside
    literal = inside.name.rpartition(".")[2] == "Literal"
    number = text_of(indexes[0]) if len(indexes) == 1 and indexes[0].type == "integer" else ""
    parts = () if literal else tuple([expressions.of(index, place, depth) for index in indexes])
    return Expression(ExpressionKind.SUBSCRIPT, number, (inside, *parts))


def _inside(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
    inside = first_of(node)
    return UNKNOWN if inside is None else expressions.of(inside, place, depth)


def _wrapped(made: ExpressionKind) -> _Convert:
    def convert(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
        return Expression(made, "", (_inside(expressions, node, place, depth),))

    return convert


def _items(made: ExpressionKind, limit: int) -> _Convert:
    def convert(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
        items = [item for item in node.named_children if item.type != "comment"]
        return Expression(made, "", tuple([expressions.of(item, place, depth) for item in _sample(items, limit)]))

    return convert


def _sample(items: list[Node], limit: int) -> list[Node]:
    """Return all of a few items; of many, only those that show their type: a long table of functions shows none."""
    if len(items) <= limit or all(item.type == "call" for item in items[:limit]):
        return items[:limit]
    return []


def _dictionary(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
    values = [pair.child_by_field_name("value") for pair in node.named_children if pair.type == "pair"]
    written = _sample([value for value in values if value is not None], MAX_ITEMS)
    return Expression(ExpressionKind.DICT, "", tuple([expressions.of(value, place, depth) for value in written]))


def _comprehension(made: ExpressionKind) -> _Convert:
    def convert(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
        body = node.child_by_field_name("body")
        if body is not None and body.type == "pair":
            body = body.child_by_field_name("value")
        return UNKNOWN if body is None else Expression(made, "", (expressions.of(body, place, depth),))

    return convert


def _conditional(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
    parts = node.named_children
    return Expression(
        ExpressionKind.EITHER, "", tuple([expressions.of(part, place, depth) for part in (parts[0], parts[-1])])
    )


def _boolean(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
    sides = [side for side in (node.child_by_field_name("left"), node.child_by_field_name("right")) if side is not None]
    operator = node.child_by_field_name("operator")
    if operator is not None and operator.type == "and":
        sides = sides[1:]
    return Expression(ExpressionKind.EITHER, "", tuple([expressions.of(side, place, depth) for side in sides]))


def _binary(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
    """`A | B` is treated as a type, any other operator as a call of the left operand's special method."""
    operator, left = node.child_by_field_name("operator"), node.child_by_field_name("left")
    right = node.child_by_field_name("right")
    if operator is None or left is None or right is None:
        return UNKNOWN
    first = expressions.of(left, place, depth)
    if operator.type == "|":
        return Expression(ExpressionKind.EITHER, "", (first, expressions.of(right, place, depth)))
    method = Expression(ExpressionKind.ATTRIBUTE, _OPERATORS.get(operator.type, ""), (first,))
    return Expression(ExpressionKind.CALL, "", (method,))


_OPERATORS = {
    "+": "__add__",
    "-": "__sub__",
    "*": "__mul__",
    "/": "__truediv__",
    "//": "__floordiv__",
    "%": "__mod__",
    "@": "__matmul__",
    "**": "__pow__",
    "&": "__and__",
    "^": "__xor__",
    "<<": "__lshift__",
    ">>": "__rshift__",
}


def _string(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
    if place.annotation:
        content = string_content(node)
        if content is not None:
            return expressions.quoted(content, place, node.start_byte if place.at < 0 else place.at, depth)
    return _STRING


def _yield_result(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
    """The value of a `yield`: the send type in the generator's annotation."""
    annotation = place.scope.returns
    if annotation is None or place.scope.outer is None:
        return UNKNOWN
    written = expressions.annotation(annotation, place.scope.outer)
    return Expression(ExpressionKind.TYPED, "", (written.parts[2],)) if len(written.parts) > 2 else UNKNOWN


def _field(name: str) -> _Convert:
    def convert(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
        inside = node.child_by_field_name(name)
        return UNKNOWN if inside is None else expressions.of(inside, place, depth)

    return convert


def _lambda(expressions: "PythonExpressions", node: Node, place: ExpressionSite, depth: int) -> Expression:
    return Expression(ExpressionKind.LAMBDA, "", (_field("body")(expressions, node, place, depth),))


def _constant(name: str) -> _Convert:
    made = Expression(ExpressionKind.CONSTANT, name)
    return lambda expressions, node, place, depth: made


_STRING = Expression(ExpressionKind.CONSTANT, "str")
CONVERT: dict[str, _Convert] = {
    "identifier": _identifier,
    "attribute": _attribute,
    "dotted_name": _dotted,
    "member_type": _dotted,
    "call": _call,
    "subscript": _subscript,
    "generic_type": _subscript,
    "await": _wrapped(ExpressionKind.AWAIT),
    "yield": _yield_result,
    "type": _inside,
    "parenthesized_expression": _inside,
    "as_pattern": _inside,
    "list_splat": _wrapped(ExpressionKind.ELEMENT),
    "named_expression": _field("value"),
    "conditional_expression": _conditional,
    "boolean_operator": _boolean,
    "binary_operator": _binary,
    "union_type": _items(ExpressionKind.EITHER, MAX_ITEMS),
    "not_operator": _constant("bool"),
    "comparison_operator": _constant("bool"),
    "string": _string,
    "concatenated_string": _constant("str"),
    "integer": _constant("int"),
    "float": _constant("float"),
    "true": _constant("bool"),
    "false": _constant("bool"),
    "none": _constant("None"),
    "list": _items(ExpressionKind.LIST, MAX_ITEMS),
    "set": _items(ExpressionKind.LIST, MAX_ITEMS),
    "tuple": _items(ExpressionKind.TUPLE, 2 * MAX_ITEMS),
    "expression_list": _items(ExpressionKind.TUPLE, 2 * MAX_ITEMS),
    "dictionary": _dictionary,
    "list_comprehension": _comprehension(ExpressionKind.LIST),
    "set_comprehension": _comprehension(ExpressionKind.LIST),
    "generator_expression": _comprehension(ExpressionKind.LIST),
    "dictionary_comprehension": _comprehension(ExpressionKind.DICT),
    "lambda": _lambda,
}
