"""Use trees flattened into the names they bind."""

from collections.abc import Iterator

from tree_sitter import Node

from treering.code.languages.rust.syntax_conversion import MAX_DEPTH, path_text
from treering.code.languages.syntax_nodes import first_of


def flatten_use_tree(tree: Node | None, prefix: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield every name that a use tree binds with its path; a glob binds `*`."""
    if tree is None or depth > MAX_DEPTH:
        return
    if tree.type == "use_list":
        for child in tree.named_children:
            yield from flatten_use_tree(child, prefix, depth + 1)
    elif tree.type == "scoped_use_list":
        before = _joined(prefix, path_text(tree.child_by_field_name("path")))
        yield from flatten_use_tree(tree.child_by_field_name("list"), before, depth + 1)
    elif tree.type == "use_wildcard":
        inner = first_of(tree)
        yield "*", _joined(prefix, path_text(inner))
    elif tree.type == "use_as_clause":
        path = _joined(prefix, path_text(tree.child_by_field_name("path")))
        yield path_text(tree.child_by_field_name("alias")), path
    elif tree.type not in {"line_comment", "block_comment"}:
        path = _joined(prefix, path_text(tree))
        yield path.rpartition("::")[2], path


def _joined(prefix: str, path: str) -> str:
    if prefix and path == "self":
        return prefix
    return f"{prefix}::{path}" if prefix and path else prefix or path
