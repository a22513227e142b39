"""What came of indexing: what was read, what was left out and why, what is in the graph now."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from treering.ports.code import CodeTotals


class Phase(StrEnum):
    """What indexing is at."""

    LOOKING = "looking for files"
    READING = "reading"
    RESOLVING = "resolving"
    HISTORY = "counting commits"
    VECTORS = "making vectors of the code"


@dataclass(frozen=True, slots=True)
class Progress:
    phase: Phase
    done: int = 0
    total: int | None = None


def nobody(_progress: Progress) -> None:
    """Where nobody wants to hear of it."""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """What of a file could not be understood, and where."""

    path: str
    line: int
    what: str
    count: int = 1
    """How many there are in the file; this is the first."""


@dataclass(frozen=True, slots=True)
class ScipIndex:
    """A compiler's index that was added to the graph."""

    name: str
    """Of its file."""
    tool: str
    """Who made it."""
    confirmed: int
    """Edges of it that the source told as well, more or less surely."""
    added: int
    """Edges of it that nothing else tells."""
    edges: int
    """Edges that were stored from it: what it added, and what only it is sure of."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """One run of indexing."""

    root: str
    read: int = 0
    """Files that were read, because they are new or not what they were."""
    unchanged: int = 0
    removed: int = 0
    resolved: int = 0
    """Files whose uses were looked up: those that were read, and those that a change elsewhere concerns."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """How many files and folders were left out, by reason."""
    problems: tuple[FileProblem, ...] = ()
    """What could not be understood of the files that were read; the first ones."""
    problems_total: int = 0
    totals: CodeTotals = field(default_factory=CodeTotals)
    """What the graph holds now."""
    seconds: float = 0.0
    complete: bool = True
    """False where files went on changing: the next run, or a watcher, reads them."""
    warnings: tuple[str, ...] = ()
    """What keeps the graph from being what somebody may expect, and what to do about it."""
    notes: tuple[str, ...] = ()
    """What else somebody should know."""

    @property
    def changed(self) -> bool:
        return bool(self.read or self.removed or self.resolved)
