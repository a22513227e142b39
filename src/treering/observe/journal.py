"""Events since the last checkpoint of a session, for the case that another process saves one meanwhile."""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

MAX_EVENTS = 8_000
MAX_CHARACTERS = 8_000_000
_FULL = 4  # a checkpoint is due at this part of the limits


class EventJournal:
    """The newest events in bounded memory. `dropped` counts those that had to go before a checkpoint was possible."""

    def __init__(self) -> None:
        self._events: deque[tuple[Mapping[str, Any], int]] = deque()
        self._characters = 0
        self.dropped = 0

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return (event for event, _ in self._events)

    def __len__(self) -> int:
        return len(self._events)

    @property
    def is_full(self) -> bool:
        """Whether a checkpoint should be saved soon."""
        return len(self._events) * _FULL >= MAX_EVENTS or self._characters * _FULL >= MAX_CHARACTERS

    def add(self, event: Mapping[str, Any]) -> None:
        size = _characters(event)
        self._events.append((event, size))
        self._characters += size
        while len(self._events) > MAX_EVENTS or (self._characters > MAX_CHARACTERS and len(self._events) > 1):
            self._characters -= self._events.popleft()[1]
            self.dropped += 1

    def clear(self) -> None:
        self._events.clear()
        self._characters = self.dropped = 0


def _characters(event: Mapping[str, Any]) -> int:
    text, arguments = event.get("text"), event.get("arguments")
    size = len(text) if isinstance(text, str) else 0
    if isinstance(arguments, Mapping):
        size += sum(len(each) for each in arguments.values() if isinstance(each, str))
    return size
