"""Earlier sessions as the prefetch ranking reads them: prompts, files, and their words in a form that can be stored."""

from __future__ import annotations

import sys
from array import array
from binascii import Error, a2b_base64, b2a_base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from treering.core.events import SessionType

if TYPE_CHECKING:
    from datetime import datetime

_CODE_BYTES = 4
_ENTRY_BYTES = _CODE_BYTES + 1


class PastFile(NamedTuple):
    """A file that a session touched; the path is relative to the session's root, with forward slashes."""

    path: str
    reads: int = 0
    edits: int = 0
    first_step: int = 0


@dataclass(frozen=True, slots=True)
class SessionWords:
    """Words of a session's first prompt, as `core.prompt_words.session_words` makes them; equal on every machine.

    `codes` are unsigned 32-bit numbers in ascending order, little-endian; `counts` has one byte for each of them.
    """

    codes: bytes
    counts: bytes
    length: int

    def packed(self) -> str:
        """The words as text for storage."""
        return f"{self.length} {b2a_base64(self.codes + self.counts, newline=False).decode('ascii')}"

    @classmethod
    def unpacked(cls, text: str) -> SessionWords | None:
        """The words of a packed text; None if it is none."""
        length, _, packed = text.partition(" ")
        try:
            content = a2b_base64(packed, strict_mode=True)
            size, rest = divmod(len(content), _ENTRY_BYTES)
            words = cls(content[: size * _CODE_BYTES], content[size * _CODE_BYTES :], int(length))
        except (ValueError, Error):
            return None
        return None if rest else words

    def numbers(self) -> array[int]:
        """The codes as numbers."""
        numbers = array("I", self.codes)
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers


@dataclass(frozen=True, slots=True)
class PastSession:
    """One earlier session. `words` saves the ranking from reading the prompts again."""

    session: str
    at: datetime
    type: SessionType = SessionType.BUILD
    prompts: tuple[str, ...] = ()
    files: tuple[PastFile, ...] = ()
    words: SessionWords | None = None
    root: str = ""
    """The folder that the session worked in, if the caller observed it; those of others are not trusted."""
