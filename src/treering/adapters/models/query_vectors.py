"""Cache of query vectors from a server, in this process only: a repeated query needs no request."""

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.ports.models import Vectors

_MAX_QUERIES = 1_000  # a few megabytes, and more queries than a session has
_SECONDS = 7 * 86_400.0


class QueryVectors:
    """The most recent queries by digest, each for seven days; texts are not stored. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._vectors: OrderedDict[bytes, tuple[float, Vectors]] = OrderedDict()
        self._lock = Lock()

    def get(self, text: str) -> "Vectors | None":
        key = _digest(text)
        with self._lock:
            until, vector = self._vectors.get(key, (0.0, None))
            if vector is None or until <= self._clock():
                self._vectors.pop(key, None)
                return None
            self._vectors.move_to_end(key)
            return vector.copy()

    def put(self, text: str, vector: "Vectors") -> None:
        with self._lock:
            self._vectors[_digest(text)] = (self._clock() + _SECONDS, vector.copy())
            self._vectors.move_to_end(_digest(text))
            while len(self._vectors) > _MAX_QUERIES:
                self._vectors.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._vectors.clear()


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
