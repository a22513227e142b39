"""Vectors of queries that a server embedded, in this process only: a repeated query costs no request."""

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.ports.models import Vectors

_MOST = 1_000  # some megabytes, and more queries than a session asks
_SECONDS = 7 * 86_400.0


class QueryVectors:
    """The last queries by their digests, each for seven days; no text is kept. Safe to share between threads."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[bytes, tuple[float, Vectors]] = OrderedDict()
        self._lock = Lock()

    def get(self, text: str) -> "Vectors | None":
        key = _digest(text)
        with self._lock:
            until, vector = self._kept.get(key, (0.0, None))
            if vector is None or until <= self._clock():
                self._kept.pop(key, None)
                return None
            self._kept.move_to_end(key)
            return vector.copy()

    def put(self, text: str, vector: "Vectors") -> None:
        with self._lock:
            self._kept[_digest(text)] = (self._clock() + _SECONDS, vector.copy())
            self._kept.move_to_end(_digest(text))
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
