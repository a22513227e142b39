"""Who opens the memory of a repository and who moves it wait for each other.

What is locked is the repository's folder in the data folder itself: there is no lock file to leave behind, and a lock
ends with its process.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from treering.core.errors import StoreReadOnly, StoreUnavailable
from treering.location.private_files import made

if TYPE_CHECKING:
    from treering.location.repository import Home

_STEP = 0.005


@contextmanager
def held(home: Home, seconds: float, *, alone: bool) -> Iterator[None]:
    """Many at once may hold it to open the memory; one alone may hold it, to move the memory."""
    try:
        handle = os.open(made(home.kept), os.O_RDONLY)
    except OSError as exc:
        raise StoreReadOnly(f"{home.kept} cannot be read ({exc}); change its permissions") from exc
    try:
        _lock(handle, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, home, seconds)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, how: int, home: Home, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(handle, how | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            if time.monotonic() > deadline:
                raise StoreUnavailable(
                    f"the memory of {home.root} is being moved or opened by another process; wait for it to end, then "
                    "ask again"
                ) from exc
            time.sleep(_STEP)
        except OSError:
            # A file system without such locks, on a network: there, nobody waits.
            return
        else:
            return
