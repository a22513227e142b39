"""Text spans of a file: the contents of strings and comments, in all languages."""

from collections.abc import Iterator, Sequence

from tree_sitter import Tree

from treering.code.facts import Span

TEXTS = frozenset({
    "string_content", "string_fragment", "interpreted_string_literal_content", "raw_string_literal_content",
    "comment", "line_comment", "block_comment", "html_comment", "jsx_text", "regex_pattern", "hash_bang_line", "ERROR",
})  # fmt: skip
"""Nodes that contain no code. ERROR nodes are not among them: code cannot be ruled out there."""


def text_spans_in(tree: Tree, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield the parts of `spans`, in bytes, that are text."""
    waiting = [(tree.root_node, spans)]
    while waiting:
        node, wanted = waiting.pop()
        start, end = node.start_byte, node.end_byte
        within = [(max(start, first), min(end, last)) for first, last in wanted if first < end and start < last]
        if within and node.type in TEXTS:
            yield from within
        elif within:
            waiting.extend((child, within) for child in node.children)
