"""Which result answers which call. Ids come again; results come early, late, twice or alone: each is told apart."""

from collections.abc import Collection

from treering.core.messages import CallPart, Message, ResultPart, Role

Spot = tuple[int, int]
"""A part of a message: the message's place, and which of its parts."""


class Exchanges:
    """Calls and results as they come. A result answers the latest call with its id that has none yet.

    One that came before any call with its id answers the first that comes: hooks deliver out of order.
    """

    def __init__(self) -> None:
        self._open: dict[str, list[Spot]] = {}
        self._early: dict[str, Spot] = {}
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
        """Take in what was said next; the places of the messages whose calls it answers, or that answer its own."""
        tied, asked = set[int](), set[int]()
        calls = [(number, part) for number, part in enumerate(message.parts) if isinstance(part, CallPart)]
        results = [(number, part) for number, part in enumerate(message.parts) if isinstance(part, ResultPart)]
        for number, result in results:
            if waiting := self._open.get(result.call_id):
                asked.add(self._match(waiting.pop(), (place, number)))
            elif result.call_id not in self._open:
                self._early.setdefault(result.call_id, (place, number))
        self._sort_out(place, message, asked)
        for number, call in calls:
            waiting = self._open.setdefault(call.id, [])
            if early := self._early.pop(call.id, None):
                self._match((place, number), early)
                tied.add(early[0])
            else:
                waiting.append((place, number))
        return frozenset(asked | tied)

    def _match(self, call: Spot, result: Spot) -> int:
        self._answer[call], self._asked[result] = result[0], call[0]
        self.answering[result[0]] = self.answering.get(result[0], frozenset()) | {call[0]}
        self.silent.discard(call[0])
        self.orphans.discard(result[0])
        return call[0]

    def _sort_out(self, place: int, message: Message, asked: Collection[int]) -> None:
        calls, results = len(message.calls), len(message.results)
        if calls:
            self._calls[place] = calls
        if calls and calls == len(message.parts):
            self.silent.add(place)
        if not asked and message.role is Role.TOOL and results in (0, len(message.parts)):
            self.orphans.add(place)

    def has_calls(self, place: int) -> bool:
        return place in self._calls

    def answer_to(self, spot: Spot) -> int | None:
        """Where the result of a call is."""
        return self._answer.get(spot)

    def asked_at(self, spot: Spot) -> int | None:
        """Where the call is that a result answers."""
        return self._asked.get(spot)
