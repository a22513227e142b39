"""Return of freed memory to the operating system.

The C library keeps freed memory between blocks in use. After a large computation that is tens of megabytes, which later
allocations of other sizes do not reuse.
"""

import ctypes
from functools import cache
from typing import Any


def release_memory() -> None:
    """Takes milliseconds; does nothing unless the C library is glibc."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
