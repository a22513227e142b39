"""Counts conversations: the one thing that says how many tokens a text, a message or a set of tools takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from treering.core.messages import CallPart, ImagePart, Message, OtherPart, Part, ResultPart, TextPart
from treering.core.tokens import estimate_tokens
from treering.ports.tokens import Tokenizer
from treering.render.token_counts.images import image_tokens
from treering.render.token_counts.rules import Rules
from treering.render.token_counts.tools import as_json, tool_tokens

REMEMBERED = 65_536
"""Counts kept, about 12 MB; a session of a whole day has fewer texts."""


@dataclass(frozen=True)
class Failures:
    """How often the tokenizer failed and an estimate stood in, and what it said last."""

    count: int = 0
    last: str = ""


class Meter:
    """Counts with one tokenizer by one provider's rules; what was counted once is remembered by its hash.

    Totals add up: a request takes `priming`, each `message` and its `tools`. May be used from many threads.
    """

    def __init__(self, tokenizer: Tokenizer, rules: Rules, *, remembered: int = REMEMBERED) -> None:
        self.tokenizer = tokenizer
        self.rules = rules
        self.hits = 0
        self.misses = 0
        self.failures = Failures()
        self._remembered = remembered
        self._counts: dict[tuple[int, int], int] = {}
        self._lock = Lock()

    @property
    def priming(self) -> int:
        """What a request takes beside its messages and tools."""
        return self.rules.priming

    def text(self, text: str) -> int:
        """What `text` takes on its own."""
        return self._count(text)

    def message(self, message: Message) -> int:
        """What `message` takes with everything in it and around it."""
        speaker = self.rules.speaker + self._count(message.speaker) if message.speaker else 0
        return self.rules.message + speaker + sum(self._part(part) for part in message.parts)

    def tools(self, schemas: Sequence[Mapping[str, Any]]) -> int:
        """What the definitions of tools take, in the shape of any provider."""
        return tool_tokens(schemas, self.rules.tools, self._count)

    def _part(self, part: Part) -> int:
        match part:
            case TextPart():
                return self._count(part.text or "")
            case CallPart():
                return self.rules.call + self._count(part.name) + self._count(part.arguments_text)
            case ResultPart():
                return self.rules.result + sum(self._part(inner) for inner in part.parts)
            case ImagePart():
                return image_tokens(part, self.rules.images)
            case OtherPart():
                return self._count(as_json({"type": part.type, **part.data}))

    def _count(self, text: str) -> int:
        key = (hash(text), len(text))
        with self._lock:
            known = self._counts.pop(key, None)
            if known is not None:
                self._counts[key] = known
                self.hits += 1
                return known
            self.misses += 1
        counted = self._counted(text)
        if counted is None:
            return estimate_tokens(text)
        with self._lock:
            self._counts[key] = counted
            if len(self._counts) > self._remembered:
                del self._counts[next(iter(self._counts))]
        return counted

    def _counted(self, text: str) -> int | None:
        """None where the tokenizer failed; it is asked again the next time."""
        try:
            return _checked(self.tokenizer.count(text))
        except Exception as exc:  # noqa: BLE001 - a tokenizer may be the user's own: a conversation goes on without it
            with self._lock:
                self.failures = Failures(self.failures.count + 1, f"{type(exc).__name__}: {exc}")
            return None


def _checked(count: object) -> int:
    if not isinstance(count, int) or count < 0:
        raise TypeError(f"the tokenizer answered {count!r} rather than a number of tokens")
    return count
