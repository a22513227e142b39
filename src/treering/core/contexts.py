"""What a conversation's window is, beside what was said: kept with its session, as one value."""

from typing import Literal

from treering.core.values import Count, Instant, Keys, Label, Positive, Text, Value

StrategyName = Literal["rolling_window", "importance", "hybrid"]
Oversize = Literal["error", "truncate"]


class Rules(Value):
    """How this conversation's window is kept. Tokens are the model's own."""

    model: Label
    limit: Positive
    """The model's context window."""
    tokenizer: Label
    max_tokens: Positive
    """What a request may take; the rest of the window is left for the answer."""
    max_messages: Positive | None = None
    keep_recent: Count = 10
    strategy: StrategyName = "hybrid"
    oversize: Oversize = "error"
    at_task_boundary: bool = False


class Removed(Value):
    """A run of messages that left the window, from one place of the session to another."""

    first: Count
    last: Count
    messages: Count
    tokens: Count
    why: Text
    at: Instant
    summary: Text = ""
    written_by: Label | None = None
    """The language model that wrote the summary; None where it was put together from the messages' own words."""

    def untold(self) -> "Removed":
        return self.replace(summary="", written_by=None)


class ContextState(Value):
    """One conversation's window."""

    rules: Rules
    removed: tuple[Removed, ...] = ()
    pinned: Keys = ()
    unimportant: Keys = ()
    fresh_from: tuple[Count, ...] = ()
    """The places where the history was cleared: nothing from there on belongs together with what was before."""
    reported: tuple[float, ...] = ()
    """How much more the provider counted than we did, in its last answers."""

    def without_words_of(self, seq: int) -> "ContextState":
        """The same window, with no summary of a run that the message at this place of the session is in."""
        return self.replace(
            removed=tuple(
                run.replace(summary="", written_by=None) if run.first <= seq <= run.last else run
                for run in self.removed
            )
        )
