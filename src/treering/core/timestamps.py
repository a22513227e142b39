"""Parsing of dates in common formats to timestamps in UTC."""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone

from treering.core.errors import InvalidInput

_WEEKDAY = re.compile(r"\(\w{2,9}\)|(?:周|星期|礼拜)[一二三四五六日天]")
_CJK_DATE = re.compile(r"(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_DOTTED_DATE = re.compile(r"^\D*\d{1,2}\.\d{1,2}\.\d{2,4}")


def timestamp_of(written: datetime | date | str | None, now: datetime) -> datetime:
    """Timestamp of a date. None is `now`, the default zone is UTC, and missing parts come from the day of `now`."""
    if written is None:
        return now
    if isinstance(written, str):
        written = _parse(written, now)
    elif not isinstance(written, date):
        raise InvalidInput(f"at is of type {type(written).__name__}, not a date; write it as 2026-05-08T13:56:00Z")
    elif not isinstance(written, datetime):
        written = datetime.combine(written, time())
    try:
        return (written if written.tzinfo else written.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{written} is outside the years 1 to 9999 in UTC") from None


def end_of(written: datetime | date | str, now: datetime) -> datetime:
    """Timestamp of a date; for a day without a time, its last moment."""
    moment = timestamp_of(written, now)
    is_day = isinstance(written, date) and not isinstance(written, datetime)
    if not is_day and not (isinstance(written, str) and _DAY.fullmatch(written.strip())):
        return moment
    try:
        return moment + timedelta(days=1, microseconds=-1)
    except OverflowError:
        return moment


def _parse(text: str, now: datetime) -> datetime:
    plain = _WEEKDAY.sub(" ", _CJK_DATE.sub(r"\1-\2-\3", text)).strip()
    try:
        return datetime.fromisoformat(plain)
    except ValueError:
        pass
    from dateutil import parser

    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    try:
        # In 03.01.2024 the day comes first; in 03/01/2024 usually the month.
        return parser.parse(plain, default=midnight, dayfirst=bool(_DOTTED_DATE.match(plain)), tzinfos=_zone)
    except (ValueError, OverflowError):
        raise InvalidInput(f"{text[:80]!r} is not a date; write it as 2026-05-08T13:56:00Z") from None


def _zone(name: str | None, offset: int | None) -> timezone | None:
    """The zone of an offset or UTC; other zone names are ambiguous."""
    if name is None and offset is None:
        return None
    if offset is not None:
        return timezone(timedelta(seconds=offset))
    if name in ("UTC", "GMT", "Z"):
        return UTC
    raise ValueError(f"unknown zone {name}")
