"""What each folder contained when it was last listed, so that a folder that has not changed is not listed again.

The times of a folder change whenever an entry is added, removed, renamed or replaced. What may change without that is
never taken from here: the state of files, the targets of links, the content of ignore rules.
"""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from treering.code.files.ignore_rules import IgnoreRules
from treering.code.files.stamps import may_change_unseen

_TRUSTED_SECONDS = 60.0
"""How long a listing is used: it bounds the damage of a file system that does not keep the times of its folders."""

FileState = tuple[int, int, int, int, int]
FolderState = tuple[int, int, int, int]


class DiscoveredFile(NamedTuple):
    """A source file, with the stamp that detects changes."""

    path: str
    language: str
    stamp: str


@dataclass(slots=True)
class NamedFile:
    """A file whose name says that it is read, with its state when it was last examined."""

    path: str
    language: str
    max_bytes: int
    state: FileState | None = None
    found: DiscoveredFile | None = None


@dataclass(frozen=True, slots=True)
class FolderListing:
    """Entries of a folder, as far as their names, types and the ignore rules decide about them."""

    has_rules: bool
    """Whether it has ignore rules of its own."""
    links: Sequence[str]
    folders: Sequence[str]
    files: Sequence[NamedFile]
    skipped: Counter[str]
    unread: Counter[str]


@dataclass(frozen=True, slots=True)
class KnownListing:
    """A listing, and what it depends on."""

    state: FolderState
    rules: IgnoreRules | None
    listing: FolderListing
    until: float


def folder_state(path: str) -> FolderState:
    """Raises `OSError` if there is no such folder."""
    status = os.stat(path)
    return status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev


class FolderListings:
    """Listings of one root, with one set of settings. One thread at a time."""

    def __init__(self) -> None:
        self._known: dict[str, KnownListing] = {}

    def get(self, folder: str, state: FolderState, rules: IgnoreRules | None) -> KnownListing | None:
        """The listing, if the folder and the rules that apply in it are as they were.

        Its rules are to be used below the folder: comparing the same object is quick.
        """
        known = self._known.get(folder)
        if known is None or known.state != state or monotonic() > known.until:
            return None
        return known if known.rules is rules or known.rules == rules else None

    def has_rules(self, folder: str) -> bool:
        """Whether the folder had ignore rules of its own."""
        known = self._known.get(folder)
        return known is not None and known.listing.has_rules

    def put(self, folder: str, state: FolderState, rules: IgnoreRules | None, listing: FolderListing, at: int) -> None:
        """Keep a listing that began at a time in nanoseconds, unless the folder may change without another state."""
        if may_change_unseen(max(state[:2]), at):
            self._known.pop(folder, None)
        else:
            self._known[folder] = KnownListing(state, rules, listing, monotonic() + _TRUSTED_SECONDS)

    def keep_only(self, folders: set[str]) -> None:
        """Forget every other folder."""
        for gone in self._known.keys() - folders:
            del self._known[gone]
