"""Finds the files of a project that are code, and counts what is left out and why. Nothing outside the root is read."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from treering.core.settings import IndexSettings
from treering.core.values import PATH_BYTES, is_storable
from treering.index.ignoring import IGNORE_FILE, Rules, excluded_in, rules_in
from treering.index.which_language import MANIFESTS, language_named

IGNORED = "ignored by git"
VENDORED = "vendored or built"
GENERATED = "generated"
TOO_LARGE = "too large"
BINARY = "binary"
LEAVES_ROOT = "a link out of the project"
LINK = "a link to what is indexed where it leads"
BROKEN_LINK = "a link that leads nowhere"
NO_PERMISSION = "no permission"
OTHER_REPOSITORY = "another repository"
ODD_NAME = "a name that is no text, or too long"
VANISHED = "vanished while it was read"

_TOOLS = frozenset({".git", ".hg", ".svn", ".venv", ".tox", ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
"""Folders of tools: nobody misses them, so they are not counted."""
_GENERATED = re.compile(
    r"(?:_pb2(?:_grpc)?\.pyi?|\.pb(?:\.gw)?\.go|\.min\.[cm]?js|\.bundle\.js|[._]generated\.\w+|\.gen\.(?:go|ts|rs)"
    r"|_gen\.go|^zz_generated.*)$"
)


class Found(NamedTuple):
    """A file that may be read, and what tells whether it is what was read before."""

    path: str
    language: str
    stamp: str


@dataclass(frozen=True, slots=True)
class Discovery:
    found: tuple[Found, ...]
    skipped: Counter[str]
    folders: frozenset[str] | None = None
    """The folders that were looked at, each by itself; None where that is all of them."""

    def covers(self, path: str) -> bool:
        """Whether a file that is not among those found is not there."""
        return self.folders is None or path[: path.rfind("/") + 1] in self.folders


def stamp_of(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"


def discover(root: Path, settings: IndexSettings, folders: frozenset[str] | None = None) -> Discovery:
    """Every file that is code, by path, or those of some folders; links are never followed.

    Folders are named with a slash at their end, the root with nothing.
    """
    skipped: Counter[str] = Counter()
    found = sorted(_Walk(root, settings, skipped, folders).files())
    return Discovery(tuple(found), skipped, folders)


def _above(folder: str) -> Iterator[str]:
    """A folder and those that lead to it."""
    parts = folder.split("/")[:-1]
    return ("".join(f"{part}/" for part in parts[:end]) for end in range(len(parts) + 1))


class _Walk:
    """One way through the folders."""

    def __init__(
        self, root: Path, settings: IndexSettings, skipped: Counter[str], folders: frozenset[str] | None
    ) -> None:
        self._root = root
        self._folders = folders
        self._leading = None if folders is None else frozenset(above for each in folders for above in _above(each))
        self._vendored = frozenset(settings.vendored)
        self._built = frozenset(settings.built)
        self._largest = settings.largest_file
        self._skipped = skipped

    def files(self) -> Iterator[Found]:
        waiting: list[tuple[str, Rules | None]] = [("", excluded_in(self._root))]
        while waiting:
            folder, rules = waiting.pop()
            entries = self._entries(folder)
            names = {entry.name for entry in entries}
            if folder and ".git" in names:
                self._skipped[OTHER_REPOSITORY] += 1
                continue
            if folder and "pyvenv.cfg" in names:
                self._skipped[VENDORED] += 1
                continue
            if IGNORE_FILE in names:
                rules = rules_in(self._root, folder, rules)
            beside_manifest = not folder or not MANIFESTS.isdisjoint(names)
            for entry in entries:
                if entry.is_symlink():
                    self._count_link(entry)
                elif entry.is_dir(follow_symlinks=False):
                    inner = f"{folder}{entry.name}/"
                    if self._leading is not None and inner not in self._leading:
                        continue
                    if self._enters(entry.name, inner, rules, beside_manifest=beside_manifest):
                        waiting.append((inner, rules))
                elif self._folders is None or folder in self._folders:
                    yield from self._file(entry, folder + entry.name, rules)

    def _entries(self, folder: str) -> list["os.DirEntry[str]"]:
        try:
            with os.scandir(self._root / folder) as scanned:
                return list(scanned)
        except PermissionError:
            self._skipped[NO_PERMISSION] += 1
        except OSError:
            self._skipped[VANISHED] += 1
        return []

    def _count_link(self, entry: "os.DirEntry[str]") -> None:
        """Whatever is inside the project is found where it stands; whatever is not is not read."""
        try:
            target = os.path.realpath(entry.path, strict=True)
        except OSError:
            self._skipped[BROKEN_LINK] += 1
            return
        inside = target == str(self._root) or target.startswith(f"{self._root}{os.sep}")
        self._skipped[LINK if inside else LEAVES_ROOT] += 1

    def _enters(self, name: str, path: str, rules: Rules | None, *, beside_manifest: bool) -> bool:
        if name in _TOOLS:
            return False
        if name in self._vendored or (beside_manifest and name in self._built) or name.endswith(".egg-info"):
            self._skipped[VENDORED] += 1
            return False
        if rules is not None and rules.ignore(path):
            self._skipped[IGNORED] += 1
            return False
        return True

    def _file(self, entry: "os.DirEntry[str]", path: str, rules: Rules | None) -> Iterator[Found]:
        language = language_named(entry.name)
        if language is None or not entry.is_file(follow_symlinks=False):
            return
        if rules is not None and rules.ignore(path):
            self._skipped[IGNORED] += 1
        elif not is_storable(path) or len(path.encode()) > PATH_BYTES:
            self._skipped[ODD_NAME] += 1
        elif _GENERATED.search(entry.name):
            self._skipped[GENERATED] += 1
        else:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                self._skipped[VANISHED] += 1
                return
            if status.st_size > self._largest:
                self._skipped[TOO_LARGE] += 1
            else:
                yield Found(path, language, stamp_of(status))
