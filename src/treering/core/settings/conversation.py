"""Settings of conversations and of the working memory of a task."""

from typing import Literal

from pydantic import Field

from treering.core.values import EMPTY, FrozenMap, Value


class ConversationSettings(Value):
    strategy: Literal["rolling_window", "importance", "hybrid"] = "hybrid"
    """Which messages are removed first from a full window: `rolling_window`, `importance` or `hybrid`. `hybrid` keeps
    most of the messages that are needed again (`bench/replay.py`)."""
    keep_recent: int = Field(default=10, ge=0)
    """Number of latest messages that are never removed."""
    max_messages: int | None = Field(default=None, ge=1)
    """Maximum number of messages in the window; None: only tokens count."""
    prune_at: float = Field(default=0.8, gt=0, le=1)
    """Share of the model's window above which messages are removed; the rest is for the answer."""
    aggressive_at: float = Field(default=0.9, gt=0, le=1)
    """Share of the window above which `aggressive_to` applies instead of `prune_to`."""
    prune_to: float = Field(default=0.75, gt=0, le=1)
    """Share of the request's tokens that pruning leaves. Lower values prune less often, which keeps the provider's
    prompt cache valid."""
    aggressive_to: float = Field(default=0.5, gt=0, le=1)
    """Share of the request's tokens that aggressive pruning leaves."""
    summary_share: float = Field(default=0.05, ge=0, le=1)
    """Share of the window for the markers of removed messages, and the same again for their summaries."""
    summary_tokens: int = Field(default=400, ge=0)
    """Maximum tokens of one summary."""
    recall_share: float = Field(default=0.1, ge=0, le=1)
    """Share of the window for removed messages that are quoted again when the window is full; otherwise free space is
    used."""
    recall_messages: int = Field(default=8, ge=1)
    """Maximum number of removed messages that are quoted again."""
    oversize: Literal["error", "truncate"] = "error"
    """What happens if the messages that must stay do not fit: `error` raises, `truncate` cuts the longest texts in the
    middle."""
    at_task_boundary: bool = False
    """Remove completed tasks as soon as another begins, even if there is space."""
    models: FrozenMap = EMPTY
    """Window sizes of models that the built-in table lacks or has wrong: `{"my-model": {"limit": 32768}}`."""


class TaskSettings(Value):
    """Working memory of a task, in tokens. The sections divide `total` in proportion to their numbers."""

    total: int = Field(default=20_000, ge=1_000)
    """Tokens of the working memory, at least 1,000; the sections divide them in proportion to the next five numbers."""
    system: int = Field(default=2_000, ge=1)
    """Section for the agent's capabilities, tools and constraints."""
    task: int = Field(default=5_000, ge=1)
    """Section for description, goals, constraints, criteria, plan and variables of the task."""
    execution: int = Field(default=3_000, ge=1)
    """Section for completed, running and failed steps, the state stack and the traces."""
    results: int = Field(default=8_000, ge=1)
    """Section for outputs; it holds the last five to seven."""
    retrieved: int = Field(default=2_000, ge=1)
    """Section for passages from memory."""
    retrieve_limit: int = Field(default=5, ge=1)
    """Maximum number of passages retrieved from memory; five of 400 tokens fill the section."""
