"""The block of a file that an export writes. All bytes outside it stay as they are."""

import re
from dataclasses import dataclass

from treering.core.errors import InvalidInput

BEGIN, END = "<!-- treering:begin -->", "<!-- treering:end -->"
_MARK = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*(<!-- treering:(?:begin|end) -->)[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class BlockSpan:
    """Positions of the first byte of the block and of the byte after it, both marks included."""

    start: int
    end: int


def block_span(content: bytes, name: str) -> BlockSpan | None:
    """The marked block, None if the file has none. Raises `InvalidInput` unless it is one pair of marks in order."""
    marks = [(found[1].decode(), found.start(1), found.end(1)) for found in _MARK.finditer(content)]
    if not marks:
        return None
    if [mark for mark, _, _ in marks] != [BEGIN, END]:
        raise InvalidInput(
            f"the marks {BEGIN} and {END} in {name} are not one pair in this order; remove them, or restore the "
            "missing one"
        )
    return BlockSpan(marks[0][1], marks[1][2])


def with_block(content: bytes, body: str, name: str) -> bytes:
    """The content with the block replaced, or with a new one at its end; line ends are those of the file."""
    newline = b"\r\n" if re.match(rb"[^\n]*\r\n", content) else b"\n"
    block = newline.join(line.encode() for line in (BEGIN, *body.split("\n"), END))
    span = block_span(content, name)
    if span is not None:
        return content[: span.start] + block + content[span.end :]
    if not content.strip(b"\xef\xbb\xbf"):
        return content + block + newline
    gap = newline if content.endswith(b"\n") else 2 * newline
    return content + gap + block + newline


def without_block(content: bytes, name: str) -> bytes:
    """The content with an empty line for each line of the block, so that other lines keep their numbers."""
    span = block_span(content, name)
    if span is None:
        return content
    return content[: span.start] + b"\n" * content.count(b"\n", span.start, span.end) + content[span.end :]
