"""Conversion of types, patterns and paths to nodes."""

import re
from collections.abc import Callable, Iterable

from tree_sitter import Node

from treering.code.languages.rust.body import HOLE, RustNode
from treering.code.languages.syntax_nodes import first_of, text_of

MAX_DEPTH = 100
"""Deeper nesting is dropped: it would exhaust the stack, and handwritten code never reaches it."""

_SPACE = re.compile(r"\s+")
_INNER_TYPES = ("reference_type", "pointer_type", "higher_ranked_trait_bound", "parenthesized_type", "parameter")
_BOUND_TYPES = frozenset({"dynamic_type", "abstract_type", "bounded_type", "trait_bounds"})
_NAME_TYPES = ("type_identifier", "primitive_type", "identifier", "metavariable", "self", "crate", "super")
_NO_TYPES = frozenset(
    {"lifetime", "removed_trait_bound", "block", "mutable_specifier", "line_comment", "block_comment"}
)
_WRAPPING_PATTERNS = frozenset({"mut_pattern", "ref_pattern", "reference_pattern", "parenthesized_pattern"})
_PATTERN_LISTS = {"tuple_pattern": "ptuple", "or_pattern": "por", "slice_pattern": "pslice"}

WILD = RustNode("pwild")
REST = RustNode("prest")


def without_whitespace(tree: Node) -> str:
    return _SPACE.sub(" ", text_of(tree)).strip()


def path_text(tree: Node | None, depth: int = 0) -> str:
    """Return a path without type arguments; a qualified type counts as its own path."""
    if tree is None or depth > MAX_DEPTH:
        return ""
    if tree.type in {"scoped_identifier", "scoped_type_identifier"}:
        last = tree.child_by_field_name("name")
        before = tree.child_by_field_name("path")
        return f"{path_text(before, depth + 1)}::{text_of(last)}"
    if tree.type in {"generic_type", "generic_function", "generic_type_with_turbofish"}:
        return path_text(tree.child_by_field_name("type") or tree.child_by_field_name("function"), depth + 1)
    if tree.type in {"bracketed_type", "qualified_type"}:
        inner = tree.child_by_field_name("type") or first_of(tree)
        return path_text(inner, depth + 1)
    return text_of(tree).strip()


def type_node(tree: Node | None, depth: int = 0) -> RustNode:
    """Convert a type as written; references are dropped, and an inferred type becomes a hole."""
    if tree is None or depth > MAX_DEPTH:
        return HOLE
    reader = _TYPE_READERS.get(tree.type)
    return reader(tree, depth + 1) if reader is not None else HOLE


def _named_type(tree: Node, depth: int) -> RustNode:
    name = text_of(tree)
    return HOLE if name == "_" else RustNode("tpath", name)


def _generic_type(tree: Node, depth: int) -> RustNode:
    return RustNode("tpath", path_text(tree), type_nodes(tree.child_by_field_name("type_arguments"), depth))


def _scoped_type(tree: Node, depth: int) -> RustNode:
    before = tree.child_by_field_name("path")
    if before is not None and before.type == "bracketed_type":
        return RustNode("tqual", path_text(tree.child_by_field_name("name")), (_qualified(before, depth),))
    return RustNode("tpath", path_text(tree))


def _inner_type(tree: Node, depth: int) -> RustNode:
    return type_node(tree.child_by_field_name("type") or _last_named(tree), depth)


def _bound_type(tree: Node, depth: int) -> RustNode:
    return RustNode("tbounds", "", _bounds(tree, depth))


def _tuple_type(tree: Node, depth: int) -> RustNode:
    return RustNode("ttuple", "", type_nodes(tree, depth))


def _array_type(tree: Node, depth: int) -> RustNode:
    return RustNode("tpath", "Vec", (type_node(tree.child_by_field_name("element"), depth),))


def _function_type(tree: Node, depth: int) -> RustNode:
    parameters = type_nodes(tree.child_by_field_name("parameters"), depth)
    return RustNode("tfn", "", (type_node(tree.child_by_field_name("return_type"), depth), *parameters))


def _type_binding(tree: Node, depth: int) -> RustNode:
    bound = type_node(tree.child_by_field_name("type"), depth)
    return RustNode("tbind", path_text(tree.child_by_field_name("name")), (bound,))


_TYPE_READERS: dict[str, Callable[[Node, int], RustNode]] = {
    **dict.fromkeys(_NAME_TYPES, _named_type),
    **dict.fromkeys(_INNER_TYPES, _inner_type),
    **dict.fromkeys(_BOUND_TYPES, _bound_type),
    "generic_type": _generic_type,
    "scoped_type_identifier": _scoped_type,
    "scoped_identifier": _scoped_type,
    "tuple_type": _tuple_type,
    "unit_type": _tuple_type,
    "array_type": _array_type,
    "function_type": _function_type,
    "type_binding": _type_binding,
}


def type_nodes(tree: Node | None, depth: int = 0) -> tuple[RustNode, ...]:
    """Convert a list of types; lifetimes and constants are skipped."""
    if tree is None:
        return ()
    return tuple(type_node(child, depth) for child in tree.named_children if child.type not in _NO_TYPES)


def bounds(tree: Node | None) -> tuple[RustNode, ...]:
    return _bounds(tree, 0) if tree is not None else ()


def _bounds(tree: Node, depth: int) -> tuple[RustNode, ...]:
    if depth > MAX_DEPTH:
        return ()
    found: list[RustNode] = []
    for child in tree.named_children:
        if child.type in _NO_TYPES:
            continue
        if child.type in _BOUND_TYPES:
            found.extend(_bounds(child, depth + 1))
        else:
            found.append(type_node(child, depth + 1))
    return tuple(found)


def _qualified(tree: Node, depth: int) -> RustNode:
    """`<T as Trait>` by its type, with the trait as its only part."""
    inner = first_of(tree)
    if inner is None:
        return HOLE
    if inner.type != "qualified_type":
        return type_node(inner, depth)
    alias = type_node(inner.child_by_field_name("alias"), depth)
    return RustNode("tas", "", (type_node(inner.child_by_field_name("type"), depth), alias))


def qualified(tree: Node) -> RustNode:
    return _qualified(tree, 0)


def _last_named(tree: Node) -> Node | None:
    children = tree.named_children
    return children[-1] if children else None


def generics(tree: Node) -> tuple[RustNode, ...]:
    """Return the type parameters of an item, each with its bounds and its default; `where` clauses come last."""
    found: list[RustNode] = []
    parameters = tree.child_by_field_name("type_parameters")
    for child in parameters.named_children if parameters is not None else ():
        if child.type == "type_parameter":
            name = path_text(child.child_by_field_name("name"))
            found.append(RustNode("tparam", name, _bounds_of(child)))
            default = child.child_by_field_name("default_type")
            if default is not None:
                found.append(RustNode("tdefault", name, (type_node(default),)))
    for child in tree.named_children:
        if child.type == "where_clause":
            found.extend(
                RustNode("twhere", path_text(predicate.child_by_field_name("left")), _bounds_of(predicate))
                for predicate in child.named_children
                if predicate.type == "where_predicate"
            )
    return tuple(found)


def _bounds_of(tree: Node) -> tuple[RustNode, ...]:
    return bounds(tree.child_by_field_name("bounds"))


def pattern_node(tree: Node | None, depth: int = 0) -> RustNode:
    """Convert a pattern; one without names and parts becomes a wildcard."""
    if tree is None or depth > MAX_DEPTH:
        return WILD
    reader = _PATTERN_READERS.get(tree.type)
    return reader(tree, depth + 1) if reader is not None else WILD


def _name_pattern(tree: Node, depth: int) -> RustNode:
    """A name is a binding unless it is spelled like a constant or a variant."""
    name = text_of(tree)
    return RustNode("ppath" if name[:1].isupper() else "pbind", name)


def _path_pattern(tree: Node, depth: int) -> RustNode:
    return RustNode("ppath", path_text(tree))


def _wrapped_pattern(tree: Node, depth: int) -> RustNode:
    return pattern_node(_last_named(tree), depth)


def _listed_pattern(tree: Node, depth: int) -> RustNode:
    return RustNode(_PATTERN_LISTS[tree.type], "", _patterns(tree.named_children, depth))


def _tuple_struct_pattern(tree: Node, depth: int) -> RustNode:
    constructor = tree.child_by_field_name("type")
    fields = [child for child in tree.named_children if child != constructor]
    return RustNode("pcall", path_text(constructor), _patterns(fields, depth))


def _struct_pattern(tree: Node, depth: int) -> RustNode:
    fields = [child for child in tree.named_children if child.type == "field_pattern"]
    return RustNode(
        "pstruct", path_text(tree.child_by_field_name("type")), tuple(_field_pattern(child, depth) for child in fields)
    )


def _captured_pattern(tree: Node, depth: int) -> RustNode:
    children = tree.named_children
    return RustNode("pbind", text_of(children[0]), (pattern_node(children[-1], depth),)) if len(children) > 1 else WILD


_PATTERN_READERS: dict[str, Callable[[Node, int], RustNode]] = {
    **dict.fromkeys(("identifier", "shorthand_field_identifier", "self"), _name_pattern),
    **dict.fromkeys(("scoped_identifier", "generic_pattern"), _path_pattern),
    **dict.fromkeys(_WRAPPING_PATTERNS, _wrapped_pattern),
    **dict.fromkeys(_PATTERN_LISTS, _listed_pattern),
    "tuple_struct_pattern": _tuple_struct_pattern,
    "struct_pattern": _struct_pattern,
    "captured_pattern": _captured_pattern,
    "remaining_field_pattern": lambda tree, depth: REST,
}


def _field_pattern(tree: Node, depth: int) -> RustNode:
    name = tree.child_by_field_name("name")
    inside = tree.child_by_field_name("pattern")
    field = text_of(name)
    return RustNode("pfield", field, (pattern_node(inside, depth) if inside is not None else RustNode("pbind", field),))


def _patterns(trees: Iterable[Node], depth: int) -> tuple[RustNode, ...]:
    return tuple(pattern_node(tree, depth) for tree in trees if tree.type not in {"line_comment", "block_comment"})
