"""Memory that many threads free is found again by the others."""

import contextlib
import ctypes

_ARENA_MAX = -8
"""glibc's name for it, in malloc.h."""


def share_arenas(most: int = 2) -> None:
    """Keep the C library from giving every thread a heap of its own, where what one frees no other finds.

    A server with writers grows half as fast so; nothing happens where the C library has no such call.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, most)
