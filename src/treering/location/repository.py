"""From a folder to its repository, and from a repository to the two places where its memory can be."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from treering.core.errors import InvalidInput
from treering.core.values import KEY_BYTES

FILE = "memory.db"
IN_PROJECT = ".treering"


def repository_root(start: Path) -> Path:
    """The nearest folder that holds a repository, or `start` where there is none.

    A worktree and a submodule are repositories of their own: each has a `.git`, which is a file there.
    """
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), start)


def repository_around(folder: str | os.PathLike[str] | None) -> Path:
    """The repository around a folder or the working directory, the same whichever links lead there."""
    try:
        return repository_root(Path.cwd() if folder is None else Path(folder).expanduser().resolve())
    except (OSError, RuntimeError) as exc:
        named = "the working directory" if folder is None else os.fspath(folder)
        raise InvalidInput(f"{named} cannot be read ({exc}); go to another, or name a project") from exc


def project_name(root: Path) -> str:
    """A name that is readable and differs for folders of the same name, whatever bytes the folder is named with."""
    digest = sha256(os.fsencode(root)).hexdigest()[:8]
    printable = "".join(char if char.isprintable() else "-" for char in root.name)
    readable = printable.encode()[: KEY_BYTES - len(digest) - 1].decode(errors="ignore")
    return f"{readable or 'root'}-{digest}"


@dataclass(frozen=True, slots=True)
class Home:
    """A repository, and what the user's data folder has for it."""

    root: Path
    data: Path

    @property
    def kept(self) -> Path:
        """This repository's folder in the data folder."""
        return self.data / project_name(self.root)

    @property
    def in_data_folder(self) -> Path:
        return self.kept / FILE

    @property
    def in_project(self) -> Path:
        return self.root / IN_PROJECT / FILE
