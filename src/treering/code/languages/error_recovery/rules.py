"""Line patterns and node types of definitions in each language, used to count lost definitions."""

import re
from functools import cache
from typing import NamedTuple

from tree_sitter import Language, Node, Query, QueryCursor

from treering.code.languages.line_index import LineIndex


class RecoveryRules(NamedTuple):
    """Rules for splitting the broken text of a language into parts and for comparing repairs."""

    lines: re.Pattern[bytes]
    """Lines that begin a definition; in a valid text each of them begins a node of `nodes`."""
    nodes: tuple[str, ...]
    tokens: re.Pattern[bytes]
    """Strings and comments, which contain no code; then brackets; then other non-space text."""
    probe: bytes
    """A definition appended to a part to test whether its errors affect the following text."""
    by_indentation: bool = False


_STRINGS = rb"\"(?:\\[^\n]|[^\"\\\n])*+\\?\"?|'(?:\\[^\n]|[^'\\\n])*+\\?'?"
_COMMENTS = rb"(?P<comment>//[^\n]*|/\*(?s:.*?)(?:\*/|\Z))"
_LONG_STRING = rb"`[^`]*+`?"
_REST = rb"(?P<bracket>[()\[\]{}])|[^\s()\[\]{}\"'`/#]+|\S"

_PYTHON = RecoveryRules(
    lines=re.compile(rb"^(?P<indentation>[ \t]*+)(?:async[ \t]+def|def|class)[ \t]+[^\W\d]", re.MULTILINE),
    nodes=("function_definition", "class_definition"),
    tokens=re.compile(rb"(?P<comment>#[^\n]*)|(\"\"\"|''')(?s:.*?)(?:\2|\Z)|" + _STRINGS + b"|" + _REST),
    probe=b"\ndef _():\n    pass\n",
    by_indentation=True,
)
_GO = RecoveryRules(
    lines=re.compile(rb"^(?P<indentation>)(?:func|type|var|const|import)\b", re.MULTILINE),
    nodes=(
        *("function_declaration", "method_declaration", "type_declaration", "var_declaration", "const_declaration"),
        "import_declaration",
    ),
    tokens=re.compile(_COMMENTS + b"|" + _LONG_STRING + b"|" + _STRINGS + b"|" + _REST),
    probe=b"\nfunc _() {}\n",
)
_RUST = RecoveryRules(
    lines=re.compile(
        rb"^(?P<indentation>[ \t]*+)(?:macro_rules!|(?:pub(?:\([^)\n]*\))?[ \t]+)?"
        rb"(?:(?:async|unsafe|const|extern(?:[ \t]*\"[^\"\n]*\")?)[ \t]+){0,4}"
        rb"(?:(?:fn|struct|enum|trait|mod|union)[ \t]|impl\b))",
        re.MULTILINE,
    ),
    nodes=(
        *("function_item", "function_signature_item", "struct_item", "enum_item", "trait_item", "impl_item"),
        *("mod_item", "union_item", "macro_definition"),
    ),
    tokens=re.compile(_COMMENTS + rb"|\"(?s:\\.|[^\"\\])*+\\?\"?|'(?:\\[^\n']{1,8}|[^'\\\n])'|" + _REST),
    probe=b"\nfn _() {}\n",
)
_TYPESCRIPT = RecoveryRules(
    lines=re.compile(
        rb"^(?P<indentation>[ \t]*+)(?:(?<![ \t])(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:"
        rb"(?:async[ \t]+)?function\b[ \t*]*[\w$]|(?:abstract[ \t]+)?class[ \t]+[\w$]"
        rb"|(?:interface|enum|type|namespace|const|let|var)[ \t]+[\w${\[])"
        rb"|(?<=[ \t])(?!(?:if|for|while|switch|catch|with|function|return|do|else|new|await|typeof|super)\b)"
        rb"(?:(?:public|private|protected|static|async|override|get|set)[ \t]+){0,4}[*#]?[\w$]++[ \t]*+"
        rb"\([^\n()]*+\)(?:[ \t]*+:[^\n={}()]*+)?+[ \t]*+\{)",
        re.MULTILINE,
    ),
    nodes=(
        *("function_declaration", "generator_function_declaration", "function_signature", "class_declaration"),
        *("abstract_class_declaration", "interface_declaration", "enum_declaration", "type_alias_declaration"),
        *("internal_module", "lexical_declaration", "variable_declaration", "method_definition"),
    ),
    tokens=re.compile(_COMMENTS + b"|" + _LONG_STRING + b"|" + _STRINGS + b"|" + _REST),
    probe=b"\nfunction _() {}\n",
)

RECOVERY_RULES = {"python": _PYTHON, "go": _GO, "rust": _RUST}
RECOVERY_RULES |= dict.fromkeys(("typescript", "tsx", "javascript"), _TYPESCRIPT)


def lost_lines(rules: RecoveryRules, grammar: Language, root: Node, written: bytes, read: bytes) -> int:
    """Count the definitions begun by lines of `written` that are missing or misplaced in the tree of `read`.

    Both texts have the same lines. A definition belongs to the last one before it that is less indented.
    """
    outer_lines = _outer_lines(rules, written)
    if not outer_lines:
        return 0
    captured = QueryCursor(_definitions(rules, grammar)).captures(root).get("definition", ())
    lines = LineIndex(read)
    context: list[tuple[int, int]] = []
    found = set()
    for start, negative_end in sorted((node.start_byte, -node.end_byte) for node in captured):
        line = lines.of(start)
        if line not in outer_lines:
            continue
        while context and context[-1][0] <= start:
            context.pop()
        outer = context[-1][1] if context else 0
        if line != outer:
            context.append((-negative_end, line))
            if outer == outer_lines[line]:
                found.add(line)
    return len(outer_lines) - len(found)


def _outer_lines(rules: RecoveryRules, text: bytes) -> dict[int, int]:
    """Map each line that begins a definition to the line of its enclosing definition by indentation, or 0."""
    lines = LineIndex(text)
    found: dict[int, int] = {}
    context: list[tuple[int, int]] = []
    for each in rules.lines.finditer(text):
        indentation = len(each["indentation"])
        while context and context[-1][0] >= indentation:
            context.pop()
        line = lines.of(each.start())
        found[line] = context[-1][1] if context else 0
        context.append((indentation, line))
    return found


@cache
def _definitions(rules: RecoveryRules, grammar: Language) -> Query:
    known = [node for node in rules.nodes if grammar.id_for_node_kind(node, True)]
    return Query(grammar, " ".join(f"({node}) @definition" for node in known))


def broken_bytes(root: Node) -> int:
    """Return the number of bytes inside errors; a missing token counts as one."""
    broken, waiting = 0, [root]
    while waiting:
        node = waiting.pop()
        if node.is_error:
            broken += node.end_byte - node.start_byte
        elif node.is_missing:
            broken += 1
        else:
            waiting.extend(child for child in node.children if child.has_error or child.is_missing)
    return broken
