"""Markers that replace removed messages in the window."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, pairwise

from treering.conversation.summaries import CountTokens, summarise
from treering.conversation.transcript import Transcript, TranscriptEntry
from treering.core.contexts import RemovedMessages
from treering.core.delimiters import REMOVED, delimited, escaped
from treering.core.messages import Message, Role

_MAX_REASONS = 3
_MAX_SUMMARIES = 12
"""Number of spans with a summary; beyond that, searching is more useful than many short summaries."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker for removed messages: how many, from how many places, and a summary."""

    messages: int
    places: int = 1
    summary: str = ""

    @property
    def summarised(self) -> bool:
        return bool(self.summary)

    @property
    def text(self) -> str:
        bare = f"… [{self.messages:,} {'message' if self.messages == 1 else 'messages'} removed] …"
        bare += f" (in {self.places:,} places up to here)" if self.places > 1 else ""
        return f"{bare}\n{delimited(REMOVED, escaped(self.summary))}" if self.summary else bare

    @property
    def message(self) -> Message:
        """A user message: the summary quotes messages and must not have the authority of the system role."""
        return Message.of(Role.USER, self.text)


LARGEST_MARKER, LARGEST_SHARED = Marker(9_999_999), Marker(9_999_999, 999_999)
"""Upper bounds for markers without a summary, of one run and of several."""


def merged_marker(markers: Sequence[Marker]) -> Marker:
    """One marker for adjacent markers."""
    summary = "\n".join(each.summary for each in markers if each.summary)
    return Marker(sum(each.messages for each in markers), max(each.places for each in markers), summary)


def grouped_runs(groups: Sequence[list[TranscriptEntry]], limit: int) -> list[list[list[TranscriptEntry]]]:
    """The runs grouped by marker: nearest neighbours share one until there are at most `limit` groups."""
    gaps = [after[0].place - before[-1].place for before, after in pairwise(groups)]
    closed = set(sorted(range(len(gaps)), key=lambda at: (gaps[at], at))[: max(0, len(groups) - limit)])
    together = list[list[list[TranscriptEntry]]]()
    for at, group in enumerate(groups):
        if at - 1 in closed:
            together[-1].append(group)
        else:
            together.append([group])
    return together


def runs(transcript: Transcript, out: Collection[int], unseen: Collection[int] = ()) -> list[list[TranscriptEntry]]:
    """Removed messages in runs of neighbours; `unseen` messages do not separate runs."""
    seen = (entry for entry in transcript if entry.place not in unseen)
    return [list(group) for left, group in groupby(seen, key=lambda entry: entry.place in out) if left]


@dataclass(frozen=True, slots=True)
class WindowRemoval:
    """A removal at one moment: its trigger, and the reason for each message by place."""

    now: datetime
    trigger: str
    reasons: Mapping[int, str] = field(default_factory=dict)

    def spans(
        self, before: Sequence[RemovedMessages], groups: Sequence[Sequence[TranscriptEntry]]
    ) -> tuple[RemovedMessages, ...]:
        """The removed runs after this removal; unchanged runs are kept, the others get new reasons."""
        known = {(run.first, run.last, run.messages): run for run in before}
        return tuple(
            known.get((group[0].seq, group[-1].seq, len(group))) or self._span(before, group) for group in groups
        )

    def _span(self, before: Sequence[RemovedMessages], group: Sequence[TranscriptEntry]) -> RemovedMessages:
        first, last = group[0].seq, group[-1].seq
        shared = (run for run in before if run.first <= last and first <= run.last)
        inside = (reason for run in shared for reason in run.why.split("; "))
        fresh = (f"{self.trigger}: {self.reasons[entry.place]}" for entry in group if entry.place in self.reasons)
        return RemovedMessages(
            first=first,
            last=last,
            messages=len(group),
            tokens=sum(entry.tokens for entry in group),
            why="; ".join(list(dict.fromkeys((*inside, *fresh)))[-_MAX_REASONS:]) or self.trigger,
            at=self.now,
        )


def with_summaries(
    spans: Sequence[RemovedMessages],
    groups: Sequence[Sequence[TranscriptEntry]],
    count: CountTokens,
    room: int,
    limit: int,
) -> tuple[RemovedMessages, ...]:
    """Add summaries to the longest spans, in equal shares of `room` and with at most `limit` tokens each."""
    chosen = sorted(range(len(spans)), key=lambda place: -spans[place].messages)[:_MAX_SUMMARIES]
    share = min(limit, room // max(1, len(chosen)))

    def summary_of(place: int) -> str:
        summary = spans[place].summary
        fits = summary and count(summary) <= share
        return summary if fits else summarise(groups[place], count, share)

    summaries = {place: summary_of(place) for place in chosen}
    return tuple(_with_summary(span, summaries.get(place, "")) for place, span in enumerate(spans))


def _with_summary(span: RemovedMessages, summary: str) -> RemovedMessages:
    return span if span.summary == summary else span.replace(summary=summary, written_by=None)
