"""Dates as people and data sets write them."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treering.core.errors import InvalidInput
from treering.core.timestamps import timestamp_of

NOW = datetime(2026, 5, 8, 13, 56, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2023/05/29 (Mon) 15:50", datetime(2023, 5, 29, 15, 50, tzinfo=UTC)),
        ("03.01.2024, 22:54:20", datetime(2024, 1, 3, 22, 54, 20, tzinfo=UTC)),
        ("03/01/2024", datetime(2024, 3, 1, tzinfo=UTC)),
        ("2024年04月02日 周二 14:04", datetime(2024, 4, 2, 14, 4, tzinfo=UTC)),
        ("2024年4月2日", datetime(2024, 4, 2, tzinfo=UTC)),
        ("2023-05-08T13:56:00Z", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2023-05-08T13:56:00+02:00", datetime(2023, 5, 8, 11, 56, tzinfo=UTC)),
        ("2023-05-08T13:56:00.123456", datetime(2023, 5, 8, 13, 56, 0, 123456, tzinfo=UTC)),
        ("2023-05-08", datetime(2023, 5, 8, tzinfo=UTC)),
        ("9 May", datetime(2026, 5, 9, tzinfo=UTC)),
        (date(2023, 5, 8), datetime(2023, 5, 8, tzinfo=UTC)),
        (datetime(2023, 5, 8, 1), datetime(2023, 5, 8, 1, tzinfo=UTC)),
        (datetime(2023, 5, 8, 1, tzinfo=timezone(timedelta(hours=2))), datetime(2023, 5, 7, 23, tzinfo=UTC)),
        (None, NOW),
    ],
)
def test_a_date_is_understood_as_it_is_written(written: datetime | date | str | None, meant: datetime) -> None:
    assert timestamp_of(written, NOW) == meant


@pytest.mark.parametrize(
    "garbage",
    ["", "yesterday-ish", "32 May 2023", "2023-13-01", "25:61", "99999999999999", "(Mon)", "\x00", "\ud800",
     "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-05:00", "8 May 2023 10:00 XYZT"],
)  # fmt: skip
def test_what_is_no_date_is_refused_with_an_example(garbage: str) -> None:
    with pytest.raises(InvalidInput, match=r"2026-05-08T13:56:00Z|years 1 to 9999"):
        timestamp_of(garbage, NOW)


@given(st.text(max_size=40) | st.from_regex(r"[0-9:/.\-T +Za-m]{1,30}", fullmatch=True))
def test_any_text_is_a_moment_or_invalid_input(text: str) -> None:
    try:
        assert timestamp_of(text, NOW).tzinfo is UTC
    except InvalidInput:
        return


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_moment_written_as_iso_is_that_moment(moment: datetime) -> None:
    assert timestamp_of(moment.isoformat(), NOW) == moment
