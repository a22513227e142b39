"""Stamps of files, which detect changes without reading them."""

import os

_TICK = 2_000_000_000
"""Nanoseconds within which a file may change without a new timestamp: the coarsest file systems count seconds."""


def stamp_of(status: os.stat_result) -> str:
    """Size, times of modification and of the last change of the entry, and inode.

    A program may restore the first time after a change (`touch -r`, `cp -p`), but not the second.
    """
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"


def is_doubtful(stamp: str, read_at: int) -> bool:
    """Whether a file may have changed after it was read without getting another stamp."""
    _, modified, changed, _ = stamp.split(":")
    return may_change_unseen(max(int(modified), int(changed)), read_at)


def may_change_unseen(changed_at: int, seen_at: int) -> bool:
    """Whether something that changed at one time and was seen at another may change again without a new time."""
    return changed_at > seen_at - _TICK
