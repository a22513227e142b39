"""Storage of co-change counts within a transaction, as encoded by `treering.code`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class HistoryState:
    """How far a history is counted."""

    root: str
    """The folder whose history it is, on the machine that counted it."""
    inside: str
    """Path of that folder in its repository: empty, or with a trailing slash."""
    version: str
    """Version of the counting rules; counts of another version are not usable."""
    seen: Mapping[str, str]
    """The last counted commit of each branch."""
    seeded: str = ""
    """Digest of what the project's co-access edges were derived from; empty if there are none from history."""


class CodeHistory(Protocol):
    def state(self) -> HistoryState | None:
        """None if nothing was counted."""
        ...

    def counts(self) -> bytes:
        """The encoded counts; empty if nothing was counted."""
        ...

    def put(self, state: HistoryState, counts: bytes | None = None) -> None:
        """Store the state; None leaves the counts unchanged."""
        ...

    def clear(self) -> None: ...
