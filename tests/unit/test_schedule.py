"""When stages are due: on the clock on the wall, across its changes, and once however long nobody looked."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from treering.core.errors import InvalidInput
from treering.core.settings import Settings
from treering.maintenance.schedule import last_slot, next_slot, zone_named

BERLIN = ZoneInfo("Europe/Berlin")
AT_TWO, AT_HALF_PAST_TWO, AT_THREE, SUNDAYS = "0 2 * * *", "30 2 * * *", "0 3 * * *", "0 3 * * 0"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("cron", "now", "zone", "slot"),
    [
        (AT_THREE, "2026-11-10 03:00", UTC, "2026-11-10 03:00"),
        (AT_THREE, "2026-11-10 02:59", UTC, "2026-11-09 03:00"),
        (AT_THREE, "2026-11-10 23:59", UTC, "2026-11-10 03:00"),
        (SUNDAYS, "2026-11-14 12:00", UTC, "2026-11-08 03:00"),
        (SUNDAYS, "2026-11-15 03:00", UTC, "2026-11-15 03:00"),
        # Winter and summer in Berlin.
        (AT_THREE, "2026-11-10 02:00", BERLIN, "2026-11-10 02:00"),
        (AT_THREE, "2026-07-10 01:00", BERLIN, "2026-07-10 01:00"),
        # 29 March 2026: 2:00 becomes 3:00. What stands at 2:30 comes at 3:30, which is 1:30 in UTC.
        (AT_HALF_PAST_TWO, "2026-03-29 01:10", BERLIN, "2026-03-28 01:30"),
        (AT_HALF_PAST_TWO, "2026-03-29 01:30", BERLIN, "2026-03-29 01:30"),
        (AT_TWO, "2026-03-29 01:00", BERLIN, "2026-03-29 01:00"),
        (AT_THREE, "2026-03-29 01:00", BERLIN, "2026-03-29 01:00"),
        # 25 October 2026: 3:00 becomes 2:00. What stands at 2:30 comes once, the first time.
        (AT_HALF_PAST_TWO, "2026-10-25 00:29", BERLIN, "2026-10-24 00:30"),
        (AT_HALF_PAST_TWO, "2026-10-25 00:30", BERLIN, "2026-10-25 00:30"),
        (AT_HALF_PAST_TWO, "2026-10-25 01:10", BERLIN, "2026-10-25 00:30"),
        (AT_HALF_PAST_TWO, "2026-10-25 01:40", BERLIN, "2026-10-25 00:30"),
        (AT_HALF_PAST_TWO, "2026-10-26 01:30", BERLIN, "2026-10-26 01:30"),
        ("*/15 * * * *", "2026-10-25 04:50", UTC, "2026-10-25 04:45"),
    ],
)
def test_the_last_slot_is_the_latest_that_has_come(cron: str, now: str, zone: ZoneInfo, slot: str) -> None:
    assert last_slot(cron, utc(now), zone) == utc(slot)


@pytest.mark.parametrize("cron", [AT_TWO, AT_HALF_PAST_TWO, AT_THREE])
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"])
def test_every_night_of_a_year_comes_exactly_once(cron: str, zone: str) -> None:
    slots, now = list[datetime](), datetime(2026, 1, 1, 12, tzinfo=UTC)
    while now.year == 2026:
        following = next_slot(cron, now, ZoneInfo(zone))
        assert following is not None
        assert following > now
        assert last_slot(cron, following, ZoneInfo(zone)) == following
        before = last_slot(cron, following - timedelta(microseconds=1), ZoneInfo(zone))
        assert before is not None
        assert before < following
        slots.append(following)
        now = following
    nights = [slot.astimezone(ZoneInfo(zone)).date() for slot in slots]
    assert nights == [nights[0] + timedelta(days=day) for day in range(len(nights))]


def test_the_last_slot_never_goes_back(  # while the clock on the wall does
) -> None:
    moments = [utc("2026-10-24 22:00") + timedelta(minutes=7 * step) for step in range(60)]
    slots: list[Any] = [last_slot(AT_HALF_PAST_TWO, moment, BERLIN) for moment in moments]
    assert slots == sorted(slots)


def test_without_a_schedule_nothing_is_ever_due() -> None:
    assert last_slot("", utc("2026-11-10 03:00"), None) is None
    assert next_slot("", utc("2026-11-10 03:00"), None) is None


def test_the_machines_own_zone_is_meant_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert last_slot(AT_THREE, utc("2026-11-10 12:00"), zone_named("")) == utc("2026-11-10 08:00")
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("cron", ["at night", "0 25 * * *", "0 3 * *"])
def test_what_is_no_schedule_is_refused_with_advice(cron: str) -> None:
    with pytest.raises(InvalidInput, match=r"is not a schedule .* write five fields"):
        last_slot(cron, utc("2026-11-10 03:00"), UTC)


def test_an_unknown_zone_is_refused_with_advice() -> None:
    with pytest.raises(InvalidInput, match="use a name such as Europe/Berlin"):
        zone_named("Middle/Earth")


@pytest.mark.parametrize("cron", ["at night", "0 25 * * *", "0 3 * *", "0 0 3 * * *", "0 0 30 2 *", "@daily"])
def test_settings_refuse_what_is_no_schedule(cron: str) -> None:
    with pytest.raises(InvalidInput, match=r"maintenance.nightly: .* is not a schedule.* write five fields"):
        Settings.make(maintenance={"nightly": cron})


def test_settings_take_any_schedule_or_none() -> None:
    found = Settings.make(maintenance={"nightly": "", "weekly": "*/15 2-4 * * 1-5"}).maintenance
    assert (found.nightly, found.weekly) == ("", "*/15 2-4 * * 1-5")
