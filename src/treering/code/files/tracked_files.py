"""The files that git tracks: ignore rules do not apply to them. They are listed in the index of the repository."""

import os
import re
import stat
import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from treering.code.files.ignore_rules import text_of
from treering.code.files.outer_ignore_rules import common_git_folder, own_git_folder, repository_around

_HEADER = struct.Struct(">4sII")
_FLAGS = struct.Struct(">H")
_NAME_OFFSET = 62
_LONGER_HASH = 12  # bytes that a SHA-256 hash has more than a SHA-1 hash
_SHA_256 = re.compile(r"^\s*objectformat\s*=\s*sha256\s*$", re.IGNORECASE | re.MULTILINE)
_EXTENDED = 0x4000
_MAX_BYTES = 200_000_000


class TrackedFiles(NamedTuple):
    files: frozenset[str]
    folders: frozenset[str]
    """Folders that contain some of them, with a trailing slash."""

    def has(self, path: str) -> bool:
        """Whether a file is tracked, or a folder, with a trailing slash, contains tracked files."""
        return path in self.files or path in self.folders


NONE_TRACKED = TrackedFiles(frozenset(), frozenset())


def load_tracked_files(root: Path) -> TrackedFiles:
    """Return the tracked files below the root, by path from it; none if the index is missing or not understood."""
    top = repository_around(root)
    folder = None if top is None else own_git_folder(top / ".git")
    if top is None or folder is None:
        return NONE_TRACKED
    try:
        status = os.stat(folder / "index")
    except OSError:
        return NONE_TRACKED
    if not stat.S_ISREG(status.st_mode):
        return NONE_TRACKED
    inside = "" if top == root else f"{root.relative_to(top).as_posix()}/"
    shared = common_git_folder(top / ".git")
    longer = _LONGER_HASH if shared is not None and _SHA_256.search(text_of(shared / "config")) else 0
    return _loaded(folder / "index", status.st_mtime_ns, status.st_size, inside, _NAME_OFFSET + longer)


@lru_cache(maxsize=4)
def _loaded(index: Path, _changed_at: int, size: int, inside: str, name_offset: int) -> TrackedFiles:
    try:
        content = index.read_bytes() if size < _MAX_BYTES else b""
    except OSError:
        return NONE_TRACKED
    named = (os.fsdecode(name) for name in _names(content, name_offset))
    files = frozenset(name[len(inside) :] for name in named if name.startswith(inside))
    folders: set[str] = set()
    for file in files:
        end = file.rfind("/")
        while end > 0 and file[: end + 1] not in folders:
            folders.add(file[: end + 1])
            end = file.rfind("/", 0, end)
    return TrackedFiles(files, frozenset(folders))


def _names(content: bytes, name_offset: int) -> Iterator[bytes]:
    """Yield the names in an index of version 2, 3 or 4 (gitformat-index), up to the place where it is damaged."""
    try:
        signature, version, count = _HEADER.unpack_from(content)
        if signature != b"DIRC" or version not in (2, 3, 4):
            return
        place, name = _HEADER.size, b""
        for _ in range(count):
            (flags,) = _FLAGS.unpack_from(content, place + name_offset - _FLAGS.size)
            start = place + name_offset + (2 if flags & _EXTENDED else 0)
            kept = b""
            if version == 4:
                removed, start = _number(content, start)
                kept = name[: len(name) - removed]
            end = content.index(0, start)
            name = kept + content[start:end]
            place = end + 1 if version == 4 else place + (end - place + 8) // 8 * 8
            yield name
    except (struct.error, ValueError, IndexError):
        return


def _number(content: bytes, place: int) -> tuple[int, int]:
    """Return a number of variable length, and the place after it; `ValueError` if it is larger than the content."""
    value = content[place] & 0x7F
    while content[place] & 0x80:
        if value > len(content):
            raise ValueError(value)
        place += 1
        value = ((value + 1) << 7) | (content[place] & 0x7F)
    return value, place + 1
