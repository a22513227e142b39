"""A conversation with a model: every message is stored, and the context sent to the model fits its window."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any
from warnings import warn

from treering.conversation.explanation import explain_window, window_statistics
from treering.conversation.formats import read_all
from treering.conversation.message_turns import message_of
from treering.conversation.quotations import quote, recalled
from treering.conversation.stored_window import ConversationServices, RemovedMatches, StoredWindow
from treering.conversation.strategies import Strategy, completed_tasks, strategy_named
from treering.conversation.truncation import cut_to_fit, too_large
from treering.conversation.views import ConversationEvent, ConversationStats, WindowExplanation
from treering.conversation.window_context import (
    ConversationContext,
    RecalledMessage,
    SentMessage,
    WindowLayout,
    left_out,
    unpaired_call_ids,
)
from treering.core.contexts import WindowRules
from treering.core.errors import InvalidInput, TreeringError
from treering.core.messages import Message, MessageFormat, Role
from treering.core.values import storable

Item = Message | Mapping[str, Any]

_MIN_REPORTED_TOKENS = 200
"""In a smaller request the provider's fixed overhead dominates, so its count is not used for correction."""
_MAX_RATIO = 5
"""Two tokenizers never differ by this factor; a larger difference means that the report is wrong."""


class Conversation:
    """One conversation with one model. Thread-safe; other processes may write to it at the same time."""

    def __init__(self, id: str, rules: WindowRules, services: ConversationServices) -> None:
        self.id = id
        self.rules = rules
        self._services = services
        self._settings = services.settings
        self._meter = services.meter
        self._stored = StoredWindow(id, rules, services)
        self._lock = RLock()
        self._warned = False
        self._failures = 0
        self._built: ConversationContext | None = None

    def __repr__(self) -> str:
        return f"Conversation(id={self.id!r}, model={self.rules.model!r}, limit={self.rules.limit})"

    def add(
        self,
        message: Item | Role | str,
        text: str | None = None,
        *,
        format: MessageFormat | str | None = None,
        **fields: Any,
    ) -> Message:
        """Store the next message, given in any format or as a role and a text. Durable on return."""
        if isinstance(message, str):
            if text is None:
                raise InvalidInput(
                    "the text is missing; pass a message, or a role and a text: conversation.add('user', 'Hello')"
                )
            message = Message.of(_role(message), storable(text), **fields)
        elif text is not None or fields:
            raise InvalidInput("a message has its own text and fields; omit the other arguments")
        return self.extend([message], format=format)[0]

    def extend(self, messages: Iterable[Item], *, format: MessageFormat | str | None = None) -> tuple[Message, ...]:
        """Store several messages, all or none of them."""
        said = read_all([each if isinstance(each, Message) else storable(each) for each in messages], format)
        with self._lock:
            self._stored.catch_up()
            turns = self._stored.add(said)
            self._stored.keep_rules()
            self._warn()
            return tuple(message_of(turn) for turn in turns)

    def build(
        self, current: Item | None = None, *, tools: Sequence[Mapping[str, Any]] = (), recall: bool = False
    ) -> ConversationContext:
        """The messages to send now: system prompts, the window, and `current`, which is not stored.

        The window is pruned first if it is too full. With `recall`, removed messages relevant to `current` (or else to
        the user's last message) are quoted directly before it, as far as they fit. `tools` are the tool definitions of
        the request; their tokens are counted.
        """
        last = () if current is None else read_all([current if isinstance(current, Message) else storable(current)])
        if unpaired_call_ids(last):
            raise InvalidInput(
                "current contains tool calls or results, which have to be stored; add them, then build without current"
            )
        with self._lock:
            self._stored.catch_up()
            always = self._meter.priming + self._meter.tools(tools)
            beside = always + sum(map(self._meter.message, last))
            if self.rules.at_task_boundary:
                self._remove(0, self._stored.budget(), completed_tasks, "a new task began")
            self._make_room(beside)
            found = self._removed_matches(last) if recall else RemovedMatches(())
            free = self._stored.budget() - self._stored.window.tokens - beside
            room = max(free, self._stored.budget(self._settings.recall_share))
            back, quotation = quote(found.turns, self._meter, room)
            if quotation is not None:
                self._make_room(beside + self._meter.message(quotation))
            quotations = () if quotation is None else (quotation,)
            built = replace(self._assembled(always, last, quotations), recalled=back, missing=found.missing)
            if built.tokens > built.max_tokens or unpaired_call_ids(built.messages):
                raise TreeringError(
                    f"internal error while building the context of conversation {self.id!r}; please report it"
                )
            self._built = built
        if quotation is not None:
            self._services.injected(
                [each.id for each in back], via="conversation", tokens=self._meter.message(quotation)
            )
        return built

    def prune(self) -> int:
        """Remove messages from the window down to its target size. Returns the number removed."""
        with self._lock:
            self._stored.catch_up()
            limit, priming = self._stored.budget(), self._meter.priming
            room = int(limit * self._settings.prune_to) - priming
            return self._remove(room, limit - priming, strategy_named(self.rules.strategy), "requested")

    def clear(self) -> int:
        """Remove everything but system prompts and pinned messages from the window. Returns the number removed.

        `search` still finds the removed messages.
        """
        with self._lock:
            self._stored.catch_up()
            return self._stored.clear()

    def pin(self, id: str, *, pinned: bool = True) -> None:
        """Pin a message to the window, or unpin it. Pinning a removed message brings it back."""
        with self._lock:
            self._stored.catch_up()
            self._stored.pin(id, pinned=pinned)

    def unimportant(self, id: str, *, marked: bool = True) -> None:
        """Mark a message as unimportant, so that it is removed among the first, or undo that."""
        with self._lock:
            self._stored.catch_up()
            self._stored.mark_unimportant(id, marked=marked)

    def reported(self, tokens: int) -> float:
        """Report the provider's token count for the last `build`. Returns the correction factor used from now on.

        Small requests do not change the factor, because the provider's fixed overhead dominates them.
        """
        with self._lock:
            if self._built is None:
                raise InvalidInput("no context was built yet; call build, then report the provider's count for it")
            counted = self._built.tokens / self._stored.scale
            if not counted / _MAX_RATIO <= tokens <= counted * _MAX_RATIO + _MIN_REPORTED_TOKENS:
                raise InvalidInput(
                    f"{tokens:,} tokens are implausible for the last build (about {counted:,.0f}); report its own count"
                )
            if counted >= _MIN_REPORTED_TOKENS:
                self._stored.report(tokens / counted)
            return self._stored.scale

    def search(self, query: str, *, limit: int | None = None) -> tuple[RecalledMessage, ...]:
        """Removed messages that match the query, best first."""
        wanted = self._settings.recall_messages if limit is None else limit
        if wanted < 1:
            raise InvalidInput(f"limit is {wanted}; pass 1 or more")
        with self._lock:
            self._stored.catch_up()
            found = self._services.find(query, self.id, self._stored.removed_ids(), wanted)
        return tuple(map(recalled, found.turns))

    def stats(self) -> ConversationStats:
        with self._lock:
            self._stored.catch_up()
            return window_statistics(self._stored, self._meter)

    def explain(self) -> WindowExplanation:
        """Every message with its importance, the reasons for it, and whether it is in the window."""
        with self._lock:
            return explain_window(self._stored, self.stats(), self._services.clock())

    def revision(self) -> object:
        """A value that changes whenever the stored conversation does, and is cheap to read."""
        services = self._services
        with services.store.reading(services.scope, services.clock()) as tx:
            return tx.sessions.current_version(self.id)

    def messages(self) -> tuple[Message, ...]:
        """All messages, in order."""
        with self._lock:
            return self._stored.everything()

    def _warn(self) -> None:
        """Emit events when the window passes its threshold, once each time, and when the tokenizer fails."""
        full = self._is_full()
        if full and not self._warned:
            percent = self._percent()
            self._notify("warning", f"the window is {percent:.0f} % full; the next build removes messages")
        self._warned = full
        failed = self._meter.failures
        if failed.count > self._failures:
            self._failures = failed.count
            self._notify("tokenizer_failed", f"{failed.last}; the count was estimated")

    def _is_full(self) -> bool:
        share = min(self._settings.prune_at, self.rules.max_tokens / self.rules.limit)
        return self._percent() >= 100 * share

    def _percent(self) -> float:
        return 100 * (self._stored.window.tokens + self._meter.priming) * self._stored.scale / self.rules.limit

    def _notify(self, kind: str, detail: str) -> None:
        """Emit an event. An exception of the listener becomes a warning, because the change is already stored."""
        try:
            self._services.on_event(ConversationEvent(kind, self.id, detail, self._percent()))
        except Exception as exc:  # noqa: BLE001 - a listener is the caller's own code
            warn(f"on_event raised {type(exc).__name__}: {exc}", RuntimeWarning, stacklevel=2)

    def _make_room(self, beside: int) -> None:
        """Prune the window if it does not fit `beside` the other tokens of the request."""
        stored, max_messages = self._stored, self.rules.max_messages
        used, budget = stored.window.tokens + beside, stored.budget()
        if used <= budget and (max_messages is None or stored.window.messages <= max_messages):
            return
        share = used * stored.scale / self.rules.limit
        aggressive = share >= self._settings.aggressive_at
        target = self._settings.aggressive_to if aggressive else self._settings.prune_to
        trigger = f"window {100 * share:.0f} % full" if used > budget else f"more than {max_messages} messages"
        strategy = strategy_named(self.rules.strategy)
        self._remove(int(budget * target) - beside, budget - beside, strategy, trigger)

    def _remove(self, room: int, limit: int, strategy: Strategy, trigger: str) -> int:
        left = self._stored.remove(room, limit, strategy, trigger)
        if left:
            self._warned = self._is_full()
            self._notify("removed", f"{left:,} messages were removed from the window ({trigger})")
        return left

    def _removed_matches(self, current: Sequence[Message]) -> RemovedMatches:
        """Removed messages that match the user's last message."""
        asked = self._stored.transcript.last_asked()
        said = [each.text for each in current if each.role is Role.USER]
        if not said and asked is not None:
            said = [self._stored.text_of(asked)]
        if not said or not self._stored.window.out:
            return RemovedMatches(())
        return self._services.find(said[-1], self.id, self._stored.removed_ids(), self._settings.recall_messages)

    def _assembled(self, always: int, last: Sequence[Message], quotations: Sequence[Message]) -> ConversationContext:
        """Assemble the request; `always` is the number of tokens it takes besides messages."""
        stored, budget = self._stored, self._stored.budget()
        beside = always + sum(map(self._meter.message, (*last, *quotations)))
        marked = stored.window.shortened(self._meter, budget - beside - stored.window.message_tokens)
        shown = list(WindowLayout(stored.transcript, stored.window.out, stored.window.absent).messages(marked))
        place = len(shown) if last else _quotation_place(shown)
        shown[place:place] = map(SentMessage, quotations)
        shown, cut = self._fitted([*shown, *(SentMessage(each, current=True) for each in last)], budget - always)
        return ConversationContext(
            messages=tuple(each.message for each in shown),
            tokens=stored.scaled(sum(map(self._size, shown)) + always),
            max_tokens=self.rules.max_tokens,
            limit=self.rules.limit,
            exact=self._meter.tokenizer.exact and not self._meter.failures.count,
            markers=tuple(each.marker for each in shown if each.marker is not None),
            truncated=cut,
            left_out=left_out(stored.transcript, stored.window.out),
        )

    def _fitted(self, shown: list[SentMessage], room: int) -> tuple[list[SentMessage], tuple[str, ...]]:
        """The messages to send and the ids of those cut. If they do not fit, the rules decide: error or cut."""
        sizes = list(map(self._size, shown))
        if sum(sizes) <= room:
            return shown, ()
        if self.rules.oversize == "error" or room <= 0:
            largest = max(zip(sizes, shown, strict=True), key=lambda pair: pair[0])[1] if shown else None
            raise too_large(self._stored.scaled(sum(sizes)), self._stored.scaled(room), largest)
        fitted, cut = cut_to_fit(shown, self._meter.message, room, protected=frozenset(self._stored.state.pinned))
        self._notify("truncated", f"{len(cut)} messages were cut to fit: {', '.join(cut)}")
        return fitted, cut

    def _size(self, shown: SentMessage) -> int:
        """Tokens of a message; the count of a stored message is reused."""
        if shown.entry is not None and shown.message is shown.entry.message:
            return shown.entry.tokens
        return self._meter.message(shown.message)


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError:
        raise InvalidInput(f"{name!r} is not a role; use one of {', '.join(Role)}") from None


def _quotation_place(shown: Sequence[SentMessage]) -> int:
    """Index of a quotation: directly before the user's last message, else after the last marker."""
    asked = [place for place, each in enumerate(shown) if each.entry is not None and each.message.role is Role.USER]
    if asked:
        return asked[-1]
    markers = [place for place, each in enumerate(shown) if each.entry is None]
    return markers[-1] + 1 if markers else len(shown)
