"""A live conversation: what was said, and what is sent to the model now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any
from warnings import warn

from treering.conversation.explanation import explained, statistics
from treering.conversation.formats import read_all
from treering.conversation.message_turns import message_of
from treering.conversation.quotations import quoted, recalled
from treering.conversation.stored_window import FoundAgain, HeldWindow, Surroundings
from treering.conversation.strategies import Strategy, completed_tasks, strategy_named
from treering.conversation.truncation import cut_to_fit, too_large
from treering.conversation.views import ConversationStats, Explained, Happened
from treering.conversation.window_context import Context, Layout, Recalled, Shown, left_out, orphaned
from treering.core.contexts import WindowRules
from treering.core.errors import InvalidInput, TreeringError
from treering.core.messages import Message, MessageFormat, Role
from treering.core.values import storable

Item = Message | Mapping[str, Any]

_SMALL = 200
"""Tokens of a request below which a provider's count says nothing about the next one."""
_FARTHEST = 5
"""No tokenizer finds so many times more or fewer tokens than another."""


class Conversation:
    """One conversation with one model. Safe to share between threads; others may write to it meanwhile."""

    def __init__(self, id: str, rules: WindowRules, around: Surroundings) -> None:
        self.id = id
        self.rules = rules
        self._around = around
        self._settings = around.settings
        self._meter = around.meter
        self._held = HeldWindow(id, rules, around)
        self._lock = RLock()
        self._warned = False
        self._failures = 0
        self._built: Context | None = None

    def add(
        self,
        message: Item | Role | str,
        text: str | None = None,
        *,
        format: MessageFormat | str | None = None,
        **fields: Any,
    ) -> Message:
        """Keep what was said next: a message in any format, or a role and a text. It is durable when this returns."""
        if isinstance(message, str):
            if text is None:
                raise InvalidInput("give a role and a text, or a message: conversation.add('user', 'Hello')")
            message = Message.of(_role(message), storable(text), **fields)
        elif text is not None or fields:
            raise InvalidInput("a message brings its own text and fields; leave the other arguments out")
        return self.extend([message], format=format)[0]

    def extend(self, messages: Iterable[Item], *, format: MessageFormat | str | None = None) -> tuple[Message, ...]:
        """Keep many messages, all or none of them."""
        said = read_all([each if isinstance(each, Message) else storable(each) for each in messages], format)
        with self._lock:
            self._held.catch_up()
            turns = self._held.add(said)
            self._held.keep_rules()
            self._warn()
            return tuple(message_of(turn) for turn in turns)

    def build(
        self, current: Item | None = None, *, tools: Sequence[Mapping[str, Any]] = (), recall: bool = False
    ) -> Context:
        """The messages to send now: system prompts, what is in the window, and `current`, which is not kept.

        Where it is too full, messages leave first. `recall` quotes messages that left and are needed for `current`, or
        else for the last thing the user said, directly before it and in the room that is free. `tools` are the
        definitions sent along; they are counted.
        """
        last = () if current is None else read_all([current if isinstance(current, Message) else storable(current)])
        if orphaned(last):
            raise InvalidInput("calls and results belong together and are kept: add them, then build without current")
        with self._lock:
            self._held.catch_up()
            always = self._meter.priming + self._meter.tools(tools)
            beside = always + sum(map(self._meter.message, last))
            if self.rules.at_task_boundary:
                self._remove(0, self._held.budget(), completed_tasks, "another task began")
            self._make_room(beside)
            found = self._found_again(last) if recall else FoundAgain(())
            free = self._held.budget() - self._held.window.tokens - beside
            room = max(free, self._held.budget(self._settings.recall_share))
            back, quotation = quoted(found.turns, self._meter, room)
            if quotation is not None:
                self._make_room(beside + self._meter.message(quotation))
            quotations = () if quotation is None else (quotation,)
            built = replace(self._assembled(always, last, quotations), recalled=back, missing=found.missing)
            if built.tokens > built.max_tokens or orphaned(built.messages):
                raise TreeringError(f"conversation {self.id!r} was put together wrongly; please report this mistake")
            self._built = built
        if quotation is not None:
            self._around.injected([each.id for each in back], via="conversation", tokens=self._meter.message(quotation))
        return built

    def prune(self) -> int:
        """Let messages leave until the window has room again; how many left."""
        with self._lock:
            self._held.catch_up()
            limit, priming = self._held.budget(), self._meter.priming
            room = int(limit * self._settings.prune_to) - priming
            return self._remove(room, limit - priming, strategy_named(self.rules.strategy), "asked to")

    def clear(self) -> int:
        """Begin afresh: everything but system prompts and pinned messages leaves. `search` still finds it."""
        with self._lock:
            self._held.catch_up()
            return self._held.clear()

    def pin(self, id: str, *, pinned: bool = True) -> None:
        """Keep a message in the window, or let it go like others; one that had left comes back."""
        with self._lock:
            self._held.catch_up()
            self._held.pin(id, pinned=pinned)

    def unimportant(self, id: str, *, marked: bool = True) -> None:
        """Say that a message does not matter: it is among the first to leave."""
        with self._lock:
            self._held.catch_up()
            self._held.mark_unimportant(id, marked=marked)

    def reported(self, tokens: int) -> float:
        """Tell what the provider counted for the last `build`; by how much our own counts are corrected from now on.

        Small requests tell nothing: what a provider adds to each of them outweighs the words.
        """
        with self._lock:
            if self._built is None:
                raise InvalidInput("nothing was built yet; report what the provider counted for a build")
            counted = self._built.tokens / self._held.scale
            if not counted / _FARTHEST <= tokens <= counted * _FARTHEST + _SMALL:
                raise InvalidInput(
                    f"the last build takes about {counted:,.0f} tokens, not {tokens:,}; report what was counted for it"
                )
            if counted >= _SMALL:
                self._held.report(tokens / counted)
            return self._held.scale

    def search(self, query: str, *, limit: int | None = None) -> tuple[Recalled, ...]:
        """What left the window and answers the query, the best first."""
        most = self._settings.recall_messages if limit is None else limit
        if most < 1:
            raise InvalidInput(f"limit is {most}; ask for at least one message")
        with self._lock:
            self._held.catch_up()
            found = self._around.find(query, self.id, self._held.removed_ids(), most)
        return tuple(map(recalled, found.turns))

    def stats(self) -> ConversationStats:
        with self._lock:
            self._held.catch_up()
            return statistics(self._held, self._meter)

    def explain(self) -> Explained:
        """Each message, what it is worth and why, and whether it is in the window."""
        with self._lock:
            return explained(self._held, self.stats(), self._around.clock())

    def messages(self) -> tuple[Message, ...]:
        """Everything said, in order."""
        with self._lock:
            return self._held.everything()

    def _warn(self) -> None:
        """Once, each time the window gets fuller than it should; and when the tokenizer fails."""
        full = self._is_full()
        if full and not self._warned:
            percent = self._percent()
            self._tell("warning", f"the window is {percent:.0f} % full; messages leave when the next request is built")
        self._warned = full
        failed = self._meter.failures
        if failed.count > self._failures:
            self._failures = failed.count
            self._tell("tokenizer_failed", f"{failed.last}; counted by estimate")

    def _is_full(self) -> bool:
        share = min(self._settings.prune_at, self.rules.max_tokens / self.rules.limit)
        return self._percent() >= 100 * share

    def _percent(self) -> float:
        return 100 * (self._held.window.tokens + self._meter.priming) * self._held.scale / self.rules.limit

    def _tell(self, kind: str, detail: str) -> None:
        """What a listener raises must not undo what is done already, nor hide that it is."""
        try:
            self._around.on_event(Happened(kind, self.id, detail, self._percent()))
        except Exception as exc:  # noqa: BLE001 - a listener is the caller's own code
            warn(f"on_event raised {type(exc).__name__}: {exc}", RuntimeWarning, stacklevel=2)

    def _make_room(self, beside: int) -> None:
        """Where the window is too full beside what else is sent, let messages leave until there is room to go on."""
        held, most = self._held, self.rules.max_messages
        used, budget = held.window.tokens + beside, held.budget()
        if used <= budget and (most is None or held.window.messages <= most):
            return
        share = used * held.scale / self.rules.limit
        aggressive = share >= self._settings.aggressive_at
        target = self._settings.aggressive_to if aggressive else self._settings.prune_to
        trigger = f"window {100 * share:.0f} % full" if used > budget else f"more than {most} messages"
        strategy = strategy_named(self.rules.strategy)
        self._remove(int(budget * target) - beside, budget - beside, strategy, trigger)

    def _remove(self, room: int, limit: int, strategy: Strategy, trigger: str) -> int:
        left = self._held.remove(room, limit, strategy, trigger)
        if left:
            self._warned = self._is_full()
            self._tell("removed", f"{left:,} messages left the window ({trigger})")
        return left

    def _found_again(self, current: Sequence[Message]) -> FoundAgain:
        """What left and speaks of what the user said last."""
        asked = self._held.transcript.last_asked()
        said = [each.text for each in current if each.role is Role.USER]
        if not said and asked is not None:
            said = [self._held.text_of(asked)]
        if not said or not self._held.window.out:
            return FoundAgain(())
        return self._around.find(said[-1], self.id, self._held.removed_ids(), self._settings.recall_messages)

    def _assembled(self, always: int, last: Sequence[Message], quotations: Sequence[Message]) -> Context:
        """The request, where `always` is what it takes beside its messages."""
        held, budget = self._held, self._held.budget()
        beside = always + sum(map(self._meter.message, (*last, *quotations)))
        marked = held.window.shortened(self._meter, budget - beside - held.window.message_tokens)
        shown = list(Layout(held.transcript, held.window.out, held.window.absent).messages(marked))
        place = len(shown) if last else _before_the_question(shown)
        shown[place:place] = map(Shown, quotations)
        shown, cut = self._fitted([*shown, *(Shown(each, current=True) for each in last)], budget - always)
        return Context(
            messages=tuple(each.message for each in shown),
            tokens=held.scaled(sum(map(self._size, shown)) + always),
            max_tokens=self.rules.max_tokens,
            limit=self.rules.limit,
            exact=self._meter.tokenizer.exact and not self._meter.failures.count,
            markers=tuple(each.marker for each in shown if each.marker is not None),
            truncated=cut,
            left_out=left_out(held.transcript, held.window.out),
        )

    def _fitted(self, shown: list[Shown], room: int) -> tuple[list[Shown], tuple[str, ...]]:
        """What is sent, where it fits; otherwise what the rules say: an error, or the longest texts are cut."""
        sizes = list(map(self._size, shown))
        if sum(sizes) <= room:
            return shown, ()
        if self.rules.oversize == "error" or room <= 0:
            largest = max(zip(sizes, shown, strict=True), key=lambda pair: pair[0])[1] if shown else None
            raise too_large(self._held.scaled(sum(sizes)), self._held.scaled(room), largest)
        fitted, cut = cut_to_fit(shown, self._meter.message, room, never=frozenset(self._held.state.pinned))
        self._tell("truncated", f"{len(cut)} messages were cut to fit: {', '.join(cut)}")
        return fitted, cut

    def _size(self, shown: Shown) -> int:
        """What one message takes; most were counted when they came."""
        if shown.entry is not None and shown.message is shown.entry.message:
            return shown.entry.tokens
        return self._meter.message(shown.message)


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError:
        raise InvalidInput(f"{name!r} is not a role; use one of {', '.join(Role)}") from None


def _before_the_question(shown: Sequence[Shown]) -> int:
    """Where a quotation stands: right before the last thing the user said, else behind the last marker."""
    asked = [place for place, each in enumerate(shown) if each.entry is not None and each.message.role is Role.USER]
    if asked:
        return asked[-1]
    standing = [place for place, each in enumerate(shown) if each.entry is None]
    return standing[-1] + 1 if standing else len(shown)
