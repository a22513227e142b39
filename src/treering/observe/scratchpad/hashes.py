"""Short hashes that are the same in every process, and a bounded memory of them."""

from base64 import b64decode, b64encode
from collections.abc import Iterable
from hashlib import blake2b
from struct import iter_unpack, pack

_GENERATION = 16_384  # hashes; at least these many of the newest are remembered, at most twice as many


def hash_of(text: str) -> int:
    """64 bits of a text."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


class RecentHashes:
    """The newest hashes: the current generation and the one before it."""

    __slots__ = ("_current", "_previous")

    def __init__(self) -> None:
        self._current: dict[int, None] = {}
        self._previous: dict[int, None] = {}

    def is_new(self, number: int) -> bool:
        """Whether the hash was not remembered; it is from now on."""
        if number in self._current or number in self._previous:
            return False
        if len(self._current) >= _GENERATION:
            self._previous, self._current = self._current, {}
        self._current[number] = None
        return True

    def __contains__(self, number: int) -> bool:
        return number in self._current or number in self._previous

    def __len__(self) -> int:
        return len(self._current) + len(self._previous)

    def state(self) -> list[str]:
        return [_encoded(self._current), _encoded(self._previous)]

    @classmethod
    def from_state(cls, state: Iterable[str]) -> "RecentHashes":
        hashes = cls()
        hashes._current, hashes._previous = (_decoded(each) for each in state)
        return hashes


def _encoded(numbers: dict[int, None]) -> str:
    return b64encode(pack(f">{len(numbers)}Q", *numbers)).decode()


def _decoded(text: str) -> dict[int, None]:
    return {number: None for (number,) in iter_unpack(">Q", b64decode(text))}
