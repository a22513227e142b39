"""Says where a memory is, why it is there, and what else was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import TreeringError
from treering.location.choice import Choice, Identify, Place, file_at
from treering.location.private_files import is_gone
from treering.location.renames import owners, repositories_gone
from treering.location.transfer_commands import ProjectsIn, carrying
from treering.maintenance.doctor import LocationStatus
from treering.ports.store import Check

if TYPE_CHECKING:
    from treering.location.repository import Home

RENAMED = "renamed?"
"""The check that tells of memories whose repositories are gone."""
NAMED = "named by --db, TREERING_DB or the program"
_WHY: Mapping[Place, str] = {
    Place.DATA_FOLDER: "in the user's data folder",
    Place.PROJECT: "in the project, as asked",
}
_OPTION: Mapping[Place, str] = {
    Place.DATA_FOLDER: "treering init --in-data-folder",
    Place.PROJECT: "treering init --in-project",
}
_MOST_GONE = 5


def standing_of(
    home: Home, choice: Choice, file: Path | None, identify: Identify, projects_in: ProjectsIn
) -> LocationStatus:
    """How the memory in `file` stands to the repository; None where a server has it."""
    here = file == file_at(home, choice.place)
    other = file_at(home, choice.place.other)
    unused = () if other == file or is_gone(other) else (_unused(home, choice, other, identify, projects_in),)
    gone = tuple(_gone(home, projects_in)) if here else ()
    return LocationStatus(str(home.root), _WHY[choice.place] if here else NAMED, (*unused, *gone))


def _unused(home: Home, choice: Choice, other: Path, identify: Identify, projects_in: ProjectsIn) -> Check:
    if choice.remains:
        advice = f"`{_OPTION[choice.place]}` deletes it"
        return Check("place", True, f"not used: {other} is a copy, left by a move that was cut short", advice)
    how = carrying(other, projects_in, "if it is yours")
    if choice.place is Place.PROJECT:
        return Check("place", True, f"not used: {other}; the memory is kept in the project", how)
    advice = f"{how}; once it is moved away, `{_OPTION[Place.PROJECT]}` keeps the memory there"
    return Check("place", True, f"not used: {other}; {_whose(home, other, identify)}", advice)


def _whose(home: Home, file: Path, identify: Identify) -> str:
    try:
        known = owners(home, identify(file))
    except TreeringError:
        known = ()
    roots = ", ".join(str(owner.root) for owner, _ in known)
    return f"it is the memory of {roots}, or a copy of it" if known else "nobody on this machine asked for it"


def _gone(home: Home, projects_in: ProjectsIn) -> Iterator[Check]:
    """A repository that was renamed is another one to us; its memory is still there."""
    found = repositories_gone(home)
    for other in found[:_MOST_GONE]:
        detail = f"{other.root} is gone, its memory is kept in {other.in_data_folder}"
        how = carrying(other.in_data_folder, projects_in, "if it was renamed and is this one now")
        yield Check(RENAMED, True, detail, how)
    if more := found[_MOST_GONE:]:
        yield Check(RENAMED, True, f"{len(more):,} more memories of repositories that are gone are in {home.data}")
