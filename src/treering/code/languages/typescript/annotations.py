"""Conversion of type annotations to terms."""

from tree_sitter import Node

from treering.code.facts import DefinitionKind
from treering.code.languages.syntax_nodes import first_of
from treering.code.languages.typescript.reader import Handler, TermReader
from treering.code.languages.typescript.terms import (
    CALL,
    CONSTRUCTS,
    INDEX,
    NAMED,
    NAMED_TYPE,
    NAMESPACE,
    NEW,
    NONE,
    OPTIONAL,
    PROPERTY,
    REST,
    TYPE,
)


def named(r: TermReader, node: Node, _: int) -> int:
    return type_reference(r, node, ())


def type_reference(r: TermReader, node: Node | None, arguments: tuple[int, ...]) -> int:
    text = r.text(node) if node is not None else ""
    variable = next((variables[text] for variables in reversed(r.variables) if text in variables), None)
    if variable is not None and not arguments:
        return variable
    if node is not None and variable is None:
        r.used(r.cell("declared", text, r.position.scope), node, NAMED_TYPE)
    return r.cell("type", text, r.position.scope, arguments)


def generic(r: TermReader, node: Node, _: int) -> int:
    name = node.child_by_field_name("name")
    arguments = type_arguments(r, node.child_by_field_name("type_arguments"))
    return type_reference(r, name, arguments)


def type_arguments(r: TermReader, node: Node | None) -> tuple[int, ...]:
    return tuple([r.type(child) for child in node.named_children]) if node is not None else ()


def inner(r: TermReader, node: Node, _: int) -> int:
    """A wrapper without effect on the type: an annotation, parentheses, `readonly`."""
    children = node.named_children
    return r.type(children[-1]) if children else NONE


def several(op: str) -> Handler:
    def read(r: TermReader, node: Node, _: int) -> int:
        parts: list[Node] = []
        pending = [node]
        while pending:
            part = pending.pop()
            if part.type == node.type:
                pending.extend(reversed(part.named_children))
            else:
                parts.append(part)
        return r.cell(op, kids=tuple(dict.fromkeys([r.type(part) for part in parts if part.type != "comment"])))

    return read


def array(r: TermReader, node: Node, _: int) -> int:
    return r.cell("list", kids=(inner(r, node, NONE),))


def tuple_type(r: TermReader, node: Node, _: int) -> int:
    kids = []
    for child in node.named_children:
        if child.type in ("required_parameter", "optional_parameter"):
            name = child.child_by_field_name("name")
            term = r.type(child.child_by_field_name("type"))
            rest = name is not None and name.type == "rest_pattern"
            kids.append(r.cell("rest", kids=(term,)) if rest else term)
        elif child.type == "rest_type":
            kids.append(r.cell("rest", kids=(inner(r, child, NONE),)))
        else:
            kids.append(r.type(child))
    return r.cell("tuple", kids=tuple(kids))


def literal(r: TermReader, node: Node, _: int) -> int:
    children = node.named_children
    what = r.string(children[0]) if children else None
    if what is not None:
        return r.cell("literal", "string", kids=(r.cell("word", what),))
    return r.cell("literal", {"number": "number"}.get(children[0].type, r.text(node)) if children else "")


def predefined(r: TermReader, node: Node, _: int) -> int:
    return r.cell("literal", r.text(node))


def type_query(r: TermReader, node: Node, _: int) -> int:
    children = node.named_children
    return r.cell("typeof", kids=(r.read(children[0]),)) if children else NONE


def lookup(r: TermReader, node: Node, _: int) -> int:
    children = node.named_children
    if len(children) < 2:
        return NONE
    return r.cell("lookup", kids=(r.type(children[0]), r.type(children[1])))


def conditional(r: TermReader, node: Node, _: int) -> int:
    """Either branch: choosing one would require the complete type system."""
    for side in ("left", "right"):
        r.type(node.child_by_field_name(side))
    branches = [node.child_by_field_name("consequence"), node.child_by_field_name("alternative")]
    return r.cell("union", kids=tuple(r.type(branch) for branch in branches if branch is not None))


def imported_type(r: TermReader, node: Node, _: int) -> int:
    """`import("module").Name`: the grammar parses it as an expression."""
    target, name = node.child_by_field_name("object"), node.child_by_field_name("property")
    if node.type == "call_expression":
        target, name = node, None
    arguments = target.child_by_field_name("arguments") if target is not None else None
    if arguments is None or not arguments.named_children:
        return NONE
    specifier = r.string(arguments.named_children[0])
    if specifier is None:
        return NONE
    r.imported(specifier, node)
    if name is None:
        return r.cell("import", specifier, NAMESPACE)
    return r.cell("import", specifier, NAMED, (r.cell("word", TYPE + r.text(name)),))


def types_inside(kind: str) -> Handler:
    """A type of its own that names others: what it names is used."""

    def read(r: TermReader, node: Node, _: int) -> int:
        for child in node.named_children:
            if child.type != "identifier":
                r.type(child)
        return r.cell("literal", kind) if kind else NONE

    return read


def this_type(r: TermReader, node: Node, _: int) -> int:
    return r.cell("this", n=r.position.owner)


def function_type(r: TermReader, node: Node, _: int) -> int:
    return signature(r, node, "", CONSTRUCTS if node.type in ("constructor_type", "construct_signature") else 0)


def signature(r: TermReader, node: Node, qualname: str, flags: int = 0, *, origin: int | None = None) -> int:
    """A function without a body: its type parameters, parameters and result; `origin` is its definition, if any."""
    saved = r.position
    if origin is not None:
        r.position = saved._replace(origin=origin)
    variables = type_parameters(r, node.child_by_field_name("type_parameters"))
    parameters = node.child_by_field_name("parameters")
    kids = []
    for child in parameters.named_children if parameters is not None else ():
        pattern = child.child_by_field_name("pattern")
        if pattern is not None and pattern.type != "this":
            flag = parameter_flags(child, pattern)
            kids.append(r.cell("parameter", "", flag, (r.type(child.child_by_field_name("type")),)))
    result = r.type(node.child_by_field_name("return_type") or node.child_by_field_name("type"))
    r.variables.pop()
    r.position = saved
    return r.cell("fn", qualname, flags, (variables, r.cell("parameters", kids=tuple(kids)), result))


STORING = frozenset(("accessibility_modifier", "readonly", "override_modifier"))
"""Modifiers that make a constructor parameter a property."""


def parameter_flags(node: Node, pattern: Node) -> int:
    stores = node.start_byte < pattern.start_byte and any(child.type in STORING for child in node.children)
    optional = node.type == "optional_parameter" or node.child_by_field_name("value") is not None
    return optional * OPTIONAL | (pattern.type == "rest_pattern") * REST | stores * PROPERTY


def type_parameters(r: TermReader, node: Node | None) -> int:
    """Bring type variables into scope until `r.variables` is reset; the term lists them."""
    variables: dict[str, int] = {}
    r.variables.append(variables)
    kids = []
    for child in node.named_children if node is not None else ():
        name = child.child_by_field_name("name")
        if name is None:
            continue
        constraint = child.child_by_field_name("constraint")
        default = child.child_by_field_name("value")
        bound = inner(r, constraint, NONE) if constraint is not None else NONE
        text = r.text(name)
        variables[text] = r.cell("variable", text, 0, (bound,))
        kids.append(r.cell("variable", text, 0, (bound, inner(r, default, NONE) if default is not None else NONE)))
    return r.cell("variables", kids=tuple(kids))


def shape(r: TermReader, node: Node, _: int) -> int:
    return r.cell("shape", kids=members(r, node))


def mapped(r: TermReader, clause: Node, kind: Node | None) -> int:
    """`[K in keyof T]: …`: one member per member of `T`, with the same name."""
    name, over = clause.child_by_field_name("name"), clause.child_by_field_name("type")
    if name is None or clause.child_by_field_name("alias") is not None:
        return r.cell("field", INDEX, 0, (r.type(kind), NONE))
    source = inner(r, over, NONE) if over is not None and over.type == "index_type_query" else NONE
    if source == NONE:
        r.type(over)
    text = r.text(name)
    r.variables.append({text: r.cell("variable", text)})
    term = r.cell("mapped", text, 0, (r.type(kind), source))
    r.variables.pop()
    return term


def members(r: TermReader, node: Node) -> tuple[int, ...]:
    """Members of an interface or a type literal."""
    kids = []
    for child in node.named_children:
        read = MEMBERS.get(child.type)
        if read is not None:
            kids.append(read(r, child, NONE))
    return tuple(kid for kid in kids if kid != NONE)


def method_member(r: TermReader, node: Node, _: int) -> int:
    name = r.key(node.child_by_field_name("name"))
    if name is None:
        return NONE
    qualname, number = r.define(name, DefinitionKind.METHOD, node)
    return r.cell("field", name, 0, (signature(r, node, qualname, origin=number), NONE))


def property_member(r: TermReader, node: Node, _: int) -> int:
    name, kind = r.key(node.child_by_field_name("name")), node.child_by_field_name("type")
    if name is None:
        return NONE
    inside = kind.named_children if kind is not None else []
    if inside and inside[0].type == "function_type":
        qualname, number = r.define(name, DefinitionKind.METHOD, node)
        return r.cell("field", name, 0, (signature(r, inside[0], qualname, origin=number), NONE))
    return r.cell("field", name, 0, (r.type(kind), NONE))


def unnamed_member(name: str) -> Handler:
    def read(r: TermReader, node: Node, _: int) -> int:
        if name == INDEX:
            clause = first_of(node)
            if clause is not None and clause.type == "mapped_type_clause":
                return mapped(r, clause, node.child_by_field_name("type"))
            return r.cell("field", name, 0, (r.type(node.child_by_field_name("type")), NONE))
        return r.cell("field", name, 0, (function_type(r, node, NONE), NONE))

    return read


MEMBERS: dict[str, Handler] = {
    "method_signature": method_member,
    "property_signature": property_member,
    "call_signature": unnamed_member(CALL),
    "construct_signature": unnamed_member(NEW),
    "index_signature": unnamed_member(INDEX),
}

TYPES: dict[str, Handler] = {
    "type_annotation": inner,
    "parenthesized_type": inner,
    "readonly_type": inner,
    "opting_type_annotation": inner,
    "omitting_type_annotation": inner,
    "type_identifier": named,
    "identifier": named,
    "nested_type_identifier": named,
    "nested_identifier": named,
    "generic_type": generic,
    "union_type": several("union"),
    "intersection_type": several("both"),
    "array_type": array,
    "tuple_type": tuple_type,
    "optional_type": inner,
    "literal_type": literal,
    "predefined_type": predefined,
    "template_literal_type": types_inside("string"),
    "type_predicate_annotation": types_inside("boolean"),
    "type_predicate": types_inside("boolean"),
    "asserts_annotation": types_inside("void"),
    "asserts": types_inside("void"),
    "template_type": types_inside(""),
    "index_type_query": types_inside(""),
    "type_query": type_query,
    "lookup_type": lookup,
    "conditional_type": conditional,
    "member_expression": imported_type,
    "call_expression": imported_type,
    "this_type": this_type,
    "this": this_type,
    "function_type": function_type,
    "constructor_type": function_type,
    "object_type": shape,
    "interface_body": shape,
}
