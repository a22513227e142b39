"""Conversion of expressions to terms, and the calls in them."""

from tree_sitter import Node

from treering.code.facts import DefinitionKind
from treering.code.languages.syntax_nodes import first_of
from treering.code.languages.typescript.annotations import type_arguments
from treering.code.languages.typescript.classes import class_expression
from treering.code.languages.typescript.entry_points import record_registration
from treering.code.languages.typescript.functions import (
    FUNCTIONS,
    WRAPPERS,
    EnclosingDefinition,
    function,
    narrow,
    unwrapped,
    without_comments,
)
from treering.code.languages.typescript.literals import array_literal, object_literal
from treering.code.languages.typescript.reader import Handler, TermReader
from treering.code.languages.typescript.terms import CAUGHT, COMMONJS, NAMESPACE, NONE

LITERAL_CALLBACKS = FUNCTIONS | {"object", "array", "class"}
"""Arguments whose contents are typed by the parameter they are passed to."""
DEFERRED_ARGUMENTS = LITERAL_CALLBACKS | WRAPPERS | {"comment"}
"""Arguments that are not converted in order of appearance."""


def identifier(r: TermReader, node: Node, _: int) -> int:
    text = r.text(node)
    if text == "exports":
        return r.cell("own")
    cells = r.cells
    term = cells.setdefault(("name", text, r.position.scope, ()), len(cells))
    r.used(term, node)
    return term


def literal(what: str) -> Handler:
    def read(r: TermReader, node: Node, _: int) -> int:
        return r.cell("literal", what)

    return read


def string(r: TermReader, node: Node, _: int) -> int:
    cells = r.cells
    word = cells.setdefault(("word", r.text(node)[1:-1], 0, ()), len(cells))
    return cells.setdefault(("literal", "string", 0, (word,)), len(cells))


def template(r: TermReader, node: Node, _: int) -> int:
    for child in node.named_children:
        if child.type == "template_substitution":
            for inner in child.named_children:
                r.read(inner)
    return r.cell("literal", "string")


def this(r: TermReader, node: Node, _: int) -> int:
    return r.position.this


def super_(r: TermReader, node: Node, _: int) -> int:
    return r.cell("super", n=r.position.owner)


def member(r: TermReader, node: Node, _: int) -> int:
    parts = node.named_children
    if len(parts) < 2:
        return NONE
    target, name = parts[0], parts[-1]
    text = r.text(name)
    if text == "exports" and target.type == "identifier" and r.text(target) == "module":
        return r.cell("own")
    of = r.read(target)
    cells = r.cells
    term = cells.setdefault(("member", text, 0, (of,)), len(cells))
    if of in r.loaded or of in r.parts:
        r.parts[term] = of
    r.used(term, name)
    return term


def subscript(r: TermReader, node: Node, _: int) -> int:
    target, index = node.child_by_field_name("object"), node.child_by_field_name("index")
    if target is None or index is None:
        return NONE
    of, by = r.read(target), r.read(index)
    if index.type == "string":
        return r.cell("member", r.string(index) or "", 0, (of,))
    if index.type == "number" and r.text(index).isdigit():
        return r.cell("at", "", min(int(r.text(index)), 1000), (of,))
    return r.cell("element", kids=(of, by))


def _given(r: TermReader, parts: list[Node], expected: int) -> int:
    """Return the type arguments of a call; if absent, the expected type of the result helps to infer them."""
    if len(parts) > 2:
        explicit = type_arguments(r, next((part for part in parts[1:-1] if part.type == "type_arguments"), None))
        if explicit:
            return r.cell("arguments", "", 0, explicit)
    return r.cell("arguments") if expected == NONE else r.cell("arguments", "expected", 0, (expected,))


def call(r: TermReader, node: Node, expected: int) -> int:
    discarded, r.discarded = r.discarded, False
    parts = node.named_children
    if len(parts) < 2:
        return NONE
    callee, arguments = parts[0], parts[-1]
    kind = callee.type
    if kind == "import" or (kind == "identifier" and r.text(callee) == "require"):
        loaded = _loaded(r, callee, arguments)
        if loaded != NONE:
            return loaded
    type_args = _given(r, parts, expected)
    target = r.read(callee)
    r.not_used(target)
    if arguments.type == "template_string":
        r.read(arguments)
        term = r.cell("call", "", 0, (target, type_args, NONE))
        r.called(term, called_name(callee), passes=True, used=not discarded)
        return term
    terms = _arguments(r, target, type_args, arguments)
    cells = r.cells
    term = cells.setdefault(("call", "", 0, (target, type_args, *terms)), len(cells))
    name = called_name(callee)
    if kind != "super":
        r.called(term, name, passes=bool(terms), used=not discarded)
    if terms or r.position.origin < 0:
        record_registration(r, callee, name, arguments)
    return term


def called_name(callee: Node) -> Node:
    """Return the callee's name: its line is the line of the call, in a chain over several lines."""
    return callee.named_children[-1] if callee.type == "member_expression" else callee


def _loaded(r: TermReader, callee: Node, arguments: Node) -> int:
    """`import('module')` and `require('module')`."""
    first = first_of(arguments)
    specifier = None if first is None else r.string(first)
    if specifier is None and first is not None and first.type == "template_string" and first.named_child_count < 2:
        specifier = r.text(first)[1:-1] if "${" not in r.text(first) else None
    if specifier is None:
        return NONE
    r.imported(specifier, callee)
    if callee.type == "import":
        return r.cell("promise", kids=(r.cell("import", specifier, NAMESPACE),))
    r.module = True
    term = r.cell("import", specifier, COMMONJS)
    r.loaded.add(term)
    return term


def _arguments(r: TermReader, target: int, type_args: int, arguments: Node | None) -> tuple[int, ...]:
    """Convert arguments; functions and literals last, because the others may determine their types."""
    terms: list[int] = []
    deferred: list[tuple[int, Node]] = []
    callbacks: set[int] = set()
    for child in arguments.named_children if arguments is not None else ():
        kind = child.type
        if kind not in DEFERRED_ARGUMENTS:
            terms.append(r.read(child))
            continue
        if kind == "comment":
            continue
        if kind in WRAPPERS:
            kind = unwrapped(child).type
        if kind in LITERAL_CALLBACKS:
            if kind in FUNCTIONS:
                callbacks.add(len(terms))
            deferred.append((len(terms), child))
            terms.append(NONE)
        else:
            terms.append(r.read(child))
    for position, child in deferred:
        shown = terms
        if callbacks:
            shown = [r.cell("callback") if term == NONE and at in callbacks else term for at, term in enumerate(terms)]
        terms[position] = r.read(child, r.cell("argument", "", position, (target, type_args, *shown)))
    return tuple(terms)


def new(r: TermReader, node: Node, expected: int) -> int:
    discarded, r.discarded = r.discarded, False
    callee = node.child_by_field_name("constructor")
    if callee is None:
        return NONE
    parts = node.named_children
    arguments = parts[-1] if parts[-1].type == "arguments" else None
    type_args = _given(r, parts if arguments is not None else [*parts, callee], expected)
    made = r.read(callee)
    r.not_used(made)
    target = r.cell("constructor", "", 0, (made,))
    terms = _arguments(r, target, type_args, arguments)
    term = r.cell("new", "", 0, (target, type_args, *terms))
    r.called(term, called_name(callee), passes=bool(terms), used=not discarded)
    return term


def function_expression(r: TermReader, node: Node, expected: int) -> int:
    subject, r.subject = r.subject, NONE
    name = node.child_by_field_name("name")
    named = (
        EnclosingDefinition(*r.define(r.text(name), DefinitionKind.FUNCTION, node))
        if name is not None
        else EnclosingDefinition()
    )
    arrow = node.type == "arrow_function"
    return function(r, node, named, expected, None if arrow or subject == NONE else subject).function


def passed_through(r: TermReader, node: Node, expected: int) -> int:
    children = without_comments(node)
    return r.read(children[0], expected) if children else NONE


def cast(r: TermReader, node: Node, expected: int) -> int:
    """`x as T`: the type, if it is known; `as const` and `satisfies` keep the value."""
    children = without_comments(node)
    if not children:
        return NONE
    kind = r.type(children[1]) if len(children) > 1 else NONE
    value = r.read(children[0], kind if kind != NONE else expected)
    if kind == NONE or node.type == "satisfies_expression":
        return value
    return r.cell("cast", kids=(kind, value))


def assertion(r: TermReader, node: Node, expected: int) -> int:
    children = without_comments(node)
    if len(children) < 2:
        return NONE
    kinds = type_arguments(r, children[0])
    return r.cell("cast", kids=(kinds[0] if kinds else NONE, r.read(children[1])))


def awaited(r: TermReader, node: Node, expected: int) -> int:
    children = without_comments(node)
    return r.cell("await", kids=(r.read(children[0], expected),)) if children else NONE


def ternary(r: TermReader, node: Node, expected: int) -> int:
    test, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
    otherwise = node.child_by_field_name("alternative")
    if test is not None:
        r.read(test)
    saved = r.position
    narrow(r, test)
    terms = [r.read(then, expected)] if then is not None else []
    r.position = saved
    if otherwise is not None:
        terms.append(r.read(otherwise, expected))
    return r.cell("either", kids=tuple([term for term in terms if term != NONE]))


def binary(r: TermReader, node: Node, expected: int) -> int:
    """`a || b`, `a ?? b` and `a && b` may be either; other operators return a value without members."""
    sign = _operator(node)
    if sign == "&&":
        return _conjunction(r, node, expected)
    parts: list[Node] = []
    current: Node | None = node
    while current is not None and current.type == "binary_expression" and _operator(current) != "&&":
        right = current.child_by_field_name("right")
        if right is not None:
            parts.append(right)
        current = current.child_by_field_name("left")
    if current is not None:
        parts.append(current)
    if sign == "instanceof" and r.caught:
        _caught(r, node)
    terms = [r.read(part, expected) for part in reversed(parts)]
    if sign in ("||", "??"):
        return r.cell("either", kids=tuple(terms[-4:]))
    return r.cell("literal", "boolean" if sign in COMPARISONS else "value")


def _caught(r: TermReader, node: Node) -> None:
    """`error instanceof C` in a `catch` of this error handles the errors of the class."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and right is not None and r.text(left) in r.caught:
        r.used(r.read(right), right, CAUGHT)


def _operator(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""


def _conjunction(r: TermReader, node: Node, expected: int) -> int:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None:
        r.read(left)
    saved = r.position
    narrow(r, left)
    term = r.read(right, expected) if right is not None else NONE
    r.position = saved
    return term


COMPARISONS = frozenset(("===", "!==", "==", "!=", "<", ">", "<=", ">=", "in", "instanceof"))


def sequence(r: TermReader, node: Node, expected: int) -> int:
    term = NONE
    for child in node.named_children:
        term = r.read(child, expected)
    return term


def unary(r: TermReader, node: Node, _: int) -> int:
    for child in node.named_children:
        r.read(child)
    return r.cell("literal", "value")


LEAVES: dict[str, Handler] = {
    "identifier": identifier,
    "shorthand_property_identifier": identifier,
    "property_identifier": lambda r, node, _: NONE,
    "comment": lambda r, node, _: NONE,
    "string": string,
    "number": literal("number"),
    "true": literal("boolean"),
    "false": literal("boolean"),
    "null": literal("null"),
    "undefined": literal("null"),
    "regex": literal("RegExp"),
    "this": this,
    "super": super_,
    "import": lambda r, node, _: r.cell("outside"),
    "jsx_text": lambda r, node, _: NONE,
}

EXPRESSIONS: dict[str, Handler] = {
    "template_string": template,
    "member_expression": member,
    "subscript_expression": subscript,
    "call_expression": call,
    "new_expression": new,
    "arrow_function": function_expression,
    "function_expression": function_expression,
    "generator_function": function_expression,
    "function": function_expression,
    "class": class_expression,
    "object": object_literal,
    "array": array_literal,
    "parenthesized_expression": passed_through,
    "non_null_expression": passed_through,
    "instantiation_expression": passed_through,
    "spread_element": passed_through,
    "as_expression": cast,
    "satisfies_expression": cast,
    "type_assertion": assertion,
    "await_expression": awaited,
    "ternary_expression": ternary,
    "binary_expression": binary,
    "sequence_expression": sequence,
    "unary_expression": unary,
    "update_expression": unary,
}
