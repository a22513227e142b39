"""Find the source files of a project and count the skipped ones by reason. Nothing outside the root is read."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from treering.code.files.ignore_rules import IGNORE_FILE, IgnoreRules, load_folder_rules
from treering.code.files.outer_ignore_rules import GitHome, load_outer_rules
from treering.code.files.skip_reasons import (
    BROKEN_LINK,
    GENERATED,
    IGNORED,
    LEAVES_ROOT,
    LINK,
    MAY_HOLD_SECRETS,
    NO_PERMISSION,
    NOT_A_FILE,
    ODD_NAME,
    OTHER,
    OTHER_REPOSITORY,
    TOO_LARGE,
    UNLISTED,
    VANISHED,
    VENDORED,
)
from treering.code.files.stamps import stamp_of
from treering.code.files.tracked_files import TrackedFiles, load_tracked_files
from treering.code.language_choice import PROJECT_MARKS, content_kind, language_named, unread_language_named
from treering.code.language_table import ContentKind
from treering.core.errors import FolderUnavailable
from treering.core.values import PATH_BYTES, is_storable

if TYPE_CHECKING:
    from treering.core.settings import CodeSettings

REPOSITORY = ".git"
ENVIRONMENT = "pyvenv.cfg"

_TOOLS = frozenset(
    {".git", ".hg", ".svn", ".venv", ".tox", ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".treering"}
)
"""Folders of tools; they are skipped without being counted."""
GENERATED_NAMES = re.compile(
    r"(?:_pb2(?:_grpc)?\.pyi?|\.pb(?:\.gw)?\.go|\.min\.[cm]?js|\.bundle\.js|[._]generated\.\w+|\.gen\.(?:go|ts|rs)"
    r"|_gen\.go|^zz_generated.*|\.min\.css|\.designer\.cs|\.g\.(?:dart|cs)|\.freezed\.dart|\.pb\.(?:cc|h)|[.-]lock"
    r"|-lock\.(?:json|ya?ml)|^npm-shrinkwrap\.json|^packages\.lock\.json|^go\.sum|^Package\.resolved|\.snap)$",
    re.I,
)
_SECRETS = re.compile(
    r"^(?:.*[._-])?(?:secrets?|credentials?|passwords?|passwd)(?:[._-].*)?\.\w+$|^(?:service[._-]?account|client_secret).*",
    re.I,
)
"""Names of configuration and data files that are not read, whatever they hold."""
_MAX_TEXT_BYTES = {ContentKind.PROSE: 400_000, ContentKind.CONFIGURATION: 200_000, ContentKind.DATA: 50_000}
"""Bytes above which a file that is not code is skipped: larger ones are mostly made by programs."""
_UNNAMEABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]|::")
"""Names that break lines, move the cursor, or look like a definition's id cannot be stored or shown."""
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


class DiscoveredFile(NamedTuple):
    """A source file, with the stamp that detects changes."""

    path: str
    language: str
    stamp: str


@dataclass(frozen=True, slots=True)
class Discovery:
    root: Path
    found: tuple[DiscoveredFile, ...]
    skipped: Counter[str]
    unread: Counter[str] = field(default_factory=Counter)
    """Files in languages that are not read, by language."""
    folders: frozenset[str] | None = None
    """The folders that were listed, without their subfolders; None means all of them."""
    unreadable: frozenset[str] = frozenset()
    """Files, and folders with a trailing slash, whose state could not be read."""
    outer_rules: IgnoreRules | None = None
    """The ignore rules from outside the root that apply to all of it."""

    def covers(self, path: str) -> bool:
        """Whether absence from `found` means that the file does not exist."""
        if self.is_uncertain(path):
            return False
        return self.folders is None or path[: path.rfind("/") + 1] in self.folders

    def is_uncertain(self, path: str) -> bool:
        """Whether the existence of a file could not be determined."""
        return bool(self.unreadable) and (
            path in self.unreadable or not self.unreadable.isdisjoint(_parent_folders(path))
        )


def discover(
    root: Path, settings: CodeSettings, folders: frozenset[str] | None = None, home: GitHome | None = None
) -> Discovery:
    """Return every source file sorted by path, or only those of some folders; links are never followed.

    Folders have a trailing slash; the root is the empty string. Raise `FolderUnavailable` if the root cannot be listed.
    """
    walk, outer_rules = _FolderWalk(root, settings, folders), load_outer_rules(root, home)
    found = sorted(walk.files(outer_rules))
    return Discovery(root, tuple(found), walk.skipped, walk.unread, folders, frozenset(walk.unreadable), outer_rules)


def _parent_folders(path: str) -> Iterator[str]:
    """Yield the parent folders of a file; for a folder, the folder itself as well."""
    parts = path.split("/")[:-1]
    return ("".join(f"{part}/" for part in parts[:end]) for end in range(len(parts) + 1))


class _FolderWalk:
    """One traversal of the project's folders."""

    def __init__(self, root: Path, settings: CodeSettings, folders: frozenset[str] | None) -> None:
        self.skipped: Counter[str] = Counter()
        self.unread: Counter[str] = Counter()
        self.unreadable: set[str] = set()
        self._ignored_folders: set[str] = set()  # with tracked files
        self._root = root
        self._prefix = os.path.join(root, "")
        self._folders = folders
        self._leading = (
            None if folders is None else frozenset(above for each in folders for above in _parent_folders(each))
        )
        self._vendored = frozenset(settings.vendored)
        self._built = frozenset(settings.built)
        self._max_bytes = settings.largest_file

    def files(self, rules: IgnoreRules | None) -> Iterator[DiscoveredFile]:
        """Yield the files of the root, to which these rules apply."""
        pending = [("", rules)]
        while pending:
            folder, rules = pending.pop()
            entries = self._entries(folder)
            names = {entry.name for entry in entries}
            if folder and REPOSITORY in names:
                self.skipped[OTHER_REPOSITORY] += 1
                continue
            if folder and ENVIRONMENT in names:
                self.skipped[VENDORED] += 1
                continue
            if IGNORE_FILE in names:
                rules = load_folder_rules(self._root, folder, rules)
            beside_manifest = not folder or not PROJECT_MARKS.isdisjoint(names)
            listed = self._folders is None or folder in self._folders
            for entry in entries:
                if entry.is_symlink():
                    self._count_link(entry)
                elif self._is_folder(entry, folder):
                    inner = f"{folder}{entry.name}/"
                    if self._leading is not None and inner not in self._leading:
                        continue
                    if self._should_enter(entry.name, inner, rules, beside_manifest=beside_manifest):
                        pending.append((inner, rules))
                elif listed and (found := self._file(entry, folder + entry.name, rules)) is not None:
                    yield found

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._prefix + folder) as scanned:
                return list(scanned)
        except OSError as exc:
            if not folder:
                raise FolderUnavailable(
                    f"{self._root} cannot be listed ({exc.strerror}), so nothing was changed; make it readable, or "
                    "pass another folder"
                ) from exc
            self._record_unreadable(folder, exc)
        return []

    def _is_folder(self, entry: os.DirEntry[str], parent: str) -> bool:
        try:
            return entry.is_dir(follow_symlinks=False)
        except OSError as exc:
            self._record_unreadable(f"{parent}{entry.name}/", exc)
            return False

    def _record_unreadable(self, path: str, why: OSError) -> None:
        """A path that no longer exists is gone; one that cannot be read may be unchanged."""
        if why.errno in _GONE:
            self.skipped[VANISHED] += 1
            return
        self.unreadable.add(path)
        self.skipped[NO_PERMISSION if isinstance(why, PermissionError) else UNLISTED] += 1

    def _count_link(self, entry: os.DirEntry[str]) -> None:
        """A target inside the project is indexed at its own path; a target outside is not read."""
        try:
            target = os.path.realpath(entry.path, strict=True)
        except OSError:
            self.skipped[BROKEN_LINK] += 1
            return
        inside = target == str(self._root) or target.startswith(f"{self._root}{os.sep}")
        self.skipped[LINK if inside else LEAVES_ROOT] += 1

    def _should_enter(self, name: str, path: str, rules: IgnoreRules | None, *, beside_manifest: bool) -> bool:
        if name in _TOOLS:
            return False
        if name in self._vendored or (beside_manifest and name in self._built) or name.endswith(".egg-info"):
            self.skipped[VENDORED] += 1
            return False
        if self._is_ignored(path, rules):
            self.skipped[IGNORED] += 1
            return False
        return True

    def _is_ignored(self, path: str, rules: IgnoreRules | None) -> bool:
        """Whether git ignores a file, or a folder with a trailing slash: nothing that it tracks.

        Of an ignored folder, it ignores everything else, whatever the rules say about it.
        """
        above = path[: path.rfind("/", 0, -1) + 1]
        if above not in self._ignored_folders and (rules is None or not rules.ignores(path)):
            return False
        if not self._tracked.has(path):
            return True
        if path.endswith("/"):
            self._ignored_folders.add(path)
        return False

    @cached_property
    def _tracked(self) -> TrackedFiles:
        return load_tracked_files(self._root)

    def _file(self, entry: os.DirEntry[str], path: str, rules: IgnoreRules | None) -> DiscoveredFile | None:
        """Return the file, or None after counting why it is skipped."""
        language = language_named(entry.name)
        if language is None:
            self._count_unread(entry.name, path, rules)
            return None
        kind = content_kind(path)
        if self._is_ignored(path, rules):
            self.skipped[IGNORED] += 1
        elif not _is_nameable(path):
            self.skipped[ODD_NAME] += 1
        elif GENERATED_NAMES.search(entry.name):
            self.skipped[GENERATED] += 1
        elif kind in (ContentKind.CONFIGURATION, ContentKind.DATA) and _SECRETS.search(entry.name):
            self.skipped[MAY_HOLD_SECRETS] += 1
        else:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError as exc:
                self._record_unreadable(path, exc)
                return None
            if not stat.S_ISREG(status.st_mode):
                self.skipped[NOT_A_FILE] += 1
            elif status.st_size > min(self._max_bytes, _MAX_TEXT_BYTES.get(kind, self._max_bytes)):
                self.skipped[TOO_LARGE] += 1
            else:
                return DiscoveredFile(path, language, stamp_of(status))
        return None

    def _count_unread(self, name: str, path: str, rules: IgnoreRules | None) -> None:
        """Count a file that belongs to the project but is not read."""
        if not self._is_ignored(path, rules):
            self.unread[unread_language_named(name) or OTHER] += 1


def _is_nameable(path: str) -> bool:
    """Whether a path can be stored and shown; most are plain ASCII, which is decided without encoding them."""
    if not path.isascii() and not is_storable(path):
        return False
    return len(path if path.isascii() else path.encode()) <= PATH_BYTES and not _UNNAMEABLE.search(path)
