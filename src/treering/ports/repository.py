"""Changes of files in the new commits of a version control system."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FileChange:
    """Changes of a file: its present path (None: deleted), the changed share from 0 to 1, and the time."""

    now: str | None
    share: float
    at: datetime | None = None


class Repository(Protocol):
    """One repository and its history; `RepositoryUnavailable` on failure. Paths are relative to its root."""

    def head(self) -> str | None:
        """The checked-out commit; None in a repository without commits."""
        ...

    def known(self, commits: Iterable[str]) -> frozenset[str]:
        """Those of the commits that exist in the history; a shallow or rewritten history may lack some."""
        ...

    def commit_before(self, moment: datetime, head: str) -> str | None:
        """The last commit up to `moment` among the ancestors of `head`; None if the history begins later."""
        ...

    def ends(self, commits: Sequence[str]) -> tuple[str, ...]:
        """Those of the commits that are not ancestors of another one."""
        ...

    def changes_since(self, seen: Sequence[str], head: str, paths: Iterable[str]) -> Mapping[str, FileChange]:
        """Changes of `paths` in the ancestors of `head` that are not ancestors of `seen`.

        A file that equals its version in one of `seen`, or in their merge base, counts as unchanged.
        """
        ...

    def present(self, head: str, paths: Iterable[str]) -> frozenset[str]:
        """Those of the paths that are files at `head`."""
        ...

    def renamed(self, head: str, first_used: Mapping[str, datetime]) -> Mapping[str, str]:
        """Paths at `head` of files that were renamed, by their old path; `first_used` has the first use of each path.

        A path at which there is a file now, committed or not, was not renamed. If several files had the path one after
        the other, the one of its first use is meant.
        """
        ...
