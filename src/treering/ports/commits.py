"""What Treering needs from a version control system to learn which files change together: its commits, in order."""

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Touch:
    """What a commit did to a file. `letter` is git's: A added, M modified, D deleted, R renamed, T another type."""

    letter: str
    before: str
    after: str
    """The same path, except of a renamed file."""


@dataclass(frozen=True, slots=True)
class Commit:
    id: str
    at: int
    """Seconds since 1970."""
    touches: tuple[Touch, ...]


class CommitHistory(Protocol):
    """The commits of one repository. `RepositoryUnavailable` where it fails. Paths are relative to its root."""

    def head(self) -> tuple[str, str]:
        """The branch that is checked out (`HEAD` where there is none) and its newest commit."""
        ...

    def leads_to(self, commit: str, head: str) -> bool:
        """Whether `commit` is known and part of the history of `head`."""
        ...

    def commits(self, head: str, seen: Collection[str] = ()) -> AbstractContextManager[Iterator[Commit]]:
        """The commits that lead to `head` and to none of `seen`, parents first, merges left out.

        They stream; whoever leaves early stops the reading.
        """
        ...
