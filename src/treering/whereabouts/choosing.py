"""Which of its two places the memory of a repository is at.

The choice is kept in the user's data folder, never in the repository: what a repository brings along is not a choice of
this user on this machine.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from treering.core.errors import StoreError, StoreReadOnly, StoreUnavailable
from treering.whereabouts.finding import IN_PROJECT, Home

CHOICE = "place.json"
UNSEEN = ".gitignore"
UNFINISHED = ".new"
"""What a file is called until it is wholly written."""


class Place(StrEnum):
    """The two places."""

    DATA_FOLDER = "data folder"
    PROJECT = "project"

    @property
    def other(self) -> "Place":
        return Place.PROJECT if self is Place.DATA_FOLDER else Place.DATA_FOLDER


@dataclass(frozen=True, slots=True)
class Choice:
    """Where the memory is."""

    place: Place = Place.DATA_FOLDER
    database: str = ""
    """In the project: the identity of the database that was put there. Any other has come with the repository."""
    remains: bool = False
    """A move was begun and not tidied up: what lies at the other place is a copy that nobody uses."""


def chosen(home: Home) -> Choice:
    """What was asked for; without that, the data folder."""
    file = home.kept / CHOICE
    try:
        found = json.loads(file.read_text("utf-8"))
        return Choice(Place(found["place"]), str(found["database"]), bool(found["remains"]))
    except (FileNotFoundError, NotADirectoryError):
        return Choice()
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise StoreError(
            f"{file} does not say where the memory of {home.root} is ({type(exc).__name__}: {exc}); delete it if the "
            "memory is beside it, else name the memory with --db or TREERING_DB"
        ) from exc


def choose(home: Home, choice: Choice) -> None:
    """Keep a choice, durably and wholly or not at all."""
    write_for_this_user(made(home.kept) / CHOICE, json.dumps(asdict(choice)) + "\n")


def file_at(home: Home, place: Place) -> Path:
    return home.in_project if place is Place.PROJECT else home.in_data_folder


def ready(home: Home, choice: Choice) -> Path:
    """The memory's file, in a folder that is there.

    In the project a missing file is told of and not made anew: it was there, and somebody deleted it.
    """
    file = file_at(home, choice.place)
    if choice.place is Place.PROJECT and not file.is_file():
        raise StoreUnavailable(
            f"the memory of {home.root} was kept in {file}, as asked, and is gone (`git clean -x` deletes it); put it "
            "back, or run `treering init --in-project` to begin a new one"
        )
    return file if choice.place is Place.PROJECT else made(home.kept) / file.name


def refuse_a_strangers(home: Home, choice: Choice, identity: str) -> None:
    """In the project, only the database that was put there is read: git may have brought another in its place."""
    if choice.place is Place.PROJECT and identity != choice.database:
        raise StoreError(
            f"{home.in_project} is not the memory that was kept there: something replaced it, git perhaps. Put the "
            "right one back; or name this one with --db where it is yours, else delete it and run `treering init "
            "--in-project`"
        )


def prepare_data_folder(home: Home) -> None:
    made(home.kept)


def prepare_project(home: Home) -> None:
    """A folder for this user only, out of git's sight before anything is in it."""
    folder = home.root / IN_PROJECT
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise StoreReadOnly(f"{folder} is no folder but a link or a file; delete it, then ask again")
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


def made(folder: Path) -> Path:
    """The folder, for this user only where it is new."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as exc:
        raise StoreReadOnly(f"{folder} cannot be made ({exc}); set TREERING_DB or TREERING_DATA_DIR") from exc
    return folder


def write_for_this_user(file: Path, text: str) -> None:
    """Written aside and put in place: readers see the old text or the new one, and a link is replaced, not followed."""
    aside = file.with_name(f"{file.name}{UNFINISHED}")
    try:
        aside.unlink(missing_ok=True)
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as writing:
            writing.write(text)
            writing.flush()
            os.fsync(writing.fileno())
        os.replace(aside, file)
        sync(file.parent)
    except OSError as exc:
        raise StoreReadOnly(f"{file} cannot be written ({exc}); check its folder and the room on the disk") from exc


def sync(path: Path) -> None:
    """What the path names stays through a power cut."""
    # Windows can neither open a directory nor needs to: NTFS journals its entries.
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
