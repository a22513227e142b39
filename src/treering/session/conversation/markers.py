"""What stands in the window where messages left it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from treering.core.contexts import Removed
from treering.core.delimiters import REMOVED, delimited, escaped
from treering.core.messages import Message, Role
from treering.session.conversation.summaries import CountTokens, summarise
from treering.session.conversation.transcript import Entry, Transcript

_MOST_REASONS = 3
_SUMMARISED = 12
"""Spans that get a summary; what many short ones were about is told better by a search."""
_LARGEST = 9_999_999


def marker_text(messages: int, summary: str = "") -> str:
    """How many messages are gone, and what they were about."""
    bare = f"… [{messages:,} {'message' if messages == 1 else 'messages'} removed] …"
    return f"{bare}\n{delimited(REMOVED, escaped(summary))}" if summary else bare


def marker(messages: int, summary: str = "") -> Message:
    """From the user: a summary quotes what was said and must not speak with the voice of the system."""
    return Message.of(Role.USER, marker_text(messages, summary))


def largest_marker() -> Message:
    """No marker without a summary takes more room."""
    return marker(_LARGEST)


def runs(transcript: Transcript, out: Collection[int], unseen: Collection[int] = ()) -> list[list[Entry]]:
    """Messages that left, in runs of neighbours; what is `unseen` stands between nothing."""
    seen = (entry for entry in transcript if entry.place not in unseen)
    return [list(group) for left, group in groupby(seen, key=lambda entry: entry.place in out) if left]


@dataclass(frozen=True, slots=True)
class Removal:
    """Messages leave at one moment: what set it off, and why each was among them, by place."""

    now: datetime
    trigger: str
    reasons: Mapping[int, str] = field(default_factory=dict)

    def spans(self, before: Sequence[Removed], groups: Sequence[Sequence[Entry]]) -> tuple[Removed, ...]:
        """The runs as they stand now: those that did not change stay as they are, the others get reasons anew."""
        known = {(run.first, run.last, run.messages): run for run in before}
        return tuple(
            known.get((group[0].seq, group[-1].seq, len(group))) or self._span(before, group) for group in groups
        )

    def _span(self, before: Sequence[Removed], group: Sequence[Entry]) -> Removed:
        first, last = group[0].seq, group[-1].seq
        shared = (run for run in before if run.first <= last and first <= run.last)
        inside = (reason for run in shared for reason in run.why.split("; "))
        fresh = (f"{self.trigger}: {self.reasons[entry.place]}" for entry in group if entry.place in self.reasons)
        return Removed(
            first=first,
            last=last,
            messages=len(group),
            tokens=sum(entry.tokens for entry in group),
            why="; ".join(list(dict.fromkeys((*inside, *fresh)))[-_MOST_REASONS:]) or self.trigger,
            at=self.now,
        )


def summarised(
    spans: Sequence[Removed], groups: Sequence[Sequence[Entry]], count: CountTokens, room: int, most: int
) -> tuple[Removed, ...]:
    """The longest spans get a summary, in equal shares of the room and of at most `most` tokens each."""
    told = sorted(range(len(spans)), key=lambda place: -spans[place].messages)[:_SUMMARISED]
    share = min(most, room // max(1, len(told)))

    def told_in(place: int) -> str:
        summary = spans[place].summary
        kept = summary and count(summary) <= share
        return summary if kept else summarise(groups[place], count, share)

    summaries = {place: told_in(place) for place in told}
    return tuple(_with_summary(span, summaries.get(place, "")) for place, span in enumerate(spans))


def _with_summary(span: Removed, summary: str) -> Removed:
    return span if span.summary == summary else span.replace(summary=summary, written_by=None)
