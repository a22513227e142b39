"""Files related to a file by history, imports and names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from treering.code.graph import IndexStatus
from treering.code.history.ranking import RankedFile, related, related_without_history
from treering.code.history.stored_history import CoChangeHistory, RepositoryCounts
from treering.core.errors import NotFound, RepositoryUnavailable

if TYPE_CHECKING:
    from treering.code.graph import FileGraph


@dataclass(frozen=True, slots=True)
class Relations:
    """The files related to one file, best first."""

    path: str
    related: tuple[RankedFile, ...]
    without_history: str = ""
    """Why the history was not used; empty if it was."""
    status: IndexStatus = field(default_factory=IndexStatus)


_MANY = 1_000
_NO_REPOSITORY = "the repository is not on this machine, or not the one of the current folder"


def relations(stored: CoChangeHistory, root: Path | None, path: str, limit: int, files: "FileGraph") -> Relations:
    """Files related to a path of the project.

    With a history, the path need not exist yet. Raises `NotFound` for an unknown file if there is no history.
    """
    near, here = _neighbours(files), _there(root, frozenset(files.paths))
    reason = _NO_REPOSITORY
    try:
        history = stored.counts_at(root)
    except RepositoryUnavailable as exc:
        history, reason = None, str(exc)
    if history is None:
        if not here(path):
            raise NotFound(f"no file {path!r} in the project, and no history to compare it with: {reason}")
        return Relations(path, tuple(related_without_history(files.paths, path, limit, near)), reason)
    return Relations(path, _ranked(history, path, limit, near, here))


def _there(root: Path | None, indexed: frozenset[str]) -> Callable[[str], bool]:
    """Whether a file exists now: the history also contains files of other branches."""
    return lambda path: path in indexed or (root is not None and (root / path).is_file())


def _ranked(
    history: RepositoryCounts,
    path: str,
    limit: int,
    near: Mapping[str, frozenset[str]],
    is_there: Callable[[str], bool],
) -> tuple[RankedFile, ...]:
    inside = history.inside
    here = {inside + path: {inside + other for other in near.get(path, ())}}
    # Files outside the root, and of other branches, are ranked as well, and then left out.
    found = related(history.counts, inside + path, max(_MANY, limit), here)
    ours = (replace(each, path=each.path[len(inside) :]) for each in found if each.path.startswith(inside))
    return tuple(islice((each for each in ours if is_there(each.path)), limit))


def _neighbours(files: "FileGraph") -> Mapping[str, frozenset[str]]:
    """The files that each file uses or is used by."""
    near: dict[str, set[str]] = {}
    for tail, head in zip(files.tails.tolist(), files.heads.tolist(), strict=True):
        one, other = files.paths[tail], files.paths[head]
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    return {path: frozenset(each) for path, each in near.items()}
