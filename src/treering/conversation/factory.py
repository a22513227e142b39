"""Opens a conversation: under the rules it is given, or those it was held under before."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from treering.conversation.api import Conversation
from treering.conversation.state import checked
from treering.conversation.stored_window import Find, Surroundings
from treering.conversation.summary_job import summary_job
from treering.conversation.views import Happened
from treering.core.contexts import WindowRules
from treering.core.errors import InvalidInput
from treering.core.history import LogInjection
from treering.core.scope import Scope
from treering.core.settings import ConversationSettings, Settings
from treering.core.turns import Session
from treering.core.values import Label
from treering.ports.clock import Clock, NewId
from treering.ports.store import Store
from treering.ports.tokens import Tokenizer
from treering.render.model_windows import ModelWindow, window_of
from treering.render.token_counts import Meter, rules_of

_STAND_IN = "estimate:other"


class Needs(Protocol):
    """What of a memory's ports a conversation uses."""

    @property
    def store(self) -> Store: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def new_id(self) -> NewId: ...
    @property
    def tokenizers(self) -> Callable[[str], Tokenizer]: ...


def open_conversation(
    scope: Scope,
    ports: Needs,
    settings: Settings,
    *,
    id: str,
    model: str | None,
    rules: Mapping[str, Any],
    tokenizer: Tokenizer | str | None,
    find: Find,
    on_event: Callable[[Happened], None],
    injected: LogInjection,
) -> Conversation:
    """The conversation called so: as it is stored, or new."""
    named = tokenizer if tokenizer is None or isinstance(tokenizer, str) else tokenizer.name
    chosen = _rules_for(scope, ports, settings.conversation, id=id, model=model, given={**rules, "tokenizer": named})
    return Conversation(
        id,
        chosen,
        Surroundings(
            scope=scope,
            store=ports.store,
            clock=ports.clock,
            new_id=ports.new_id,
            meter=_meter_for(chosen, settings.conversation, ports, tokenizer),
            find=find,
            settings=settings.conversation,
            summarise=lambda id, now: (summary_job(id, now, ports.new_id()),) if settings.writer.url else (),
            on_event=on_event,
            injected=injected,
        ),
    )


def _rules_for(
    scope: Scope,
    ports: Needs,
    settings: ConversationSettings,
    *,
    id: str,
    model: str | None,
    given: Mapping[str, Any],
) -> WindowRules:
    """What is given counts most, then what the conversation was held under, then the settings.

    Another model brings its own window.
    """
    with ports.store.reading(scope, ports.clock()) as tx:
        session = tx.sessions.get(id)
    before = _rules_in(session)
    asked = {name: value for name, value in given.items() if value is not None}
    if model is None and before is None and "limit" not in asked:
        raise InvalidInput(
            f"conversation {id!r} is new and needs a model, or a limit in tokens: conversation({id!r}, model='gpt-4o')"
        )
    if before is not None and model in (None, before.model) and "limit" not in asked:
        return checked(before.replace(**asked))
    window = _window(model or (before.model if before else "unnamed"), settings, asked)
    return checked(_rules(window, settings, before, asked))


def _meter_for(rules: WindowRules, settings: ConversationSettings, ports: Needs, own: Tokenizer | str | None) -> Meter:
    """Counts as the model's provider does, with the caller's `own` tokenizer where one is given.

    Where the conversation was held with a tokenizer that only its caller has, a careful estimate stands in.
    """
    window = _window(rules.model, settings, {"limit": rules.limit, "tokenizer": rules.tokenizer})
    if own is not None and not isinstance(own, str):
        return Meter(own, rules_of(window.rules))
    try:
        tokenizer = ports.tokenizers(rules.tokenizer)
    except InvalidInput:
        if own is not None:
            raise
        tokenizer = ports.tokenizers(_STAND_IN)
    return Meter(tokenizer, rules_of(window.rules))


def _rules_in(session: Session | None) -> WindowRules | None:
    state = None if session is None else session.context
    return None if state is None else state.rules


def _window(model: Label, settings: ConversationSettings, asked: Mapping[str, Any]) -> ModelWindow:
    return window_of(model, limit=asked.get("limit"), tokenizer=asked.get("tokenizer"), overrides=settings.models)


def _rules(
    window: ModelWindow, settings: ConversationSettings, before: WindowRules | None, asked: Mapping[str, Any]
) -> WindowRules:
    kept = {} if before is None else before.model_dump(include={*_HABITS})
    chosen = {name: getattr(settings, name) for name in _HABITS}
    of_model = {
        "model": window.model,
        "limit": window.limit,
        "tokenizer": window.tokenizer,
        "max_tokens": max(1, int(window.limit * settings.prune_at)),
    }
    return WindowRules.make(**{**chosen, **kept, **of_model, **asked})


_HABITS = ("max_messages", "keep_recent", "strategy", "oversize", "at_task_boundary")
