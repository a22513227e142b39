"""Conversion of items to declarations: functions, types, traits, implementations, modules, uses, macros."""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from tree_sitter import Node, Parser

from treering.code.facts import Definition, DefinitionKind, EntryPoint
from treering.code.languages.line_index import LineIndex
from treering.code.languages.rust.attributes import (
    derived,
    deriving,
    first_string,
    has_word,
    path_attribute,
    with_attributes,
)
from treering.code.languages.rust.body import (
    FUNCTION_MARK,
    HOLE,
    MACRO_USE,
    Declaration,
    RustItem,
    RustNode,
    inner_scope,
    qualname,
)
from treering.code.languages.rust.cfg_conditions import is_excluded
from treering.code.languages.rust.expressions import RustExpressions, parameter_node
from treering.code.languages.rust.standard_library import TRANSPARENT
from treering.code.languages.rust.syntax_conversion import (
    MAX_DEPTH,
    bounds,
    generics,
    path_text,
    type_node,
    without_whitespace,
)
from treering.code.languages.rust.use_trees import flatten_use_tree
from treering.code.languages.syntax_nodes import text_of

Result = TypeVar("Result")

POINTER = "*const"
"""Name under which the members of `impl Trait for *const T` are stored; no other type has them."""
BLANKET = "*"
"""Name under which the members of `impl<T> Trait for T` are stored."""

_DEFINED = {
    "fn": DefinitionKind.FUNCTION,
    "struct": DefinitionKind.CLASS,
    "enum": DefinitionKind.ENUM,
    "trait": DefinitionKind.TRAIT,
    "type": DefinitionKind.TYPE,
    "const": DefinitionKind.CONSTANT,
    "macro": DefinitionKind.FUNCTION,
}
_CALL_IN_MACRO = re.compile(r"(?<![\w:])(crate(?:::\w++)++)\s*+\(")
"""A call in the rules of a macro by a path from the root: other names mean what they mean where it is used."""
_ENTRIES = {"main": EntryPoint.MAIN, "route": EntryPoint.ROUTE, "command": EntryPoint.COMMAND}


def calls_in_macro(text: str) -> tuple[str, ...]:
    """Return the distinct paths that the rules of a macro call."""
    return tuple(dict.fromkeys(_CALL_IN_MACRO.findall(text)))


class ItemReader:
    """Reads a file's items in order; `mark` classifies attributes as test or entry point."""

    def __init__(self, parser: Parser, mark: Callable[[Node], str], lines: LineIndex) -> None:
        self.items: list[RustItem] = []
        self.definitions: list[Definition] = []
        self._mark = mark
        self._scope = ""
        self._left_out: list[RustItem] = []
        self._header: Declaration | None = None
        self._expressions = RustExpressions(parser, self._nested, lines)
        self._readers: dict[str, Callable[[Node, list[Node], Declaration | None, int], None]] = {
            "function_item": self._function,
            "function_signature_item": self._function,
            "struct_item": self._struct,
            "union_item": self._struct,
            "enum_item": self._enum,
            "trait_item": self._trait,
            "impl_item": self._impl,
            "mod_item": self._module,
            "use_declaration": self._use,
            "extern_crate_declaration": self._extern_crate,
            "const_item": self._constant,
            "static_item": self._constant,
            "type_item": self._type,
            "associated_type": self._type,
            "macro_definition": self._macro,
            "macro_invocation": self._invocation,
            "expression_statement": self._invocation,
            "foreign_mod_item": self._foreign,
        }

    def read(self, trees: Iterable[Node], header: Declaration | None, depth: int) -> None:
        """Read every item among the trees with the attributes before it."""
        if depth > MAX_DEPTH:
            return
        attributes: list[Node] = []
        for tree in trees:
            kind = tree.type
            if kind == "attribute_item":
                attributes.append(tree)
                continue
            reader = self._readers.get(kind)
            if reader is not None:
                place = len(self.items)
                reader(tree, attributes, header, depth)
                if any(is_excluded(text_of(attribute)) for attribute in attributes):
                    self._left_out += self.items[place:]
                    del self.items[place:]
            elif kind == "ERROR":
                self.read(tree.named_children, header, depth + 1)
            if kind not in {"line_comment", "block_comment"}:
                attributes = []

    def in_order(self) -> tuple[RustItem, ...]:
        """Return all items; those excluded on the reference platform come last, after their alternatives."""
        return (*self.items, *self._left_out)

    def _nested(self, tree: Node, depth: int) -> None:
        self.read(with_attributes(tree), self._header, depth + 1)

    def _inside(self, scope: str, header: Declaration | None, read: Callable[[], Result]) -> Result:
        """Read with nested items placed in this scope, as members of the declaration `header`."""
        before = self._scope, self._header
        self._scope, self._header = scope, header
        result = read()
        self._scope, self._header = before
        return result

    def _add(
        self, tree: Node, decl: Declaration, params: tuple[RustNode, ...] = (), body: RustNode | None = None
    ) -> None:
        self.items.append(RustItem(decl, self._expressions.line_of(tree), params, body))

    def _define(self, tree: Node, decl: Declaration, attributes: Iterable[Node] = ()) -> None:
        if not decl.name:
            return
        kind = DefinitionKind.METHOD if decl.kind == "fn" and decl.header else _DEFINED[decl.kind]
        marks = {self._mark(attribute): attribute for attribute in attributes} if decl.kind == "fn" else {}
        entry = next((found for mark, found in _ENTRIES.items() if mark in marks), None)
        if entry is None and decl.kind == "fn" and decl.name == "main" and not decl.scope and not decl.header:
            entry = EntryPoint.MAIN
        self.definitions.append(
            Definition(
                qualname(decl),
                kind,
                self._expressions.line_of(tree),
                self._expressions.last_line_of(tree),
                decl.public,
                "test" in marks,
                entry,
                first_string(marks["route"]) if "route" in marks else None,
            )
        )

    def _function(self, tree: Node, attributes: list[Node], header: Declaration | None, depth: int) -> None:
        name = path_text(tree.child_by_field_name("name"))
        listed = tree.child_by_field_name("parameters")
        read = [
            parameter_node(child)
            if child.type == "parameter"
            else RustNode("param", "", (RustNode("pbind", "self"), HOLE))
            for child in (listed.named_children if listed is not None else ())
            if child.type in {"parameter", "self_parameter"}
        ]
        takes_self = bool(read) and read[0].parts[0].name == "self"
        params = tuple(read[1:] if takes_self else read)
        result = tree.child_by_field_name("return_type")
        types = (type_node(result) if result is not None else RustNode("ttuple"), *(param.parts[1] for param in params))
        decl = Declaration(
            "fn",
            name,
            self._scope,
            _is_public(tree) or _is_visible(header),
            "self" if takes_self else "",
            generics(tree),
            types,
            "",
            header,
        )
        self._define(tree, decl, attributes)
        for derived_name in deriving(attributes):
            self._add(tree, Declaration("derive", derived_name, self._scope, text=name))
        body = tree.child_by_field_name("body")
        place = len(self.items)
        owner = f"{header.text}." if header else ""

        scope = inner_scope(self._scope, f"{owner}{name}{FUNCTION_MARK}")
        read_body = (
            self._inside(scope, None, lambda: self._expressions.read(body, depth + 1)) if body is not None else None
        )
        self.items.insert(place, RustItem(decl, self._expressions.line_of(tree), params, read_body))

    def _struct(self, tree: Node, attributes: list[Node], header: Declaration | None, depth: int) -> None:
        body = tree.child_by_field_name("body")
        fields, shape = _fields(body)
        self._declare(tree, attributes, "struct", flag=shape, types=fields)

    def _enum(self, tree: Node, attributes: list[Node], header: Declaration | None, depth: int) -> None:
        body = tree.child_by_field_name("body")
        variants = tuple(
            RustNode(
                "variant", path_text(child.child_by_field_name("name")), _fields(child.child_by_field_name("body"))[0]
            )
            for child in (body.named_children if body is not None else ())
            if child.type == "enum_variant"
        )
        self._declare(tree, attributes, "enum", types=variants)

    def _trait(self, tree: Node, attributes: list[Node], header: Declaration | None, depth: int) -> None:
        name = path_text(tree.child_by_field_name("name"))
        decl = self._declare(tree, attributes, "trait", types=bounds(tree.child_by_field_name("bounds")), text_=name)
        self._members(tree, decl, depth)

    def _impl(self, tree: Node, attributes: list[Node], header: Declaration | None, depth: int) -> None:
        written = tree.child_by_field_name("type")
        trait = tree.child_by_field_name("trait")
        if written is None:
            return
        parameters = generics(tree)
        itself = type_node(written)
        bare = path_text(written) if written.type == "generic_type" else without_whitespace(written)
        types = (itself, type_node(trait)) if trait is not None else (itself,)
        pointer = written.type == "pointer_type"
        key = POINTER if pointer else _implemented_name(itself, {parameter.name for parameter in parameters})
        decl = Declaration("impl", key, self._scope, trait is not None, "", parameters, types, bare)
        self._add(tree, decl)
        self._members(tree, decl, depth)

    def _members(self, tree: Node, header: Declaration, depth: int) -> None:
        body = tree.child_by_field_name("body")
        if body is not None:
            self.read(body.named_children, header, depth + 1)

    def _module(self, tree: Node, attributes: list[Node], header: Declaration | None, depth: int) -> None:
        name = path_text(tree.child_by_field_name("name"))
        body = tree.child_by_field_name("body")
        file = next((path for path in map(path_attribute, attributes) if path), "")
        flag = "inline" if body is not None else "file"
        if has_word(attributes, b"macro_use"):
            flag += MACRO_USE
        self._add(tree, Declaration("mod", name, self._scope, _is_public(tree), flag, text=file))
        if body is not None:
            self._inside(inner_scope(self._scope, name), None, lambda: self.read(body.named_children, None, depth + 1))

    def _use(self, tree: Node, attributes: list[Node], header: Declaration | None, depth: int) -> None:
        public = _is_public(tree)
        for name, path in flatten_use_tree(tree.child_by_field_name("argument"), ""):
            kind = "glob" if name == "*" else "use"
            self._add(tree, Declaration(kind, name, self._scope, public, text=path))

    def _extern_crate(self, tree: Node, attributes: list[Node], header: Declaration | None, depth: int) -> None:
        name = path_text(tree.child_by_field_name("name"))
        alias = tree.child_by_field_name("alias")
        bound = path_text(alias) if alias is not None else name
        macros = has_word(attributes, b"macro_use")
        flag = f"crate{MACRO_USE if macros else ''}"
        self._add(tree, Declaration("use", bound, self._scope, _is_public(tree), flag, text=f"::{name}"))

    def _constant(self, tree: Node, attributes: list[Node], header: Declaration | None, depth: int) -> None:
        types = (type_node(tree.child_by_field_name("type")),)
        value = self._expressions.read(tree.child_by_field_name("value"), depth + 1)
        self._declare(tree, attributes, "const", types=types, header=header, body=value)

    def _type(self, tree: Node, attributes: list[Node], header: Declaration | None, depth: int) -> None:
        aliased = tree.child_by_field_name("type")
        known = (
            type_node(aliased)
            if aliased is not None
            else RustNode("tbounds", "", bounds(tree.child_by_field_name("bounds")))
        )
        self._declare(tree, attributes, "type", types=(known,), header=header)

    def _macro(self, tree: Node, attributes: list[Node], header: Declaration | None, depth: int) -> None:
        exported = has_word(attributes, b"macro_export")
        line = self._expressions.line_of(tree)
        calls = calls_in_macro(text_of(tree))
        body = RustNode("block", "", tuple([RustNode("call", "", (RustNode("path", path),), line) for path in calls]))
        self._declare(tree, attributes, "macro", flag="export" if exported else "", body=body, public=exported)

    def _invocation(self, tree: Node, attributes: list[Node], header: Declaration | None, depth: int) -> None:
        if text_of(tree).startswith("automod::dir!"):
            self._add(tree, Declaration("glob", "*", self._scope, flag="directory"))
            return
        place = len(self.items)
        body = self._inside(self._scope, header, lambda: self._expressions.read(tree, depth + 1))
        self.items.insert(
            place, RustItem(Declaration("code", "", self._scope), self._expressions.line_of(tree), (), body)
        )

    def _foreign(self, tree: Node, attributes: list[Node], header: Declaration | None, depth: int) -> None:
        body = tree.child_by_field_name("body")
        if body is not None:
            self.read(body.named_children, None, depth + 1)

    def _declare(
        self,
        tree: Node,
        attributes: list[Node],
        kind: str,
        *,
        flag: str = "",
        types: tuple[RustNode, ...] = (),
        text_: str = "",
        header: Declaration | None = None,
        body: RustNode | None = None,
        public: bool = False,
    ) -> Declaration:
        name = path_text(tree.child_by_field_name("name"))
        seen = public or _is_public(tree) or _is_visible(header)
        decl = Declaration(kind, name, self._scope, seen, flag, generics(tree), types, text_, header)
        self._define(tree, decl, attributes)
        self._add(tree, decl, (), body)
        for trait in derived(attributes) if kind in {"struct", "enum"} else ():
            itself = RustNode(
                "tpath", name, tuple(RustNode("tpath", node.name) for node in decl.generics if node.kind == "tparam")
            )
            self._add(
                tree,
                Declaration(
                    "impl", name, self._scope, True, "derive", decl.generics, (itself, RustNode("tpath", trait)), name
                ),
            )
        return decl


def _is_public(tree: Node) -> bool:
    return any(child.type == "visibility_modifier" for child in tree.children[:3])


def _is_visible(header: Declaration | None) -> bool:
    """Members of a trait, and of its implementations, are as visible as the trait."""
    return header is not None and header.public


def _fields(body: Node | None) -> tuple[tuple[RustNode, ...], str]:
    if body is None:
        return (), "unit"
    if body.type == "ordered_field_declaration_list":
        types = body.children_by_field_name("type")
        return tuple(RustNode("fielddecl", str(place), (type_node(tree),)) for place, tree in enumerate(types)), "tuple"
    named = [child for child in body.named_children if child.type == "field_declaration"]
    return tuple(
        RustNode(
            "fielddecl", path_text(child.child_by_field_name("name")), (type_node(child.child_by_field_name("type")),)
        )
        for child in named
    ), "named"


def _implemented_name(itself: RustNode, parameters: set[str]) -> str:
    """Return the name under which the members of an implementation are stored: the last segment of its self type.

    Pointers are dereferenced; an implementation for `Box<T>` does not apply to every `T`.
    """
    last = itself.name.rpartition("::")[2]
    if itself.kind == "tpath" and itself.parts and last in TRANSPARENT:
        inside = _implemented_name(itself.parts[0], parameters)
        return last if inside == BLANKET else inside
    if itself.kind == "tpath":
        return BLANKET if itself.name in parameters else last
    if itself.kind == "tbounds" and itself.parts:
        return itself.parts[0].name.rpartition("::")[2]
    return itself.kind
