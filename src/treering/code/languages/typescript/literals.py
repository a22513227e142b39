"""Object and array literals: their members are definitions, typed by the expected type."""

from tree_sitter import Node

from treering.code.facts import DefinitionKind
from treering.code.languages.typescript.functions import FUNCTIONS, EnclosingDefinition, function, unwrapped
from treering.code.languages.typescript.reader import TermReader
from treering.code.languages.typescript.terms import GETTER, NONE, Heritage


def object_literal(r: TermReader, node: Node, expected: int) -> int:
    subject, r.subject = r.subject, NONE
    number = 0
    kids = []
    for child in node.named_children:
        kind = child.type
        value = child.child_by_field_name("value") if kind == "pair" else None
        if subject == NONE and (kind == "method_definition" or (value is not None and value.type in OWN_THIS)):
            number = len(r.classes)
            subject = _this(r, expected)
        if value is not None:
            kids.append(_property(r, child, value, expected, subject))
        elif kind == "shorthand_property_identifier":
            text = r.text(child)
            value_term = r.name(text)
            r.used(value_term, child)
            kids.append(r.cell("field", text, 0, (NONE, value_term)))
        elif kind == "method_definition":
            kids.append(_method(r, child, expected, subject))
        elif kind == "spread_element":
            kids.append(r.cell("spread", kids=(r.read(child.named_children[0]),)) if child.named_children else NONE)
    term = r.cell("obj", kids=tuple([kid for kid in kids if kid != NONE]))
    if number:
        r.classes[number] = term
    return term


OWN_THIS = FUNCTIONS - {"arrow_function"}


def _this(r: TermReader, expected: int) -> int:
    """Return the `this` of methods in an anonymous object literal: the expected type, and the object itself."""
    own = r.cell("this", n=len(r.classes))
    r.classes.append(NONE)
    r.properties.append({})
    return own if expected == NONE else r.cell("both", kids=(expected, own))


def _property(r: TermReader, pair: Node, value: Node, expected: int, subject: int) -> int:
    key = pair.child_by_field_name("key")
    name = r.key(key)
    if key is not None and key.type == "computed_property_name":
        r.read(key)
    if name is None:
        r.read(value)
        return NONE
    member_type = r.cell("member", name, 0, (expected,)) if expected != NONE else NONE
    inner = unwrapped(value)
    if inner.type in FUNCTIONS:
        named = EnclosingDefinition(*r.define(name, DefinitionKind.METHOD, pair))
        this = None if inner.type == "arrow_function" or subject == NONE else subject
        _implement(r, named, member_type, pair)
        return r.cell("field", name, 0, (NONE, function(r, inner, named, member_type, this).function))
    return r.cell("field", name, 0, (NONE, r.read(value, member_type)))


def _implement(r: TermReader, named: EnclosingDefinition, member_type: int, node: Node) -> None:
    """A function of an object implements the member of the type that is expected of the object."""
    if member_type != NONE and named.qualname:
        r.heritage.append(Heritage(named.origin, member_type, True, r.line(node.start_byte)))


def _method(r: TermReader, node: Node, expected: int, subject: int) -> int:
    name = r.key(node.child_by_field_name("name"))
    words = {child.type for child in node.children}
    named = (
        EnclosingDefinition(*r.define(name, DefinitionKind.METHOD, node)) if name is not None else EnclosingDefinition()
    )
    member_type = r.cell("member", name, 0, (expected,)) if expected != NONE and name is not None else NONE
    _implement(r, named, member_type, node)
    read = function(r, node, named, member_type, subject if subject != NONE else None)
    if name is None or "set" in words:
        return NONE
    if "get" in words:
        return r.cell("field", name, GETTER, (read.result, NONE))
    return r.cell("field", name, 0, (NONE, read.function))


def array_literal(r: TermReader, node: Node, expected: int) -> int:
    inner = r.cell("element", kids=(expected,)) if expected != NONE else NONE
    terms = []
    for child in node.named_children:
        if child.type == "spread_element":
            terms.append(r.cell("element", kids=(r.read(child),)))
        elif child.type != "comment":
            terms.append(r.read(child, inner))
    return r.cell("array", kids=tuple(terms[:8]))
