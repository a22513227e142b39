"""Opening a conversation, with the given rules or those it had before."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from treering.conversation.api import Conversation
from treering.conversation.stored_window import ConversationServices, FindRemoved
from treering.conversation.summary_job import summary_job
from treering.conversation.views import ConversationEvent
from treering.core.contexts import WindowRules
from treering.core.errors import InvalidInput, NotFound
from treering.core.history import LogInjection
from treering.core.queries import Order
from treering.core.scope import Scope
from treering.core.settings import ConversationSettings, Settings
from treering.core.turns import Session
from treering.core.values import Label
from treering.ports.clock import Clock, NewId
from treering.ports.store import Store
from treering.ports.tokens import Tokenizer
from treering.render.model_windows import ModelWindow, window_of
from treering.render.token_counts import Meter, rules_of

_MAX_NAMED_SESSIONS = 5
"""Sessions that an error names if the requested one does not exist."""
_FALLBACK_TOKENIZER = "estimate:other"


class ConversationPorts(Protocol):
    """The ports that a conversation uses."""

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
    ports: ConversationPorts,
    settings: Settings,
    *,
    id: str,
    model: str | None,
    rules: Mapping[str, Any],
    tokenizer: Tokenizer | str | None,
    find: FindRemoved,
    on_event: Callable[[ConversationEvent], None],
    injected: LogInjection,
    create: bool = True,
) -> Conversation:
    """The stored conversation with this id, or a new one."""
    if not create:
        _check_exists(scope, ports, id)
    named = tokenizer if tokenizer is None or isinstance(tokenizer, str) else tokenizer.name
    chosen = _rules_for(scope, ports, settings.conversation, id=id, model=model, given={**rules, "tokenizer": named})
    return Conversation(
        id,
        chosen,
        ConversationServices(
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


def _check_exists(scope: Scope, ports: ConversationPorts, id: str) -> None:
    with ports.store.reading(scope, ports.clock()) as tx:
        if tx.sessions.get(id) is not None:
            return
        latest = tx.sessions.find(order=Order(by="started_at"), limit=_MAX_NAMED_SESSIONS).items
    there = f"the latest are {', '.join(repr(each.id) for each in latest)}" if latest else "none is stored yet"
    raise NotFound(f"no conversation {id!r} in project {scope.project!r}; {there}")


def _rules_for(
    scope: Scope,
    ports: ConversationPorts,
    settings: ConversationSettings,
    *,
    id: str,
    model: str | None,
    given: Mapping[str, Any],
) -> WindowRules:
    """Rules from the arguments, else those of the stored conversation, else the settings.

    A different model comes with its own limit.
    """
    with ports.store.reading(scope, ports.clock()) as tx:
        session = tx.sessions.get(id)
    before = _rules_in(session)
    asked = {name: value for name, value in given.items() if value is not None}
    if model is None and before is None and "limit" not in asked:
        new = "is new" if session is None else "has no model yet, so the size of its window is unknown"
        raise InvalidInput(f"conversation {id!r} {new}; pass a model (such as 'gpt-4o'), or a limit in tokens")
    if before is not None and model in (None, before.model) and "limit" not in asked:
        return _checked(before.replace(**asked))
    window = _window(model or (before.model if before else "unnamed"), settings, asked)
    return _checked(_rules(window, settings, before, asked))


def _meter_for(
    rules: WindowRules, settings: ConversationSettings, ports: ConversationPorts, own: Tokenizer | str | None
) -> Meter:
    """A meter with the provider's rules and the caller's `own` tokenizer, if given.

    If the stored rules name a tokenizer object of another caller, a conservative estimate replaces it.
    """
    window = _window(rules.model, settings, {"limit": rules.limit, "tokenizer": rules.tokenizer})
    if own is not None and not isinstance(own, str):
        return Meter(own, rules_of(window.rules))
    try:
        tokenizer = ports.tokenizers(rules.tokenizer)
    except InvalidInput:
        if own is not None:
            raise
        tokenizer = ports.tokenizers(_FALLBACK_TOKENIZER)
    return Meter(tokenizer, rules_of(window.rules))


def _rules_in(session: Session | None) -> WindowRules | None:
    state = None if session is None else session.context
    return None if state is None else state.rules


def _window(model: Label, settings: ConversationSettings, asked: Mapping[str, Any]) -> ModelWindow:
    return window_of(model, limit=asked.get("limit"), tokenizer=asked.get("tokenizer"), overrides=settings.models)


def _rules(
    window: ModelWindow, settings: ConversationSettings, before: WindowRules | None, asked: Mapping[str, Any]
) -> WindowRules:
    former = {} if before is None else before.model_dump(include={*_OWN_RULES})
    chosen = {name: getattr(settings, name) for name in _OWN_RULES}
    of_model = {
        "model": window.model,
        "limit": window.limit,
        "tokenizer": window.tokenizer,
        "max_tokens": max(1, int(window.limit * settings.prune_at)),
    }
    return WindowRules.make(**{**chosen, **former, **of_model, **asked})


def _checked(rules: WindowRules) -> WindowRules:
    if rules.max_tokens > rules.limit:
        raise InvalidInput(
            f"max_tokens={rules.max_tokens:,} exceeds the context window of {rules.model} ({rules.limit:,} tokens); "
            "pass a smaller value"
        )
    return rules


_OWN_RULES = ("max_messages", "keep_recent", "strategy", "oversize", "at_task_boundary")
