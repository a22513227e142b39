"""Helpers for syntax nodes, shared by all languages."""

from collections.abc import Iterable
from operator import attrgetter

from tree_sitter import Node

from treering.code.facts import SyntaxProblem
from treering.code.languages.line_index import LineIndex

MAX_PROBLEMS = 20
"""Enough to show that a file is broken."""


def text_of(node: Node | None) -> str:
    text = None if node is None else node.text
    return text.decode("utf-8", "replace") if text else ""


def is_written(node: Node | None, text: str) -> bool:
    """Whether a node has this text; the text of a longer one, such as a chain of calls, is not read."""
    return node is not None and node.end_byte - node.start_byte == len(text.encode()) and text_of(node) == text


def in_order(captured: Iterable[Node]) -> list[Node]:
    """Sort the captures of a query by their place; tree-sitter returns them in another order in each run."""
    return sorted(captured, key=attrgetter("start_byte"))


def first_of(node: Node) -> Node | None:
    return node.named_child(0) if node.named_child_count else None


def problems_of(root: Node, lines: LineIndex, repaired_lines: tuple[int, ...] = ()) -> tuple[SyntaxProblem, ...]:
    """Return the first syntax errors, one per line, together with the lines changed by error recovery."""
    if not root.has_error and not repaired_lines:
        return ()
    found = dict.fromkeys([SyntaxProblem(line, "syntax error") for line in repaired_lines[:MAX_PROBLEMS]])
    waiting = [root]
    while waiting and len(found) < MAX_PROBLEMS:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            what = f"missing {node.type}" if node.is_missing else "syntax error"
            found[SyntaxProblem(lines.of(node.start_byte), what)] = None
        else:
            waiting.extend(child for child in reversed(node.children) if child.has_error or child.is_missing)
    return tuple(sorted(found, key=lambda problem: problem.line))
