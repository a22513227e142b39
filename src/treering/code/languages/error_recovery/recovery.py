"""Repair of a text with syntax errors, part by part: valid parts are kept, the others repaired.

A part begins with a line at the unclosed margin. A broken part is tried together with the following ones (a string or a
bracket may continue), with its brackets closed, with its inner lines as separate parts, and finally removed. Line
numbers do not change: removed text becomes spaces, and brackets are closed at the end of a line.
"""

import re
from typing import NamedTuple

from tree_sitter import Language, Node, Parser, Tree

from treering.code.languages.error_recovery.brackets import header_of, open_brackets
from treering.code.languages.error_recovery.rules import RECOVERY_RULES, RecoveryRules, broken_bytes, lost_lines

_CODE_BYTE = re.compile(rb"[^\r\n]")
_CONFLICT = re.compile(rb"^(?:<{7}|\|{7}|={7}|>{7})(?:[ \t][^\n]*)?\r?$", re.MULTILINE)
_PART_START = rb"(?!(?:else|elif|except|finally|case|default|catch)\b)(?:[\w@\"'`\[(*!~$<\x80-\xff]|#\[|/\*)"
_AT_EDGE = re.compile(b"^" + _PART_START, re.MULTILINE)
_INDENTED = re.compile(rb"^([ \t]*+)\S", re.MULTILINE)
_OPENING_LINE = re.compile(rb"^[ \t]*(?:async|def|class|if|for|while|with|try|match)\b")

_MAX_JOINED_PARTS = 6
"""Maximum number of following parts that an incomplete part is parsed with."""
_MAX_JOINED_BYTES = 20_000
_MAX_DEPTH = 3
"""Class, method, statement."""
_PARSE_BUDGET_FACTOR = 4
"""Recovery parses at most this multiple of the text."""
_PARSE_COST, _BROKEN_PARSE_COST = 100, 3_000
"""Fixed cost of one parse, in bytes; higher for a broken text, where the grammar tries alternatives."""
_QUADRATIC_FROM = 10_000
"""The time of tree-sitter's own recovery grows with the square of the length; the cost is counted from here."""
_MAX_PART_BYTES = 50_000
"""Longer parts are not repaired."""
_MIN_BUDGET_BYTES = 200_000
"""Smaller files get the parse budget of a file of this size."""


class RecoveredTree(NamedTuple):
    """A tree, the text it was parsed from, and the repaired lines; the text has the same lines as the source."""

    tree: Tree
    text: bytes
    lines: tuple[int, ...] = ()


class _PartContext(NamedTuple):
    """The surroundings of a part: the headers before it, the text that closes them, and their number."""

    before: bytes = b""
    after: bytes = b""
    depth: int = 0

    def text(self, part: bytes) -> bytes:
        return self.before + part + self.after


class _PartOffsets(NamedTuple):
    """A text with the offsets of its parts (the last is its end) and of its definitions."""

    text: bytes
    offsets: list[int]
    definitions: set[int]

    def parts(self, begin: int, end: int) -> bytes:
        return self.text[self.offsets[begin] : self.offsets[end]]


def parse_with_recovery(parser: Parser, source: bytes, language: str) -> RecoveredTree:
    """Parse the text; if a syntax error loses definitions, repair the broken parts unless that loses more."""
    tree = parser.parse(source)
    if not tree.root_node.has_error:
        return RecoveredTree(tree, source)
    rules, grammar = RECOVERY_RULES[language], tree.language

    def cost(root: Node, text: bytes) -> tuple[int, int]:
        return lost_lines(rules, grammar, root, source, text), broken_bytes(root)

    lowest, best, text = cost(tree.root_node, source), tree, source
    for keep_errors in (True, False):
        if not lowest[0]:
            break
        repaired = _Recovery(parser, grammar, rules, keep_errors).repaired_text(source)
        if repaired != text:
            again = parser.parse(repaired)
            found = cost(again.root_node, repaired)
            if found < lowest:
                lowest, best, text = found, again, repaired
    return RecoveredTree(best, text, _changed_lines(source, text))


def _changed_lines(source: bytes, text: bytes) -> tuple[int, ...]:
    """Return the first line of each run of changed lines."""
    if source == text:
        return ()
    pairs = zip(source.split(b"\n"), text.split(b"\n"), strict=True)
    lines = [number for number, (written, read) in enumerate(pairs, 1) if written != read]
    return tuple(line for line, before in zip(lines, [-1, *lines], strict=False) if line != before + 1)


class _Recovery:
    """`keep_errors`: whether a part may keep its errors if they do not affect the following text."""

    def __init__(self, parser: Parser, grammar: Language, rules: RecoveryRules, keep_errors: bool) -> None:
        self.parser = parser
        self.grammar = grammar
        self.rules = rules
        self.keep_errors = keep_errors
        self.budget = 0

    def repaired_text(self, source: bytes) -> bytes:
        self.budget = _PARSE_BUDGET_FACTOR * max(len(source), _MIN_BUDGET_BYTES)
        text = _CONFLICT.sub(_blank_match, source)
        return self._repair_parts(self._split(text, _AT_EDGE), _PartContext())

    def _split(self, text: bytes, begins: re.Pattern[bytes]) -> _PartOffsets:
        definitions = {found.start() for found in self.rules.lines.finditer(text)}
        return _PartOffsets(text, [*(found.start() for found in begins.finditer(text)), len(text)], definitions)

    def _repair_parts(self, split: _PartOffsets, context: _PartContext) -> bytes:
        """Return the text with each of its parts repaired."""
        repaired = [split.text[: split.offsets[0]]]
        at, last = 0, len(split.offsets) - 1
        while at < last:
            end = self._valid_run(split, at, context)
            if end > at:
                repaired.append(split.parts(at, end))
            else:
                end = at + 1
                repaired.append(self._repair_part(split.parts(at, end), context))
            at = end
        return b"".join(repaired)

    def _valid_run(self, split: _PartOffsets, at: int, context: _PartContext) -> int:
        """Return the end of the run of parts from here that parses: up to the next definition, else the shortest.

        Return `at` if there is none.
        """
        last = len(split.offsets) - 1
        if split.offsets[at] in split.definitions or at == 0:
            after = at + 1
            while after < last and split.offsets[after] not in split.definitions:
                after += 1
            if self._is_valid(context.text(split.parts(at, after))):
                return after
        for end in range(at + 1, min(at + 1 + _MAX_JOINED_PARTS, last) + 1):
            if end > at + 1 and split.offsets[end] - split.offsets[at] > _MAX_JOINED_BYTES:
                break
            if self._is_valid(context.text(split.parts(at, end))):
                return end
        return at

    def _repair_part(self, part: bytes, context: _PartContext) -> bytes:
        """Repair the part in the way that loses the fewest definitions, then the fewest bytes of code."""
        if self.budget <= 0 or len(part) > _MAX_PART_BYTES:
            return part
        choices = []
        for closed in self._with_closed_brackets(part):
            lost = self._lost_definitions(part, closed, context)
            if lost == 0:
                return closed
            choices += [] if lost is None else [((lost, 0), closed)]
        opened = self._with_repaired_inside(part, context) if context.depth < _MAX_DEPTH else None
        for text in (opened, _blank(part)):
            lost = None if text is None else self._lost_definitions(part, text, context)
            if text is not None and lost is not None:
                choices.append(((lost, _code_bytes(part) - _code_bytes(text)), text))
        if self.keep_errors and not context.depth:
            choices += self._unchanged(part)
        return min(choices, key=lambda choice: choice[0])[1] if choices else part

    def _lost_definitions(self, part: bytes, repaired: bytes, context: _PartContext) -> int | None:
        """Return the number of definitions lost by this repair, or None if it still has errors."""
        text = context.text(repaired)
        tree = self._read(text)
        if tree is None or tree.root_node.has_error:
            return None
        return lost_lines(self.rules, self.grammar, tree.root_node, context.text(part), text)

    def _with_closed_brackets(self, part: bytes) -> list[bytes]:
        """Return the part with its open brackets closed at the end."""
        unclosed = open_brackets(self.rules, part)
        ends = [unclosed.closing] if unclosed.closing else []
        if not self.rules.by_indentation:
            ends += [b";" + unclosed.closing, unclosed.closing + b"{}"]
        return [part[: unclosed.end] + end + part[unclosed.end :] for end in ends] if unclosed.end else []

    def _with_repaired_inside(self, part: bytes, context: _PartContext) -> bytes | None:
        """Return the part with its header kept or completed, and its inner lines repaired one by one."""
        header = header_of(self.rules, part)
        if header is not None:
            return self._inner(part[: header.end], part[header.end :], header.closing, context)
        if not self.rules.by_indentation or not _OPENING_LINE.match(part):
            return None
        end = part.find(b"\n") % (len(part) + 1)
        unclosed = open_brackets(self.rules, part[:end])
        code = part[: unclosed.end].removesuffix(b":")
        opened = code + unclosed.closing + b":"
        return self._inner(opened, part[end:], b"", context)

    def _inner(self, header: bytes, rest: bytes, closing: bytes, context: _PartContext) -> bytes:
        outer = len(header) - len(header.lstrip(b" \t"))
        closer = None if not closing else re.search(rb"^[ \t]{%d}[)\]}]" % outer, rest, re.MULTILINE)
        ends = closer.start() if closer is not None else len(rest)
        rest, tail = rest[:ends], rest[ends:]
        first = next((found for found in _INDENTED.finditer(rest, rest.find(b"\n") + 1)), None)
        if first is not None and len(first[1]) > outer:
            begins = re.compile(b"^" + re.escape(first[1]) + _PART_START, re.MULTILINE)
            closed = b"\n" + closing if closing else b""
            inside = _PartContext(context.before + header + b"\n", closed + context.after, context.depth + 1)
            rest = self._repair_parts(self._split(rest, begins), inside)
        if closing and closer is None:
            end = open_brackets(self.rules, rest).end
            rest = rest[:end] + closing + rest[end:]
        return header + rest + tail

    def _unchanged(self, part: bytes) -> list[tuple[tuple[int, int], bytes]]:
        """Return the part unchanged if its errors do not affect the following text."""
        text = part + self.rules.probe
        tree = self._read(text)
        if tree is None or lost_lines(self.rules, self.grammar, tree.root_node, _blank(part) + self.rules.probe, text):
            return []
        lost = lost_lines(self.rules, self.grammar, tree.root_node, part, text)
        return [((lost, broken_bytes(tree.root_node)), part)]

    def _is_valid(self, text: bytes) -> bool:
        tree = self._read(text)
        return tree is not None and not tree.root_node.has_error

    def _read(self, text: bytes) -> Tree | None:
        """Parse the text, or return None if the budget is used up."""
        if self.budget <= 0 or len(text) > _MAX_PART_BYTES:
            return None
        tree = self.parser.parse(text)
        broken = tree.root_node.has_error
        self.budget -= len(text) + (_BROKEN_PARSE_COST + len(text) ** 2 // _QUADRATIC_FROM if broken else _PARSE_COST)
        return tree


def _blank(text: bytes) -> bytes:
    return _CODE_BYTE.sub(b" ", text)


def _code_bytes(text: bytes) -> int:
    return sum(map(len, text.split()))


def _blank_match(found: re.Match[bytes]) -> bytes:
    return _blank(found.group())
