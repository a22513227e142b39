"""Report of an indexing run: files read, files skipped and why, totals of the graph."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from treering.code.language_choice import by_level
from treering.ports.code import CodeTotals


class IndexPhase(StrEnum):
    """Phase of an indexing run."""

    LOOKING = "looking for files"
    READING = "reading"
    RESOLVING = "resolving"
    HISTORY = "counting commits"
    VECTORS = "making vectors of the code"


@dataclass(frozen=True, slots=True)
class IndexProgress:
    phase: IndexPhase
    done: int = 0
    total: int | None = None


def ignore_progress(_progress: IndexProgress) -> None:
    """Default progress callback."""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """First syntax problem of a file."""

    path: str
    line: int
    what: str
    count: int = 1
    """Number of problems in the file; this is the first."""


@dataclass(frozen=True, slots=True)
class ScipIndex:
    """A SCIP index (made by a compiler's tool) that was added to the graph."""

    name: str
    """File name of the index."""
    tool: str
    """Tool that made the index."""
    confirmed: int
    """Edges that the source reader had found as well, with any confidence."""
    added: int
    """Edges that no other source has."""
    edges: int
    """Edges stored from this index: the added ones, and those that only it is certain of."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """Result of one indexing run."""

    root: str
    read: int = 0
    """Files that were read because they are new or changed."""
    unchanged: int = 0
    removed: int = 0
    resolved: int = 0
    """Files whose edges were resolved: the files that were read, and those affected by their changes."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Number of files and folders skipped, by reason."""
    unread: Mapping[str, int] = field(default_factory=dict)
    """Number of files left out because their language is not read or its grammar is not installed, by language."""
    problems: tuple[FileProblem, ...] = ()
    """Syntax problems of the files that were read; the first ones."""
    problems_total: int = 0
    totals: CodeTotals = field(default_factory=CodeTotals)
    """Totals of the graph after the run."""
    seconds: float = 0.0
    complete: bool = True
    """False if files kept changing during the run; the next run, or a watcher, reads them."""
    warnings: tuple[str, ...] = ()
    """Reasons why the graph may lack expected files, and what to do."""
    notes: tuple[str, ...] = ()
    """Other information for the user."""

    @property
    def language_levels(self) -> Mapping[str, Mapping[str, int]]:
        """Files by language, grouped by how the language is read."""
        return by_level(self.totals.languages)

    @property
    def changed(self) -> bool:
        return bool(self.read or self.removed or self.resolved)
