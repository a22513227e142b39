"""The window of one conversation as it is kept: what left, what is pinned, and how it changes, wholly or not at all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil

from treering.conversation import markers, pruning
from treering.conversation.state import without
from treering.conversation.storage import Keeping
from treering.conversation.strategies import Strategy
from treering.conversation.transcript import Entry, Transcript
from treering.conversation.views import Happened
from treering.conversation.window import Window
from treering.core.contexts import ContextState, RemovedRun, WindowRules
from treering.core.errors import Conflict, NotFound
from treering.core.history import LogInjection
from treering.core.jobs import Job
from treering.core.messages import Message
from treering.core.scope import Scope
from treering.core.settings import ConversationSettings
from treering.core.turns import Turn
from treering.ports.clock import Clock, NewId
from treering.ports.store import Store
from treering.render.token_counts import Meter

_LOWEST = 0.85
"""No estimate of a whole request is further above what is found: a lower report left out tokens that were cached."""
_RETRIES = 5
"""How often a change of the window is tried again when another process changed it first."""


@dataclass(frozen=True, slots=True)
class FoundAgain:
    """Turns of one session that answer a query, the best first, and what the search had to do without."""

    turns: tuple[Turn, ...]
    missing: Mapping[str, str] = field(default_factory=dict)


Find = Callable[[str, str, Sequence[str], int], FoundAgain]
"""Look for a query among the turns of a session that have these ids: at most so many."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a conversation needs from outside."""

    scope: Scope
    store: Store
    clock: Clock
    new_id: NewId
    meter: Meter
    find: Find
    settings: ConversationSettings
    summarise: Callable[[str, datetime], Sequence[Job]]
    """Jobs that write better summaries of what left; none where no language model is configured."""
    on_event: Callable[[Happened], None]
    injected: LogInjection


class HeldWindow:
    """Everything said, and what of it is in the window, in step with the store."""

    def __init__(self, id: str, rules: WindowRules, around: Surroundings) -> None:
        self.id = id
        self.rules = rules
        self._around = around
        self._settings = around.settings
        self._meter = around.meter
        self._keeping = Keeping(around.scope, around.store, around.clock, around.new_id, id=id, meter=around.meter)
        self._window: Window | None = None
        self._state: ContextState | None = None

    @property
    def transcript(self) -> Transcript:
        return self._keeping.transcript

    @property
    def state(self) -> ContextState:
        if self._state is None:
            kept = self._keeping.state
            self._state = ContextState(rules=self.rules) if kept is None else _under(self.rules, kept)
        return self._state

    @property
    def window(self) -> Window:
        if self._window is None:
            window = Window(self.transcript, self.state, self._meter, self._marker_size.most)
            self._keeping.hold_messages(window.out)
            self._window = window
        return self._window

    @property
    def protection(self) -> pruning.Protection:
        state = self.state
        return pruning.Protection(self.rules.keep_recent, frozenset(state.pinned), frozenset(state.unimportant))

    @property
    def scale(self) -> float:
        """How much more the provider counts than we do; an exact count is never lowered, an estimate little."""
        return max(1.0 if self._meter.tokenizer.exact else _LOWEST, max(self.state.reported, default=1.0))

    @property
    def _marker_size(self) -> pruning.MarkerSize:
        """Markers take as much as summaries may; there is always room for one."""
        one, shared = (self._meter.message(each.message) for each in (markers.LARGEST_MARKER, markers.LARGEST_SHARED))
        most = max(1, self.budget(self._settings.summary_share) // shared)
        return pruning.MarkerSize(one, most, most * shared)

    def budget(self, share: float = 1.0) -> int:
        """Tokens of ours that a request may take."""
        return int(self.rules.max_tokens * share / self.scale)

    def scaled(self, tokens: int) -> int:
        """Tokens of ours as the provider counts them."""
        return ceil(round(tokens * self.scale, 6))

    def catch_up(self) -> None:
        """Read what others did since."""
        if self._keeping.catch_up():
            self._window = self._state = None

    def add(self, messages: Sequence[Message]) -> tuple[Turn, ...]:
        """Keep what was said."""
        turns = self._keeping.add(messages)
        before = len(self.transcript)
        if not self._keeping.follow(turns):
            self.catch_up()
            return turns
        for entry in self.transcript.entries[before:]:
            if self._window is not None and not self._window.takes(entry, self.transcript):
                self._window = None
        return turns

    def text_of(self, entry: Entry) -> str:
        """What was said, also where it left the window."""
        return entry.message.text if entry.message is not None else self._keeping.text_of(entry.id)

    def everything(self) -> tuple[Message, ...]:
        return self._keeping.everything()

    def _entry(self, id: str) -> Entry:
        found = self.transcript.get(id)
        if found is None:
            raise NotFound(f"no message {id!r} in conversation {self.id!r}; `explain` lists them")
        return found

    def removed_ids(self) -> list[str]:
        return [self.transcript.entries[place].id for place in sorted(self.window.out)]

    def keep_rules(self) -> None:
        """So that whoever opens the conversation by its name alone finds the model it is held with."""
        kept = self._keeping.state
        if kept is None or kept.rules != self.rules:
            self._changed(lambda state: state)

    def remove(self, room: int, limit: int, strategy: Strategy, trigger: str) -> int:
        """Let messages leave until the window takes at most `room` tokens; how many left.

        A round that holds a protected message is only divided where the window takes more than `limit`.
        """

        def removed(state: ContextState) -> ContextState:
            gone = self._decided(room, limit, strategy)
            return self._without(state, gone, trigger) if gone else state

        return self._changed(removed)

    def clear(self) -> int:
        """Let everything leave but system prompts and what is pinned; how many left."""
        return self._changed(self._cleared)

    def pin(self, id: str, *, pinned: bool) -> None:
        def changed(state: ContextState) -> ContextState:
            return self._pinned(state, self._entry(id)) if pinned else state.replace(pinned=without(state.pinned, id))

        self._entry(id)
        self._changed(changed)

    def mark_unimportant(self, id: str, *, marked: bool) -> None:
        def changed(state: ContextState) -> ContextState:
            others = without(state.unimportant, id)
            return state.replace(unimportant=(*others, id) if marked else others)

        self._entry(id)
        self._changed(changed)

    def report(self, ratio: float) -> None:
        """The provider counted so many times what we did."""
        kept = self._settings.reports
        self._changed(lambda state: state.replace(reported=(*state.reported, ratio)[-kept:]))

    def _decided(self, room: int, limit: int, strategy: Strategy) -> dict[int, str]:
        window, most = self.window, self.rules.max_messages
        if window.tokens <= room and (most is None or window.messages <= most):
            return {}
        return pruning.decide(
            self.transcript,
            window.out,
            window.absent,
            self._around.clock(),
            room=pruning.Room(
                tokens=room - self.budget(self._settings.summary_share),
                messages=None if most is None else max(1, int(most * self._settings.prune_to)),
            ),
            limit=pruning.Room(limit, most),
            marker=self._marker_size,
            protection=self.protection,
            strategy=strategy,
            fading=self._settings.fading_messages,
        )

    def _without(self, state: ContextState, reasons: dict[int, str], trigger: str) -> ContextState:
        """The state once the messages at these places have left."""
        removal = markers.Removal(self._around.clock(), trigger, reasons)
        return state.replace(removed=self._spans(state, self.window.out | reasons.keys(), removal))

    def _cleared(self, state: ContextState) -> ContextState:
        transcript = self.transcript
        held = {*transcript.prompts(), *(entry.place for entry in transcript if entry.id in state.pinned)}
        parts = (part for place in held for part in transcript.parts(transcript.round_of[place]))
        stays = {each for part in parts if not held.isdisjoint(_places(part.entries)) for each in _places(part.entries)}
        groups = markers.runs(transcript, _places(transcript) - stays)
        spans = markers.Removal(self._around.clock(), "cleared").spans((), groups)
        after = transcript.entries[-1].seq + 1 if len(transcript) else 0
        return state.replace(removed=spans, fresh_from=tuple(dict.fromkeys((*state.fresh_from, after))))

    def _pinned(self, state: ContextState, entry: Entry) -> ContextState:
        """Pinned, and back in the window with what belongs to it."""
        pinned = state.replace(pinned=(*without(state.pinned, entry.id), entry.id))
        back = _places(self.transcript.round_of[entry.place].entries)
        if not back & self.window.out:
            return pinned
        removal = markers.Removal(self._around.clock(), "around a pinned message")
        return pinned.replace(removed=self._spans(state, self.window.out - back, removal))

    def _spans(self, state: ContextState, out: frozenset[int], removal: markers.Removal) -> tuple[RemovedRun, ...]:
        """The runs that are out then, told in what room there is for it."""
        groups = markers.runs(self.transcript, out)
        spans = removal.spans(state.removed, groups)
        room, most = self.budget(self._settings.summary_share), self._settings.summary_tokens
        return markers.summarised(spans, groups, self._meter.text, room, most)

    def _changed(self, change: Callable[[ContextState], ContextState]) -> int:
        """Change the window and keep it; how many messages more are out then. Another's change comes first."""
        for attempt in range(_RETRIES):
            if attempt:
                self.catch_up()
            out, after = len(self.window.out), change(self.state)
            kept = self._keeping.state
            if after == kept:
                return 0
            known = {(run.first, run.last) for run in kept.removed} if kept else set()
            new = any((run.first, run.last) not in known for run in after.removed)
            try:
                self._keeping.save(after, self._around.summarise(self.id, self._around.clock()) if new else ())
            except Conflict:
                if attempt == _RETRIES - 1:
                    raise
                continue
            self._window = self._state = None
            return len(self.window.out) - out
        raise AssertionError("the last attempt returns or raises")


def _under(rules: WindowRules, state: ContextState) -> ContextState:
    """The state under other rules; what another model's provider counted says nothing about this one's."""
    same = (rules.model, rules.tokenizer) == (state.rules.model, state.rules.tokenizer)
    return state.replace(rules=rules, reported=state.reported if same else ())


def _places(entries: Iterable[Entry]) -> set[int]:
    return {entry.place for entry in entries}
