"""Pairs tool calls with their results. Ids may repeat; results may come early, late, twice or without a call."""

from collections.abc import Collection

from treering.core.messages import CallPart, Message, ResultPart, Role

ORPHAN = "a result whose call was never made or left the window"

PartPosition = tuple[int, int]
"""Place of a message, and index of the part in it."""


class Exchanges:
    """Calls and results, added in order. A result answers the latest unanswered call with its id.

    A result that precedes every call with its id answers the first such call, because hooks deliver out of order.
    """

    def __init__(self) -> None:
        self._open: dict[str, list[PartPosition]] = {}
        self._early: dict[str, PartPosition] = {}
        self._result_of: dict[PartPosition, int] = {}
        self._call_of: dict[PartPosition, int] = {}
        self._calls: dict[int, int] = {}
        self.answered_calls: dict[int, frozenset[int]] = {}
        """By place of a message with results: the places of the calls they answer."""
        self.orphans: set[int] = set()
        """Messages that consist only of results without a call, so that nothing of them can be sent."""
        self.unanswered: set[int] = set()
        """Messages that consist only of calls, none of them answered yet."""

    def add(self, place: int, message: Message) -> frozenset[int]:
        """Add the next message. Returns the places of messages whose calls it answers or that answer its calls."""
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
        """Place of the result of a call, or None."""
        return self._result_of.get(spot)

    def asked_at(self, spot: PartPosition) -> int | None:
        """Place of the call that a result answers, or None."""
        return self._call_of.get(spot)
