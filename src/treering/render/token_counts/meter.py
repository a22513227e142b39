"""The meter: token counts of texts, messages and tool definitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from treering.core.messages import CallPart, ImagePart, Message, OtherPart, Part, ResultPart, TextPart
from treering.core.tokens import estimate_tokens
from treering.ports.tokens import Tokenizer
from treering.render.token_counts.images import image_tokens
from treering.render.token_counts.rules import CountingRules
from treering.render.token_counts.tools import as_json, tool_tokens

MAX_CACHED_COUNTS = 65_536
"""About 12 MB; a session of a whole day has fewer texts."""


@dataclass(frozen=True)
class TokenizerFailures:
    """Number of tokenizer failures, each replaced by an estimate, and the last error."""

    count: int = 0
    last: str = ""


class Meter:
    """Counts with one tokenizer and one provider's rules; counts are cached by the hash of the text.

    A request takes the sum of `priming`, each `message` and its `tools`. Thread-safe.
    """

    def __init__(self, tokenizer: Tokenizer, rules: CountingRules, *, max_cached: int = MAX_CACHED_COUNTS) -> None:
        self.tokenizer = tokenizer
        self.rules = rules
        self.hits = 0
        self.misses = 0
        self.failures = TokenizerFailures()
        self._max_cached = max_cached
        self._counts: dict[tuple[int, int], int] = {}
        self._lock = Lock()

    @property
    def priming(self) -> int:
        """Tokens of a request besides its messages and tools."""
        return self.rules.priming

    def text(self, text: str) -> int:
        """Tokens of a text."""
        return self._count(text)

    def message(self, message: Message) -> int:
        """Tokens of a message including the provider's overhead."""
        speaker = self.rules.speaker + self._count(message.speaker) if message.speaker else 0
        return self.rules.message + speaker + sum(self._part(part) for part in message.parts)

    def tools(self, schemas: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of tool definitions in any provider's format."""
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
            if len(self._counts) > self._max_cached:
                del self._counts[next(iter(self._counts))]
        return counted

    def _counted(self, text: str) -> int | None:
        """The count, or None if the tokenizer failed; failures are not cached."""
        try:
            return _checked(self.tokenizer.count(text))
        except Exception as exc:  # noqa: BLE001 - the tokenizer may be the user's code and must not stop a conversation
            with self._lock:
                self.failures = TokenizerFailures(self.failures.count + 1, f"{type(exc).__name__}: {exc}")
            return None


def _checked(count: object) -> int:
    if not isinstance(count, int) or count < 0:
        raise TypeError(f"the tokenizer returned {count!r} instead of a number of tokens")
    return count
