"""The stored window of one conversation: removed and pinned messages, with atomic changes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil

from treering.conversation import markers, pruning
from treering.conversation.storage import ConversationStorage
from treering.conversation.strategies import Strategy
from treering.conversation.transcript import Transcript, TranscriptEntry
from treering.conversation.views import ConversationEvent
from treering.conversation.window import Window
from treering.core.contexts import ContextState, RemovedMessages, WindowRules
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

FADING_MESSAGES = 1_000.0  # messages after which the value of a unit has decayed to a third (`bench/replay.py`)
MAX_REPORTED_COUNTS = 8  # the provider's own token counts kept to correct an estimate

_MIN_SCALE = 0.85
"""Estimates are never further above the truth; a lower report must have left out cached tokens."""
_RETRIES = 5
"""Attempts to change the window when another process changed it first."""


@dataclass(frozen=True, slots=True)
class RemovedMatches:
    """Matching turns of one session, best first, and the search signals that were `missing`."""

    turns: tuple[Turn, ...]
    missing: Mapping[str, str] = field(default_factory=dict)


FindRemoved = Callable[[str, str, Sequence[str], int], RemovedMatches]
"""Searches the turns of a session: query, session id, ids to search among, limit."""


@dataclass(frozen=True, slots=True)
class ConversationServices:
    """Ports and functions that a conversation uses."""

    scope: Scope
    store: Store
    clock: Clock
    new_id: NewId
    meter: Meter
    find: FindRemoved
    settings: ConversationSettings
    summarise: Callable[[str, datetime], Sequence[Job]]
    """Jobs that write summaries of removed messages; none if no language model is configured."""
    on_event: Callable[[ConversationEvent], None]
    injected: LogInjection


class StoredWindow:
    """The transcript and the window of one conversation, synchronised with the store."""

    def __init__(self, id: str, rules: WindowRules, services: ConversationServices) -> None:
        self.id = id
        self.rules = rules
        self._services = services
        self._settings = services.settings
        self._meter = services.meter
        self._storage = ConversationStorage(
            services.scope, services.store, services.clock, services.new_id, id=id, meter=services.meter
        )
        self._window: Window | None = None
        self._state: ContextState | None = None

    @property
    def transcript(self) -> Transcript:
        return self._storage.transcript

    @property
    def state(self) -> ContextState:
        if self._state is None:
            saved = self._storage.state
            self._state = ContextState(rules=self.rules) if saved is None else _under(self.rules, saved)
        return self._state

    @property
    def window(self) -> Window:
        if self._window is None:
            window = Window(self.transcript, self.state, self._meter, self._marker_size.max_markers)
            self._storage.hold_messages(window.out)
            self._window = window
        return self._window

    @property
    def protection(self) -> pruning.Protection:
        state = self.state
        return pruning.Protection(self.rules.keep_recent, frozenset(state.pinned), frozenset(state.unimportant))

    @property
    def scale(self) -> float:
        """The provider's count divided by ours. Exact counts are never scaled down, estimates only slightly."""
        return max(1.0 if self._meter.tokenizer.exact else _MIN_SCALE, max(self.state.reported, default=1.0))

    @property
    def _marker_size(self) -> pruning.MarkerSizes:
        """Markers share the budget of summaries; at least one always fits."""
        one, shared = (self._meter.message(each.message) for each in (markers.LARGEST_MARKER, markers.LARGEST_SHARED))
        max_markers = max(1, self.budget(self._settings.summary_share) // shared)
        return pruning.MarkerSizes(one, max_markers, max_markers * shared)

    def budget(self, share: float = 1.0) -> int:
        """Maximum tokens of a request, in our counts."""
        return int(self.rules.max_tokens * share / self.scale)

    def scaled(self, tokens: int) -> int:
        """Our count converted to the provider's."""
        return ceil(round(tokens * self.scale, 6))

    def catch_up(self) -> None:
        """Read changes of other writers."""
        if self._storage.catch_up():
            self._window = self._state = None

    def add(self, messages: Sequence[Message]) -> tuple[Turn, ...]:
        """Store messages."""
        turns = self._storage.add(messages)
        before = len(self.transcript)
        if not self._storage.follow(turns):
            self.catch_up()
            return turns
        for entry in self.transcript.entries[before:]:
            if self._window is not None and not self._window.add(entry, self.transcript):
                self._window = None
        return turns

    def text_of(self, entry: TranscriptEntry) -> str:
        """The text of a message, read from the store if it was removed."""
        return entry.message.text if entry.message is not None else self._storage.text_of(entry.id)

    def everything(self) -> tuple[Message, ...]:
        return self._storage.everything()

    def _entry(self, id: str) -> TranscriptEntry:
        found = self.transcript.get(id)
        if found is None:
            raise NotFound(f"no message {id!r} in conversation {self.id!r}; `explain` lists the ids")
        return found

    def removed_ids(self) -> list[str]:
        return [self.transcript.entries[place].id for place in sorted(self.window.out)]

    def keep_rules(self) -> None:
        """Store the rules, so that the conversation can be opened by its id alone."""
        saved = self._storage.state
        if saved is None or saved.rules != self.rules:
            self._changed(lambda state: state)

    def remove(self, room: int, limit: int, strategy: Strategy, trigger: str) -> int:
        """Remove messages until the window takes at most `room` tokens. Returns the number removed.

        A round with a protected message is divided only if the window takes more than `limit`.
        """

        def removed(state: ContextState) -> ContextState:
            reasons = self._removal_reasons(room, limit, strategy)
            return self._without(state, reasons, trigger) if reasons else state

        return self._changed(removed)

    def clear(self) -> int:
        """Remove everything but system prompts and pinned messages. Returns the number removed."""
        return self._changed(self._cleared)

    def pin(self, id: str, *, pinned: bool) -> None:
        def changed(state: ContextState) -> ContextState:
            return self._pinned(state, self._entry(id)) if pinned else state.replace(pinned=_others(state.pinned, id))

        self._entry(id)
        self._changed(changed)

    def mark_unimportant(self, id: str, *, marked: bool) -> None:
        def changed(state: ContextState) -> ContextState:
            others = _others(state.unimportant, id)
            return state.replace(unimportant=(*others, id) if marked else others)

        self._entry(id)
        self._changed(changed)

    def report(self, ratio: float) -> None:
        """Store the ratio of the provider's count to ours."""
        limit = MAX_REPORTED_COUNTS
        self._changed(lambda state: state.replace(reported=(*state.reported, ratio)[-limit:]))

    def _removal_reasons(self, room: int, limit: int, strategy: Strategy) -> dict[int, str]:
        window, max_messages = self.window, self.rules.max_messages
        if window.tokens <= room and (max_messages is None or window.messages <= max_messages):
            return {}
        return pruning.decide(
            self.transcript,
            window.out,
            window.absent,
            self._services.clock(),
            room=pruning.WindowCapacity(
                tokens=room - self.budget(self._settings.summary_share),
                messages=None if max_messages is None else max(1, int(max_messages * self._settings.prune_to)),
            ),
            limit=pruning.WindowCapacity(limit, max_messages),
            marker=self._marker_size,
            protection=self.protection,
            strategy=strategy,
            fading=FADING_MESSAGES,
        )

    def _without(self, state: ContextState, reasons: dict[int, str], trigger: str) -> ContextState:
        """The state without the messages at these places."""
        removal = markers.WindowRemoval(self._services.clock(), trigger, reasons)
        return state.replace(removed=self._spans(state, self.window.out | reasons.keys(), removal))

    def _cleared(self, state: ContextState) -> ContextState:
        transcript = self.transcript
        protected = {*transcript.prompts(), *(entry.place for entry in transcript if entry.id in state.pinned)}
        parts = (part for place in protected for part in transcript.parts(transcript.round_of[place]))
        stays = {
            each for part in parts if not protected.isdisjoint(_places(part.entries)) for each in _places(part.entries)
        }
        groups = markers.runs(transcript, _places(transcript) - stays)
        spans = markers.WindowRemoval(self._services.clock(), "cleared").spans((), groups)
        after = transcript.entries[-1].seq + 1 if len(transcript) else 0
        return state.replace(removed=spans, fresh_from=tuple(dict.fromkeys((*state.fresh_from, after))))

    def _pinned(self, state: ContextState, entry: TranscriptEntry) -> ContextState:
        """The state with a message pinned and its round back in the window."""
        pinned = state.replace(pinned=(*_others(state.pinned, entry.id), entry.id))
        back = _places(self.transcript.round_of[entry.place].entries)
        if not back & self.window.out:
            return pinned
        removal = markers.WindowRemoval(self._services.clock(), "around a pinned message")
        return pinned.replace(removed=self._spans(state, self.window.out - back, removal))

    def _spans(
        self, state: ContextState, out: frozenset[int], removal: markers.WindowRemoval
    ) -> tuple[RemovedMessages, ...]:
        """The removed runs for the places `out`, with summaries within their budget."""
        groups = markers.runs(self.transcript, out)
        spans = removal.spans(state.removed, groups)
        room, limit = self.budget(self._settings.summary_share), self._settings.summary_tokens
        return markers.with_summaries(spans, groups, self._meter.text, room, limit)

    def _changed(self, change: Callable[[ContextState], ContextState]) -> int:
        """Change the window and store it, retrying after a conflict. Returns how many more messages are out."""
        for attempt in range(_RETRIES):
            if attempt:
                self.catch_up()
            out, after = len(self.window.out), change(self.state)
            saved = self._storage.state
            if after == saved:
                return 0
            known = {(run.first, run.last) for run in saved.removed} if saved else set()
            new = any((run.first, run.last) not in known for run in after.removed)
            try:
                self._storage.save(after, self._services.summarise(self.id, self._services.clock()) if new else ())
            except Conflict:
                if attempt == _RETRIES - 1:
                    raise
                continue
            self._window = self._state = None
            return len(self.window.out) - out
        raise AssertionError("unreachable: the last attempt returns or raises")


def _under(rules: WindowRules, state: ContextState) -> ContextState:
    """The state with other rules. Reports for another model or tokenizer are dropped."""
    same = (rules.model, rules.tokenizer) == (state.rules.model, state.rules.tokenizer)
    return state.replace(rules=rules, reported=state.reported if same else ())


def _places(entries: Iterable[TranscriptEntry]) -> set[int]:
    return {entry.place for entry in entries}


def _others(ids: Sequence[str], id: str) -> tuple[str, ...]:
    return tuple(each for each in ids if each != id)
