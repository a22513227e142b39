"""What Treering needs from a version control system: what became of files since a commit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FileChange:
    """What became of a file: where it is now (None: deleted), and how much of it was changed, from 0 to 1."""

    now: str | None
    share: float


class Repository(Protocol):
    """One repository and its history. Paths are relative to its root. `RepositoryUnavailable` where it fails."""

    def head(self) -> str | None:
        """The commit that is checked out; None where there is none yet."""
        ...

    def has(self, commit: str) -> bool:
        """Whether the history holds a commit; a shallow or rewritten one may not."""
        ...

    def commit_before(self, moment: datetime) -> str | None:
        """The last commit up to a moment, on the way to the present one; None where history begins later."""
        ...

    def changes_between(self, commit: str, head: str, paths: Iterable[str]) -> Mapping[str, FileChange]:
        """Those of the paths, as they were called at `commit`, that were changed, renamed or deleted since."""
        ...

    def last_change(self, path: str) -> datetime | None:
        """When a file was committed last; None where it never was."""
        ...
