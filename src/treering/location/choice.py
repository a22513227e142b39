"""Which of its two places the memory of a repository is at.

The choice is kept in the user's data folder, never in the repository: what a repository brings along is not a choice of
this user on this machine.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from shlex import quote

from treering.core.errors import NotADatabase, StoreError, StoreReadOnly, StoreUnavailable
from treering.location.private_files import is_gone, made, write_for_this_user
from treering.location.repository import IN_PROJECT, Home, project_name
from treering.location.transfer_commands import commands

CHOICE = "place.json"
UNSEEN = ".gitignore"

Identify = Callable[[Path], str]
"""The identity of the database in a file, which is only looked into: nothing in it is run, and nothing written."""


class Place(StrEnum):
    """The two places."""

    DATA_FOLDER = "data folder"
    PROJECT = "project"

    @property
    def other(self) -> "Place":
        return Place.PROJECT if self is Place.DATA_FOLDER else Place.DATA_FOLDER


@dataclass(frozen=True, slots=True)
class Choice:
    """Where the memory is, and what it is called."""

    project: str
    """Made from where the repository was when it got a memory: a repository that is renamed keeps it."""
    place: Place = Place.DATA_FOLDER
    database: str = ""
    """In the project: the identity of the database that was put there. Any other has come with the repository."""
    remains: bool = False
    """A move was begun and not tidied up: what lies at the other place is a copy that nobody uses."""


def chosen(home: Home) -> Choice | None:
    """What was noted of this repository; None where nothing was."""
    file = home.kept / CHOICE
    try:
        return _read(file, project_name(home.root))[1]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as exc:
        raise StoreReadOnly(f"{file} cannot be read ({exc}); change its permissions or those of its folder") from exc
    except (ValueError, KeyError, TypeError) as exc:
        raise StoreError(
            f"{file} does not say where the memory of {home.root} is ({type(exc).__name__}: {exc}); delete that one "
            "file: a memory beside it is found again, and of one in the project `treering doctor` then says how to "
            "carry it over"
        ) from exc


def choose(home: Home, choice: Choice) -> None:
    """Keep a choice, durably and wholly or not at all."""
    noted = {**asdict(choice), "root": str(home.root)}
    write_for_this_user(made(home.kept) / CHOICE, json.dumps(noted) + "\n")


def all_chosen(data: Path) -> Iterator[tuple[Home, Choice]]:
    """What the data folder notes of each repository. Of a damaged note, who works in that repository hears."""
    for file in sorted(data.glob(f"*/{CHOICE}")):
        try:
            root, choice = _read(file, file.parent.name)
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if (home := Home(Path(root), data)).kept == file.parent:
            yield home, choice


def _read(file: Path, project: str) -> tuple[str, Choice]:
    found = json.loads(file.read_text("utf-8"))
    choice = Choice(
        str(found.get("project") or project), Place(found["place"]), str(found["database"]), bool(found["remains"])
    )
    return str(found.get("root", "")), choice


def file_at(home: Home, place: Place) -> Path:
    return home.in_project if place is Place.PROJECT else home.in_data_folder


def own_file(home: Home, choice: Choice, identify: Identify) -> Path:
    """The memory's file, to be opened; in the data folder it need not be there yet.

    In the project a missing file is told of and not made anew: it was there, and somebody deleted it. And only the
    database that was put there is opened: git may have brought another in its place.
    """
    if choice.place is Place.DATA_FOLDER:
        return home.in_data_folder
    file = home.in_project
    if is_gone(file):
        raise StoreUnavailable(
            f"the memory of {home.root} was kept in {file}, as asked, and is gone (`git clean -x` deletes it). Put it "
            "back; or run `treering init --in-project` to begin a new one, into which a backup is carried with "
            f"{commands('BACKUP', [choice.project])}"
        )
    try:
        identity = identify(file)
    except NotADatabase as exc:
        raise NotADatabase(f"the memory of {home.root} cannot be read: {exc}") from exc
    if identity != choice.database:
        raise StoreError(
            f"{file} is not the memory that was kept there: something replaced it, git perhaps. Put the right one "
            f"back; or move this one away (`mv {quote(str(file))}* FOLDER`) and run `treering init --in-project` to "
            "begin a new one. If what is in this one is yours, from a backup perhaps, carry it over then: "
            f"{commands(f'FOLDER/{file.name}', [choice.project])}"
        )
    return file


def prepare_data_folder(home: Home) -> None:
    made(home.kept)


def prepare_project(home: Home) -> None:
    """A folder for this user only, out of git's sight before anything is in it."""
    folder = home.root / IN_PROJECT
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise StoreReadOnly(f"{folder} is not a folder but a link or a file; delete it, then ask again")
    made(folder)
    try:
        folder.chmod(0o700)
    except OSError as exc:
        raise StoreReadOnly(f"{folder} cannot be kept from others ({exc}); make it yours, then ask again") from exc
    write_for_this_user(folder / UNSEEN, "*\n")


PREPARE: Mapping[Place, Callable[[Home], None]] = {
    Place.DATA_FOLDER: prepare_data_folder,
    Place.PROJECT: prepare_project,
}
