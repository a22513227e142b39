"""What Treering needs from a version control system: what became of files in the commits that are new."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FileChange:
    """What became of a file: where it is now (None: deleted), how much of it was changed, from 0 to 1, and when."""

    now: str | None
    share: float
    at: datetime | None = None


class Repository(Protocol):
    """One repository and its history. Paths are relative to its root. `RepositoryUnavailable` where it fails."""

    def head(self) -> str | None:
        """The commit that is checked out; None where there is none yet."""
        ...

    def known(self, commits: Iterable[str]) -> frozenset[str]:
        """Those of the commits that the history holds; a shallow or rewritten one may lack some."""
        ...

    def commit_before(self, moment: datetime, head: str) -> str | None:
        """The last commit up to a moment, on the way to `head`; None where history begins later."""
        ...

    def ends(self, commits: Sequence[str]) -> tuple[str, ...]:
        """Those of the commits that lead to no other of them: all the rest is part of their history."""
        ...

    def changes_since(self, seen: Sequence[str], head: str, paths: Iterable[str]) -> Mapping[str, FileChange]:
        """Those of the paths that commits touched which lead to `head` and to none of the commits `seen` before.

        Where a file is as it was in one of those, or where their ways parted, nothing of it was changed.
        """
        ...

    def present(self, head: str, paths: Iterable[str]) -> frozenset[str]:
        """Those of the paths that are files at `head`."""
        ...
