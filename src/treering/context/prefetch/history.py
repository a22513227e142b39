"""Past sessions by number: which session edited or read which file, and which sessions had similar prompts.

Plain Python: importing numpy takes a new process longer than ranking the files of 400 sessions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from math import log1p
from typing import TYPE_CHECKING

from treering.context.prefetch.words import cached_words, is_inside

if TYPE_CHECKING:
    from treering.context.prefetch.words import PromptReading
    from treering.core.past_sessions import PastSession

FileValues = Mapping[int, float]
"""Values of files by number; files that are not contained have the value 0."""
SessionValues = Mapping[int, float]

MAX_SESSIONS = 1_000  # older sessions say little about the next one
MAX_FILES_OF_SESSION = 200  # a session that touches more is a mass change
MAX_SIMILAR = 10  # sessions with a similar prompt that vote

_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75  # of BM25
_NEGLIGIBLE = 1e-5  # weight of a session that fading has made irrelevant


@dataclass(frozen=True, slots=True)
class Touches:
    """Files by session, and sessions by file."""

    files: Mapping[int, Sequence[int]]
    sessions: Mapping[int, Sequence[int]]

    @classmethod
    def of(cls, files: Mapping[int, Sequence[int]]) -> Touches:
        sessions: dict[int, list[int]] = defaultdict(list)
        for session, touched in files.items():
            for file in touched:
                sessions[file].append(session)
        return cls(files, dict(sessions))

    def sums(self, by_session: SessionValues) -> FileValues:
        """For each file, the sum of a value of the sessions that touched it."""
        values: dict[int, float] = defaultdict(float)
        for session, value in by_session.items():
            for file in self.files.get(session, ()):
                values[file] += value
        return dict(values)

    def with_file(self, file: int) -> Sequence[int]:
        """The sessions that touched a file, oldest first."""
        return self.sessions.get(file, ())


@dataclass(frozen=True)
class SessionHistory:
    """The newest sessions, oldest first, with numbered files."""

    sessions: tuple[PastSession, ...]
    paths: tuple[str, ...]
    numbers: Mapping[str, int]
    edits: Touches
    reads: Touches
    """Files that the session read and did not edit."""
    age: Sequence[int]
    """Number of later sessions that touched files."""

    @classmethod
    def of(cls, past: Sequence[PastSession], more_paths: Iterable[str] = ()) -> SessionHistory:
        sessions = tuple(past[-MAX_SESSIONS:])
        numbers: dict[str, int] = {}
        edits: dict[int, list[int]] = {}
        reads: dict[int, list[int]] = {}
        for place, session in enumerate(sessions):
            edited, read = list[int](), list[int]()
            for path, _, edit_count, _ in session.files[:MAX_FILES_OF_SESSION]:
                number = numbers.get(path)
                if number is None:
                    if not is_inside(path):
                        continue
                    number = numbers[path] = len(numbers)
                (edited if edit_count > 0 else read).append(number)
            edits[place], reads[place] = edited, read
        for path in more_paths:
            if is_inside(path):
                numbers.setdefault(path, len(numbers))
        return cls(sessions, tuple(numbers), numbers, Touches.of(edits), Touches.of(reads), _ages(sessions))

    def faded(self, half_life: float) -> SessionValues:
        """Weight of the sessions that touched files, halved every `half_life` sessions."""
        weights: dict[int, float] = {}
        for place in range(len(self.sessions) - 1, -1, -1):
            weight = 0.5 ** (self.age[place] / half_life)
            if weight < _NEGLIGIBLE:
                break
            if self.sessions[place].files:
                weights[place] = weight
        return weights

    def edit_count(self, file: int) -> int:
        """Number of sessions that edited a file."""
        return len(self.edits.with_file(file))

    @cached_property
    def active_sessions(self) -> int:
        """Number of sessions that touched files."""
        return sum(1 for session in self.sessions if session.files)

    def edited_with(self, file: int) -> FileValues:
        """For each file, the number of sessions that edited it together with the given one."""
        together = Counter(other for session in self.edits.with_file(file) for other in self.edits.files[session])
        del together[file]
        return together

    def similarities(self, prompt: PromptReading) -> SessionValues:
        """BM25 of the sessions' prompts for the words of a prompt, for sessions that have some of the words."""
        if not prompt.codes or not self.sessions:
            return {}
        wanted, lengths = frozenset(prompt.codes), list[int]()
        hits: dict[int, list[tuple[int, int]]] = {}
        for place, session in enumerate(self.sessions):
            words = session.words or cached_words(session.prompts)
            lengths.append(words.length)
            codes = words.numbers()
            if found := wanted.intersection(codes):
                hits[place] = [(prompt.codes[code], words.counts[bisect_left(codes, code)]) for code in sorted(found)]
        holders = Counter(term for terms in hits.values() for term, _ in terms)
        count, mean = len(self.sessions), max(sum(lengths) / len(lengths), 1.0)
        rarity = {term: log1p((count - min(held, count) + 0.5) / (held + 0.5)) for term, held in holders.items()}
        scores: dict[int, float] = {}
        for place, terms in hits.items():
            norm = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * lengths[place] / mean)
            scores[place] = sum(rarity[term] * times * (_SATURATION + 1) / (times + norm) for term, times in terms)
        return scores

    def votes(self, prompt: PromptReading) -> SessionValues:
        """Shares of the sessions with the most similar prompts; they sum to 1, or there are none."""
        similar = [
            (place, score**2) for place, score in self.similarities(prompt).items() if self.sessions[place].files
        ]
        best = nlargest(MAX_SIMILAR, similar, key=lambda each: each[1])
        total = sum(strength for _, strength in best)
        return {place: strength / total for place, strength in best if strength > 0} if total > 0 else {}


def _ages(sessions: Sequence[PastSession]) -> list[int]:
    ages, later = list[int](), 0
    for session in reversed(sessions):
        ages.append(later)
        later += bool(session.files)
    return ages[::-1]
