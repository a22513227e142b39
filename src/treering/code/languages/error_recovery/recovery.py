"""Repair of a text with syntax errors, part by part: valid parts are kept, the others repaired.

A part begins with a line at the left margin. A broken part is tried together with the following ones (a string or a
bracket may continue), with its brackets closed, with its inner lines as separate parts, and finally removed. Line
numbers do not change: removed text becomes spaces, and brackets are closed at the end of a line.
"""

import re
from typing import NamedTuple

from tree_sitter import Language, Node, Parser, Tree

from treering.code.languages.error_recovery.brackets import header_of, open_brackets
from treering.code.languages.error_recovery.rules import RECOVERY_RULES, RecoveryRules, broken_bytes, lost_lines

_CODE = re.compile(rb"[^\r\n]")
_CONFLICT = re.compile(rb"^(?:<{7}|\|{7}|={7}|>{7})(?:[ \t][^\n]*)?\r?$", re.MULTILINE)
_BEGINS = rb"(?!(?:else|elif|except|finally|case|default|catch)\b)(?:[\w@\"'`\[(*!~$<\x80-\xff]|#\[|/\*)"
_AT_EDGE = re.compile(b"^" + _BEGINS, re.MULTILINE)
_INDENTED = re.compile(rb"^([ \t]*+)\S", re.MULTILINE)
_OPENING_LINE = re.compile(rb"^[ \t]*(?:async|def|class|if|for|while|with|try|match)\b")

_JOINED = 6
"""Maximum number of following parts that an incomplete part is parsed with."""
_JOINED_BYTES = 20_000
_DEEP = 3
"""Class, method, statement."""
_READ_AGAIN = 4
"""Recovery parses at most this multiple of the text."""
_EACH_READING, _BROKEN_READING = 100, 3_000
"""Fixed cost of one parse, in bytes; higher for a broken text, where the grammar tries alternatives."""
_BROKEN_LENGTH = 10_000
"""The time of tree-sitter's own recovery grows with the square of the length; the cost is counted from here."""
_LARGEST_PART = 50_000
"""Longer parts are not repaired."""
_SMALL = 200_000
"""Smaller files get the parse budget of a file of this size."""


class RecoveredTree(NamedTuple):
    """A tree, the text it was parsed from, and the repaired lines; the text has the same lines as the source."""

    tree: Tree
    text: bytes
    lines: tuple[int, ...] = ()


class _Surroundings(NamedTuple):
    """The surroundings of a part: the headers before it, the text that closes them, and their number."""

    before: bytes = b""
    behind: bytes = b""
    depth: int = 0

    def text(self, part: bytes) -> bytes:
        return self.before + part + self.behind


class _PartOffsets(NamedTuple):
    """A text with the offsets of its parts (the last is its end) and of its definitions."""

    text: bytes
    places: list[int]
    definitions: set[int]

    def parts(self, begin: int, end: int) -> bytes:
        return self.text[self.places[begin] : self.places[end]]


def parse_with_recovery(parser: Parser, source: bytes, language: str) -> RecoveredTree:
    """Parse the text; if a syntax error loses definitions, repair the broken parts unless that loses more."""
    tree = parser.parse(source)
    if not tree.root_node.has_error:
        return RecoveredTree(tree, source)
    shape, grammar = RECOVERY_RULES[language], tree.language

    def cost(root: Node, text: bytes) -> tuple[int, int]:
        return lost_lines(shape, grammar, root, source, text), broken_bytes(root)

    least, best, text = cost(tree.root_node, source), tree, source
    for keep_errors in (True, False):
        if not least[0]:
            break
        repaired = _Recovery(parser, grammar, shape, keep_errors).whole(source)
        if repaired != text:
            again = parser.parse(repaired)
            found = cost(again.root_node, repaired)
            if found < least:
                least, best, text = found, again, repaired
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

    def __init__(self, parser: Parser, grammar: Language, shape: RecoveryRules, keep_errors: bool) -> None:
        self.parser = parser
        self.grammar = grammar
        self.shape = shape
        self.keep_errors = keep_errors
        self.left = 0

    def whole(self, source: bytes) -> bytes:
        self.left = _READ_AGAIN * max(len(source), _SMALL)
        text = _CONFLICT.sub(_blank_match, source)
        return self._parts(self._cut(text, _AT_EDGE), _Surroundings())

    def _cut(self, text: bytes, begins: re.Pattern[bytes]) -> _PartOffsets:
        definitions = {found.start() for found in self.shape.lines.finditer(text)}
        return _PartOffsets(text, [*(found.start() for found in begins.finditer(text)), len(text)], definitions)

    def _parts(self, cut: _PartOffsets, around: _Surroundings) -> bytes:
        """Return the text with each of its parts repaired."""
        repaired = [cut.text[: cut.places[0]]]
        at, last = 0, len(cut.places) - 1
        while at < last:
            end = self._whole_parts(cut, at, around)
            if end > at:
                repaired.append(cut.parts(at, end))
            else:
                end = at + 1
                repaired.append(self._part(cut.parts(at, end), around))
            at = end
        return b"".join(repaired)

    def _whole_parts(self, cut: _PartOffsets, at: int, around: _Surroundings) -> int:
        """Return the end of the shortest run of parts from here that parses: up to the next definition, if possible.

        Return `at` if there is none.
        """
        last = len(cut.places) - 1
        if cut.places[at] in cut.definitions or at == 0:
            after = at + 1
            while after < last and cut.places[after] not in cut.definitions:
                after += 1
            if self._is_whole(around.text(cut.parts(at, after))):
                return after
        for end in range(at + 1, min(at + 1 + _JOINED, last) + 1):
            if end > at + 1 and cut.places[end] - cut.places[at] > _JOINED_BYTES:
                break
            if self._is_whole(around.text(cut.parts(at, end))):
                return end
        return at

    def _part(self, part: bytes, around: _Surroundings) -> bytes:
        """Repair the part in the way that loses the fewest definitions, then the fewest bytes of code."""
        if self.left <= 0 or len(part) > _LARGEST_PART:
            return part
        choices = []
        for closed in self._closed(part):
            lost = self._lost(part, closed, around)
            if lost == 0:
                return closed
            choices += [] if lost is None else [((lost, 0), closed)]
        opened = self._opened(part, around) if around.depth < _DEEP else None
        for text in (opened, _blank(part)):
            lost = None if text is None else self._lost(part, text, around)
            if text is not None and lost is not None:
                choices.append(((lost, _code_bytes(part) - _code_bytes(text)), text))
        if self.keep_errors and not around.depth:
            choices += self._as_it_is(part)
        return min(choices, key=lambda choice: choice[0])[1] if choices else part

    def _lost(self, part: bytes, repaired: bytes, around: _Surroundings) -> int | None:
        """Return the number of definitions lost by this repair, or None if it still has errors."""
        text = around.text(repaired)
        tree = self._read(text)
        if tree is None or tree.root_node.has_error:
            return None
        return lost_lines(self.shape, self.grammar, tree.root_node, around.text(part), text)

    def _closed(self, part: bytes) -> list[bytes]:
        """Return the part with its open brackets closed at the end."""
        left = open_brackets(self.shape, part)
        ends = [left.closing] if left.closing else []
        if not self.shape.by_indentation:
            ends += [b";" + left.closing, left.closing + b"{}"]
        return [part[: left.end] + end + part[left.end :] for end in ends] if left.end else []

    def _opened(self, part: bytes, around: _Surroundings) -> bytes | None:
        """Return the part with its header kept or completed, and its inner lines repaired one by one."""
        header = header_of(self.shape, part)
        if header is not None:
            return self._inner(part[: header.end], part[header.end :], header.closing, around)
        if not self.shape.by_indentation or not _OPENING_LINE.match(part):
            return None
        end = part.find(b"\n") % (len(part) + 1)
        left = open_brackets(self.shape, part[:end])
        code = part[: left.end].removesuffix(b":")
        opened = code + left.closing + b":"
        return self._inner(opened, part[end:], b"", around)

    def _inner(self, header: bytes, rest: bytes, closing: bytes, around: _Surroundings) -> bytes:
        outer = len(header) - len(header.lstrip(b" \t"))
        closer = None if not closing else re.search(rb"^[ \t]{%d}[)\]}]" % outer, rest, re.MULTILINE)
        ends = closer.start() if closer is not None else len(rest)
        rest, tail = rest[:ends], rest[ends:]
        first = next((found for found in _INDENTED.finditer(rest, rest.find(b"\n") + 1)), None)
        if first is not None and len(first[1]) > outer:
            begins = re.compile(b"^" + re.escape(first[1]) + _BEGINS, re.MULTILINE)
            closed = b"\n" + closing if closing else b""
            inside = _Surroundings(around.before + header + b"\n", closed + around.behind, around.depth + 1)
            rest = self._parts(self._cut(rest, begins), inside)
        if closing and closer is None:
            end = open_brackets(self.shape, rest).end
            rest = rest[:end] + closing + rest[end:]
        return header + rest + tail

    def _as_it_is(self, part: bytes) -> list[tuple[tuple[int, int], bytes]]:
        """Return the part unchanged if its errors do not affect the following text."""
        text = part + self.shape.probe
        tree = self._read(text)
        if tree is None or lost_lines(self.shape, self.grammar, tree.root_node, _blank(part) + self.shape.probe, text):
            return []
        lost = lost_lines(self.shape, self.grammar, tree.root_node, part, text)
        return [((lost, broken_bytes(tree.root_node)), part)]

    def _is_whole(self, text: bytes) -> bool:
        tree = self._read(text)
        return tree is not None and not tree.root_node.has_error

    def _read(self, text: bytes) -> Tree | None:
        """Parse the text, or return None if the budget is used up."""
        if self.left <= 0 or len(text) > _LARGEST_PART:
            return None
        tree = self.parser.parse(text)
        broken = tree.root_node.has_error
        self.left -= len(text) + (_BROKEN_READING + len(text) ** 2 // _BROKEN_LENGTH if broken else _EACH_READING)
        return tree


def _blank(text: bytes) -> bytes:
    return _CODE.sub(b" ", text)


def _code_bytes(text: bytes) -> int:
    return sum(map(len, text.split()))


def _blank_match(found: re.Match[bytes]) -> bytes:
    return _blank(found.group())
