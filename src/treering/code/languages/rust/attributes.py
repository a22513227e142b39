"""Attributes of items: derived traits, module paths, and names of entry points."""

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from treering.code.languages.rust.syntax_conversion import path_text
from treering.code.languages.syntax_nodes import first_of, text_of

_DERIVE = re.compile(r"#\s*\[\s*derive\s*\(([^)]*)\)")
_DERIVING = re.compile(r"#\s*\[\s*proc_macro_derive\s*\(\s*(\w+)")
_STANDARD_DERIVES = frozenset({"Debug", "Clone", "Copy", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash", "Default"})


def with_attributes(tree: Node) -> Iterator[Node]:
    before: list[Node] = []
    sibling = tree.prev_named_sibling
    while sibling is not None and sibling.type == "attribute_item":
        before.append(sibling)
        sibling = sibling.prev_named_sibling
    yield from reversed(before)
    yield tree


def derived(attributes: Iterable[Node]) -> Iterator[str]:
    """Yield the traits that `#[derive(…)]` implements, except those of the standard library."""
    for attribute in attributes:
        matched = _DERIVE.match(text_of(attribute))
        for name in matched.group(1).split(",") if matched else ():
            trait = "".join(name.split())
            if trait and trait not in _STANDARD_DERIVES:
                yield trait


def deriving(attributes: Iterable[Node]) -> Iterator[str]:
    """Yield the names in `#[derive(…)]` that run the function with these attributes."""
    for attribute in attributes:
        if matched := _DERIVING.match(text_of(attribute)):
            yield matched.group(1)


def path_attribute(attribute: Node) -> str:
    inner = first_of(attribute)
    value = inner.child_by_field_name("value") if inner is not None else None
    if inner is None or value is None or path_text(inner.named_children[0]) != "path":
        return ""
    return first_string(attribute) or ""


def first_string(attribute: Node) -> str | None:
    pending = list(attribute.named_children)
    while pending:
        tree = pending.pop(0)
        if tree.type == "string_content":
            return text_of(tree)
        pending[:0] = tree.named_children
    return None


def has_word(attributes: Iterable[Node], word: bytes) -> bool:
    return any(word in (attribute.text or b"") for attribute in attributes)
