"""What reading time words promises for any query and any moment."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from treering.core.time_words import read_times
from treering.core.time_words.lexicon import fold, lexicon
from treering.core.time_words.parser import LANGUAGES
from treering.search.query_kinds import classify_query

VOCABULARY = sorted(
    {
        word
        for language in LANGUAGES
        for word in (
            *lexicon(language).cues,
            *lexicon(language).common,
            *(key for table in lexicon(language).tables.values() for key in table),
        )
    }
    | {
        "31",
        "0",
        "12",
        "2024",
        "1999-02-30",
        "9999-12-31",
        "0001-01-01",
        "3/4/2020",
        "between",
        "and",
        ",",
        "?",
        "ago",
        "last",
    }
)
zones = st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours)))
moments = st.datetimes(timezones=zones | st.just(UTC)) | st.datetimes()
queries = st.text(max_size=200) | st.lists(st.sampled_from(VOCABULARY), max_size=12).map(" ".join)
years = st.datetimes(datetime(1990, 1, 1), datetime(2080, 1, 1), timezones=st.just(UTC))


@given(queries, moments)
@example("monday, last month, since 3 May", datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5))))
@example("today, tonight, this year, until now", datetime(9999, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-5))))
@example("between January and March, 400 years ago", datetime(1, 1, 2, tzinfo=UTC))
@example("in the last 0 days", datetime(2026, 5, 13, tzinfo=UTC))
def test_any_query_at_any_moment_is_read_without_an_error(query: str, now: datetime) -> None:
    found = read_times(query, now)
    if found is None:
        return
    assert found.spans or found.anchors or found.order
    assert all(phrase in query for phrase in found.phrases)
    for span in found.spans:
        assert span.since is not None or span.before is not None
        assert span.since is None or span.since.tzinfo is UTC
        assert span.since is None or span.before is None or span.since < span.before


@given(st.text(max_size=200))
def test_folding_keeps_positions(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(queries)
def test_any_query_has_a_kind_and_only_one(query: str) -> None:
    assert classify_query(query) == classify_query(query)


@pytest.mark.parametrize(
    ("query", "step"),
    [
        ("yesterday", timedelta(days=1)),
        ("hier soir", timedelta(days=1)),
        ("tre giorni fa", timedelta(days=1)),
        ("an hour ago", timedelta(minutes=1)),
        ("in den letzten 3 Stunden", timedelta(minutes=7)),
        ("last Monday", timedelta(weeks=1)),
        ("la semana pasada", timedelta(weeks=1)),
        ("上周一", timedelta(weeks=1)),
    ],
)
@given(now=years)
def test_what_is_told_from_now_moves_with_now(query: str, step: timedelta, now: datetime) -> None:
    first, second = read_times(query, now), read_times(query, now + step)
    assert first is not None
    assert second is not None
    for early, late in zip(first.spans, second.spans, strict=True):
        assert (early.since and early.since + step, early.before and early.before + step) == (late.since, late.before)


@pytest.mark.parametrize("query", ["in May", "en octobre", "im März", "last summer", "on 3 June", "on Friday", "in Q3"])
@given(now=years)
def test_a_name_of_the_calendar_means_the_most_recent(query: str, now: datetime) -> None:
    found = read_times(query, now)
    assert found is not None
    since = found.spans[0].since
    assert since is not None
    assert since <= now < since + timedelta(days=366 * 2)
