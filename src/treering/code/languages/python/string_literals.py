"""String literals in syntax trees."""

from tree_sitter import Node

from treering.code.languages.syntax_nodes import text_of


def string_content(node: Node | None) -> str | None:
    """Return the text of a plain string literal."""
    if node is None or node.type != "string":
        return None
    inside = node.named_children
    if any(part.type == "interpolation" for part in inside):
        return None
    return "".join(text_of(part) for part in inside if part.type == "string_content")
