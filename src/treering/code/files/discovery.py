"""Find the source files of a project and count the skipped ones by reason. Nothing outside the root is read."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from treering.code.files.folder_listings import (
    DiscoveredFile,
    FolderListing,
    FolderListings,
    NamedFile,
    folder_state,
)
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
    root: Path,
    settings: CodeSettings,
    folders: frozenset[str] | None = None,
    home: GitHome | None = None,
    listings: FolderListings | None = None,
) -> Discovery:
    """Return every source file sorted by path, or only those of some folders; links are never followed.

    Folders have a trailing slash; the root is the empty string. `listings` of the last call with the same root and
    settings save listing unchanged folders. Raise `FolderUnavailable` if the root cannot be listed.
    """
    walk, outer_rules = _FolderWalk(root, settings, folders, listings), load_outer_rules(root, home)
    found = sorted(walk.files(outer_rules))
    return Discovery(root, tuple(found), walk.skipped, walk.unread, folders, frozenset(walk.unreadable), outer_rules)


def _parent_folders(path: str) -> Iterator[str]:
    """Yield the parent folders of a file; for a folder, the folder itself as well."""
    parts = path.split("/")[:-1]
    return ("".join(f"{part}/" for part in parts[:end]) for end in range(len(parts) + 1))


class _FolderWalk:
    """One traversal of the project's folders."""

    def __init__(
        self,
        root: Path,
        settings: CodeSettings,
        folders: frozenset[str] | None,
        listings: FolderListings | None,
    ) -> None:
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
        self._listings = listings
        self._visited: set[str] = set()
        self._depends_on_more = False
        """Whether the listing of the current folder depends on more than its names and rules."""

    def files(self, rules: IgnoreRules | None) -> Iterator[DiscoveredFile]:
        """Yield the files of the root, to which these rules apply."""
        pending = [("", rules)]
        while pending:
            folder, rules = pending.pop()
            is_listed = self._folders is None or folder in self._folders
            listing, rules = self._listing(folder, rules, with_files=is_listed)
            if listing.skipped:
                self.skipped.update(listing.skipped)
            if listing.unread:
                self.unread.update(listing.unread)
            for link in listing.links:
                self._count_link(link)
            pending += [(inner, rules) for inner in listing.folders]
            for file in listing.files:
                found = self._examined(file)
                if found is not None:
                    yield found
        if self._folders is None and self._listings is not None:
            self._listings.keep_only(self._visited)

    def _listing(
        self, folder: str, rules: IgnoreRules | None, *, with_files: bool
    ) -> tuple[FolderListing, IgnoreRules | None]:
        """Entries of a folder, and the rules that apply in it; from the last run if the folder has not changed."""
        listings = self._listings if self._folders is None else None
        if listings is None:
            return self._fresh_listing(folder, rules, with_files=with_files)
        self._visited.add(folder)
        try:
            state, at = folder_state(self._prefix + folder), time.time_ns()
        except OSError:
            return self._fresh_listing(folder, rules, with_files=True)
        inner_rules = load_folder_rules(self._root, folder, rules) if listings.has_rules(folder) else rules
        known = listings.get(folder, state, inner_rules)
        if known is not None:
            return known.listing, known.rules
        self._depends_on_more = False
        listing, inner_rules = self._fresh_listing(folder, rules, with_files=True)
        if not self._depends_on_more:
            listings.put(folder, state, inner_rules, listing, at)
        return listing, inner_rules

    def _fresh_listing(
        self, folder: str, rules: IgnoreRules | None, *, with_files: bool
    ) -> tuple[FolderListing, IgnoreRules | None]:
        entries = self._entries(folder)
        names = {entry.name for entry in entries}
        skipped, unread = Counter[str](), Counter[str]()
        if folder and (REPOSITORY in names or ENVIRONMENT in names):
            skipped[OTHER_REPOSITORY if REPOSITORY in names else VENDORED] += 1
            return FolderListing(False, (), (), (), skipped, unread), rules
        if IGNORE_FILE in names:
            rules = load_folder_rules(self._root, folder, rules)
        beside_manifest = not folder or not PROJECT_MARKS.isdisjoint(names)
        links: list[str] = []
        folders: list[str] = []
        files: list[NamedFile] = []
        for entry in entries:
            if entry.is_symlink():
                links.append(entry.path)
            elif self._is_folder(entry, folder):
                inner = f"{folder}{entry.name}/"
                if self._leading is not None and inner not in self._leading:
                    continue
                if self._should_enter(entry.name, inner, rules, skipped, beside_manifest=beside_manifest):
                    folders.append(inner)
            elif with_files and (file := self._named_file(entry.name, folder + entry.name, rules, skipped, unread)):
                files.append(file)
        return FolderListing(IGNORE_FILE in names, links, folders, files, skipped, unread), rules

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
            self._depends_on_more = True
            self._record_unreadable(folder, exc)
        return []

    def _is_folder(self, entry: os.DirEntry[str], parent: str) -> bool:
        try:
            return entry.is_dir(follow_symlinks=False)
        except OSError as exc:
            self._depends_on_more = True
            self._record_unreadable(f"{parent}{entry.name}/", exc)
            return False

    def _record_unreadable(self, path: str, why: OSError) -> None:
        """A path that no longer exists is gone; one that cannot be read may be unchanged."""
        if why.errno in _GONE:
            self.skipped[VANISHED] += 1
            return
        self.unreadable.add(path)
        self.skipped[NO_PERMISSION if isinstance(why, PermissionError) else UNLISTED] += 1

    def _count_link(self, path: str) -> None:
        """A target inside the project is indexed at its own path; a target outside is not read."""
        try:
            target = os.path.realpath(path, strict=True)
        except OSError:
            self.skipped[BROKEN_LINK] += 1
            return
        inside = target == str(self._root) or target.startswith(f"{self._root}{os.sep}")
        self.skipped[LINK if inside else LEAVES_ROOT] += 1

    def _should_enter(
        self, name: str, path: str, rules: IgnoreRules | None, skipped: Counter[str], *, beside_manifest: bool
    ) -> bool:
        if name in _TOOLS:
            return False
        if name in self._vendored or (beside_manifest and name in self._built) or name.endswith(".egg-info"):
            skipped[VENDORED] += 1
            return False
        if self._is_ignored(path, rules):
            skipped[IGNORED] += 1
            return False
        return True

    def _is_ignored(self, path: str, rules: IgnoreRules | None) -> bool:
        """Whether git ignores a file, or a folder with a trailing slash: nothing that it tracks.

        Of an ignored folder, it ignores everything else, whatever the rules say about it.
        """
        above = path[: path.rfind("/", 0, -1) + 1]
        if above not in self._ignored_folders and (rules is None or not rules.ignores(path)):
            return False
        self._depends_on_more = True
        if not self._tracked.has(path):
            return True
        if path.endswith("/"):
            self._ignored_folders.add(path)
        return False

    @cached_property
    def _tracked(self) -> TrackedFiles:
        return load_tracked_files(self._root)

    def _named_file(
        self, name: str, path: str, rules: IgnoreRules | None, skipped: Counter[str], unread: Counter[str]
    ) -> NamedFile | None:
        """Return the file, or None after counting why its name says that it is skipped."""
        language = language_named(name)
        if language is None:
            # It belongs to the project but is not read.
            if not self._is_ignored(path, rules):
                unread[unread_language_named(name) or OTHER] += 1
            return None
        kind = content_kind(path)
        if self._is_ignored(path, rules):
            skipped[IGNORED] += 1
        elif not _is_nameable(path):
            skipped[ODD_NAME] += 1
        elif GENERATED_NAMES.search(name):
            skipped[GENERATED] += 1
        elif kind in (ContentKind.CONFIGURATION, ContentKind.DATA) and _SECRETS.search(name):
            skipped[MAY_HOLD_SECRETS] += 1
        else:
            return NamedFile(path, language, min(self._max_bytes, _MAX_TEXT_BYTES.get(kind, self._max_bytes)))
        return None

    def _examined(self, file: NamedFile) -> DiscoveredFile | None:
        """Return the file with its stamp, or None after counting why it is skipped."""
        try:
            status = os.lstat(self._prefix + file.path)
        except OSError as exc:
            self._record_unreadable(file.path, exc)
            return None
        state = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode)
        if state != file.state:
            if not stat.S_ISREG(status.st_mode):
                self.skipped[NOT_A_FILE] += 1
                return None
            if status.st_size > file.max_bytes:
                self.skipped[TOO_LARGE] += 1
                return None
            file.state, file.found = state, DiscoveredFile(file.path, file.language, stamp_of(status))
        return file.found


def _is_nameable(path: str) -> bool:
    """Whether a path can be stored and shown; most are plain ASCII, which is decided without encoding them."""
    if not path.isascii() and not is_storable(path):
        return False
    return len(path if path.isascii() else path.encode()) <= PATH_BYTES and not _UNNAMEABLE.search(path)
