"""The commits of a version control system in order, used to learn which files change together."""

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Touch:
    """A change of a file in a commit. `letter` is git's: A added, M modified, D deleted, R renamed, T type changed."""

    letter: str
    before: str
    after: str
    """Equal to `before`, except for a renamed file."""


@dataclass(frozen=True, slots=True)
class Commit:
    id: str
    at: int
    """Seconds since 1970."""
    touches: tuple[Touch, ...]


class CommitHistory(Protocol):
    """The commits of one repository; `RepositoryUnavailable` on failure. Paths are relative to its root."""

    def head(self) -> tuple[str, str]:
        """The checked-out branch (`HEAD` if detached) and its newest commit."""
        ...

    def leads_to(self, commit: str, head: str) -> bool:
        """Whether `commit` is known and an ancestor of `head`."""
        ...

    def commits(self, head: str, seen: Collection[str] = ()) -> AbstractContextManager[Iterator[Commit]]:
        """Ancestors of `head` that are not ancestors of `seen`, parents first, without merges.

        The commits are streamed; leaving the context early stops the reader.
        """
        ...
