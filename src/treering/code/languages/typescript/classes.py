"""Classes, interfaces and their members; type aliases and enums."""

from tree_sitter import Node

from treering.code.facts import DefinitionKind
from treering.code.languages.syntax_nodes import first_of
from treering.code.languages.typescript.annotations import (
    members,
    signature,
    type_arguments,
    type_parameters,
)
from treering.code.languages.typescript.functions import FUNCTIONS, EnclosingDefinition, function, unwrapped
from treering.code.languages.typescript.parser import grammar_of
from treering.code.languages.typescript.reader import TermReader
from treering.code.languages.typescript.terms import GETTER, LISTED, NONE, STATIC, TYPE, Heritage


def class_declaration(r: TermReader, node: Node, _: int) -> int:
    name = node.child_by_field_name("name")
    text = r.text(name) if name is not None else "default"
    term = class_term(r, node, text)
    if name is not None:
        r.declare(text, term)
        r.bind_type(text, term)
    return term


def class_expression(r: TermReader, node: Node, _: int) -> int:
    name = node.child_by_field_name("name")
    return class_term(r, node, r.text(name) if name is not None else "")


def class_term(r: TermReader, node: Node, name: str) -> int:
    """Return the class as a term; an anonymous class is not a definition, its members belong to the enclosing one."""
    saved = r.position
    qualname, origin = r.define(name, DefinitionKind.CLASS, node) if name else ("", saved.origin)
    r.position = saved._replace(origin=origin)
    decorations(r, node)
    number = len(r.classes)
    r.classes.append(NONE)
    r.properties.append({})
    r.position = saved._replace(origin=origin)
    variables = type_parameters(r, node.child_by_field_name("type_parameters"))
    bases = _class_bases(r, node, origin if name else -1)
    prefix = qualname + "." if name else saved.prefix
    r.position = saved._replace(prefix=prefix, origin=origin, this=r.cell("this", n=number), owner=number)
    body = node.child_by_field_name("body")
    fields: list[int] = []
    for member in body.named_children if body is not None else ():
        read = CLASS_MEMBERS.get(member.type)
        if read is not None:
            fields += read(r, member)
    r.position = saved
    r.variables.pop()
    known = {r.field_names[each] for each in fields}
    for assigned, term in r.properties[number].items() if _assignment_declares(r, bases) else ():
        if assigned not in known:
            fields.append(r.cell("field", assigned, 0, (NONE, term)))
    term = r.cell("class", qualname, number, (variables, bases, r.cell("members", kids=tuple(fields))))
    r.classes[number] = term
    return term


def _assignment_declares(r: TermReader, bases: int) -> bool:
    """Whether `this.name = …` declares a property: in TypeScript, a base must declare it."""
    return grammar_of(r.path) == "javascript" or bases == r.cell("bases")


def field(r: TermReader, name: str, flags: int, kind: int, value: int = NONE) -> int:
    term = r.cell("field", name, flags, (kind, value))
    r.field_names[term] = name
    return term


def decorations(r: TermReader, node: Node) -> bool:
    """Read the decorators of a definition, also those before it; return whether one comes from a package."""
    around, before = node.parent, node.prev_named_sibling
    found = node.children_by_field_name("decorator")
    while before is not None and before.type in ("decorator", "comment"):
        if before.type == "decorator":
            found.append(before)
        before = before.prev_named_sibling
    if around is not None and around.type == "export_statement":
        found += around.children_by_field_name("decorator")
    for child in found:
        r.read(child)
    return any(_is_from_package(r, child) for child in found)


def _is_from_package(r: TermReader, decorator: Node) -> bool:
    """Whether a decorator is imported by the name of a package: it may call what it decorates."""
    called = first_of(decorator)
    while called is not None and called.type in ("call_expression", "member_expression"):
        called = called.named_children[0]
    return called is not None and r.text(called) in r.from_packages


def _class_bases(r: TermReader, node: Node, definition: int) -> int:
    kids: list[int] = []
    heritage = next((child for child in node.named_children if child.type == "class_heritage"), None)
    for part in r.query.parts(heritage) if heritage is not None else ():
        if "interface" in part:
            kids.append(_base(r, r.type(part["interface"][0]), definition, node, implements=True))
        elif "base" in part:
            type_args = type_arguments(r, part["given"][0] if "given" in part else None)
            term = r.cell("extends", kids=(r.read(part["base"][0]), *type_args))
            kids.append(_base(r, term, definition, node, implements=False))
    return r.cell("bases", kids=tuple(kids))


def _base(r: TermReader, term: int, definition: int, node: Node, *, implements: bool) -> int:
    if definition >= 0:
        r.heritage.append(Heritage(definition, term, implements, r.line(node.start_byte)))
    return term


def method(r: TermReader, node: Node) -> list[int]:
    """A method, accessor or constructor with its body."""
    name = r.key(node.child_by_field_name("name"))
    words = {child.type for child in node.children}
    flags = STATIC if "static" in words else 0
    if name is None:
        decorations(r, node)
        function(r, node, EnclosingDefinition())
        return []
    saved_position = r.position
    named = EnclosingDefinition(*r.define(name, DefinitionKind.METHOD, node))
    r.position = saved_position._replace(origin=named.origin)
    registered = decorations(r, node)
    r.position = saved_position
    read = function(r, node, named, this=static_this(r) if flags else None)
    if registered:
        r.used(read.function, node, LISTED)
    if name == "constructor":
        saved = [field(r, stored, 0, kind) for stored, kind in read.stored]
        return [*saved, field(r, "constructor", 0, read.function)]
    if "get" in words:
        return [field(r, name, flags | GETTER, read.result)]
    if "set" in words:
        return []
    return [field(r, name, flags, read.function)]


def static_this(r: TermReader) -> int:
    return r.cell("static", n=r.position.owner)


def signature_member(r: TermReader, node: Node) -> list[int]:
    name = r.key(node.child_by_field_name("name"))
    if name is None:
        return []
    qualname, number = r.define(name, DefinitionKind.METHOD, node)
    flags = STATIC if any(child.type == "static" for child in node.children) else 0
    return [field(r, name, flags, signature(r, node, qualname, origin=number))]


def field_member(r: TermReader, node: Node) -> list[int]:
    decorations(r, node)
    name = r.key(node.child_by_field_name("name") or node.child_by_field_name("property"))
    written, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    flags = STATIC if any(child.type == "static" for child in node.children) else 0
    inner = unwrapped(value) if value is not None else None
    if name is not None and inner is not None and inner.type in FUNCTIONS:
        saved = r.position
        named = EnclosingDefinition(*r.define(name, DefinitionKind.METHOD, node))
        r.position = saved._replace(origin=named.origin)
        kind = r.type(written)
        r.position = saved
        this = static_this(r) if flags else None
        return [field(r, name, flags, kind, function(r, inner, named, kind, this).function)]
    kind = r.type(written)
    if value is None:
        return [field(r, name, flags, kind)] if name is not None else []
    term = r.read(value, kind)
    return [field(r, name, flags, kind, term)] if name is not None else []


def static_block(r: TermReader, node: Node) -> list[int]:
    for child in node.named_children:
        r.read(child)
    return []


CLASS_MEMBERS = {
    "method_definition": method,
    "method_signature": signature_member,
    "abstract_method_signature": signature_member,
    "public_field_definition": field_member,
    "field_definition": field_member,
    "class_static_block": static_block,
}


def interface(r: TermReader, node: Node, _: int) -> int:
    name = node.child_by_field_name("name")
    if name is None:
        return NONE
    saved = r.position
    text = r.text(name)
    qualname, number = r.define(text, DefinitionKind.INTERFACE, node)
    r.position = saved._replace(origin=number)
    variables = type_parameters(r, node.child_by_field_name("type_parameters"))
    bases: list[int] = []
    for part in r.query.parts(node):
        bases.append(_base(r, r.type(part["base"][0]), number, node, implements=False))
    r.inside(qualname, number)
    r.classes.append(NONE)
    own = len(r.classes) - 1
    r.properties.append({})
    r.position = r.position._replace(owner=own)
    body = node.child_by_field_name("body")
    fields = members(r, body) if body is not None else ()
    r.position = saved
    r.variables.pop()
    kids = (variables, r.cell("bases", kids=tuple(bases)), r.cell("members", kids=fields))
    term = r.cell("interface", qualname, own, kids)
    r.classes[own] = term
    r.bind_type(text, term)
    return NONE


def alias(r: TermReader, node: Node, _: int) -> int:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None or value is None:
        return NONE
    saved = r.position
    text = r.text(name)
    qualname, number = r.define(text, DefinitionKind.TYPE, node)
    r.position = saved._replace(origin=number)
    variables = type_parameters(r, node.child_by_field_name("type_parameters"))
    r.inside(qualname, number)
    term = r.type(value)
    r.position = saved
    r.variables.pop()
    r.bind_type(text, r.cell("alias", qualname, 0, (variables, term)))
    return NONE


def enum(r: TermReader, node: Node, _: int) -> int:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None:
        return NONE
    text = r.text(name)
    qualname, _number = r.define(text, DefinitionKind.ENUM, node)
    for member in body.named_children if body is not None else ():
        value = member.child_by_field_name("value")
        if value is not None:
            r.read(value)
    term = r.cell("enum", qualname)
    r.declare(text, term)
    r.declare(TYPE + text, term)
    return NONE
