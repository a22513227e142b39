"""The messages of a conversation that are in the model's window, and their tokens."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from treering.conversation.markers import Marker, grouped_runs, runs
from treering.conversation.transcript import Transcript, TranscriptEntry
from treering.conversation.window_context import absent_from
from treering.core.contexts import ContextState, RemovedMessages
from treering.core.messages import Role
from treering.render.token_counts import Meter


class Window:
    """Token totals of the window. Rebuilt when messages are removed; updated when one is added."""

    def __init__(self, transcript: Transcript, state: ContextState, meter: Meter, max_markers: int) -> None:
        self.out = _places_out(transcript, state)
        self.absent = absent_from(transcript, self.out)
        self.by_role: Counter[Role] = Counter()
        self.messages = 0
        for entry in transcript:
            if entry.place not in self.out and entry.place not in self.absent:
                self._count(entry)
        together = grouped_runs(runs(transcript, self.out, self.absent), max_markers)
        self.markers: Mapping[int, Marker] = {groups[-1][-1].place: _marker(groups, state) for groups in together}
        self._marker_tokens = {place: meter.message(each.message) for place, each in self.markers.items()}

    @property
    def tokens(self) -> int:
        """Tokens of messages and markers."""
        return self.message_tokens + self.marker_tokens

    @property
    def message_tokens(self) -> int:
        return sum(self.by_role.values())

    @property
    def marker_tokens(self) -> int:
        return sum(self._marker_tokens.values())

    def add(self, entry: TranscriptEntry, transcript: Transcript) -> bool:
        """Add the last message. Returns False if the window has to be rebuilt instead."""
        exchanges, place = transcript.exchanges, entry.place
        asked = exchanges.answered_calls.get(place, frozenset())
        now_answered = asked & self.absent
        beside = {neighbour for each in now_answered for neighbour in (each - 1, each + 1)}
        early = exchanges.has_calls(place) and place not in exchanges.unanswered and self.absent
        if place in exchanges.orphans or asked & self.out or beside & self.out or early:
            return False
        if place in exchanges.unanswered:
            self.absent |= {place}
            return True
        self.absent -= now_answered
        for each in (*(transcript.entries[called] for called in now_answered), entry):
            self._count(each)
        return True

    def shortened(self, meter: Meter, max_tokens: int) -> Mapping[int, Marker]:
        """The markers, without the summaries of the oldest until all fit in `max_tokens`."""
        markers, total = dict(self.markers), self.marker_tokens
        for place, marker in self.markers.items():
            if total <= max_tokens:
                break
            markers[place] = replace(marker, summary="")
            total += meter.message(markers[place].message) - self._marker_tokens[place]
        return markers

    def _count(self, entry: TranscriptEntry) -> None:
        self.by_role[entry.role] += entry.tokens
        self.messages += 1


def _marker(groups: Sequence[Sequence[TranscriptEntry]], state: ContextState) -> Marker:
    summaries = (_summaries(group, state) for group in groups)
    return Marker(sum(map(len, groups)), len(groups), "\n".join(filter(None, summaries)))


def _summaries(group: Sequence[TranscriptEntry], state: ContextState) -> str:
    """Summaries of the runs in a group."""
    first, last = group[0].seq, group[-1].seq
    return "\n".join(run.summary for run in state.removed if first <= run.first and run.last <= last and run.summary)


def _places_out(transcript: Transcript, state: ContextState) -> frozenset[int]:
    """Places out of the window: removed messages, and results whose calls were removed."""
    if not state.removed:
        return frozenset()
    seqs = removed_seqs(state.removed, [entry.seq for entry in transcript])
    removed = {entry.place for entry in transcript if entry.seq in seqs}
    late = {place for place, asked in transcript.exchanges.answered_calls.items() if asked <= removed}
    return frozenset(removed | late)


def removed_seqs(removed: Iterable[RemovedMessages], seqs: Sequence[int]) -> set[int]:
    """Those of the ascending `seqs` that lie in one of the removed runs, found in a single pass over both."""
    found, runs = set[int](), iter(sorted(removed, key=lambda run: run.first))
    run = next(runs, None)
    for seq in seqs:
        while run is not None and run.last < seq:
            run = next(runs, None)
        if run is None:
            break
        if run.first <= seq:
            found.add(seq)
    return found
