"""Which files belong to a file: by what changed together in the history, by imports, by names."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import RepositoryUnavailable
from treering.core.graph import CoAccessEdge
from treering.index.history.counts import CoChange
from treering.index.history.following import Follower
from treering.index.history.ranking import Related, related
from treering.index.history.seeding import edge_id, seeded
from treering.index.which_language import language_named
from treering.ports.commits import Commit, CommitHistory, Touch

if TYPE_CHECKING:
    from treering.index.graph import FileGraph


@dataclass(frozen=True, slots=True)
class Repository:
    """The history of the repository that a project lies in, and where in it: nothing, or a folder with a slash."""

    history: CommitHistory
    inside: str = ""


@dataclass(frozen=True, slots=True)
class Relations:
    """The files that belong to one, the likeliest first."""

    path: str
    related: tuple[Related, ...]
    without_history: str = ""
    """Why no history speaks here; empty where one does."""


_MANY = 1_000


def _counted() -> CoChange:
    return CoChange(lambda path: language_named(path[path.rfind("/") + 1 :]) is not None)


class Relatives:
    """The history of each root that was asked about, counted once and then kept up with."""

    def __init__(self, repository: Callable[[Path], Repository]) -> None:
        self._repository = repository
        self._lock = threading.Lock()
        self._followers: dict[Path, Follower] = {}

    def follow(self, root: Path, report: Callable[[int], None] = lambda _read: None) -> tuple[CoChange, str]:
        """What the history says, with all that is new, and where in the repository the root lies.

        `RepositoryUnavailable` where there is no history.
        """
        with self._lock:
            repository = self._repository(root)
            follower = self._followers.setdefault(root, Follower(_counted))
            follower.update(repository.history, report)
            return follower.counts, repository.inside

    def newest(self, root: Path) -> str:
        """The commit that is checked out."""
        return self._repository(root).history.head()[1]

    def seeds(self, root: Path, report: Callable[[int], None] = lambda _read: None) -> list[CoAccessEdge]:
        """What the history says of which files belong together, as sessions will say it later."""
        counts, inside = self.follow(root, report)
        return [edge for each in seeded(counts) for edge in _within(each, inside)]

    def related(self, root: Path | None, path: str, limit: int, files: "FileGraph") -> Relations:
        near = _neighbours(files)
        try:
            if root is None:
                raise RepositoryUnavailable("the repository is not on this machine, or not the one you are in")
            counts, inside = self.follow(root)
        except RepositoryUnavailable as exc:
            return Relations(path, tuple(related(_without_history(files.paths), path, limit, near)), str(exc))
        here = {inside + each: {inside + other for other in others} for each, others in near.items()}
        # Files beside the root are ranked as well, and left out.
        found = related(counts, inside + path, _MANY if inside else limit, here)
        ours = (replace(each, path=each.path[len(inside) :]) for each in found if each.path.startswith(inside))
        return Relations(path, tuple(ours)[:limit])


def _within(edge: CoAccessEdge, inside: str) -> Iterator[CoAccessEdge]:
    """An edge in terms of the root, where it lies there."""
    if not inside:
        yield edge
    elif edge.first.startswith(inside) and edge.second.startswith(inside):
        first, second = edge.first[len(inside) :], edge.second[len(inside) :]
        yield edge.replace(id=edge_id(first, second), first=first, second=second)


def _without_history(paths: Sequence[str]) -> CoChange:
    """As if all files had come at once: names, folders and imports still tell something."""
    counts = _counted()
    counts.add(Commit("", 0, tuple(Touch("A", path, path) for path in paths)))
    return counts


def _neighbours(files: "FileGraph") -> Mapping[str, frozenset[str]]:
    """The files that each uses or is used by."""
    near: dict[str, set[str]] = {}
    for tail, head in zip(files.tails.tolist(), files.heads.tolist(), strict=True):
        one, other = files.paths[tail], files.paths[head]
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    return {path: frozenset(each) for path, each in near.items()}
