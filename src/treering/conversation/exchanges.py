"""Which result answers which call. Ids come again; results come early, late, twice or alone: each is told apart."""

from collections.abc import Collection

from treering.core.messages import CallPart, Message, ResultPart, Role

PartPosition = tuple[int, int]
"""A part of a message: the message's place, and which of its parts."""


class Exchanges:
    """Calls and results as they come. A result answers the latest call with its id that has none yet.

    One that came before any call with its id answers the first that comes: hooks deliver out of order.
    """

    def __init__(self) -> None:
        self._open: dict[str, list[PartPosition]] = {}
        self._early: dict[str, PartPosition] = {}
        self._result_of: dict[PartPosition, int] = {}
        self._call_of: dict[PartPosition, int] = {}
        self._calls: dict[int, int] = {}
        self.answered_calls: dict[int, frozenset[int]] = {}
        """Of each message that holds results: the places of the calls they answer."""
        self.orphans: set[int] = set()
        """Results that answer nothing, with nothing beside them that could be sent."""
        self.unanswered: set[int] = set()
        """Messages that are only calls, none of which is answered yet."""

    def add(self, place: int, message: Message) -> frozenset[int]:
        """Take in what was said next; the places of the messages whose calls it answers, or that answer its own."""
        early_results, calls_answered = set[int](), set[int]()
        calls = [(number, part) for number, part in enumerate(message.parts) if isinstance(part, CallPart)]
        results = [(number, part) for number, part in enumerate(message.parts) if isinstance(part, ResultPart)]
        for number, result in results:
            if waiting := self._open.get(result.call_id):
                calls_answered.add(self._match(waiting.pop(), (place, number)))
            elif result.call_id not in self._open:
                self._early.setdefault(result.call_id, (place, number))
        self._classify(place, message, calls_answered)
        for number, call in calls:
            waiting = self._open.setdefault(call.id, [])
            if early := self._early.pop(call.id, None):
                self._match((place, number), early)
                early_results.add(early[0])
            else:
                waiting.append((place, number))
        return frozenset(calls_answered | early_results)

    def _match(self, call: PartPosition, result: PartPosition) -> int:
        self._result_of[call], self._call_of[result] = result[0], call[0]
        self.answered_calls[result[0]] = self.answered_calls.get(result[0], frozenset()) | {call[0]}
        self.unanswered.discard(call[0])
        self.orphans.discard(result[0])
        return call[0]

    def _classify(self, place: int, message: Message, calls_answered: Collection[int]) -> None:
        calls, results = len(message.calls), len(message.results)
        if calls:
            self._calls[place] = calls
        if calls and calls == len(message.parts):
            self.unanswered.add(place)
        if not calls_answered and message.role is Role.TOOL and results in (0, len(message.parts)):
            self.orphans.add(place)

    def has_calls(self, place: int) -> bool:
        return place in self._calls

    def answer_to(self, spot: PartPosition) -> int | None:
        """Where the result of a call is."""
        return self._result_of.get(spot)

    def asked_at(self, spot: PartPosition) -> int | None:
        """Where the call is that a result answers."""
        return self._call_of.get(spot)
