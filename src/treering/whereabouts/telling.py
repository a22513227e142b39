"""Says where a memory is, why it is there, and what else was found."""

from collections.abc import Mapping
from pathlib import Path

from treering.health.doctor import Standing
from treering.ports.store import Check
from treering.whereabouts.choosing import Choice, Place, chosen, file_at
from treering.whereabouts.finding import Home

NAMED = "named by --db, TREERING_DB or the program"
_WHY: Mapping[Place, str] = {
    Place.DATA_FOLDER: "in the user's data folder",
    Place.PROJECT: "in the project, as asked",
}
_OPTION: Mapping[Place, str] = {
    Place.DATA_FOLDER: "treering init --in-data-folder",
    Place.PROJECT: "treering init --in-project",
}


def standing_of(home: Home, file: Path | None) -> Standing:
    """How the memory in `file` stands to the repository; None where a server has it."""
    choice = chosen(home)
    here = file == file_at(home, choice.place)
    return Standing(str(home.root), _WHY[choice.place] if here else NAMED, _found(home, choice, file))


def _found(home: Home, choice: Choice, file: Path | None) -> tuple[Check, ...]:
    other = file_at(home, choice.place.other)
    if other == file or not other.is_file():
        return ()
    if choice.remains:
        advice = f"`{_OPTION[choice.place]}` deletes it"
        return (Check("place", True, f"not used: {other} is a copy, left by a move that was cut short", advice),)
    if choice.place is Place.PROJECT:
        advice = "delete it, or carry its records over with `treering export --db` and `treering import`"
        return (Check("place", True, f"not used: {other}; the memory is kept in the project", advice),)
    advice = (
        f"where it is yours, name it with --db; else delete it; without it `{_OPTION[Place.PROJECT]}` keeps the "
        "memory there"
    )
    return (Check("place", True, f"not used: {other}; nobody on this machine asked for it", advice),)
