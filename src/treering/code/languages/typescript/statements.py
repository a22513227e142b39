"""Statements: declarations, and control flow."""

from itertools import islice

from tree_sitter import Node

from treering.code.facts import DefinitionKind
from treering.code.languages.typescript.annotations import signature
from treering.code.languages.typescript.assignments import assignment
from treering.code.languages.typescript.classes import (
    alias,
    class_declaration,
    class_expression,
    class_term,
    enum,
    interface,
)
from treering.code.languages.typescript.functions import (
    FUNCTIONS,
    EnclosingDefinition,
    bind,
    function,
    narrow,
    unwrapped,
)
from treering.code.languages.typescript.reader import Handler, TermReader
from treering.code.languages.typescript.terms import NONE, STATIC, THROWN, TYPE, VALUE


def function_declaration(r: TermReader, node: Node, _: int) -> int:
    name = node.child_by_field_name("name")
    text = r.text(name) if name is not None else "default"
    named = EnclosingDefinition(*r.define(text, DefinitionKind.FUNCTION, node))
    term = function(r, node, named, this=r.instance(text)).function
    if name is not None:
        r.declare(text, term)
    return term


def function_signature(r: TermReader, node: Node, _: int) -> int:
    """An overload, or a declaration without a body."""
    name = node.child_by_field_name("name")
    if name is not None:
        qualname, number = r.define(r.text(name), DefinitionKind.FUNCTION, node)
        r.declare(r.text(name), signature(r, node, qualname, origin=number))
    return NONE


def variables(r: TermReader, node: Node, _: int) -> int:
    hoisted = node.type == "variable_declaration"
    for child in node.named_children:
        if child.type == "variable_declarator":
            _variable(r, child, hoisted)
    return NONE


def _variable(r: TermReader, node: Node, hoisted: bool) -> None:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None:
        return
    inner = unwrapped(value) if value is not None else None
    if name.type == "identifier" and inner is not None and inner.type in FUNCTIONS:
        _function_variable(r, node, inner, hoisted)
        return
    kind = r.type(node.child_by_field_name("type"))
    if name.type != "identifier":
        bind(r, name, _first(r.read(value) if value is not None else NONE, kind), hoisted=hoisted)
        return
    text = r.text(name)
    if inner is not None and inner.type == "class":
        own = inner.child_by_field_name("name")
        term = class_expression(r, inner, NONE) if own is not None else class_term(r, inner, text)
        r.declare(text, term, hoisted=hoisted)
        r.bind_type(text, term)
        return
    named_here = r.position.prefix == ""
    qualname = text if named_here and value is not None else ""
    exported = r.exports.get("=")
    r.subject = r.name(text) if inner is not None and inner.type == "object" else NONE
    before = len(r.uses)
    term = r.read(value, kind) if value is not None else NONE
    if qualname and inner is not None and inner.type in ("object", "array"):
        r.tables[text] = tuple(key for key in islice(r.uses, before, None) if key[1] < 0 and key[2] == VALUE)
    r.subject = NONE
    if r.is_module_part(term):
        qualname = ""
    if (named_here and r.exporting == r.position.scope) or (r.position.scope == 0 and text.isupper()):
        r.define(text, DefinitionKind.CONSTANT, node)
    if qualname and value is not None:
        r.variable_lines.setdefault(qualname, (r.line(node.start_byte), r.line(node.end_byte)))
    r.declare(text, r.cell("var", qualname, 0, (kind, term)), hoisted=hoisted)
    if r.exports.get("=") != exported:
        r.exports["="] = r.name(text)


def _function_variable(r: TermReader, node: Node, inner: Node, hoisted: bool) -> None:
    """`const f = () => …`: a function under the name of the variable, which names the types of both."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None or value is None:
        return
    text = r.text(name)
    named = EnclosingDefinition(*r.define(text, DefinitionKind.FUNCTION, node))
    saved = r.position
    r.position = saved._replace(origin=named.origin)
    kind = r.type(node.child_by_field_name("type"))
    if kind == NONE and value.type == "as_expression":
        kind = r.type(value.named_children[-1])
    r.position = saved
    this = None if inner.type == "arrow_function" else r.instance(text)
    term = function(r, inner, named, kind, this).function
    if kind != NONE:
        term = r.cell("var", named.qualname, 0, (kind, term))
    r.declare(text, term, hoisted=hoisted)


def _first(value: int, kind: int) -> int:
    return kind if kind != NONE else value


def block(r: TermReader, node: Node, _: int) -> int:
    """Declarations of a block are visible in all of it, also to functions before the declaration."""
    saved = r.position
    children = node.named_children
    if any(child.type in BLOCK_DECLARATIONS for child in children):
        r.position = saved._replace(scope=r.enter_scope(), block=False)
    else:
        r.position = saved._replace(block=True)
    for child in children:
        r.read(child)
    r.position = saved
    return NONE


BLOCK_DECLARATIONS = frozenset(
    ("function_declaration", "generator_function_declaration", "lexical_declaration", "class_declaration")
)


def for_in(r: TermReader, node: Node, _: int) -> int:
    saved = r.position
    r.position = saved._replace(block=True)
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    source = r.read(right) if right is not None else NONE
    operator = node.child_by_field_name("operator")
    each = r.cell("element", kids=(source,)) if operator is not None and operator.type == "of" else NONE
    if left is not None and node.child_by_field_name("kind") is not None:
        bind(r, left, r.cell("await", kids=(each,)) if each != NONE else NONE)
    body = node.child_by_field_name("body")
    if body is not None:
        r.read(body)
    r.position = saved
    return NONE


def catch(r: TermReader, node: Node, _: int) -> int:
    saved = r.position
    r.position = saved._replace(block=True)
    parameter, body = node.child_by_field_name("parameter"), node.child_by_field_name("body")
    if parameter is not None:
        bind(r, parameter, NONE)
    r.caught.append("" if parameter is None else r.text(parameter))
    if body is not None:
        r.read(body)
    r.caught.pop()
    r.position = saved
    return NONE


def thrown(r: TermReader, node: Node, _: int) -> int:
    """`throw new C(…)` raises the class."""
    for child in node.named_children:
        r.read(child)
        inner = unwrapped(child)
        made = inner.child_by_field_name("constructor") if inner.type == "new_expression" else None
        if made is not None:
            term = r.read(made)
            r.not_used(term)
            r.used(term, made, THROWN)
    return NONE


def condition(r: TermReader, node: Node, _: int) -> int:
    """`if`: inside, a variable tested by `instanceof` is an instance of the class."""
    test, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
    otherwise = node.child_by_field_name("alternative")
    if test is not None:
        r.read(test)
    if then is not None:
        saved = r.position
        narrow(r, test)
        r.read(then)
        r.position = saved
    if otherwise is not None:
        r.read(otherwise)
    return NONE


def returned(r: TermReader, node: Node, _: int) -> int:
    children = [child for child in node.named_children if child.type != "comment"]
    if children:
        term = r.read(children[0], r.position.expected_result)
        if r.position.returns is not None:
            r.position.returns.append(term)
    return NONE


def statement(r: TermReader, node: Node, _: int) -> int:
    for child in node.named_children:
        r.discarded = child.type in ("call_expression", "await_expression", "new_expression")
        r.read(child)
    r.discarded = False
    return NONE


def namespace(r: TermReader, node: Node, _: int) -> int:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    saved, sink, exporting = r.position, r.sink, r.exporting
    scope = r.enter_scope()
    title = r.text(name) if name is not None and name.type != "string" else ""
    inside: dict[str, int] = {}
    r.sink, r.exporting = inside, -1
    specifier = r.string(name) if name is not None else None
    if specifier is not None:
        r.imported(specifier, node)
    r.position = saved._replace(scope=scope, function_scope=scope, block=False)
    for child in body.named_children if body is not None else ():
        r.read(child)
    shown = {**dict.fromkeys(r.names[scope], 0), **inside} if _is_ambient(r, node) else inside
    fields = []
    for key in shown:
        op = "declared" if key.startswith(TYPE) else "name"
        fields.append(r.cell("field", key, STATIC, (NONE, r.cell(op, key.removeprefix(TYPE), scope))))
    r.position, r.sink, r.exporting = saved, sink, exporting
    if title:
        term = r.cell("space", title, 0, tuple(fields))
        head = title.split(".")[0]
        if head != title:
            for part in reversed(title.split(".")[1:]):
                term = r.cell("space", "", 0, (r.cell("field", part, STATIC, (NONE, term)),))
        r.declare(head, term)
    return NONE


def _is_ambient(r: TermReader, node: Node) -> bool:
    parent = node.parent
    return r.path.endswith(".d.ts") or (parent is not None and parent.type == "ambient_declaration")


def ambient(r: TermReader, node: Node, _: int) -> int:
    """`declare …`; the contents of `declare global` are visible in every file."""
    for child in node.named_children:
        if child.type == "statement_block":
            saved, exporting, sink = r.position, r.exporting, r.sink
            scope = r.enter_scope()
            r.position = saved._replace(scope=scope, function_scope=scope, block=False)
            for inner in child.named_children:
                r.read(inner)
            r.ambient.update(r.names[scope])
            r.position, r.exporting, r.sink = saved, exporting, sink
        else:
            r.read(child)
    return NONE


def decorator(r: TermReader, node: Node, _: int) -> int:
    for child in node.named_children:
        if child.type == "call_expression":
            r.read(child)
        else:
            arguments = r.cell("arguments")
            r.called(r.cell("call", "", 0, (r.read(child), arguments, NONE)), child, passes=True, used=False)
    return NONE


STATEMENTS: dict[str, Handler] = {
    "function_declaration": function_declaration,
    "generator_function_declaration": function_declaration,
    "function_signature": function_signature,
    "lexical_declaration": variables,
    "variable_declaration": variables,
    "class_declaration": class_declaration,
    "abstract_class_declaration": class_declaration,
    "interface_declaration": interface,
    "type_alias_declaration": alias,
    "enum_declaration": enum,
    "statement_block": block,
    "for_statement": block,
    "switch_body": block,
    "for_in_statement": for_in,
    "if_statement": condition,
    "catch_clause": catch,
    "return_statement": returned,
    "throw_statement": thrown,
    "expression_statement": statement,
    "assignment_expression": assignment,
    "internal_module": namespace,
    "module": namespace,
    "ambient_declaration": ambient,
    "decorator": decorator,
}
