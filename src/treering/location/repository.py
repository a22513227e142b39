"""From a folder to its repository, and to the two possible files of its memory."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from treering.core.errors import InvalidInput
from treering.core.values import KEY_BYTES

FILE = "memory.db"
IN_PROJECT = ".treering"


def repository_root(start: Path) -> Path:
    """The nearest folder with a repository, or `start` if there is none.

    Worktrees and submodules count as repositories: each has a `.git`, there a file.
    """
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)


def repository_around(folder: str | os.PathLike[str] | None) -> Path:
    """The repository around a folder (default: the working directory), with links resolved."""
    try:
        return repository_root(Path.cwd() if folder is None else Path(folder).expanduser().resolve())
    except (OSError, RuntimeError) as exc:
        named = "the working directory" if folder is None else os.fspath(folder)
        raise InvalidInput(f"{named} cannot be read ({exc}); change to another folder, or name a project") from exc


def project_name(root: Path) -> str:
    """A readable name, unique for folders with equal names, from any bytes that a folder name may contain."""
    digest = sha256(os.fsencode(root)).hexdigest()[:8]
    printable = "".join(char if char.isprintable() else "-" for char in root.name)
    readable = printable.encode()[: KEY_BYTES - len(digest) - 1].decode(errors="ignore")
    return f"{readable or 'root'}-{digest}"


@dataclass(frozen=True, slots=True)
class MemoryPaths:
    """A repository and the possible files of its memory."""

    root: Path
    data_folder: Path

    @property
    def repository_folder(self) -> Path:
        """This repository's folder inside the data folder."""
        return self.data_folder / project_name(self.root)

    @property
    def in_data_folder(self) -> Path:
        return self.repository_folder / FILE

    @property
    def in_project(self) -> Path:
        return self.root / IN_PROJECT / FILE
