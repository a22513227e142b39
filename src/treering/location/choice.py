"""The chosen location of a repository's memory: the user's data folder or the project.

The choice is stored in the user's data folder, never in the repository: a file that arrives with a clone is not a
choice of this user on this machine.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from shlex import quote

from treering.core.errors import NotADatabase, StoreError, StoreReadOnly, StoreUnavailable
from treering.location.private_files import ensure_private_folder, is_absent, write_private
from treering.location.repository import IN_PROJECT, MemoryPaths, project_name
from treering.location.transfer_commands import transfer_commands

CHOICE = "place.json"
GITIGNORE = ".gitignore"

Identify = Callable[[Path], str]
"""Returns the identity of the database in a file. Only inspects the file: nothing in it is run, nothing written."""


class MemoryLocation(StrEnum):
    """The two locations."""

    DATA_FOLDER = "data folder"
    PROJECT = "project"

    @property
    def other(self) -> "MemoryLocation":
        return MemoryLocation.PROJECT if self is MemoryLocation.DATA_FOLDER else MemoryLocation.DATA_FOLDER


@dataclass(frozen=True, slots=True)
class Choice:
    """Location and project name of a repository's memory."""

    project: str
    """Derived from the first path of the repository: a renamed repository keeps it."""
    place: MemoryLocation = MemoryLocation.DATA_FOLDER
    database: str = ""
    """In the project: the identity of the database put there. A different one has arrived with the repository."""
    remains: bool = False
    """A move was started and not cleaned up: the file at the other location is an unused copy."""


def read_choice(paths: MemoryPaths) -> Choice | None:
    """The stored choice for this repository; None if there is none."""
    file = paths.repository_folder / CHOICE
    try:
        return _read(file, project_name(paths.root))[1]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as exc:
        raise StoreReadOnly(f"{file} cannot be read ({exc}); change its permissions or those of its folder") from exc
    except (ValueError, KeyError, TypeError) as exc:
        raise StoreError(
            f"{file} does not say where the memory of {paths.root} is ({type(exc).__name__}: {exc}); delete that "
            "file only: a memory beside it is found again, and for one in the project `treering doctor` shows how to "
            "transfer it"
        ) from exc


def save_choice(paths: MemoryPaths, choice: Choice) -> None:
    """Store a choice durably and atomically."""
    noted = {**asdict(choice), "root": str(paths.root)}
    write_private(ensure_private_folder(paths.repository_folder) / CHOICE, json.dumps(noted) + "\n")


def all_choices(data_folder: Path) -> Iterator[tuple[MemoryPaths, Choice]]:
    """The choices in the data folder, by repository. Damaged files are skipped; using their repository reports them."""
    for file in sorted(data_folder.glob(f"*/{CHOICE}")):
        try:
            root, choice = _read(file, file.parent.name)
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if (paths := MemoryPaths(Path(root), data_folder)).repository_folder == file.parent:
            yield paths, choice


def _read(file: Path, project: str) -> tuple[str, Choice]:
    found = json.loads(file.read_text("utf-8"))
    choice = Choice(
        str(found.get("project") or project),
        MemoryLocation(found["place"]),
        str(found["database"]),
        bool(found["remains"]),
    )
    return str(found.get("root", "")), choice


def file_at(paths: MemoryPaths, place: MemoryLocation) -> Path:
    return paths.in_project if place is MemoryLocation.PROJECT else paths.in_data_folder


def own_file(paths: MemoryPaths, choice: Choice, identify: Identify) -> Path:
    """The file to open; in the data folder it need not exist yet.

    A missing file in the project is an error rather than created again, because it existed and was deleted. A file with
    another identity is an error too: git may have replaced it.
    """
    if choice.place is MemoryLocation.DATA_FOLDER:
        return paths.in_data_folder
    file = paths.in_project
    if is_absent(file):
        raise StoreUnavailable(
            f"the memory of {paths.root} was kept in {file}, as chosen, and is missing (`git clean -x` deletes it). "
            "Restore it, or run `treering init --in-project` to start an empty one, and import a backup with "
            f"{transfer_commands('BACKUP', [choice.project])}"
        )
    try:
        identity = identify(file)
    except NotADatabase as exc:
        raise NotADatabase(f"the memory of {paths.root} cannot be read: {exc}") from exc
    if identity != choice.database:
        raise StoreError(
            f"{file} is not the memory that was kept there: something, perhaps git, replaced it. Restore the right "
            f"file; or move this one away (`mv {quote(str(file))}* FOLDER`) and run `treering init --in-project` to "
            "start an empty one. If this one is yours, for example a backup, then transfer its records: "
            f"{transfer_commands(f'FOLDER/{file.name}', [choice.project])}"
        )
    return file


def prepare_data_folder(paths: MemoryPaths) -> None:
    ensure_private_folder(paths.repository_folder)


def prepare_project(paths: MemoryPaths) -> None:
    """Create the folder for this user only, with a .gitignore before anything else."""
    folder = paths.root / IN_PROJECT
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise StoreReadOnly(f"{folder} is a link or a file, not a folder; delete it and try again")
    ensure_private_folder(folder)
    try:
        folder.chmod(0o700)
    except OSError as exc:
        raise StoreReadOnly(f"{folder} cannot be made private ({exc}); take ownership of it and try again") from exc
    write_private(folder / GITIGNORE, "*\n")


PREPARE: Mapping[MemoryLocation, Callable[[MemoryPaths], None]] = {
    MemoryLocation.DATA_FOLDER: prepare_data_folder,
    MemoryLocation.PROJECT: prepare_project,
}
