"""Statements of a Markdown file: items, paragraphs, table rows, ordered lists and code fences, with their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from treering.archive.rule_files.classification import SHELLS, is_command, is_rule
from treering.core.secrets import redact

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

MAX_CHARACTERS = 4_000  # of a statement: more is a document, not a rule
_SHORT_WORDS = 4  # statements with fewer words are not understood without their heading
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_LINE_END = re.compile(r"\r\n?")
_BOX = re.compile(r"^\[[ xX]\]\s+")
_WORD = re.compile(r"\w")
_PROMPT = re.compile(r"^\s*(?:\$|>|%)\s+")
_LISTS, _CODE = ("bullet_list", "ordered_list"), ("fence", "code_block")
_INTRODUCED = (*_LISTS, *_CODE, "table", "blockquote")


class StatementForm(StrEnum):
    """How a statement is written."""

    PROSE = "prose"
    COMMANDS = "commands"
    CODE = "code"
    STEPS = "steps"


@dataclass(frozen=True, slots=True)
class RuleStatement:
    """A statement in the words of the file, without secrets. `headings` are those above it, from large to small."""

    text: str
    first_line: int
    last_line: int
    headings: tuple[str, ...] = ()
    form: StatementForm = StatementForm.PROSE
    steps: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """The text; if it is too short to be understood alone, after its last heading."""
        words = len(self.text.split())
        return f"{self.headings[-1]}: {self.text}" if words < _SHORT_WORDS and self.headings else self.text


def statements_of(text: str) -> tuple[RuleStatement, ...]:
    """The statements of a Markdown text in its order, each text once. Front matter and HTML are left out."""
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    blank = _FRONT_MATTER.sub(lambda found: "\n" * found[0].count("\n"), _LINE_END.sub("\n", text))
    tree = SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(blank))
    found = _Reader(blank.split("\n")).read(tree.children)
    first: dict[str, RuleStatement] = {}
    for each in found:
        first.setdefault(each.content, each)
    return tuple(first.values())


@dataclass
class _Reader:
    """Reads the tree of a file once, from the top."""

    lines: Sequence[str]
    headings: list[tuple[int, str]] = field(default_factory=list)

    def read(self, nodes: Sequence[SyntaxTreeNode], above: tuple[str, ...] = ()) -> Iterator[RuleStatement]:
        """Statements of these siblings; `above` are the list items that contain them."""
        introduction = ""
        for place, node in enumerate(nodes):
            following = nodes[place + 1].type if place + 1 < len(nodes) else ""
            if node.type == "heading":
                self._enter(node)
            elif node.type == "paragraph":
                text = _text(node)
                if text.endswith(":") and following in _INTRODUCED:
                    introduction = text
                    continue
                yield from self._made(node, text, above)
                is_item = node.parent is not None and node.parent.type == "list_item"
                introduction = text if is_item and following in _LISTS else ""
                continue
            else:
                yield from self._block(node, introduction, above)
            introduction = ""

    def _block(self, node: SyntaxTreeNode, introduction: str, above: tuple[str, ...]) -> Iterator[RuleStatement]:
        inner = (*above, introduction.rstrip(":")) if introduction else above
        if node.type == "ordered_list" and (steps := _steps(node)):
            numbered = " ".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
            text = f"{self._title(introduction)} {numbered}".strip()
            yield from self._made(node, text, above, StatementForm.STEPS, steps)
        elif node.type in _LISTS:
            for item in node.children:
                yield from self.read(item.children, inner)
        elif node.type in _CODE:
            yield from self._code(node, introduction, above)
        elif node.type == "table":
            body = [row for part in node.children if part.type == "tbody" for row in part.children]
            for row in body:
                yield from self._made(row, " | ".join(filter(None, map(_text, row.children))), inner)
        elif node.type == "blockquote":
            yield from self.read(node.children, inner)

    def _code(self, node: SyntaxTreeNode, introduction: str, above: tuple[str, ...]) -> Iterator[RuleStatement]:
        lines = [_PROMPT.sub("", line) for line in node.content.splitlines() if line.strip()]
        commands = [line for line in lines if not line.lstrip().startswith("#")]
        language = node.info.split()[0].lower() if node.info.strip() else ""
        is_shell = language in SHELLS or (not language and bool(commands) and all(map(is_command, commands)))
        form = StatementForm.COMMANDS if is_shell else StatementForm.CODE
        code = "\n".join(lines) if is_shell else node.content.rstrip()
        text = f"{self._title(introduction)}\n{code}".strip()
        yield from self._made(node, text, above, form, commands if is_shell else ())

    def _made(
        self,
        node: SyntaxTreeNode,
        text: str,
        above: tuple[str, ...],
        form: StatementForm = StatementForm.PROSE,
        steps: Sequence[str] = (),
    ) -> Iterator[RuleStatement]:
        if not _WORD.search(text) or node.map is None:
            return
        first, last = node.map
        while last > first + 1 and not self.lines[last - 1].strip():  # empty lines after a list are part of its map
            last -= 1
        titles = (*(title for _, title in self.headings if title), *above)
        kept = tuple(redact(each).text for each in (text[:MAX_CHARACTERS], *steps, *titles))
        yield RuleStatement(kept[0], first + 1, last, kept[1 + len(steps) :], form, kept[1 : 1 + len(steps)])

    def _enter(self, node: SyntaxTreeNode) -> None:
        level = int(node.tag[1:])
        self.headings = [*(each for each in self.headings if each[0] < level), (level, _text(node))]

    def _title(self, introduction: str) -> str:
        """The introduction of a list or of code, else the nearest heading."""
        heading = self.headings[-1][1] if self.headings else ""
        return introduction or (f"{heading}:" if heading else "")


def _steps(node: SyntaxTreeNode) -> list[str]:
    """The items of an ordered list, if it is a sequence of steps rather than a numbered list of rules."""
    items = [" ".join(filter(None, map(_text, item.children))) for item in node.children]
    is_sequence = len(items) > 1 and sum(map(is_rule, items)) * 2 < len(items)
    return items if is_sequence else []


def _text(node: SyntaxTreeNode) -> str:
    """The words of a block as the file has them, on one line."""
    if node.type in ("inline", *_CODE):
        return _BOX.sub("", " ".join(node.content.split()))
    return " ".join(filter(None, map(_text, node.children)))
