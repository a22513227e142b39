"""Past sessions as arrays: which session edited or read which file, and which sessions had similar prompts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from treering.context.prefetch.words import cached_words, is_inside

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.context.prefetch.words import PromptReading
    from treering.core.past_sessions import PastSession

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.intp]

MAX_SESSIONS = 1_000  # older sessions say little about the next one
MAX_FILES_OF_SESSION = 200  # a session that touches more is a mass change
MAX_SIMILAR = 10  # sessions with a similar prompt that vote

_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75  # of BM25
_CODE = np.dtype("<u4")
_TABLE = 1 << 16


@dataclass(frozen=True, slots=True)
class Touches:
    """Pairs of a session's number and a file's number."""

    sessions: Numbers
    files: Numbers

    @classmethod
    def of(cls, sessions: Sequence[int], files: Sequence[int]) -> Touches:
        return cls(np.array(sessions, np.intp), np.array(files, np.intp))

    def sums(self, by_session: Floats, files: int) -> Floats:
        """For each file, the sum of a value of the sessions that touched it."""
        return np.bincount(self.files, by_session[self.sessions], minlength=files).astype(np.float64)

    def with_file(self, file: int) -> Numbers:
        """The sessions that touched a file."""
        return self.sessions[np.flatnonzero(self.files == file)]


@dataclass(frozen=True)
class SessionHistory:
    """The newest sessions, oldest first, with numbered files."""

    sessions: tuple[PastSession, ...]
    paths: tuple[str, ...]
    numbers: dict[str, int]
    edits: Touches
    reads: Touches
    """Files that the session read and did not edit."""
    age: Floats
    """Number of later sessions that touched files."""

    @classmethod
    def of(cls, past: Sequence[PastSession], more_paths: Iterable[str] = ()) -> SessionHistory:
        sessions = tuple(past[-MAX_SESSIONS:])
        numbers: dict[str, int] = {}
        edits: tuple[list[int], list[int]] = [], []
        reads: tuple[list[int], list[int]] = [], []
        for place, session in enumerate(sessions):
            for file in session.files[:MAX_FILES_OF_SESSION]:
                number = numbers.get(file.path)
                if number is None:
                    if not is_inside(file.path):
                        continue
                    number = numbers[file.path] = len(numbers)
                by_session, by_file = edits if file.edits > 0 else reads
                by_session.append(place)
                by_file.append(number)
        for path in more_paths:
            if is_inside(path):
                numbers.setdefault(path, len(numbers))
        active = np.fromiter((bool(session.files) for session in sessions), float, len(sessions))
        later = active[::-1].cumsum()[::-1] - active
        return cls(sessions, tuple(numbers), numbers, Touches.of(*edits), Touches.of(*reads), later)

    def faded(self, half_life: float) -> Floats:
        """Weight of each session, halved every `half_life` sessions; sessions without files have none."""
        return 0.5 ** (self.age / half_life) * self._active

    @cached_property
    def edit_counts(self) -> Floats:
        """Number of sessions that edited each file."""
        return np.bincount(self.edits.files, minlength=len(self.paths)).astype(float)

    @property
    def active_sessions(self) -> int:
        """Number of sessions that touched files."""
        return int(self._active.sum())

    @cached_property
    def _active(self) -> Floats:
        return np.fromiter((bool(session.files) for session in self.sessions), float, len(self.sessions))

    def edited_with(self, file: int) -> Floats:
        """For each file, the number of sessions that edited it together with the given one."""
        together = np.zeros(len(self.sessions))
        together[self.edits.with_file(file)] = 1.0
        counts = self.edits.sums(together, len(self.paths))
        counts[file] = 0.0
        return counts

    def similarities(self, prompt: PromptReading) -> Floats:
        """BM25 of each session's prompts for the words of a prompt."""
        scores = np.zeros(len(self.sessions))
        if not prompt.codes or not self.sessions:
            return scores
        words = [session.words or cached_words(session.prompts) for session in self.sessions]
        codes = np.frombuffer(b"".join(each.codes for each in words), _CODE)
        counts = np.frombuffer(b"".join(each.counts for each in words), np.uint8)
        lengths = np.fromiter((each.length for each in words), float, len(words))
        owners = np.repeat(np.arange(len(words)), [len(each.codes) // _CODE.itemsize for each in words])
        if not len(codes) or len(codes) != len(counts):
            return scores
        known = np.array(sorted(prompt.codes), _CODE)
        # Most codes are not in the prompt; a table of their last bits excludes them faster than a search.
        table = np.zeros(_TABLE, bool)
        table[known % _TABLE] = True
        hits = np.flatnonzero(table[codes % _TABLE])
        at = np.searchsorted(known, codes[hits]).clip(max=len(known) - 1)
        same = known[at] == codes[hits]
        hits, at = hits[same], at[same]
        terms = np.array([prompt.codes[int(code)] for code in known], np.intp)[at]
        holders = np.bincount(terms, minlength=max(prompt.codes.values()) + 1)
        rarity = np.log1p((len(words) - np.minimum(holders, len(words)) + 0.5) / (holders + 0.5))
        frequency = counts[hits].astype(float)
        norm = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * lengths / max(lengths.mean(), 1.0)
        gains = rarity[terms] * frequency * (_SATURATION + 1) / (frequency + _SATURATION * norm[owners[hits]])
        return np.bincount(owners[hits], gains, minlength=len(words)).astype(np.float64)

    def votes(self, prompt: PromptReading) -> Floats:
        """Shares of the sessions with the most similar prompts; they sum to 1, or are all 0."""
        strengths = self.similarities(prompt) ** 2 * self._active
        if len(strengths) > MAX_SIMILAR:
            strengths[np.argsort(-strengths, kind="stable")[MAX_SIMILAR:]] = 0.0
        total = strengths.sum()
        return strengths / total if total > 0 else strengths
