"""Import and export statements, and JSX."""

from tree_sitter import Node

from treering.code.facts import DefinitionKind
from treering.code.languages.typescript.annotations import type_arguments
from treering.code.languages.typescript.classes import class_term
from treering.code.languages.typescript.functions import FUNCTIONS, EnclosingDefinition, function, unwrapped
from treering.code.languages.typescript.query_parts import Part
from treering.code.languages.typescript.reader import Handler, TermReader
from treering.code.languages.typescript.terms import COMMONJS, NAMED, NAMESPACE, NONE, TYPE


def _specifier(r: TermReader, parts: list[Part]) -> str | None:
    return next((r.string(part["source"][0]) for part in parts if "source" in part), None)


def _export_of(r: TermReader, specifier: str, name: str) -> int:
    return r.cell("import", specifier, NAMED, (r.cell("word", name),))


def _bind_import(r: TermReader, local: str, specifier: str, name: str) -> None:
    if not specifier.startswith("."):
        r.from_packages.add(local)
    r.declare(local, _export_of(r, specifier, name))
    r.bind_type(local, _export_of(r, specifier, TYPE + name))


def import_statement(r: TermReader, node: Node, _: int) -> int:
    r.module = True
    parts = r.query.parts(node)
    specifier = _specifier(r, parts)
    if specifier is None:
        return NONE
    for part in parts:
        if "name" in part:
            name, local = _renamed(r, part)
            _bind_import(r, local, specifier, name)
        elif "default" in part:
            _bind_import(r, r.text(part["default"][0]), specifier, "default")
        elif "namespace" in part:
            r.declare(r.text(part["namespace"][0]), r.cell("import", specifier, NAMESPACE))
        elif "required" in part:
            r.declare(r.text(part["required"][0]), r.cell("import", specifier, COMMONJS))
    r.imported(specifier, node)
    return NONE


def _renamed(r: TermReader, part: Part) -> tuple[str, str]:
    """Return the original name of an imported or exported name, and its alias."""
    name = part["name"][0]
    text = r.string(name) or r.text(name)
    alias = part["alias"][0] if "alias" in part else None
    return text, text if alias is None else r.string(alias) or r.text(alias)


def import_alias(r: TermReader, node: Node, _: int) -> int:
    """`import name = Space.inner`."""
    children = node.named_children
    if len(children) > 1:
        local, target = r.text(children[0]), r.text(children[1])
        term = r.name(target.split(".")[0])
        for part in target.split(".")[1:]:
            term = r.cell("member", part, 0, (term,))
        r.declare(local, term)
        r.bind_type(local, r.cell("declared", target, r.position.scope))
    return NONE


def export_statement(r: TermReader, node: Node, _: int) -> int:
    r.module = r.module or r.position.scope == 0
    parts = r.query.parts(node)
    specifier = _specifier(r, parts)
    if specifier is not None:
        r.imported(specifier, node)
        _reexport(r, parts, specifier)
        return NONE
    captures = {what: found[0] for part in parts for what, found in part.items()}
    if "declaration" in captures:
        saved, r.exporting = r.exporting, r.position.scope
        term = r.read(captures["declaration"])
        r.exporting = saved
        if "default" in captures:
            _export_default(r, captures["declaration"], term)
    elif "value" in captures:
        _export_default(r, captures["value"], _default(r, captures["value"]))
    elif "name" in captures:
        _export_list(r, parts)
    else:
        _export_assigned(r, node)
    return NONE


def _default(r: TermReader, node: Node) -> int:
    """An anonymous export is called `default`."""
    inner = unwrapped(node)
    if inner.type in FUNCTIONS and inner.child_by_field_name("name") is None:
        return function(r, inner, EnclosingDefinition(*r.define("default", DefinitionKind.FUNCTION, node))).function
    if inner.type == "class" and inner.child_by_field_name("name") is None:
        return class_term(r, inner, "default")
    term = r.read(node)
    r.not_used(term)
    return term


def _export_default(r: TermReader, node: Node, term: int) -> None:
    name = node.child_by_field_name("name") if node.type.endswith("_declaration") else None
    if name is not None:
        text = r.text(name)
        for kind in ("", TYPE):
            r.sink.pop(kind + text, None)
        r.sink["default"] = r.name(text)
        r.sink[TYPE + "default"] = r.cell("declared", text, r.position.scope)
        return
    r.sink["default"] = term
    if node.type == "identifier":
        r.sink[TYPE + "default"] = r.cell("declared", r.text(node), r.position.scope)
    elif node.type == "class":
        r.sink[TYPE + "default"] = term


def _reexport(r: TermReader, parts: list[Part], specifier: str) -> None:
    for part in parts:
        if "name" in part:
            name, exported = _renamed(r, part)
            r.sink[exported] = _export_of(r, specifier, name)
            r.sink[TYPE + exported] = _export_of(r, specifier, TYPE + name)
        elif "everything" in part:
            r.stars.append(specifier)
        elif "namespace" in part:
            title = part["namespace"][0]
            r.sink[r.string(title) or r.text(title)] = r.cell("import", specifier, NAMESPACE)


def _export_list(r: TermReader, parts: list[Part]) -> None:
    for part in parts:
        if "name" in part:
            name, exported = _renamed(r, part)
            r.sink[exported] = r.name(name)
            r.sink[TYPE + exported] = r.cell("declared", name, r.position.scope)


def _export_assigned(r: TermReader, node: Node) -> None:
    """`export = …`."""
    for child in node.named_children:
        if child.type not in ("comment", "decorator", "export_clause"):
            term = r.read(child)
            r.sink["="] = term
            r.sink[TYPE + "="] = (
                r.cell("declared", r.text(child), r.position.scope) if child.type == "identifier" else term
            )


def jsx_element(r: TermReader, node: Node, _: int) -> int:
    for child in node.named_children:
        if child.type == "jsx_opening_element":
            _component(r, child)
        elif child.type not in ("jsx_closing_element", "jsx_text"):
            r.read(child)
    return r.cell("outside")


def jsx_self_closing(r: TermReader, node: Node, _: int) -> int:
    _component(r, node)
    return r.cell("outside")


def _component(r: TermReader, node: Node) -> None:
    """Using a component calls it with its attributes; a lower-case name is an HTML element."""
    name = node.child_by_field_name("name")
    properties = NONE
    if name is not None and (name.type == "member_expression" or r.text(name)[:1].isupper()):
        target = r.read(name)
        r.not_used(target)
        type_args = r.cell("arguments", kids=type_arguments(r, node.child_by_field_name("type_arguments")))
        properties = r.cell("argument", "", 0, (target, type_args, NONE))
        r.called(r.cell("call", "jsx", 0, (target, type_args, NONE)), node, passes=True, used=True)
    for attribute in node.children_by_field_name("attribute"):
        children = attribute.named_children
        if attribute.type == "jsx_attribute" and len(children) > 1:
            attribute_type = r.cell("member", r.text(children[0]), 0, (properties,)) if properties != NONE else NONE
            value = children[1]
            if value.type == "jsx_expression":
                for inner in value.named_children:
                    r.read(inner, attribute_type)
            elif value.type != "string":
                r.read(value)
        elif attribute.type == "jsx_expression":
            r.read(attribute)


MODULES: dict[str, Handler] = {
    "import_statement": import_statement,
    "import_alias": import_alias,
    "export_statement": export_statement,
    "jsx_element": jsx_element,
    "jsx_self_closing_element": jsx_self_closing,
}
