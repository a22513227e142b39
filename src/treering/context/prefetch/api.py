"""`memory.context.prefetch`: connects the ranking with the stores of sessions, code and history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from treering.core.errors import InvalidInput

if TYPE_CHECKING:
    from treering.context.prefetch.ranking import PrefetchedFile
    from treering.core.past_sessions import PastSession

MAX_LIMIT = 100
MAX_NAMED = 8  # files of the prompt and at hand whose companions are read


@dataclass(frozen=True, slots=True)
class Companions:
    """Companions of some files, from a file to the others with weights up to 1; what is missing counts nothing."""

    co_access: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    co_change: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    code: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


class PrefetchSources(Protocol):
    """What the ranking reads. Every method may return nothing: sessions alone suffice."""

    def past_sessions(self, limit: int) -> Sequence[PastSession]:
        """The newest finished sessions, the newest last."""
        ...

    def companions(self, files: Sequence[str]) -> Companions:
        """Files accessed, committed or used together with the given ones."""
        ...

    def record_files(self, prompt: str) -> Mapping[str, float]:
        """Files of knowledge and episodes that match the prompt, with the relevance of the best of them."""
        ...

    def known_files(self) -> Iterable[str]:
        """Files of the project, if they are indexed."""
        ...


def prefetch(
    sources: PrefetchSources, prompt: str, files: Sequence[str] = (), limit: int = 12
) -> tuple[PrefetchedFile, ...]:
    """The files that a session with this prompt will probably touch, the likeliest first, at most `limit`.

    `files` are those already at hand, relative to the root; they are not part of the result. Raises `InvalidInput` if
    the limit is not from 1 to 100.
    """
    from treering.context.prefetch.history import MAX_SESSIONS
    from treering.context.prefetch.ranking import rank_files
    from treering.context.prefetch.words import read_prompt

    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"limit must be from 1 to {MAX_LIMIT}, not {limit}")
    past = sources.past_sessions(MAX_SESSIONS)
    named = sorted(path for path in read_prompt(prompt).paths if not path.startswith("/"))
    near = sources.companions([*files, *named][:MAX_NAMED]) if files or named else Companions()
    return rank_files(
        prompt,
        files,
        past,
        limit=limit,
        co_access=near.co_access,
        co_change=near.co_change,
        code=near.code,
        records=sources.record_files(prompt),
        known_files=sources.known_files(),
    )
