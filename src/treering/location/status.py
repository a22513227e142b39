"""Status of a memory's location: where it is, why, and which other memories were found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import TreeringError
from treering.location.choice import Choice, Identify, MemoryLocation, file_at
from treering.location.private_files import is_absent
from treering.location.renames import missing_repositories, owning_repositories
from treering.location.transfer_commands import ProjectsIn, transfer_advice
from treering.maintenance.doctor import LocationStatus
from treering.ports.store import Check

if TYPE_CHECKING:
    from treering.location.repository import MemoryPaths

RENAMED = "renamed?"
"""Name of the check that lists memories of missing repositories."""
NAMED = "named by --db, TREERING_DB or the program"
_WHY: Mapping[MemoryLocation, str] = {
    MemoryLocation.DATA_FOLDER: "in the user's data folder",
    MemoryLocation.PROJECT: "in the project, as chosen",
}
_OPTION: Mapping[MemoryLocation, str] = {
    MemoryLocation.DATA_FOLDER: "treering init --in-data-folder",
    MemoryLocation.PROJECT: "treering init --in-project",
}
_MAX_MISSING = 5


def location_status(
    paths: MemoryPaths, choice: Choice, file: Path | None, identify: Identify, projects_in: ProjectsIn
) -> LocationStatus:
    """Status of the memory in `file` relative to the repository; `file` is None for a server."""
    here = file == file_at(paths, choice.place)
    other = file_at(paths, choice.place.other)
    unused = () if other == file or is_absent(other) else (_unused_check(paths, choice, other, identify, projects_in),)
    gone = tuple(_missing_checks(paths, projects_in)) if here else ()
    return LocationStatus(str(paths.root), _WHY[choice.place] if here else NAMED, (*unused, *gone))


def _unused_check(
    paths: MemoryPaths, choice: Choice, other: Path, identify: Identify, projects_in: ProjectsIn
) -> Check:
    if choice.remains:
        advice = f"`{_OPTION[choice.place]}` deletes it"
        return Check("place", True, f"not used: {other} is a copy, left by an interrupted move", advice)
    how = transfer_advice(other, projects_in, "if it is yours")
    if choice.place is MemoryLocation.PROJECT:
        return Check("place", True, f"not used: {other}; the memory is kept in the project", how)
    advice = f"{how}; after you move it away, `{_OPTION[MemoryLocation.PROJECT]}` keeps the memory there"
    return Check("place", True, f"not used: {other}; {_origin(paths, other, identify)}", advice)


def _origin(paths: MemoryPaths, file: Path, identify: Identify) -> str:
    try:
        known = owning_repositories(paths, identify(file))
    except TreeringError:
        known = ()
    roots = ", ".join(str(owner.root) for owner, _ in known)
    return f"it is the memory of {roots}, or a copy of it" if known else "no user of this machine put it there"


def _missing_checks(paths: MemoryPaths, projects_in: ProjectsIn) -> Iterator[Check]:
    """Treering regards a renamed repository as a new one; the memory of the old one still exists."""
    found = missing_repositories(paths)
    for other in found[:_MAX_MISSING]:
        detail = f"{other.root} no longer exists, its memory is in {other.in_data_folder}"
        how = transfer_advice(other.in_data_folder, projects_in, "if this is the same repository, renamed")
        yield Check(RENAMED, True, detail, how)
    if more := found[_MAX_MISSING:]:
        yield Check(RENAMED, True, f"{len(more):,} more memories of missing repositories are in {paths.data_folder}")
