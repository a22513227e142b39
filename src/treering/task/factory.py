"""Begins a task, or resumes one that was saved."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from warnings import warn

from treering.core.episodes import Episode
from treering.core.errors import Conflict, InvalidInput
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
from treering.task.api import Task
from treering.task.content import extract_of
from treering.task.pruning import Step
from treering.task.references import Shelf
from treering.task.retrieved import Hit, finder


@dataclass(frozen=True)
class TaskServices:
    """What tasks need from outside."""

    store: Store
    settings: Settings
    clock: Clock
    new_id: NewId
    search: Callable[..., Iterable[Hit]]
    tokenizers: Callable[[str], Tokenizer]
    keep_episode: Callable[..., Episode]
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
    on_event: Callable[[Step], None] | None = None,
    **context: Any,
) -> Task:
    """A new task with a description, or the latest save of the task `id`."""
    if description is None and id is None:
        raise InvalidInput("a task needs a description; to resume one, give its id")
    if description is None and context:
        raise InvalidInput(f"a task that is resumed has its {', '.join(context)} already; load_task_context changes it")
    if model is not None and count is not None:
        raise InvalidInput("tokens are counted as the model does, or by count; give one of them")
    name = services.new_id() if id is None else id
    settings = services.settings
    shelf = Shelf(
        scope=scope,
        store=services.store,
        clock=services.clock,
        task=name,
        title=extract_of(redact(description or "", time_limit()).text, settings.working.extract_characters),
        refuses_secrets=settings.secrets.on_secret == "refuse",
    )
    task = Task(
        shelf,
        settings.working,
        count=_counting(services, model, count),
        find=finder(services.search, name),
        keep_episode=services.keep_episode,
        injected=services.injected,
        on_event=on_event,
    )
    if description is None:
        task.restore("latest")
        return task
    if id is not None:
        _refuse_taken(shelf)
    task.load_task_context(description=description, **context)
    return task


def _counting(services: TaskServices, model: str | None, count: CountTokens | None) -> CountTokens:
    """As the model does, as the caller does, or carefully."""
    if model is None:
        return estimate_tokens if count is None else _careful(count)
    overrides = services.settings.conversation.models
    return services.tokenizers(window_of(model, overrides=overrides).tokenizer).count


def _careful(count: CountTokens) -> CountTokens:
    """The caller's own way of counting, with an estimate where it fails."""

    def counted(text: str) -> int:
        try:
            tokens: object = count(text)
        except Exception as exc:  # noqa: BLE001 - the caller's own code: the task goes on without it
            warn(f"count raised {type(exc).__name__}: {exc}; tokens are estimated", RuntimeWarning, stacklevel=2)
            return estimate_tokens(text)
        return tokens if isinstance(tokens, int) and tokens >= 0 else estimate_tokens(text)

    return counted


def _refuse_taken(shelf: Shelf) -> None:
    with shelf.store.reading(shelf.scope, shelf.clock()) as tx:
        taken = tx.sessions.pulse(shelf.task) is not None
    if taken:
        raise Conflict(
            f"there is a task or session {shelf.task!r} already; resume it without a description, or choose another id"
        )
