"""What a person sees of a conversation: how full the window is, and why each message is in it or not."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from treering.conversation.importance import Importance
from treering.core.contexts import RemovedRun, WindowRules
from treering.core.messages import Role


@dataclass(frozen=True, slots=True)
class ConversationStats:
    """The window in numbers. Tokens are those in the window now; `total_tokens` those of everything said."""

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
    spans: tuple[RemovedRun, ...]
    counts_from_cache: float
    """The share of token counts that were known already."""
    counts_estimated: int
    """How often the tokenizer failed and a careful estimate took its place."""

    @property
    def percent(self) -> float:
        """How much of the model's window is taken."""
        return 100 * self.tokens / self.rules.limit


@dataclass(frozen=True, slots=True)
class Line:
    """One message: what it takes, what it is worth and made of, whether it is in, and why not.

    `seq` is its place among all turns of the session, also those that were forgotten.
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


@dataclass(frozen=True, slots=True)
class Explained:
    """Every message, in order, the tasks they belong to, and the window in numbers."""

    stats: ConversationStats
    lines: tuple[Line, ...]
    segments: tuple[tuple[int, str, str], ...]
    """Of each task: where it begins, what showed that it began, and what showed that it is over."""


@dataclass(frozen=True, slots=True)
class Happened:
    """What a conversation tells who listens: `warning`, `removed`, `truncated`, `tokenizer_failed`."""

    kind: str
    conversation: str
    detail: str
    percent: float
