"""Conversion of syntax nodes to types and expressions, with local names already looked up."""

from collections.abc import Callable, Iterator
from typing import Final

from tree_sitter import Node

from treering.code.languages.go.body import UNKNOWN, GoExpression, WrittenType
from treering.code.languages.go.names import GoNames, Qualifiers
from treering.code.languages.syntax_nodes import text_of

MAX_DEPTH: Final = 40
"""Maximum nesting of a type or expression whose type is inferred."""

_ARGUMENT_DEPTH: Final = 8
"""Depth added per level of arguments: they only matter for generic calls, a few levels down."""

NOTHING = WrittenType("tuple")


def fields(node: Node, name: str) -> list[Node]:
    return node.children_by_field_name(name)


def items(node: Node | None) -> list[Node]:
    """Return the members of a list without comments."""
    if node is None or not node.named_child_count:
        return []
    return [each for each in node.named_children if each.type != "comment"]


def identifiers(node: Node) -> Iterator[Node]:
    """Yield the names in an expression in source order, without those of members and fields."""
    pending = [node]
    while pending:
        each = pending.pop()
        if each.type == "identifier":
            yield each
        pending += reversed(each.named_children)


class SyntaxConverter:
    """Converts types and expressions of one file; `names` must be in the state of that position."""

    def __init__(self, names: GoNames, qualifiers: Qualifiers) -> None:
        self.names = names
        self.qualifiers = qualifiers
        self.call_numbers: dict[int, int] = {}

    def type(self, node: Node | None, depth: int = 0) -> WrittenType:
        if node is None or depth > MAX_DEPTH:
            return WrittenType("unknown")
        read = _TYPES.get(node.type)
        return read(self, node, depth + 1) if read else WrittenType("unknown")

    def value(self, node: Node | None, depth: int = 0, inline: bool = False) -> GoExpression:
        """`inline` converts calls in place; otherwise they are referred to by the number they were recorded under."""
        if node is None or depth > MAX_DEPTH:
            return UNKNOWN
        read = _VALUES.get(node.type)
        return read(self, node, depth + 1, inline) if read else UNKNOWN

    def named_type(self, name: str, arguments: tuple[WrittenType, ...] = ()) -> WrittenType:
        found = self.names.find(name)
        if found < 0:
            if dots := self.qualifiers.dots:
                return WrittenType("dotted", name, (WrittenType("imports", ".", dots), *arguments))
            return WrittenType("name", name, arguments)
        bound = self.names.bindings[found]
        if bound.op == "param" and bound.type is not None:
            return bound.type
        return WrittenType("local", str(found), arguments)

    def identifier(self, name: str) -> GoExpression:
        found = self.names.find(name)
        if found >= 0:
            return GoExpression("local", name, found)
        dots = self.qualifiers.dots
        return (
            GoExpression("name", name, type=WrittenType("imports", ".", dots)) if dots else GoExpression("name", name)
        )

    def operand(self, name: str) -> GoExpression:
        """Convert the operand of a selector: a local, an import, or a name of the package."""
        if self.names.find(name) < 0 and (imported := self.qualifiers.likely_import(name)):
            return GoExpression("import", name, type=imported)
        return self.identifier(name)

    def signature(self, node: Node, depth: int = 0) -> WrittenType:
        results = node.child_by_field_name("result")
        if results is None:
            given = NOTHING
        elif results.type == "parameter_list":
            given = self._parameter_types(results, depth)
        else:
            given = WrittenType("tuple", "", (self.type(results, depth),))
        return WrittenType("func", "", (self._parameter_types(node.child_by_field_name("parameters"), depth), given))

    def _parameter_types(self, node: Node | None, depth: int) -> WrittenType:
        found: list[WrittenType] = []
        for each in items(node):
            written = self.type(each.child_by_field_name("type"), depth)
            if each.type == "variadic_parameter_declaration":
                written = WrittenType("rest", "", (written,))
            found += [written] * max(1, len(fields(each, "name")))
        return WrittenType("tuple", "", tuple(found))

    def function_of_call(self, node: Node, named: Node | None, depth: int = 0, inline: bool = False) -> GoExpression:
        """Return the callee; `f[T](x)` parses as a conversion to a type, without a function node."""
        if named is None:
            return self._generic_value(node.child_by_field_name("type"), depth)
        function = self.value(named, depth, inline)
        given = node.child_by_field_name("type_arguments")
        return (
            GoExpression("inst", "", -1, (function,), self._arguments(given, depth)) if given is not None else function
        )

    def _generic_value(self, node: Node | None, depth: int) -> GoExpression:
        if node is None or node.type != "generic_type":
            return GoExpression("type", type=self.type(node, depth))
        base = node.child_by_field_name("type")
        if base is not None and base.type == "qualified_type":
            package = text_of(base.child_by_field_name("package"))
            found = GoExpression("sel", text_of(base.child_by_field_name("name")), -1, (self.operand(package),))
        else:
            found = self.identifier(text_of(base))
        return GoExpression(
            "inst", "", -1, (found,), self._arguments(node.child_by_field_name("type_arguments"), depth)
        )

    def arguments_of_call(self, node: Node, depth: int, inline: bool) -> tuple[GoExpression, ...]:
        given = node.child_by_field_name("arguments")
        return tuple(self.value(each, depth, inline) for each in items(given)) if given is not None else ()

    def _arguments(self, node: Node | None, depth: int) -> WrittenType:
        return WrittenType("tuple", "", tuple(self.type(each, depth) for each in items(node)))


def _identifier_type(s: SyntaxConverter, node: Node, depth: int) -> WrittenType:
    return s.named_type(text_of(node))


def _qualified_type(s: SyntaxConverter, node: Node, depth: int) -> WrittenType:
    package = text_of(node.child_by_field_name("package"))
    return WrittenType("qual", text_of(node.child_by_field_name("name")), (s.qualifiers.possible_imports(package),))


def _generic_type(s: SyntaxConverter, node: Node, depth: int) -> WrittenType:
    base = s.type(node.child_by_field_name("type"), depth)
    given = s._arguments(node.child_by_field_name("type_arguments"), depth).parts
    return WrittenType(base.op, base.name, (*base.parts, *given))


def _around(op: str, *names: str) -> Callable[[SyntaxConverter, Node, int], WrittenType]:
    def read(s: SyntaxConverter, node: Node, depth: int) -> WrittenType:
        return WrittenType(op, "", tuple(s.type(node.child_by_field_name(name), depth) for name in names))

    return read


def _first_type(op: str) -> Callable[[SyntaxConverter, Node, int], WrittenType]:
    def read(s: SyntaxConverter, node: Node, depth: int) -> WrittenType:
        inner = items(node)
        written = s.type(inner[0] if inner else None, depth)
        return WrittenType(op, "", (written,)) if op else written

    return read


def _constraint(s: SyntaxConverter, node: Node, depth: int) -> WrittenType:
    inner = items(node)
    return s.type(inner[0], depth) if len(inner) == 1 else WrittenType("union")


def _struct(s: SyntaxConverter, node: Node, depth: int) -> WrittenType:
    members: list[WrittenType] = []
    for each in (field for inner in items(node) for field in items(inner) if field.type == "field_declaration"):
        written = s.type(each.child_by_field_name("type"), depth)
        field_names = fields(each, "name")
        if field_names:
            members += [WrittenType("field", text_of(name), (written,)) for name in field_names]
            continue
        name = text_of(each.child_by_field_name("type")).partition("[")[0].rpartition(".")[2]
        first = each.child(0)
        embedded = WrittenType("ptr", "", (written,)) if first is not None and first.type == "*" else written
        members.append(WrittenType("embed", name.strip(), (embedded,)))
    return WrittenType("struct", "", tuple(members))


def _interface(s: SyntaxConverter, node: Node, depth: int) -> WrittenType:
    members: list[WrittenType] = []
    for each in items(node):
        if each.type == "method_elem":
            members.append(
                WrittenType("method", text_of(each.child_by_field_name("name")), (s.signature(each, depth),))
            )
        elif each.type == "type_elem":
            inner = items(each)
            if len(inner) == 1:
                members.append(WrittenType("embed", "", (s.type(inner[0], depth),)))
    return WrittenType("interface", "", tuple(members))


def _function_type(s: SyntaxConverter, node: Node, depth: int) -> WrittenType:
    return s.signature(node, depth)


_TYPES: dict[str, Callable[[SyntaxConverter, Node, int], WrittenType]] = {
    "type_identifier": _identifier_type,
    "identifier": _identifier_type,
    "qualified_type": _qualified_type,
    "generic_type": _generic_type,
    "pointer_type": _first_type("ptr"),
    "parenthesized_type": _first_type(""),
    "negated_type": _first_type("tilde"),
    "slice_type": _around("seq", "element"),
    "array_type": _around("seq", "element"),
    "implicit_length_array_type": _around("seq", "element"),
    "map_type": _around("map", "key", "value"),
    "channel_type": _around("chan", "value"),
    "function_type": _function_type,
    "struct_type": _struct,
    "interface_type": _interface,
    "type_constraint": _constraint,
    "type_elem": _constraint,
}


def _typed(s: SyntaxConverter, node: Node, depth: int, inline: bool) -> GoExpression:
    return GoExpression("typed", type=s.type(node.child_by_field_name("type"), depth))


def _basic(name: str) -> Callable[[SyntaxConverter, Node, int, bool], GoExpression]:
    value = GoExpression("basic", name)
    return lambda s, node, depth, inline: value


def _type_value(s: SyntaxConverter, node: Node, depth: int, inline: bool) -> GoExpression:
    return GoExpression("type", type=s.type(node, depth))


def _identifier(s: SyntaxConverter, node: Node, depth: int, inline: bool) -> GoExpression:
    return s.identifier(text_of(node))


def _selector(s: SyntaxConverter, node: Node, depth: int, inline: bool) -> GoExpression:
    operand = node.child_by_field_name("operand")
    if operand is not None and operand.type == "identifier":
        found = s.operand(text_of(operand))
    else:
        found = s.value(operand, depth, inline)
    return GoExpression("sel", text_of(node.child_by_field_name("field")), -1, (found,))


def _call(s: SyntaxConverter, node: Node, depth: int, inline: bool) -> GoExpression:
    if inline:
        function = s.function_of_call(node, node.child_by_field_name("function"), depth, True)
        return GoExpression("call", "", -1, (function, *s.arguments_of_call(node, depth + _ARGUMENT_DEPTH, True)))
    number = s.call_numbers.get(node.id, -1)
    return (
        GoExpression("result", "", number, s.arguments_of_call(node, depth + _ARGUMENT_DEPTH, False))
        if number >= 0
        else UNKNOWN
    )


def _conversion(s: SyntaxConverter, node: Node, depth: int, inline: bool) -> GoExpression:
    target = node.child_by_field_name("type")
    if target is not None and target.type == "generic_type":
        return _call(s, node, depth, inline)
    return GoExpression("typed", type=s.type(target, depth))


_UNARY = {"*": "deref", "&": "addr", "<-": "recv"}


def _unary(s: SyntaxConverter, node: Node, depth: int, inline: bool) -> GoExpression:
    operator = node.child_by_field_name("operator")
    operand = s.value(node.child_by_field_name("operand"), depth, inline)
    op = _UNARY.get(operator.type if operator is not None else "")
    return GoExpression(op, "", -1, (operand,)) if op else operand


def _inner(field: str) -> Callable[[SyntaxConverter, Node, int, bool], GoExpression]:
    return lambda s, node, depth, inline: s.value(node.child_by_field_name(field), depth, inline)


def _parenthesized(s: SyntaxConverter, node: Node, depth: int, inline: bool) -> GoExpression:
    inner = items(node)
    return s.value(inner[0] if inner else None, depth, inline)


def _binary(s: SyntaxConverter, node: Node, depth: int, inline: bool) -> GoExpression:
    left = s.value(node.child_by_field_name("left"), depth, inline)
    return s.value(node.child_by_field_name("right"), depth, inline) if left.op == "basic" else left


def _index(s: SyntaxConverter, node: Node, depth: int, inline: bool) -> GoExpression:
    parts = (node.child_by_field_name("operand"), node.child_by_field_name("index"))
    return GoExpression("index", "", -1, tuple(s.value(each, depth, inline) for each in parts))


def _literal_function(s: SyntaxConverter, node: Node, depth: int, inline: bool) -> GoExpression:
    return GoExpression("func", type=s.signature(node, depth))


def _instantiation(s: SyntaxConverter, node: Node, depth: int, inline: bool) -> GoExpression:
    base = node.child_by_field_name("type")
    given = WrittenType("tuple", "", tuple(s.type(each, depth) for each in items(node) if each != base))
    return GoExpression("inst", "", -1, (s.identifier(text_of(base)),), given)


_VALUES: dict[str, Callable[[SyntaxConverter, Node, int, bool], GoExpression]] = {
    "identifier": _identifier,
    "selector_expression": _selector,
    "call_expression": _call,
    "type_conversion_expression": _conversion,
    "parenthesized_expression": _parenthesized,
    "unary_expression": _unary,
    "binary_expression": _binary,
    "index_expression": _index,
    "slice_expression": _inner("operand"),
    "type_assertion_expression": _typed,
    "composite_literal": _typed,
    "func_literal": _literal_function,
    "type_instantiation_expression": _instantiation,
    "interpreted_string_literal": _basic("string"),
    "raw_string_literal": _basic("string"),
    "int_literal": _basic("int"),
    "float_literal": _basic("float64"),
    "rune_literal": _basic("rune"),
    "true": _basic("bool"),
    "false": _basic("bool"),
} | {kind: _type_value for kind in _TYPES if kind.endswith("_type") or kind == "type_identifier"}
