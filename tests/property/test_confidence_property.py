"""Effective confidence, whatever the record: between 0 and what is stored, falling with time, never compounding."""

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.property.strategies import values
from tests.samples import NOW
from treering.core.confidence import effective_confidence, frequency, recency
from treering.core.records import Knowledge
from treering.core.settings import TrustSettings

shares = st.floats(0, 1)
trusts = st.builds(TrustSettings, stale_factor=shares, tainted_factor=shares)
moments = st.floats(-40_000, 40_000).map(lambda days: NOW + timedelta(days=days))
any_knowledge = values(Knowledge)


@given(record=any_knowledge, now=moments, trust=trusts)
def test_it_lies_between_nothing_and_what_is_stored(record: Knowledge, now: datetime, trust: TrustSettings) -> None:
    assert 0.0 <= effective_confidence(record, now, trust) <= record.confidence <= 1.0


@given(record=any_knowledge, first=moments, second=moments, trust=trusts)
def test_it_never_rises_as_time_goes_on(
    record: Knowledge, first: datetime, second: datetime, trust: TrustSettings
) -> None:
    earlier, later = sorted((first, second))
    assert effective_confidence(record, later, trust) <= effective_confidence(record, earlier, trust)


@given(record=any_knowledge, first=moments, second=moments, trust=trusts)
def test_what_is_pinned_stays_the_same_while_no_date_passes(
    record: Knowledge, first: datetime, second: datetime, trust: TrustSettings
) -> None:
    pinned = record.replace(pinned=True, stale_at=None, valid_until=None)
    assert effective_confidence(pinned, first, trust) == effective_confidence(pinned, second, trust)


@given(record=any_knowledge, now=moments, trust=trusts)
def test_asking_twice_is_asking_once(record: Knowledge, now: datetime, trust: TrustSettings) -> None:
    before = record.to_json()
    first = effective_confidence(record, now, trust)
    assert effective_confidence(record, now, trust) == first
    assert record.to_json() == before


@given(moment=moments, now=moments, half_life=st.floats(1e-9, 1e9))
def test_recency_is_a_share(moment: datetime, now: datetime, half_life: float) -> None:
    assert 0.0 <= recency(moment, now, half_life) <= 1.0


@given(few=st.integers(0, 2**62), more=st.integers(0, 2**62))
def test_frequency_is_a_share_that_grows_with_use(few: int, more: int) -> None:
    few, more = sorted((few, more))
    assert 0.0 <= frequency(few) <= frequency(more) <= 1.0
