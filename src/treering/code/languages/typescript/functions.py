"""Functions and their bindings: parameters, patterns, results."""

from typing import NamedTuple

from tree_sitter import Node

from treering.code.languages.typescript.annotations import parameter_flags, type_parameters
from treering.code.languages.typescript.reader import ReaderPosition, TermReader
from treering.code.languages.typescript.terms import ASYNC, GENERATOR, NONE, OPTIONAL, REST

FUNCTIONS = frozenset(("arrow_function", "function_expression", "generator_function", "function"))
NAMED_INSIDE = FUNCTIONS - {"arrow_function"}
"""Expressions whose name, if present, is visible only inside them."""
WRAPPERS = frozenset(("parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"))


class FunctionTerms(NamedTuple):
    function: int
    result: int
    stored: tuple[tuple[str, int], ...]
    """Parameters that a constructor stores: name and type."""


class EnclosingDefinition(NamedTuple):
    """The definition that a function's code belongs to; without one, the enclosing definition."""

    qualname: str = ""
    origin: int = -1


def without_comments(node: Node) -> list[Node]:
    """Return the children of a node without comments."""
    children = node.named_children
    return children if len(children) < 2 else [child for child in children if child.type != "comment"]


def unwrapped(node: Node) -> Node:
    """Return the expression inside parentheses and casts."""
    while node.type in WRAPPERS:
        children = without_comments(node)
        if not children:
            return node
        node = children[0]
    return node


def function(
    r: TermReader, node: Node, named: EnclosingDefinition, expected: int = NONE, this: int | None = None
) -> FunctionTerms:
    """Convert a function with a body; `this` is its receiver, if known (an arrow function keeps the outer one)."""
    saved = r.position
    if named.qualname:
        r.position = saved._replace(origin=named.origin)
    variables = type_parameters(r, node.child_by_field_name("type_parameters"))
    annotation = r.type(node.child_by_field_name("return_type"))
    flags = _flags(node)
    scope = r.enter_scope()
    returns: list[int] = []
    prefix, origin = (named.qualname + ".", named.origin) if named.qualname else (saved.prefix, saved.origin)
    owner = saved.this if this is None else this
    expected_result = _expected_result(r, annotation, flags, expected)
    r.position = ReaderPosition(scope, scope, False, prefix, origin, owner, saved.owner, returns, expected_result)
    parameters, stored = _parameters(r, node, expected)
    body = node.child_by_field_name("body")
    if body is not None:
        if body.type == "statement_block":
            for statement in body.named_children:
                r.read(statement)
        else:
            returns.append(r.read(body, expected_result))
    r.position = saved
    r.variables.pop()
    if annotation != NONE:
        result, flags = annotation, 0
    else:
        returned_terms = tuple(dict.fromkeys(term for term in returns if term != NONE))[:6]
        result = (
            returned_terms[0]
            if len(returned_terms) == 1
            else r.cell("either", kids=returned_terms)
            if returned_terms
            else NONE
        )
    term = r.cell("fn", named.qualname, flags, (variables, parameters, result))
    own = node.child_by_field_name("name") if node.type in NAMED_INSIDE else None
    if own is not None:
        r.names[scope].setdefault(r.text(own), term)
    return FunctionTerms(term, result, stored)


def _flags(node: Node) -> int:
    flags = GENERATOR if node.type.startswith("generator") else 0
    for position in range(node.child_count):
        word = node.child(position)
        kind = word.type if word is not None else ""
        if kind in ("formal_parameters", "identifier", "=>"):
            break
        if kind == "async":
            flags |= ASYNC
        elif kind == "*":
            flags |= GENERATOR
    return flags


def _expected_result(r: TermReader, annotation: int, flags: int, expected: int) -> int:
    """Return the expected type of returned expressions."""
    if annotation != NONE:
        return r.cell("await", kids=(annotation,)) if flags & ASYNC else annotation
    return r.cell("await", kids=(r.cell("result_of", kids=(expected,)),)) if expected != NONE else NONE


def _parameters(r: TermReader, node: Node, expected: int) -> tuple[int, tuple[tuple[str, int], ...]]:
    single = node.child_by_field_name("parameter")
    holder = node.child_by_field_name("parameters")
    listed = [single] if single is not None else holder.named_children if holder is not None else []
    kids: list[int] = []
    stored = []
    for child in listed:
        if child.type in ("comment", "decorator"):
            continue
        pattern, kind, value = child, NONE, NONE
        flags = 0
        if child.type in ("required_parameter", "optional_parameter"):
            inside = child.child_by_field_name("pattern")
            if inside is None:
                continue
            if inside.type == "this":
                r.position = r.position._replace(this=r.type(child.child_by_field_name("type")))
                continue
            pattern, kind = inside, r.type(child.child_by_field_name("type"))
            default = child.child_by_field_name("value")
            flags = parameter_flags(child, pattern)
            if child.start_byte < inside.start_byte:
                _decorations(r, child)
        elif child.type == "assignment_pattern":
            default = child.child_by_field_name("right")
            pattern = child.child_by_field_name("left") or child
            flags = OPTIONAL
        else:
            default = None
            flags = REST if child.type == "rest_pattern" else 0
        if kind == NONE and expected != NONE:
            kind = r.cell("rest_of" if flags & REST else "parameter_of", "", len(kids), (expected,))
        if default is not None:
            value = r.read(default, kind)
        source = kind if kind != NONE else value
        if pattern.type == "rest_pattern":
            children = pattern.named_children
            pattern = children[0] if children else pattern
        bind(r, pattern, source)
        kids.append(r.cell("parameter", "", flags, (source,)))
        if flags >= 4:
            stored.append((r.text(pattern), source))
    return r.cell("parameters", kids=tuple(kids)), tuple(stored)


def _decorations(r: TermReader, node: Node) -> None:
    for child in node.named_children:
        if child.type == "decorator":
            r.read(child)


def bind(r: TermReader, pattern: Node, source: int, *, hoisted: bool = False) -> None:
    """Bind the names of a pattern to the parts of `source`."""
    pending = [(pattern, source)]
    while pending:
        node, term = pending.pop()
        kind = node.type
        if kind in ("identifier", "shorthand_property_identifier_pattern"):
            r.declare(r.text(node), r.cell("var", "", 0, (NONE, term)), hoisted=hoisted)
        elif kind == "object_pattern":
            pending.extend((child, _selected_part(r, child, term)) for child in node.named_children)
        elif kind == "array_pattern":
            pending.extend(
                (child, r.cell("at", "", position, (term,))) for position, child in enumerate(_elements(node)) if child
            )
        elif kind in ("assignment_pattern", "object_assignment_pattern"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            default = r.read(right) if right is not None else NONE
            if left is not None:
                pending.append((left, r.cell("either", kids=(term, default)) if default != NONE else term))
        elif kind == "pair_pattern":
            value = node.child_by_field_name("value")
            if value is not None:
                pending.append((value, term))
        elif kind == "rest_pattern":
            pending.extend((child, term) for child in node.named_children)


def narrow(r: TermReader, test: Node | None) -> None:
    """Narrow `x` to `C` where `x instanceof C` holds, in a scope that ends when the position is restored."""
    pending = [test] if test is not None else []
    while pending:
        node = pending.pop()
        if node.type == "parenthesized_expression":
            pending += node.named_children
        elif node.type == "binary_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            operator = node.child_by_field_name("operator")
            if left is None or right is None or operator is None:
                continue
            if operator.type == "&&":
                pending += [left, right]
            elif operator.type == "instanceof" and left.type == "identifier":
                made = r.cell("instance_of", kids=(r.read(right),))
                r.position = r.position._replace(block=True)
                r.declare(r.text(left), r.cell("var", "", 0, (NONE, made)))


def _selected_part(r: TermReader, node: Node, source: int) -> int:
    """Return the part of the object that an object pattern selects."""
    if node.type == "rest_pattern" or source == NONE:
        return source
    if node.type == "pair_pattern":
        name = r.key(node.child_by_field_name("key"))
    else:
        name = r.text(node.child_by_field_name("left") or node)
    if name is None:
        return NONE
    part = r.cell("member", name, 0, (source,))
    r.used(part, node)
    return part


def _elements(node: Node) -> list[Node | None]:
    """Return the elements of an array pattern by position; holes are None."""
    elements: list[Node | None] = []
    filled = False
    for child in node.children:
        if child.type == ",":
            if not filled:
                elements.append(None)
            filled = False
        elif child.is_named and child.type != "comment":
            elements.append(child)
            filled = True
    return elements
