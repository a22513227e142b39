"""Settings that a project's `treering.toml` may set. The file arrives with a clone, so it is not trusted.

A setting is listed here if its worst value only makes answers poorer: budgets up to a limit, and which folders of the
repository are read. Everything else is left to the user: URLs, keys and models, storage locations, schedules,
retention, spending, trust, and processes.
"""

from collections.abc import Mapping

NO_LIMIT = float("inf")

PROJECT_KEYS: Mapping[str, float] = {
    "search.limit": 100,
    "context.budget": 20_000,
    "context.reflection_share": NO_LIMIT,
    "context.rules_share": NO_LIMIT,
    "conversation.strategy": NO_LIMIT,
    "conversation.keep_recent": 1_000,
    "conversation.max_messages": NO_LIMIT,
    "conversation.prune_at": NO_LIMIT,
    "conversation.aggressive_at": NO_LIMIT,
    "conversation.prune_to": NO_LIMIT,
    "conversation.aggressive_to": NO_LIMIT,
    "conversation.summary_share": NO_LIMIT,
    "conversation.summary_tokens": 4_000,
    "conversation.recall_share": NO_LIMIT,
    "conversation.at_task_boundary": NO_LIMIT,
    "task.total": 100_000,
    "task.system": 100_000,
    "task.task": 100_000,
    "task.execution": 100_000,
    "task.results": 100_000,
    "task.retrieved": 100_000,
    "task.retrieve_limit": 50,
    "code.vendored": NO_LIMIT,
    "code.built": NO_LIMIT,
    "agents.answer_tokens": 20_000,
}
"""Settings that a project's file may set, each with its largest accepted number."""
