"""Parser for the time expressions of a query."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache

from treering.core.errors import InvalidInput
from treering.core.queries import TimeRange
from treering.core.time_words.calendar import READINGS, Bounds, earlier
from treering.core.time_words.lexicon import TimeLexicon, TimeTemplate, fold, lexicon
from treering.core.time_words.values import Anchor, TimeKind, TimeOrder, TimeRelation, TimeWords

LANGUAGES = ("en", "fr", "it", "de", "es", "zh")
# Longer text is pasted, and its dates are not part of the question.
LONGEST_QUERY = 2_000
# Characters before a time in which a bounding word may begin: "a partir du", "in the period between the".
LOOK_BACK = 32

_WORD = re.compile(r"[^\W_]+")
_FOUR_DIGITS = re.compile(r"\d{4}")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_ORDERS = frozenset(TimeOrder)

Ends = tuple[datetime | None, datetime | None]


def _since(times: Bounds) -> Ends:
    return times[0], None


def _before(times: Bounds) -> Ends:
    return None, times[0]


def _after(times: Bounds) -> Ends:
    return times[1], None


def _until(times: Bounds) -> Ends:
    return None, times[1]


_OPEN = {"since": _since, "before": _before, "after": _after, "until": _until}


@dataclass(frozen=True, slots=True)
class _TimeMatch:
    """A match from `start` to `end`: a time, an order, an event, or nothing."""

    start: int
    end: int
    times: Bounds | None = None
    ends: Ends | None = None
    explicit: bool = False
    order: TimeOrder | None = None
    relation: TimeRelation | None = None
    event: int = 0


def read_times(query: str, now: datetime) -> TimeWords | None:
    """Meaning of the time expressions of `query` at `now`, in its time zone; None if there are none."""
    text = fold(query[:LONGEST_QUERY])
    local = now if now.tzinfo else now.replace(tzinfo=UTC)
    readings = (_read(text, words, local) for words in _languages(text))
    best = max(readings, key=_length, default=())
    return _time_words(query, best, local)


def _languages(text: str) -> tuple[TimeLexicon, ...]:
    """Languages with a cue in the text, unless another language matches its words much better."""
    words = _words(text)
    digits = _FOUR_DIGITS.search(text) is not None
    chinese = _CHINESE.search(text) is not None
    if not digits and not chinese and words.isdisjoint(_every_cue()):
        return ()
    spaced = [lexicon(language) for language in LANGUAGES if lexicon(language).spaced]
    votes = {id(each): len(words & each.common) for each in spaced}
    highest = max(votes.values())
    # One word of another language is common in a sentence; two are rare.
    fitting = [each for each in spaced if votes[id(each)] >= highest - 1]
    cued = [each for each in fitting if digits or not words.isdisjoint(each.cues)]
    cued.sort(key=lambda each: -votes[id(each)])
    unspaced = [lexicon(language) for language in LANGUAGES if not lexicon(language).spaced]
    return (*cued, *(unspaced if chinese else ()))


@cache
def _every_cue() -> frozenset[str]:
    return frozenset().union(*(lexicon(language).cues for language in LANGUAGES if lexicon(language).spaced))


def _read(text: str, words: TimeLexicon, now: datetime) -> tuple[_TimeMatch, ...]:
    if not _may_have_time(text, words):
        return ()
    found = [_meaning(match, words, now) for match in words.any_template.finditer(text)]
    bounded = [_bounded(each, text, words) for each in _ranges(found, text, words)]
    anchors = tuple(_anchors(text, words, bounded))
    outside = (each for each in bounded if not any(event.start <= each.start < event.end for event in anchors))
    return (*outside, *anchors)


def _may_have_time(text: str, words: TimeLexicon) -> bool:
    """Whether the text has more than a "before" without an event, which is common."""
    if not words.spaced or _FOUR_DIGITS.search(text) or not _words(text).isdisjoint(words.time_cues):
        return True
    return any(template.pattern.search(text) for template in words.anchors)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _meaning(match: re.Match[str], words: TimeLexicon, now: datetime) -> _TimeMatch:
    template = words.templates[int(str(match.lastgroup)[1:])]
    found = _TimeMatch(*match.span(), explicit=template.explicit)
    if template.reading in _ORDERS:
        return replace(found, order=TimeOrder(template.reading))
    return replace(found, times=_times(match, template, words, now)) if template.reading in READINGS else found


def _times(match: re.Match[str], template: TimeTemplate, words: TimeLexicon, now: datetime) -> Bounds | None:
    again = template.pattern.match(match.string, match.start())
    values = words.words_of(again) if again else None
    if values is None:
        return None
    return _valid_bounds(lambda: READINGS[template.reading](now, **{**template.given, **values}))


def _valid_bounds(reading: Callable[[], Bounds]) -> Bounds | None:
    """The bounds if they are valid dates, also in UTC, and not empty; else None."""
    try:
        since, before = reading()
        return (since, before) if since.astimezone(UTC) < before.astimezone(UTC) else None
    except (ValueError, OverflowError, InvalidInput):
        return None


def _ranges(found: list[_TimeMatch], text: str, words: TimeLexicon) -> Iterator[_TimeMatch]:
    """The matches with every "between … and …" joined."""
    rest = iter(found)
    for first in rest:
        opening = words.range_from.search(text, max(0, first.start - LOOK_BACK), first.start)
        if first.times is None or opening is None or first is found[-1]:
            yield first
            continue
        second = next(rest)
        if second.times is None or words.range_to.fullmatch(text, first.end, second.start) is None:
            yield from (first, second)
            continue
        yield _joined(first, second, opening.start())


def _joined(first: _TimeMatch, second: _TimeMatch, start: int) -> _TimeMatch:
    """The span from the first to the second; a first without a year is before the second."""
    assert first.times is not None
    assert second.times is not None
    times, end = first.times, second.times[1]
    ends = _valid_bounds(lambda: (earlier(times, end)[0], end))
    return _TimeMatch(start, second.end, times=second.times, ends=ends, explicit=ends is not None)


def _bounded(found: _TimeMatch, text: str, words: TimeLexicon) -> _TimeMatch:
    """The match, open at one end if a word like "since" is next to it."""
    if found.times is None or found.explicit:
        return found
    for name, pattern in words.bounds.items():
        if words.spaced and (word := pattern.search(text, max(0, found.start - LOOK_BACK), found.start)):
            return replace(found, start=word.start(), ends=_OPEN[name](found.times), explicit=True)
        if not words.spaced and (word := pattern.match(text, found.end)):
            return replace(found, end=word.end(), ends=_OPEN[name](found.times), explicit=True)
    return found


def _is_useful(found: _TimeMatch, now: datetime) -> bool:
    """Whether the match is useful: neither a false match nor in the future."""
    if found.times is None:
        return found.order is not None or found.relation is not None
    return found.ends is not None or found.times[0].date() <= now.date()


def _anchors(text: str, words: TimeLexicon, found: list[_TimeMatch]) -> Iterator[_TimeMatch]:
    """Times given by events, up to the next time; an order inside ("the last release") is part of the event."""
    taken = [(each.start, each.end) for each in found if each.order is None]
    for template in words.anchors:
        if not template.applies(text):
            continue
        for match in template.pattern.finditer(text):
            start, event = match.start(), match.start("phrase")
            end = min([match.end("phrase"), *(begin for begin, _ in taken if event < begin)])
            if not any(begin < end and start < stop for begin, stop in taken):
                taken.append((start, end))
                yield _TimeMatch(start, end, relation=template.relation, event=event)


def _length(found: Iterable[_TimeMatch]) -> int:
    return sum(each.end - each.start for each in found)


def _time_words(query: str, found: Iterable[_TimeMatch], now: datetime) -> TimeWords | None:
    inorder = sorted((each for each in found if _is_useful(each, now)), key=lambda each: each.start)
    if not inorder:
        return None
    spans = _merged([span for each in inorder if (span := _span(each)) is not None])
    return TimeWords(
        spans=spans,
        kind=TimeKind.FILTER if spans and all(each.explicit for each in inorder if each.times) else TimeKind.BOOST,
        anchors=tuple(
            Anchor(each.relation, query[each.event : each.end].strip()) for each in inorder if each.relation is not None
        ),
        order=next((each.order for each in inorder if each.order), None),
        phrases=tuple(query[each.start : each.end].strip() for each in inorder),
    )


def _span(found: _TimeMatch) -> TimeRange | None:
    if (ends := found.ends or found.times) is None:
        return None
    return TimeRange(since=ends[0], before=ends[1])


def _merged(spans: list[TimeRange]) -> tuple[TimeRange, ...]:
    """The spans, with two open ones that overlap joined: since May, before June."""
    match sorted(spans, key=lambda span: span.since is None):
        case [
            TimeRange(since=datetime() as since, before=None),
            TimeRange(since=None, before=datetime() as before),
        ] if since < before:
            return (TimeRange(since=since, before=before),)
    return tuple(dict.fromkeys(spans))
