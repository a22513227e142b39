"""Which result answers which call. Ids come again, results come late, twice or without a call: each is told apart."""

from collections import defaultdict
from collections.abc import Collection

from treering.core.messages import CallPart, Message, ResultPart, Role

Spot = tuple[int, int]
"""A part of a message: the message's place, and which of its parts."""


class Exchanges:
    """Calls and results as they come. A result answers the latest call with its id that has none yet."""

    def __init__(self) -> None:
        self._open: dict[str, list[Spot]] = defaultdict(list)
        self._answer: dict[Spot, int] = {}
        self._asked: dict[Spot, int] = {}
        self._calls: dict[int, int] = {}
        self.answering: dict[int, frozenset[int]] = {}
        """Of each message that holds results: the places of the calls they answer."""
        self.orphans: set[int] = set()
        """Results that answer nothing, with nothing beside them that could be sent."""
        self.silent: set[int] = set()
        """Messages that are only calls, none of which is answered yet."""

    def add(self, place: int, message: Message) -> frozenset[int]:
        """Take in what was said next; the places of the messages whose calls it answers."""
        asked = set[int]()
        for number, part in enumerate(message.parts):
            if isinstance(part, ResultPart) and (waiting := self._open[part.call_id]):
                call = waiting.pop()
                self._answer[call], self._asked[place, number] = place, call[0]
                self.silent.discard(call[0])
                asked.add(call[0])
            elif isinstance(part, CallPart):
                self._open[part.id].append((place, number))
        self._sort_out(place, message, asked)
        return frozenset(asked)

    def _sort_out(self, place: int, message: Message, asked: Collection[int]) -> None:
        calls, results = len(message.calls), len(message.results)
        if calls:
            self._calls[place] = calls
        if calls and calls == len(message.parts):
            self.silent.add(place)
        if asked:
            self.answering[place] = frozenset(asked)
        elif message.role is Role.TOOL and results in (0, len(message.parts)):
            self.orphans.add(place)

    def has_calls(self, place: int) -> bool:
        return place in self._calls

    def answer_to(self, spot: Spot) -> int | None:
        """Where the result of a call is."""
        return self._answer.get(spot)

    def asked_at(self, spot: Spot) -> int | None:
        """Where the call is that a result answers."""
        return self._asked.get(spot)
