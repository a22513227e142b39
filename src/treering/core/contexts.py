"""State of a conversation's context window, stored with its session as one value."""

from typing import Literal

from treering.core.values import Count, Instant, Keys, Label, Positive, Text, Value

StrategyName = Literal["rolling_window", "importance", "hybrid"]
Oversize = Literal["error", "truncate"]


class WindowRules(Value):
    """Rules of the window. Tokens are counted by the model's tokenizer."""

    model: Label
    limit: Positive
    """The model's context window."""
    tokenizer: Label
    max_tokens: Positive
    """Maximum size of a request; the rest of the window is left for the answer."""
    max_messages: Positive | None = None
    keep_recent: Count = 10
    strategy: StrategyName = "hybrid"
    oversize: Oversize = "error"
    at_task_boundary: bool = False


class RemovedMessages(Value):
    """Consecutive messages that were removed from the window."""

    first: Count
    last: Count
    messages: Count
    tokens: Count
    why: Text
    at: Instant
    summary: Text = ""
    written_by: Label | None = None
    """The language model that wrote the summary; None if it consists of excerpts."""


class ContextState(Value):
    """One conversation's window."""

    rules: WindowRules
    removed: tuple[RemovedMessages, ...] = ()
    pinned: Keys = ()
    unimportant: Keys = ()
    fresh_from: tuple[Count, ...] = ()
    """Positions at which the history was cleared, which separate unrelated messages."""
    reported: tuple[float, ...] = ()
    """Ratios of the provider's token counts to ours in its last answers."""

    def without_words_of(self, seq: int) -> "ContextState":
        """The window without the summary of the run that contains the message at this position."""
        return self.replace(
            removed=tuple(
                run.replace(summary="", written_by=None) if run.first <= seq <= run.last else run
                for run in self.removed
            )
        )
