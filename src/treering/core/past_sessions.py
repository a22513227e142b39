"""Earlier sessions as the prefetch ranking reads them: prompts, files, and their words in a form that can be stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.core.events import SessionType

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class PastFile:
    """A file that a session touched; the path is relative to the session's root, with forward slashes."""

    path: str
    reads: int = 0
    edits: int = 0
    first_step: int = 0


@dataclass(frozen=True, slots=True)
class SessionWords:
    """Words of a session's prompts, as `context.prefetch.session_words` makes them; equal on every machine.

    `codes` are unsigned 32-bit numbers in ascending order, little-endian; `counts` has one byte for each of them.
    """

    codes: bytes
    counts: bytes
    length: int


@dataclass(frozen=True, slots=True)
class PastSession:
    """One earlier session. `words` saves the ranking from reading the prompts again."""

    session: str
    at: datetime
    type: SessionType = SessionType.BUILD
    prompts: tuple[str, ...] = ()
    files: tuple[PastFile, ...] = ()
    words: SessionWords | None = None
