"""Begins a task, or resumes one that was saved."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from treering.core.errors import Conflict, InvalidInput, NotFound
from treering.core.scope import Scope
from treering.core.secrets import redact
from treering.core.settings import Settings
from treering.core.tokens import CountTokens, estimate_tokens
from treering.ports.clock import Clock, NewId
from treering.ports.store import Store
from treering.ports.tokens import Tokenizer
from treering.session.windows import window_of
from treering.session.working.content import extract_of
from treering.session.working.moved import Shelf
from treering.session.working.pruning import Step
from treering.session.working.retrieved import Hit, finder
from treering.session.working.snapshots import saved
from treering.session.working.task import Task


@dataclass(frozen=True)
class Desk:
    """What tasks need from outside."""

    store: Store
    settings: Settings
    clock: Clock
    new_id: NewId
    recall: Callable[..., Iterable[Hit]]
    tokenizers: Callable[[str], Tokenizer]


def open_task(
    scope: Scope,
    desk: Desk,
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
    name = desk.new_id() if id is None else id
    settings = desk.settings
    shelf = Shelf(
        scope=scope,
        store=desk.store,
        clock=desk.clock,
        task=name,
        title=extract_of(redact(description or "").text, settings.working.extract_characters),
        refuses_secrets=settings.secrets.on_secret == "refuse",
    )
    task = Task(
        shelf,
        settings.working,
        count=_counting(desk, model) if model is not None else count or estimate_tokens,
        find=finder(desk.recall, name),
        on_event=on_event,
    )
    if description is None:
        task.restore("latest")
        return task
    if id is not None:
        _refuse_taken(shelf)
    task.load_task_context(description=description, **context)
    return task


def _counting(desk: Desk, model: str) -> CountTokens:
    overrides = desk.settings.conversation.models
    return desk.tokenizers(window_of(model, overrides=overrides).tokenizer).count


def _refuse_taken(shelf: Shelf) -> None:
    try:
        saved(shelf)
    except NotFound:
        return
    raise Conflict(f"task {shelf.task!r} is saved already; resume it without a description, or choose another id")
