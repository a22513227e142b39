"""Mutual exclusion between processes that open a repository's memory and one that moves it.

The lock is on the repository's folder inside the data folder: it leaves no lock file, and ends with its process.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from treering.core.errors import StoreReadOnly, StoreUnavailable
from treering.location.private_files import ensure_private_folder

if TYPE_CHECKING:
    from treering.location.repository import MemoryPaths

_STEP = 0.005


@contextmanager
def location_lock(paths: MemoryPaths, seconds: float, *, exclusive: bool) -> Iterator[None]:
    """Hold the lock: shared to open the memory, exclusive to move it."""
    try:
        handle = os.open(ensure_private_folder(paths.repository_folder), os.O_RDONLY)
    except OSError as exc:
        raise StoreReadOnly(f"{paths.repository_folder} cannot be read ({exc}); change its permissions") from exc
    try:
        _lock(handle, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH, paths, seconds)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, how: int, paths: MemoryPaths, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(handle, how | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            if time.monotonic() > deadline:
                raise StoreUnavailable(
                    f"the memory of {paths.root} is being moved or opened by another process; wait until it has "
                    "finished and try again"
                ) from exc
            time.sleep(_STEP)
        except OSError:
            # A file system without such locks, such as a network share: there, processes do not wait.
            return
        else:
            return
