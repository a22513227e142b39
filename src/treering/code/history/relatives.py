"""Files related to a file by history, imports and names."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from treering.code.graph import IndexStatus
from treering.code.history.ranking import RankedFile, related, related_without_history
from treering.code.history.session_ties import with_sessions
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
    missing: bool = False
    """Whether the file does not exist now."""
    known_before: bool = False
    """Whether git's history knows the missing file: it was deleted, renamed or belongs to another branch."""


_MANY = 1_000
_NO_INDEX = "the code is not indexed, so only sessions are known; run `treering index`"
NO_REPOSITORY = "the repository is not on this machine, or not the one of the current folder"


def relations(
    stored: CoChangeHistory,
    root: Path | None,
    path: str,
    limit: int,
    files: "FileGraph",
    *,
    ties: Mapping[str, float] = MappingProxyType({}),
) -> Relations:
    """Files related to a path of the project; `ties` are the weights of files that sessions used together with it.

    With a history or ties, the path need not exist yet. Raises `NotFound` for an unknown file if there are neither.
    """
    near, here = _neighbours(files), _there(root, frozenset(files.paths))
    reason = NO_REPOSITORY
    try:
        history = stored.counts_at(root)
    except RepositoryUnavailable as exc:
        history, reason = None, str(exc)
    if history is None:
        if not here(path) and not ties:
            raise NotFound(f"no file {path!r} in the project, and no history to compare it with: {reason}")
        by_name = related_without_history(files.paths, path, max(_MANY, limit), near)
        return Relations(path, with_sessions(by_name, ties, limit, here), reason, missing=not here(path))
    ranked = with_sessions(_ranked(history, path, max(_MANY, limit), near, here), ties, limit, here)
    known = history.inside + path in history.counts.lineage.numbers
    return Relations(path, ranked, missing=not here(path), known_before=known and not here(path))


def missing_note(found: Relations, alike: Collection[str]) -> str:
    """Say that a file does not exist, and why there is an answer about it."""
    if found.known_before:
        return f"{found.path} does not exist now; the answer is from the history of the deleted or renamed file"
    suggestion = f"; did you mean {', '.join(alike)}?" if alike else ""
    return f"no file {found.path} exists; files are related to it by name and folder only{suggestion}"


def relations_by_sessions(path: str, limit: int, ties: Mapping[str, float], root: Path | None) -> Relations:
    """Files that sessions used together with a file of a project whose code is not indexed."""
    # A folder that has the file is the one of the sessions, so that files missing in it are gone.
    known = root is not None and (root / path).is_file()
    here = _there(root if known else None, frozenset(() if known else ties))
    return Relations(path, with_sessions((), ties, limit, here), _NO_INDEX)


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
    found = related(history.counts, inside + path, limit, here)
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
