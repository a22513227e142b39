"""Paths in names, in any notation: absolute, with dots, relative to the current folder."""

import os
import posixpath
from pathlib import Path
from typing import NamedTuple

from treering.core.errors import InvalidInput

_DOT_PARTS = frozenset({"", ".", ".."})
_NUL = "\0"


class NodeName(NamedTuple):
    asked: str
    """The name; if it contains a path, relative to the project root."""
    placed: bool
    """Whether the full path was given, so that only this place is meant."""


def needs_root(name: str) -> bool:
    """Whether a name is an absolute or dotted path, which has to be made relative to the root."""
    parts = name.replace(os.sep, "/").split("/")
    dotted = (len(parts) > 1 and not _DOT_PARTS.isdisjoint(parts[:-1])) or parts[-1] in (".", "..")
    return _NUL not in name and (os.path.isabs(name) or dotted)


def from_root(name: str, root: Path) -> NodeName:
    """The name as the index has it. Raises `InvalidInput` if it leads out of the root."""
    name = name.strip()
    if not needs_root(name):
        return NodeName(name, placed=False)
    if os.path.isabs(name):
        inside = _inside(os.path.normpath(name), root) or _inside(_resolved(name), root)
    else:
        inside = _inside(os.path.normpath(root / name), root)
    if inside is None:
        raise InvalidInput(f"{name} is outside {root}, the folder this project indexes; name something below it")
    return NodeName(inside, placed=True)


def from_folder(name: str, folder: Path, root: Path) -> str:
    """A name given in `folder`, made absolute if it begins with dots or exists there; otherwise unchanged."""
    path, tail = _split_name(name)
    if os.path.isabs(name) or _NUL in name:
        return name
    dotted = needs_root(name) and path.partition("/")[0] in _DOT_PARTS
    below = root in folder.parents and ("/" in path or "." in path) and (folder / path).exists()
    return os.path.normpath(folder / path) + tail if dotted or below else name


def _inside(path: str, root: Path) -> str | None:
    """The path relative to the root (`.` for the root itself), or None if outside."""
    try:
        return Path(path).relative_to(root).as_posix()
    except ValueError:
        return None


def _resolved(name: str) -> str:
    """The name with symbolic links resolved, as roots are stored resolved."""
    path, tail = _split_name(name)
    try:
        return str(Path(path).resolve()) + tail
    except (OSError, RuntimeError):
        return name


def _split_name(name: str) -> tuple[str, str]:
    """The path, and what it names in the file."""
    drive, rest = os.path.splitdrive(name)
    path, colon, inside = rest.partition(":")
    return drive + path, colon + inside


def file_part(name: str) -> str:
    return posixpath.normpath(_split_name(name)[0])
