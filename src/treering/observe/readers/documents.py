"""Members of a JSON document, one at a time, without holding the document in memory."""

import codecs
import json
from collections.abc import Iterator
from typing import IO, Any

from treering.observe.readers.lines import MAX_LINE_BYTES

_CHUNK = 256 * 1024
_SPACE = " \t\r\n\0\ufeff"


class BrokenDocument(Exception):
    """The document is not JSON from here on, or ends in the middle of a member."""


class LongMember(Exception):
    """A member has more than `MAX_LINE_BYTES` characters."""


def members(stream: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """Pairs of name and value; a member that is a list gives one pair for each of its elements.

    A document that is a list gives its elements under the name "". Raises `BrokenDocument` and `LongMember`.
    """
    text = _Text(stream)
    if text.next() == "[":
        yield from (("", element) for element in _elements(text))
    elif text.take("{"):
        while text.next() != "}":
            name = text.value()
            text.expect(":")
            if text.next() == "[":
                yield from ((str(name), element) for element in _elements(text))
            else:
                yield str(name), text.value()
            if not text.take(","):
                break
        text.expect("}")
    else:
        raise BrokenDocument


def _elements(text: "_Text") -> Iterator[Any]:
    text.expect("[")
    while text.next() != "]":
        yield text.value()
        if not text.take(","):
            break
    text.expect("]")


class _Text:
    """A window on a document that grows only while a value is incomplete."""

    _decoder = json.JSONDecoder(parse_constant=lambda _: None)

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._characters = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._at = 0
        self._ended = False

    def next(self) -> str:
        """The next character that is not white space; "" at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if self._ended:
                return ""
            self._more(_CHUNK)

    def take(self, character: str) -> bool:
        if self.next() != character:
            return False
        self._at += 1
        return True

    def expect(self, character: str) -> None:
        if not self.take(character):
            raise BrokenDocument

    def value(self) -> Any:
        self.next()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError):
                if self._ended:
                    raise BrokenDocument from None
            else:
                # A number at the end of the window may have more digits.
                if end < len(self._text) or self._ended:
                    self._at = end
                    return value
            size = len(self._text) - self._at
            if size > MAX_LINE_BYTES:
                raise LongMember
            self._more(max(_CHUNK, size))

    def _more(self, size: int) -> None:
        chunk = self._stream.read(size)
        self._ended = not chunk
        self._text = self._text[self._at :] + self._characters.decode(chunk, final=self._ended)
        self._at = 0
