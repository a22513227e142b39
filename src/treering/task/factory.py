"""Opening a task: a new one, or one that was saved."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from warnings import warn

from treering.core.episodes import Episode
from treering.core.errors import Conflict, InvalidInput
from treering.core.fields import TaskFields, check_arguments
from treering.core.history import LogInjection
from treering.core.scope import Scope
from treering.core.secrets import redact
from treering.core.settings import Settings
from treering.core.time_limit import time_limit
from treering.core.tokens import CountTokens, estimate_tokens
from treering.ports.clock import Clock, NewId
from treering.ports.store import Store
from treering.ports.tokens import Tokenizer
from treering.render.model_windows import window_of
from treering.task.api import EXTRACT_CHARACTERS, Task
from treering.task.content import extract_of
from treering.task.passages import TaskSearchHit, passage_finder
from treering.task.pruning import PruneStep
from treering.task.references import TaskStore


@dataclass(frozen=True)
class TaskServices:
    """Ports and functions that tasks use."""

    store: Store
    settings: Settings
    clock: Clock
    new_id: NewId
    search: Callable[..., Iterable[TaskSearchHit]]
    tokenizers: Callable[[str], Tokenizer]
    store_episode: Callable[..., Episode]
    """Stores a finished task and learns from it."""
    injected: LogInjection


def open_task(
    scope: Scope,
    services: TaskServices,
    description: str | None,
    *,
    id: str | None = None,
    model: str | None = None,
    count: CountTokens | None = None,
    on_event: Callable[[PruneStep], None] | None = None,
    **context: Any,
) -> Task:
    """Start a task if a description is given, else resume the latest save of the task `id`."""
    check_arguments("task", context, TaskFields)
    if description is None and id is None:
        raise InvalidInput(
            "description and id are both missing; pass a description to start a task, or an id to resume one"
        )
    if description is None and context:
        raise InvalidInput(
            f"{', '.join(context)} cannot be set while resuming a task; call load_task_context afterwards"
        )
    if model is not None and count is not None:
        raise InvalidInput("model and count both say how to count tokens; pass only one of them")
    name = services.new_id() if id is None else id
    settings = services.settings
    task_store = TaskStore(
        scope=scope,
        store=services.store,
        clock=services.clock,
        task=name,
        title=extract_of(redact(description or "", time_limit()).text, EXTRACT_CHARACTERS),
        refuses_secrets=settings.secrets.on_secret == "refuse",
    )
    task = Task(
        task_store,
        settings.task,
        count=_token_counter(services, model, count),
        find=passage_finder(services.search, name),
        store_episode=services.store_episode,
        injected=services.injected,
        on_event=on_event,
    )
    if description is None:
        task.restore("latest")
        return task
    if id is not None:
        _refuse_used_id(task_store)
    task.load_task_context(description=description, **context)
    return task


def _token_counter(services: TaskServices, model: str | None, count: CountTokens | None) -> CountTokens:
    """The model's tokenizer, else the caller's function, else a conservative estimate."""
    if model is None:
        return estimate_tokens if count is None else _with_fallback(count)
    overrides = services.settings.conversation.models
    return services.tokenizers(window_of(model, overrides=overrides).tokenizer).count


def _with_fallback(count: CountTokens) -> CountTokens:
    """The caller's function, falling back to an estimate if it fails."""

    def counted(text: str) -> int:
        try:
            tokens: object = count(text)
        except Exception as exc:  # noqa: BLE001 - the caller's code must not stop the task
            warn(f"count raised {type(exc).__name__}: {exc}; tokens are estimated", RuntimeWarning, stacklevel=2)
            return estimate_tokens(text)
        return tokens if isinstance(tokens, int) and tokens >= 0 else estimate_tokens(text)

    return counted


def _refuse_used_id(task_store: TaskStore) -> None:
    with task_store.store.reading(task_store.scope, task_store.clock()) as tx:
        taken = tx.sessions.current_version(task_store.task) is not None
    if taken:
        raise Conflict(
            f"a task or session {task_store.task!r} exists; resume it without a description, or choose another id"
        )
