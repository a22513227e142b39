"""The times that a sentence names, where they stand and what they mean, before or after it was said."""

import re
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from treering.core.errors import InvalidInput
from treering.core.time_words.calendar import CLOCK, READINGS, Bounds, period
from treering.core.time_words.lexicon import Lexicon, Template

# How far before a time the word that makes it an end may begin, and before its first telling word the time itself.
_LOOK_BACK = 24
# Sets of templates that are kept compiled.
_MOST_KNOWN = 512
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d{4}|\d[./-]\d")
# Told without a year, these come again every year; a weekday comes again every week.
_YEARLY = frozenset({"date", "month", "season", "quarter"})
_VAGUE = frozenset({"recent", "few_ago", "lasting"})
# How long: up to now where something still is so ("I have lived there for"), any time else ("I lived there for").
_LASTING = frozenset({"so_long", "lasting"})
_WHOLE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class When:
    """A time between two places of the sentence. `bound` is "since", "until" … where a word like that stands beside."""

    start: int
    end: int
    times: Bounds
    bound: str | None = None
    again: str | None = None
    """After how long a time of this name comes again: "year", "week"."""
    late: bool = False
    """Whether the end is meant: "end of June"."""
    vague: bool = False
    """Whether it names no day: "recently"."""
    said: str = ""
    lasts: bool = False
    """Whether it only says how long: "for three years"."""
    closes: bool = False
    """Whether it is the second of a range: "from 2019 to 2021"."""
    opens: bool = False
    """Whether something begins with it, which may be to come: "from May", not "since May"."""

    def coming(self, at: datetime) -> "When":
        """The same name, meant as a time to come."""
        since, before = self.times
        if before > at or self.again is None:
            return self
        try:
            if self.again == "week":
                times = _sound((since + timedelta(days=7), before + timedelta(days=7)))
            else:
                times = _sound((_next_year(since), _next_year(before)))
        except (ValueError, OverflowError):
            return self
        return replace(self, times=times, again=None)

    @property
    def since(self) -> datetime | None:
        """From when something holds that is said with it."""
        if self.vague:
            return None
        return self.times[1] if self.bound == "after" else self.times[0]

    @property
    def until(self) -> datetime:
        """Until when something holds that is said with it."""
        return self.times[0] if self.bound == "before" else self.times[1]

    @property
    def day(self) -> str:
        """As ISO writes it: a day, a month or a year, whichever was named."""
        since, before = self.times
        if self.late:
            return (before - _WHOLE_DAY).date().isoformat()
        if (since.month, since.day) == (1, 1) and (before.month, before.day) == (1, 1):
            return f"{since.year:04d}"
        if since.day == 1 and before.day == 1 and (before - since).days <= 31:
            return f"{since.year:04d}-{since.month:02d}"
        return since.date().isoformat()


@dataclass(frozen=True)
class TimeWords:
    """The time words of a language, of which a sentence is tried with those only that it may hold."""

    all: Lexicon

    @cached_property
    def cues(self) -> frozenset[str]:
        return self.all.time_cues

    @cached_property
    def _by_word(self) -> Mapping[str, frozenset[int]]:
        """The places of the templates that need one of some words, by word; under "" of those that digits tell."""
        held: dict[str, set[int]] = {}
        for place, entry in enumerate(self.all.data["read"]):
            alone = Lexicon({**self.all.data, "read": [{**entry, "as": "day"}]})
            for word in alone.time_cues or ("",):
                held.setdefault(word, set()).add(place)
        return {word: frozenset(places) for word, places in held.items()}

    @cached_property
    def _known(self) -> dict[tuple[int, ...], Lexicon]:
        return {}

    def of(self, words: Set[str]) -> Lexicon:
        """Those that may be said with these words."""
        chosen = tuple(sorted(frozenset[int]().union(*filter(None, map(self._by_word.get, ("", *words))))))
        known = self._known.get(chosen)
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            read = self.all.data["read"]
            known = self._known[chosen] = Lexicon({**self.all.data, "read": [read[i] for i in chosen]})
        return known


def times_in(said: str, text: str, words: Set[str], reader: TimeWords, at: datetime) -> tuple[When, ...]:
    """The times of a sentence in their order; `text` is what was `said` without its accents."""
    cues = words & reader.cues
    numbers = [found.start() for found in _DIGITS.finditer(text)]
    if not cues and not numbers:
        return ()
    fitting = reader.of(words)
    found = (_read(match, fitting, said, at) for match in _matches(text, cues, numbers, fitting))
    return tuple(_ranged([each for each in found if each is not None], text, fitting))


def _ranged(times: list[When], text: str, words: Lexicon) -> Iterator[When]:
    """The same; where two are the ends of a range, the second says so, and the word between them belongs to it."""
    before: When | None = None
    for each in times:
        if before is not None and each.bound is None and _is_range(before, each, text, words):
            before = replace(each, start=before.end, closes=True)
        else:
            before = each
        yield before


def _is_range(first: When, second: When, text: str, words: Lexicon) -> bool:
    between = text[first.end : second.start]
    if first.closes or not words.range_to.fullmatch(between):
        return False
    dashed = between.strip() in ("-", "–")
    return dashed or first.bound == "since" or words.range_from.search(text, 0, first.start) is not None


def _matches(text: str, cues: Set[str], numbers: list[int], reader: Lexicon) -> Iterator[re.Match[str]]:
    """The templates that match, tried only where a word begins that one with a cue or a number may begin with."""
    begins = [(found.start(), found[0]) for found in _WORD.finditer(text.lower())]
    telling = sorted([*(start for start, word in begins if word in cues), *numbers])
    end = at = 0
    for start, _ in begins:
        while at < len(telling) and telling[at] < start:
            at += 1
        if at == len(telling):
            return
        if start < end or telling[at] - start > _LOOK_BACK:
            continue
        if match := reader.any_template.match(text, start):
            end = match.end()
            yield match


def _read(match: re.Match[str], words: Lexicon, said: str, at: datetime) -> When | None:
    template = words.templates[int(str(match.lastgroup)[1:])]
    reading = _ALL_READINGS.get(template.reading)
    if reading is None:
        return None
    again = template.pattern.match(match.string, match.start())
    told = words.words_of(again) if again else None
    if told is None:
        return None
    given = {**template.given, **told}
    try:
        times = _sound(reading(at, **given))
    except (ValueError, OverflowError, InvalidInput):
        return None
    if times[0] >= times[1]:
        return None
    start, bound = _bound(match.start(), words, match.string)
    return When(
        start,
        match.end(),
        times,
        bound,
        again=_again(template, given),
        late=given.get("third") == "late",
        vague=template.reading in _VAGUE,
        lasts=template.reading in _LASTING,
        said=said[start : match.end()],
    )


def _bound(start: int, words: Lexicon, text: str) -> tuple[int, str | None]:
    for name, pattern in words.bounds.items():
        if found := pattern.search(text, max(0, start - _LOOK_BACK), start):
            return found.start(), name
    return start, None


def _again(template: Template, given: Mapping[str, Any]) -> str | None:
    if template.reading == "weekday":
        return "week"
    return "year" if template.reading in _YEARLY and "year" not in given else None


def _sound(times: Bounds) -> Bounds:
    """The same; raises OverflowError where UTC has no such time."""
    for each in times:
        each.astimezone(UTC)
    return times


def _next_year(moment: datetime) -> datetime:
    return moment.replace(year=moment.year + 1)


def _ahead(now: datetime, *, number: int = 1, unit: str) -> Bounds:
    """The unit that lies `number` units on; hours and minutes lie in today."""
    return period(now, "day") if unit in CLOCK else period(now, unit, number)


def _coming(now: datetime, *, weekday: int) -> Bounds:
    """The next such day after today."""
    today = period(now, "day")[0]
    start = today + timedelta(days=((weekday - today.weekday() - 1) % 7) + 1)
    return start, start + _WHOLE_DAY


def _coming_month(now: datetime, *, month: int) -> Bounds:
    """The next such month after this one."""
    this = period(now, "month")[0]
    return period(this, "month", (month - this.month - 1) % 12 + 1)


def _period_end(now: datetime, *, unit: str, shift: int = 0) -> Bounds:
    end = period(now, unit, shift)[1]
    return end - _WHOLE_DAY, end


def _period_start(now: datetime, *, unit: str, shift: int = 0) -> Bounds:
    start = period(now, unit, shift)[0]
    return start, start + _WHOLE_DAY


def _day_of_month(now: datetime, *, day: int) -> Bounds:
    """The day of this month."""
    start = period(now, "month")[0].replace(day=day)
    return start, start + _WHOLE_DAY


_ALL_READINGS: Mapping[str, Callable[..., Bounds]] = {
    **READINGS,
    "ahead": _ahead,
    "so_long": READINGS["ago"],
    "lasting": READINGS["ago"],
    "coming": _coming,
    "coming_month": _coming_month,
    "period_end": _period_end,
    "period_start": _period_start,
    "day_of_month": _day_of_month,
}
