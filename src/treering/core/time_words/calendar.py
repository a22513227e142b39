"""Calendar spans of time expressions. Half-open, in the zone of `now`; weeks begin on Monday.

Invalid dates (30 February, the year 12000) raise ValueError or OverflowError.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from treering.core.timestamps import timestamp_of

Bounds = tuple[datetime, datetime]

# "Recently" covers about two weeks.
RECENT_DAYS = 14
# Upper limit of "a few … ago".
FEW = {"day": 7}
FEW_OTHERS = 4
# Numbers outside are quantities: in 2026, "in 2048 tokens" does not name a year.
FIRST_YEAR = 1900

HOURS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}
THIRDS = {"early": (0, 10), "mid": (10, 20), "late": (20, 31)}
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
CLOCK = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
MONTHS = {"month": 1, "quarter": 3, "year": 12}


def period(now: datetime, unit: str, shift: int = 0) -> Bounds:
    """The calendar unit `shift` units away from the current one."""
    start = _start(now, unit)
    if unit in MONTHS:
        return _months(start, shift * MONTHS[unit]), _months(start, (shift + 1) * MONTHS[unit])
    if unit == "weekend":
        return _days(start, 7 * shift + 5), _days(start, 7 * shift + 7)
    step = 7 if unit == "week" else 1
    return _days(start, step * shift), _days(start, step * (shift + 1))


def weekend(now: datetime, *, which: str = "recent") -> Bounds:
    """The most recent weekend; that of this week only once it has begun."""
    this = period(now, "weekend")
    return this if which == "this" or (which == "recent" and this[0] <= now) else period(now, "weekend", -1)


def ago(now: datetime, *, number: int, unit: str) -> Bounds:
    """The unit `number` units ago; hours and minutes with a tolerance of half a unit."""
    if unit in CLOCK:
        length = number * CLOCK[unit]
        return now - 1.5 * length, now - 0.5 * length
    return period(now, unit, -number)


def few_ago(now: datetime, *, unit: str) -> Bounds:
    if unit in CLOCK:
        return now - FEW_OTHERS * CLOCK[unit], now
    return period(now, unit, -FEW.get(unit, FEW_OTHERS))[0], period(now, unit)[0]


def rolling(now: datetime, *, unit: str, number: int = 1) -> Bounds:
    """From `number` units ago until now."""
    if unit in MONTHS:
        return _months(now, -number * MONTHS[unit]), now
    if unit in CLOCK:
        return now - number * CLOCK[unit], now
    return now - timedelta(days=number * (7 if unit in ("week", "weekend") else 1)), now


def recent(now: datetime) -> Bounds:
    today, tomorrow = period(now, "day")
    return _days(today, -RECENT_DAYS), tomorrow


def part_of_day(now: datetime, *, hours: str, shift: int = 0) -> Bounds:
    day = period(now, "day", shift)[0]
    first, last = HOURS[hours]
    return day + timedelta(hours=first), day + timedelta(hours=last)


def date(now: datetime, *, day: int, month: int, year: int | None = None) -> Bounds:
    """The day; without a year, the most recent one."""
    start = _start(now, "year").replace(month=month, year=_year(now, year))
    if year is None and (month, day) > (now.month, now.day):
        start = start.replace(year=now.year - 1)
    start = start.replace(day=day)
    return start, _days(start, 1)


def days(now: datetime, *, day: int, until: int, month: int, year: int | None = None) -> Bounds:
    """From one day of a month to another, inclusive."""
    return date(now, day=day, month=month, year=year)[0], date(now, day=until, month=month, year=year)[1]


def numeric(now: datetime, *, date: str, day_first: bool) -> Bounds:
    """A numeric date; with a time of day, that minute."""
    moment = timestamp_of(date.replace("/", ".") if day_first and date[:4].count("/") else date, now)
    moment = moment.replace(tzinfo=now.tzinfo) if not date.endswith("Z") else moment.astimezone(now.tzinfo)
    return moment, moment + (CLOCK["minute"] if ":" in date else timedelta(days=1))


def month(
    now: datetime,
    *,
    month: int,
    year: int | None = None,
    which: str = "recent",
    third: str | None = None,
    shift: int = 0,
) -> Bounds:
    """The month; without a year the most recent one, with which="last" the last complete one."""
    this = _start(now, "month")
    start = this.replace(month=month, year=_year(now, year) + shift)
    if year is None and not shift and (start > this or (which == "last" and start == this)) and which != "this":
        start = start.replace(year=start.year - 1)
    end = _months(start, 1)
    if third is None:
        return start, end
    first, last = THIRDS[third]
    return _days(start, first), min(_days(start, last), end)


def weekday(now: datetime, *, weekday: int, which: str = "recent", week: int | None = None) -> Bounds:
    """The most recent such weekday, including today unless which="last"; with `week`, the day of that week."""
    today = _start(now, "day")
    if week is not None or which == "this":
        start = _days(_start(now, "week"), 7 * (week or 0) + weekday)
    else:
        back = (today.weekday() - weekday) % 7
        start = _days(today, -(back or 7) if which == "last" else -back)
    return start, _days(start, 1)


def season(
    now: datetime, *, season: str, year: int | None = None, which: str = "recent", shift: int | None = None
) -> Bounds:
    """Three months in the northern hemisphere; winter has the year in which it begins."""
    start = _start(now, "year").replace(month=SEASONS[season], year=_year(now, year) + (shift or 0))
    if year is None and shift is None and which != "this":
        over = _months(start, 3) if which == "last" else start
        start = start.replace(year=start.year - 1) if over > now else start
        start = start.replace(year=start.year - 1) if which == "last" and _months(start, 3) > now else start
    return start, _months(start, 3)


def quarter(now: datetime, *, quarter: int, year: int | None = None) -> Bounds:
    start = _start(now, "year").replace(month=3 * quarter - 2, year=_year(now, year))
    if year is None and start > now:
        start = start.replace(year=start.year - 1)
    return start, _months(start, 3)


def year(now: datetime, *, year: int) -> Bounds:
    start = _start(now, "year").replace(year=_year(now, year))
    return start, _months(start, 12)


def earlier(bounds: Bounds, limit: datetime) -> Bounds:
    """The same part of the year, in the latest year in which it begins before `limit`."""
    start, end = bounds
    years = max(0, start.year - limit.year)
    years += _months(start, -12 * years) >= limit
    return _months(start, -12 * years), _months(end, -12 * years)


READINGS: dict[str, Callable[..., Bounds]] = {
    reading.__name__: reading
    for reading in (
        period, weekend, ago, few_ago, rolling, recent, part_of_day, date, days, numeric, month, weekday, season,
        quarter, year,
    )
}  # fmt: skip


def _start(now: datetime, unit: str) -> datetime:
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "week" | "weekend":
            return _days(day, -day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(day=1, month=3 * ((day.month - 1) // 3) + 1)
        case "year":
            return day.replace(day=1, month=1)
        case _:
            return day


def _days(start: datetime, number: int) -> datetime:
    return start + timedelta(days=number)


def _months(start: datetime, number: int) -> datetime:
    """`number` months later, on the same day or the last day of the month."""
    years, month = divmod(start.month - 1 + number, 12)
    first = start.replace(year=start.year + years, month=month + 1, day=1)
    # Four days after the 28th are always in the next month.
    last = ((first.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)).day
    return first.replace(day=min(start.day, last))


def _year(now: datetime, year: int | None) -> int:
    if year is not None and not FIRST_YEAR <= year <= now.year + 1:
        raise ValueError(f"{year} is too far from {now.year} to be a year")
    return now.year if year is None else year
