"""Finds the time words of a query and says what they mean."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache

from treering.core.errors import InvalidInput
from treering.core.queries import TimeRange
from treering.core.time_words.calendar import READINGS, Bounds, earlier
from treering.core.time_words.lexicon import Lexicon, Template, fold, lexicon
from treering.core.time_words.values import Anchor, Relation, TimeKind, TimeOrder, TimeWords

LANGUAGES = ("en", "fr", "it", "de", "es", "zh")
# Longer text is pasted, and its dates are not what is asked for.
LONGEST_QUERY = 2_000
# How far before a time the word that makes it an end may begin: "a partir du", "in the period between the".
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
class _Found:
    """Words that were read, from `start` to `end`: a time, an order, an event, or nothing at all."""

    start: int
    end: int
    times: Bounds | None = None
    ends: Ends | None = None
    explicit: bool = False
    order: TimeOrder | None = None
    relation: Relation | None = None
    event: int = 0


def read_times(query: str, now: datetime) -> TimeWords | None:
    """What the time words of `query` mean at `now`, whose zone says where days begin; None if there are none."""
    text = fold(query[:LONGEST_QUERY])
    local = now if now.tzinfo else now.replace(tzinfo=UTC)
    readings = (_read(text, words, local) for words in _languages(text))
    best = max(readings, key=_length, default=())
    return _time_words(query, best, local)


def _languages(text: str) -> tuple[Lexicon, ...]:
    """The languages that may say something about time here: they have a cue, and none fits the words much better."""
    words = _words(text)
    digits = _FOUR_DIGITS.search(text) is not None
    chinese = _CHINESE.search(text) is not None
    if not digits and not chinese and words.isdisjoint(_every_cue()):
        return ()
    spaced = [lexicon(language) for language in LANGUAGES if lexicon(language).spaced]
    votes = {id(each): len(words & each.common) for each in spaced}
    most = max(votes.values())
    # A word or a name of a neighbour's language is in many sentences; two are in few.
    fitting = [each for each in spaced if votes[id(each)] >= most - 1]
    cued = [each for each in fitting if digits or not words.isdisjoint(each.cues)]
    cued.sort(key=lambda each: -votes[id(each)])
    unspaced = [lexicon(language) for language in LANGUAGES if not lexicon(language).spaced]
    return (*cued, *(unspaced if chinese else ()))


@cache
def _every_cue() -> frozenset[str]:
    return frozenset().union(*(lexicon(language).cues for language in LANGUAGES if lexicon(language).spaced))


def _read(text: str, words: Lexicon, now: datetime) -> tuple[_Found, ...]:
    if not _worth_reading(text, words):
        return ()
    found = [_meaning(match, words, now) for match in words.any_template.finditer(text)]
    bounded = [_bounded(each, text, words) for each in _ranges(found, text, words)]
    anchors = tuple(_anchors(text, words, bounded))
    outside = (each for each in bounded if not any(event.start <= each.start < event.end for event in anchors))
    return (*outside, *anchors)


def _worth_reading(text: str, words: Lexicon) -> bool:
    """Whether more than a "before" with no event behind it is there: that is in many a sentence."""
    if not words.spaced or _FOUR_DIGITS.search(text) or not _words(text).isdisjoint(words.time_cues):
        return True
    return any(template.pattern.search(text) for template in words.anchors)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _meaning(match: re.Match[str], words: Lexicon, now: datetime) -> _Found:
    template = words.templates[int(str(match.lastgroup)[1:])]
    found = _Found(*match.span(), explicit=template.explicit)
    if template.reading in _ORDERS:
        return replace(found, order=TimeOrder(template.reading))
    return replace(found, times=_times(match, template, words, now)) if template.reading in READINGS else found


def _times(match: re.Match[str], template: Template, words: Lexicon, now: datetime) -> Bounds | None:
    again = template.pattern.match(match.string, match.start())
    told = words.words_of(again) if again else None
    if told is None:
        return None
    return _sound(lambda: READINGS[template.reading](now, **{**template.given, **told}))


def _sound(reading: Callable[[], Bounds]) -> Bounds | None:
    """The times read, if the calendar has them, in UTC too, and they hold at least a moment."""
    try:
        since, before = reading()
        return (since, before) if since.astimezone(UTC) < before.astimezone(UTC) else None
    except (ValueError, OverflowError, InvalidInput):
        return None


def _ranges(found: list[_Found], text: str, words: Lexicon) -> Iterator[_Found]:
    """The same, with every "between … and …" made one."""
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


def _joined(first: _Found, second: _Found, start: int) -> _Found:
    """From the one through the other; a first without a year lies in the year before rather than after the second."""
    assert first.times is not None
    assert second.times is not None
    times, end = first.times, second.times[1]
    ends = _sound(lambda: (earlier(times, end)[0], end))
    return _Found(start, second.end, times=second.times, ends=ends, explicit=ends is not None)


def _bounded(found: _Found, text: str, words: Lexicon) -> _Found:
    """The same, open at one end where a word like "since" stands beside it."""
    if found.times is None or found.explicit:
        return found
    for name, pattern in words.bounds.items():
        if words.spaced and (word := pattern.search(text, max(0, found.start - LOOK_BACK), found.start)):
            return replace(found, start=word.start(), ends=_OPEN[name](found.times), explicit=True)
        if not words.spaced and (word := pattern.match(text, found.end)):
            return replace(found, end=word.end(), ends=_OPEN[name](found.times), explicit=True)
    return found


def _says_something(found: _Found, now: datetime) -> bool:
    """Not so a trap, nor a time to come: nothing was said then yet."""
    if found.times is None:
        return found.order is not None or found.relation is not None
    return found.ends is not None or found.times[0].date() <= now.date()


def _anchors(text: str, words: Lexicon, found: list[_Found]) -> Iterator[_Found]:
    """Events told as times. They end where a time begins; an order inside ("the last release") is part of the event."""
    taken = [(each.start, each.end) for each in found if each.order is None]
    for template in words.anchors:
        if not template.applies(text):
            continue
        for match in template.pattern.finditer(text):
            start, event = match.start(), match.start("phrase")
            end = min([match.end("phrase"), *(begin for begin, _ in taken if event < begin)])
            if not any(begin < end and start < stop for begin, stop in taken):
                taken.append((start, end))
                yield _Found(start, end, relation=template.relation, event=event)


def _length(found: Iterable[_Found]) -> int:
    return sum(each.end - each.start for each in found)


def _time_words(query: str, found: Iterable[_Found], now: datetime) -> TimeWords | None:
    inorder = sorted((each for each in found if _says_something(each, now)), key=lambda each: each.start)
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


def _span(found: _Found) -> TimeRange | None:
    if (ends := found.ends or found.times) is None:
        return None
    return TimeRange(since=ends[0], before=ends[1])


def _merged(spans: list[TimeRange]) -> tuple[TimeRange, ...]:
    """Two open spans that face each other are one: since May, before June."""
    match sorted(spans, key=lambda span: span.since is None):
        case [
            TimeRange(since=datetime() as since, before=None),
            TimeRange(since=None, before=datetime() as before),
        ] if since < before:
            return (TimeRange(since=since, before=before),)
    return tuple(dict.fromkeys(spans))
