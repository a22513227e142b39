"""What Treering needs from a transaction for what commits say: the counts of one project, as they were packed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class HistoryState:
    """Up to where a history is counted."""

    root: str
    """The folder whose history it is, on the machine that counted."""
    inside: str
    """Where in its repository that folder lies: nothing, or a folder with a slash."""
    version: str
    """What counted: counts of another version mean nothing."""
    seen: Mapping[str, str]
    """The last commit of each branch that is counted."""
    seeded: str = ""
    """What the co-access of this project follows from, as one text; empty where no history filled it."""


class CodeHistory(Protocol):
    def state(self) -> HistoryState | None:
        """None where nothing was counted."""
        ...

    def counts(self) -> bytes:
        """What was counted, as it was packed; empty where nothing was."""
        ...

    def put(self, state: HistoryState, counts: bytes | None = None) -> None:
        """How it stands now; None leaves the counts as they are."""
        ...

    def clear(self) -> None: ...
