"""The live session: a conversation and a task."""

from typing import Literal

from pydantic import Field

from treering.core.values import EMPTY, FrozenMap, Value


class ConversationSettings(Value):
    strategy: Literal["rolling_window", "importance", "hybrid"] = "hybrid"
    """Hybrid keeps most of what a session needs again (`bench/replay.py`)."""
    keep_recent: int = Field(default=10, ge=0)
    """The last messages that never leave: the exchange that is going on."""
    max_messages: int | None = Field(default=None, ge=1)
    """How many messages may be in the window; None leaves it to the tokens (decision 0005)."""
    prune_at: float = Field(default=0.8, gt=0, le=1)
    """How much of the model's window a request may take; the rest is for the answer. Fuller, and messages leave."""
    aggressive_at: float = Field(default=0.9, gt=0, le=1)
    """Fuller than this, and more leave at once."""
    prune_to: float = Field(default=0.75, gt=0, le=1)
    """What remains of a request's tokens then: room for a while, so that the provider's cache stays warm."""
    aggressive_to: float = Field(default=0.5, gt=0, le=1)
    summary_share: float = Field(default=0.05, ge=0, le=1)
    """What markers of removed messages may take, all together, and their summaries as much again."""
    summary_tokens: int = Field(default=400, ge=0)
    """What one of them may take."""
    recall_share: float = Field(default=0.1, ge=0, le=1)
    """What removed messages that come back as quotations may take where the window is full; else the room there is."""
    recall_messages: int = Field(default=8, ge=1)
    oversize: Literal["error", "truncate"] = "error"
    """What to do where even what must stay is too large: say so, or cut the longest texts in the middle."""
    at_task_boundary: bool = False
    """Whether completed tasks leave as soon as another begins, though there is room."""
    models: FrozenMap = EMPTY
    """Windows of models that the table does not know, or knows otherwise: `{"my-model": {"limit": 32768}}`."""


class TaskSettings(Value):
    """A task's working memory. The sections divide `total` in the proportion of these numbers."""

    total: int = Field(default=20_000, ge=1_000)
    """Tokens in all: leaves most of a context window to the work itself. Less than 1,000 holds no section's least."""
    system: int = Field(default=2_000, ge=1)
    """What the agent can do, its tools and its bounds; they hardly change."""
    task: int = Field(default=5_000, ge=1)
    """Description, goals, constraints, criteria, plan and the task's variables."""
    execution: int = Field(default=3_000, ge=1)
    """What is done, under way and failed, the state stack and the traces."""
    results: int = Field(default=8_000, ge=1)
    """The last five to seven outputs; they are the largest, and what the next step works on."""
    retrieved: int = Field(default=2_000, ge=1)
    """What memory brought: a few passages."""
    retrieve_limit: int = Field(default=5, ge=1)
    """Passages that are looked for; five of 400 tokens fill the section."""
