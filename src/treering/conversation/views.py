"""Values for displaying a conversation: statistics, explanations and events."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from treering.conversation.exchanges import ORPHAN
from treering.conversation.importance import Importance
from treering.core.contexts import RemovedMessages, WindowRules
from treering.core.messages import Role


@dataclass(frozen=True, slots=True)
class ConversationStats:
    """Statistics of the window. `tokens` counts the window, `total_tokens` all messages."""

    id: str
    rules: WindowRules
    exact: bool
    messages: int
    in_context: int
    removed: int
    left_out: int
    tokens: int
    total_tokens: int
    tokens_by_role: Mapping[str, int]
    marker_tokens: int
    oldest: datetime | None
    last_removal: datetime | None
    spans: tuple[RemovedMessages, ...]
    counts_from_cache: float
    """Share of token counts answered from the cache."""
    counts_estimated: int
    """How often the tokenizer failed and a conservative estimate was used."""

    @property
    def percent(self) -> float:
        """Used share of the model's window, in percent."""
        return 100 * self.tokens / self.rules.limit


@dataclass(frozen=True, slots=True)
class ExplainedMessage:
    """One message with its tokens and importance; `why` is the reason if it is not sent, or not in full.

    `seq` is its place among all turns of the session, including forgotten ones.
    """

    place: int
    seq: int
    id: str
    role: Role
    at: datetime
    tokens: int
    importance: Importance
    segment: int
    pinned: bool
    protected: bool
    in_context: bool
    why: str
    text: str
    cues: tuple[tuple[str, str], ...]

    @property
    def removed(self) -> bool:
        """Whether it left the window; a result without a call was never in it."""
        return not self.in_context and self.why != ORPHAN


@dataclass(frozen=True, slots=True)
class WindowExplanation:
    """Every message in order, the tasks they belong to, and statistics."""

    stats: ConversationStats
    lines: tuple[ExplainedMessage, ...]
    segments: tuple[tuple[int, str, str], ...]
    """For each task: its first place, the evidence that it began, and the evidence that it ended."""


@dataclass(frozen=True, slots=True)
class ConversationEvent:
    """An event passed to `on_event`; its kind is `warning`, `removed`, `truncated` or `tokenizer_failed`."""

    kind: str
    conversation: str
    detail: str
    percent: float
