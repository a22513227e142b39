"""Time words of a query, in six languages, and the words that only look like them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from bench.query_kinds import load, read
from treering.core.queries import TimeRange
from treering.core.time_words import (
    Anchor,
    TimeDirection,
    TimeKind,
    TimeOrder,
    TimeRelation,
    TimeWords,
    read_times,
    resolve_anchor,
)
from treering.core.time_words.calendar import READINGS
from treering.core.time_words.lexicon import lexicon
from treering.core.time_words.parser import LANGUAGES

NOW = datetime(2026, 5, 13, 10, 30, tzinfo=UTC)


def words(query: str, now: datetime = NOW) -> TimeWords:
    found = read_times(query, now)
    assert found is not None
    return found


def span(since: str | None, before: str | None) -> TimeRange:
    ends = (datetime.fromisoformat(end).replace(tzinfo=UTC) if end else None for end in (since, before))
    return TimeRange(**dict(zip(("since", "before"), ends, strict=True)))


@pytest.mark.parametrize("case", load("time_words", "tune"), ids=lambda case: case["query"])
def test_a_labelled_query_is_read_as_labelled(case: dict[str, object]) -> None:
    assert read(case) == {key: case[key] for key in ("spans", "kind", "anchors", "order")}


@pytest.mark.parametrize(
    "query",
    [
        "may", "May I?", "it may rain", "march", "the march of time", "wait a second", "Sun", "she sat down",
        "fall back", "free fall", "an august body", "Mars rover", "le Champ de Mars", "il a été vu",
        "non ho mai visto", "wo ist hier was", "el mar", "Spring Boot", "April said so", "June and her dog",
        "latest.log", "datetime.now()", "src/may/today.py", "monday.com", "today_total", "first_name", "every Monday",
        "next week", "tomorrow", "mañana", "morgen", "demain", "domani", "明天", "in 2000 lines", "in 2048 tokens",
        "error 2013", "1.2.3", "192.168.2024.1", "", " ", "?",
    ],
)  # fmt: skip
def test_ordinary_words_are_left_alone(query: str) -> None:
    assert read_times(query, NOW) is None


@pytest.mark.parametrize(
    ("query", "kind", "direction"),
    [
        ("since 2024-05-01", TimeKind.FILTER, TimeDirection.AFTER),
        ("before 3 May 2023", TimeKind.FILTER, TimeDirection.BEFORE),
        ("between 1 May 2023 and 3 May 2023", TimeKind.FILTER, TimeDirection.WITHIN),
        ("in the last 7 days", TimeKind.FILTER, TimeDirection.WITHIN),
        ("on 8 May 2023", TimeKind.BOOST, TimeDirection.WITHIN),
        ("last week", TimeKind.BOOST, TimeDirection.WITHIN),
        ("yesterday, or since 2024-05-01", TimeKind.BOOST, TimeDirection.WITHIN),
    ],
)
def test_only_explicit_bounds_filter(query: str, kind: TimeKind, direction: TimeDirection) -> None:
    assert (words(query).kind, words(query).direction) == (kind, direction)


def test_an_event_has_no_direction_before_it_is_found() -> None:
    found = words("what broke after the release?")
    assert found.direction is None
    assert found.kind is TimeKind.BOOST
    assert found.anchors == (Anchor(TimeRelation.AFTER, "the release"),)
    assert found.phrase == "after the release"


def test_an_event_ends_where_a_time_begins() -> None:
    found = words("what broke after the release in April?")
    assert found.anchors == (Anchor(TimeRelation.AFTER, "the release"),)
    assert found.spans == (span("2026-04-01", "2026-05-01"),)


def test_the_last_release_is_an_event_not_an_order() -> None:
    found = words("what is new since the last release")
    assert (found.anchors, found.order) == ((Anchor(TimeRelation.AFTER, "the last release"),), None)


def test_an_event_keeps_its_accents() -> None:
    assert words("avant la réunion d'équipe").anchors == (Anchor(TimeRelation.BEFORE, "la réunion d'équipe"),)


def test_accents_may_be_left_out() -> None:
    assert words("en fevrier").spans == words("en février").spans == (span("2026-02-01", "2026-03-01"),)


@pytest.mark.parametrize(
    ("relation", "meant"),
    [
        (TimeRelation.BEFORE, TimeRange(before=NOW)),
        (TimeRelation.AFTER, TimeRange(since=NOW)),
        (TimeRelation.DURING, TimeRange(since=NOW - timedelta(days=3), before=NOW + timedelta(days=3))),
    ],
)
def test_an_event_becomes_a_span_once_its_date_is_known(relation: TimeRelation, meant: TimeRange) -> None:
    assert resolve_anchor(Anchor(relation, "the migration"), NOW) == meant


def test_an_event_at_the_end_of_time_has_an_open_span() -> None:
    end = datetime.max.replace(tzinfo=UTC)
    assert resolve_anchor(Anchor(TimeRelation.DURING, "doomsday"), end).before is None


def test_days_begin_where_now_is() -> None:
    tokyo = datetime(2026, 5, 13, 1, 0, tzinfo=timezone(timedelta(hours=9)))
    assert words("today", tokyo).spans == (span("2026-05-12T15:00", "2026-05-13T15:00"),)


def test_now_without_a_zone_is_utc() -> None:
    assert words("today", NOW.replace(tzinfo=None)) == words("today")


@pytest.mark.parametrize(
    ("query", "order"), [("newest decision", TimeOrder.NEWEST), ("the earliest idea", TimeOrder.OLDEST)]
)
def test_order_words_order(query: str, order: TimeOrder) -> None:
    assert words(query).order is order


def test_a_number_date_is_read_as_its_language_writes_it() -> None:
    assert words("what did we do on 03/04/2026").spans == (span("2026-03-04", "2026-03-05"),)
    assert words("que s'est-il passé le 03/04/2026").spans == (span("2026-04-03", "2026-04-04"),)


@pytest.mark.parametrize(
    ("query", "now", "since"),
    [
        ("last summer", "2026-07-10", "2025-06-01"),
        ("last summer", "2026-09-10", "2026-06-01"),
        ("last winter", "2026-01-10", "2024-12-01"),
        ("last winter", "2026-05-10", "2025-12-01"),
        ("in January", "2026-01-31", "2026-01-01"),
        ("last month", "2026-01-31", "2025-12-01"),
        ("a month ago", "2026-03-31", "2026-02-01"),
        ("last quarter", "2026-02-01", "2025-10-01"),
        ("on 29 February", "2024-03-05", "2024-02-29"),
        ("last weekend", "2026-05-10", "2026-05-02"),
    ],
)
def test_the_calendar_turns_as_people_mean_it(query: str, now: str, since: str) -> None:
    assert words(query, datetime.fromisoformat(now).replace(tzinfo=UTC)).spans[0].since == span(since, None).since


def test_a_day_that_does_not_exist_is_no_time() -> None:
    assert read_times("on 31 February 2024", NOW) is None
    assert read_times("2024-13-45", NOW) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_template_of_a_language_means_something(language: str) -> None:
    known = {"nothing", *READINGS, *TimeOrder}
    assert {template.reading for template in lexicon(language).templates} <= known
    assert lexicon(language).anchors
    assert set(lexicon(language).tables["number"].values()) == set(range(1, 13))
