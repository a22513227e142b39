"""Dates as people and data sets write them, to moments in UTC."""

import re
from datetime import UTC, date, datetime, time

from treering.core.errors import InvalidInput

_WEEKDAY = re.compile(r"\(\w{2,9}\)|(?:周|星期|礼拜)[一二三四五六日天]")
_CJK_DATE = re.compile(r"(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]")
_DOTTED_DATE = re.compile(r"^\D*\d{1,2}\.\d{1,2}\.\d{2,4}")


def moment_of(written: datetime | date | str | None, now: datetime) -> datetime:
    """The moment meant. None is `now`; what names no zone is taken as UTC; a missing part is taken from `now`'s day."""
    if written is None:
        return now
    if isinstance(written, str):
        written = _parse(written, now)
    elif not isinstance(written, datetime):
        written = datetime.combine(written, time())
    return (written if written.tzinfo else written.replace(tzinfo=UTC)).astimezone(UTC)


def _parse(text: str, now: datetime) -> datetime:
    plain = _WEEKDAY.sub(" ", _CJK_DATE.sub(r"\1-\2-\3", text)).strip()
    try:
        return datetime.fromisoformat(plain)
    except ValueError:
        pass
    from dateutil import parser

    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    try:
        # 03.01.2024 is written where the day comes first; 03/01/2024 mostly where the month does.
        return parser.parse(plain, default=midnight, dayfirst=bool(_DOTTED_DATE.match(plain)))
    except (ValueError, OverflowError):
        raise InvalidInput(f"{text[:80]!r} is not a date; write it as 2026-05-08T13:56:00Z") from None
