"""Which files belong to a file: by what changed together in the history, by imports, by names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from treering.code.graph import Standing
from treering.code.history.counts import CoChange
from treering.code.history.ranking import Related, related
from treering.code.history.stored_history import Chronicle, Told, takes_part
from treering.core.errors import RepositoryUnavailable
from treering.ports.commits import Commit, Touch

if TYPE_CHECKING:
    from treering.code.graph import FileGraph


@dataclass(frozen=True, slots=True)
class Relations:
    """The files that belong to one, the likeliest first."""

    path: str
    related: tuple[Related, ...]
    without_history: str = ""
    """Why no history speaks here; empty where one does."""
    standing: Standing = field(default_factory=Standing)


_MANY = 1_000
_ELSEWHERE = "the repository is not on this machine, or not the one you are in"


def relations(chronicle: Chronicle, root: Path | None, path: str, limit: int, files: "FileGraph") -> Relations:
    """The relatives of a file that is, or may come to be, in the project."""
    near = _neighbours(files)
    why = _ELSEWHERE
    try:
        told = chronicle.told(root)
    except RepositoryUnavailable as exc:
        told, why = None, str(exc)
    if told is None:
        return Relations(path, tuple(related(_without_history(files.paths), path, limit, near)), why)
    here = _there(root, frozenset(files.paths))
    return Relations(path, _ranked(told, path, limit, near, here))


def _there(root: Path | None, indexed: frozenset[str]) -> Callable[[str], bool]:
    """Whether a file is there now: the history also knows those of other branches."""
    return lambda path: path in indexed or (root is not None and (root / path).is_file())


def _ranked(
    told: Told, path: str, limit: int, near: Mapping[str, frozenset[str]], is_there: Callable[[str], bool]
) -> tuple[Related, ...]:
    inside = told.inside
    here = {inside + path: {inside + other for other in near.get(path, ())}}
    # Files beside the root, and of other branches, are ranked as well, and left out.
    found = related(told.counts, inside + path, max(_MANY, limit), here)
    ours = (replace(each, path=each.path[len(inside) :]) for each in found if each.path.startswith(inside))
    return tuple(islice((each for each in ours if is_there(each.path)), limit))


def _without_history(paths: Sequence[str]) -> CoChange:
    """As if all files had come at once: names, folders and imports still tell something."""
    counts = CoChange(takes_part)
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
