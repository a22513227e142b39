"""Memory that was freed, given back to the system.

The C library keeps what was freed between blocks still in use. After a large piece of work that is tens of megabytes,
which the next one, with blocks of other sizes, does not find of use.
"""

import ctypes
from functools import cache
from typing import Any


def give_back() -> None:
    """A matter of milliseconds; nothing happens where the C library has no such call (it is glibc's)."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
