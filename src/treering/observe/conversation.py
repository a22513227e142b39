"""The conversation of an observed session: what the user asked, and the agent's last words before the next prompt."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, replace
from typing import Any, Self

from treering.core.events import EventKind
from treering.observe.scratchpad.intake import taint_of, time_of
from treering.observe.scratchpad.kept_text import kept_lines, kept_source

MAX_MESSAGES = 200  # the latest of a session
_MAX_CHARACTERS = 4_000
_MAX_READ = 2 * _MAX_CHARACTERS


@dataclass(frozen=True, slots=True)
class ObservedMessage:
    """One message; `number` counts the session's messages, so that a message keeps its id when it is stored again."""

    number: int
    role: str
    text: str
    at: str
    taint: str | None


class ObservedConversation:
    """Messages in bounded memory. The agent's words after outside content are tainted, the user's only if they are
    sent as tainted."""

    def __init__(self) -> None:
        self._messages: deque[ObservedMessage] = deque(maxlen=MAX_MESSAGES)
        self._answer: ObservedMessage | None = None
        self._count = 0

    def add(self, fields: Mapping[str, Any], taint: str | None) -> None:
        kind = fields.get("kind")
        if kind not in (EventKind.PROMPT, EventKind.REASONING):
            return
        text, at = fields.get("text"), fields.get("at")
        if not isinstance(text, str) or not text.strip():
            return
        if kind == EventKind.PROMPT:
            self._close_answer()
            own = taint_of(fields.get("tainted"), fields.get("taint"))
            self._append("user", text, _iso(at), None if own is None else kept_source(own))
        else:
            self._answer = ObservedMessage(0, "assistant", text[:_MAX_READ], _iso(at), taint)

    def messages(self) -> Iterator[ObservedMessage]:
        """All messages so far, the agent's latest words included."""
        yield from map(_kept, self._messages)
        if self._answer is not None:
            yield _kept(replace(self._answer, number=self._count))

    def state(self) -> dict[str, Any]:
        return {
            "messages": [astuple(_kept(each)) for each in self._messages],
            "answer": None if self._answer is None else astuple(_kept(self._answer)),
            "count": self._count,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        made = cls()
        made._messages.extend(ObservedMessage(*each) for each in state["messages"])
        made._answer = None if state["answer"] is None else ObservedMessage(*state["answer"])
        made._count = state["count"]
        return made

    def _close_answer(self) -> None:
        if self._answer is not None:
            self._append("assistant", self._answer.text, self._answer.at, self._answer.taint)
            self._answer = None

    def _append(self, role: str, text: str, at: str, taint: str | None) -> None:
        self._messages.append(ObservedMessage(self._count, role, text[:_MAX_READ], at, taint))
        self._count += 1


def _iso(at: object) -> str:
    moment = time_of(at)
    return "" if moment is None else moment.isoformat()


def _kept(message: ObservedMessage) -> ObservedMessage:
    """The message as it may be stored. Secrets are removed only here: searching for them takes longer than the rest."""
    return replace(message, text=kept_lines(message.text, _MAX_CHARACTERS))
