"""Paths in names, however they are written: absolute, with dots, from the folder that somebody stands in."""

import os
import posixpath
from pathlib import Path
from typing import NamedTuple

from treering.core.errors import InvalidInput

_HERE = frozenset({"", ".", ".."})
_NOWHERE = "\0"


class Named(NamedTuple):
    asked: str
    """With its path from the root of the project, where it has one."""
    placed: bool
    """Whether that path was given in full: it means this place and no other."""


def leads_somewhere(name: str) -> bool:
    """Whether it is a path that is not from the root as it stands."""
    parts = name.replace(os.sep, "/").split("/")
    dotted = (len(parts) > 1 and not _HERE.isdisjoint(parts[:-1])) or parts[-1] in (".", "..")
    return _NOWHERE not in name and (os.path.isabs(name) or dotted)


def from_root(name: str, root: Path) -> Named:
    """A name as the index has it; `InvalidInput` where it leads out of the root."""
    name = name.strip()
    if not leads_somewhere(name):
        return Named(name, placed=False)
    if os.path.isabs(name):
        inside = _inside(os.path.normpath(name), root) or _inside(_resolved(name), root)
    else:
        inside = _inside(os.path.normpath(root / name), root)
    if inside is None:
        raise InvalidInput(f"{name} is outside {root}, whose code this project holds; name something below that")
    return Named(inside, placed=True)


def from_folder(name: str, folder: Path, root: Path) -> str:
    """What somebody in a folder names, as an absolute path: what begins with dots, or is there; else as it is."""
    path, tail = _parted(name)
    if os.path.isabs(name) or _NOWHERE in name:
        return name
    dotted = leads_somewhere(name) and path.partition("/")[0] in _HERE
    below = root in folder.parents and ("/" in path or "." in path) and (folder / path).exists()
    return os.path.normpath(folder / path) + tail if dotted or below else name


def _inside(path: str, root: Path) -> str | None:
    """The path from the root, `.` for the root itself; None outside."""
    try:
        return Path(path).relative_to(root).as_posix()
    except ValueError:
        return None


def _resolved(name: str) -> str:
    """Where links lead to: a root is known by what it really is."""
    path, tail = _parted(name)
    try:
        return str(Path(path).resolve()) + tail
    except (OSError, RuntimeError):
        return name


def _parted(name: str) -> tuple[str, str]:
    """The path, and what it names in the file."""
    drive, rest = os.path.splitdrive(name)
    path, colon, inside = rest.partition(":")
    return drive + path, colon + inside


def file_part(name: str) -> str:
    return posixpath.normpath(_parted(name)[0])
