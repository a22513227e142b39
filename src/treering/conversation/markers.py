"""What stands in the window where messages left it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, pairwise

from treering.conversation.summaries import CountTokens, summarise
from treering.conversation.transcript import Entry, Transcript
from treering.core.contexts import RemovedRun
from treering.core.delimiters import REMOVED, delimited, escaped
from treering.core.messages import Message, Role

_MOST_REASONS = 3
_SUMMARISED = 12
"""Spans that get a summary; what many short ones were about is told better by a search."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What is shown where messages left: how many, from how many places up to there, and what they were about."""

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
        """From the user: a summary quotes what was said and must not speak with the voice of the system."""
        return Message.of(Role.USER, self.text)


LARGEST_MARKER, LARGEST_SHARED = Marker(9_999_999), Marker(9_999_999, 999_999)
"""No marker of one run, or of several, takes more room without a summary."""


def merged(markers: Sequence[Marker]) -> Marker:
    """One marker for several between which nothing is shown."""
    summary = "\n".join(each.summary for each in markers if each.summary)
    return Marker(sum(each.messages for each in markers), max(each.places for each in markers), summary)


def gathered(groups: Sequence[list[Entry]], most: int) -> list[list[list[Entry]]]:
    """The runs, those of them together that get one marker: the nearest neighbours, until there are at most `most`."""
    gaps = [after[0].place - before[-1].place for before, after in pairwise(groups)]
    closed = set(sorted(range(len(gaps)), key=lambda at: (gaps[at], at))[: max(0, len(groups) - most)])
    together = list[list[list[Entry]]]()
    for at, group in enumerate(groups):
        if at - 1 in closed:
            together[-1].append(group)
        else:
            together.append([group])
    return together


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

    def spans(self, before: Sequence[RemovedRun], groups: Sequence[Sequence[Entry]]) -> tuple[RemovedRun, ...]:
        """The runs as they stand now: those that did not change stay as they are, the others get reasons anew."""
        known = {(run.first, run.last, run.messages): run for run in before}
        return tuple(
            known.get((group[0].seq, group[-1].seq, len(group))) or self._span(before, group) for group in groups
        )

    def _span(self, before: Sequence[RemovedRun], group: Sequence[Entry]) -> RemovedRun:
        first, last = group[0].seq, group[-1].seq
        shared = (run for run in before if run.first <= last and first <= run.last)
        inside = (reason for run in shared for reason in run.why.split("; "))
        fresh = (f"{self.trigger}: {self.reasons[entry.place]}" for entry in group if entry.place in self.reasons)
        return RemovedRun(
            first=first,
            last=last,
            messages=len(group),
            tokens=sum(entry.tokens for entry in group),
            why="; ".join(list(dict.fromkeys((*inside, *fresh)))[-_MOST_REASONS:]) or self.trigger,
            at=self.now,
        )


def summarised(
    spans: Sequence[RemovedRun], groups: Sequence[Sequence[Entry]], count: CountTokens, room: int, most: int
) -> tuple[RemovedRun, ...]:
    """The longest spans get a summary, in equal shares of the room and of at most `most` tokens each."""
    told = sorted(range(len(spans)), key=lambda place: -spans[place].messages)[:_SUMMARISED]
    share = min(most, room // max(1, len(told)))

    def told_in(place: int) -> str:
        summary = spans[place].summary
        kept = summary and count(summary) <= share
        return summary if kept else summarise(groups[place], count, share)

    summaries = {place: told_in(place) for place in told}
    return tuple(_with_summary(span, summaries.get(place, "")) for place, span in enumerate(spans))


def _with_summary(span: RemovedRun, summary: str) -> RemovedRun:
    return span if span.summary == summary else span.replace(summary=summary, written_by=None)
