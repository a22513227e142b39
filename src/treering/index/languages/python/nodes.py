"""Small questions to syntax nodes."""

from tree_sitter import Node


def first_of(node: Node) -> Node | None:
    return node.named_child(0) if node.named_child_count else None


def text_of(node: Node | None) -> str:
    text = None if node is None else node.text
    return "" if text is None else text.decode(errors="replace")


def string_content(node: Node | None) -> str | None:
    """The text of a plain string literal."""
    if node is None or node.type != "string":
        return None
    inside = node.named_children
    if any(part.type == "interpolation" for part in inside):
        return None
    return "".join(text_of(part) for part in inside if part.type == "string_content")
