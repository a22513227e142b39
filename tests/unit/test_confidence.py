"""What a record's confidence is worth now: by its age, its type, and the doubts that are open."""

from datetime import timedelta
from typing import Any

import pytest

from tests.samples import NOW, knowledge
from treering.core.confidence import (
    EXPIRED_FACTOR,
    REVIEW_FACTOR,
    SOURCE_TRUST,
    effective_confidence,
    frequency,
    half_life_days,
    recency,
)
from treering.core.payloads import Opaque, knowledge_types
from treering.core.records import Knowledge, Source
from treering.core.settings import TrustSettings

TRUST = TrustSettings()
DAY = timedelta(days=1)


def after(days: float, **fields: Any) -> float:
    """The effective confidence of a record so long after its last use."""
    return effective_confidence(knowledge(**{"confidence": 0.8} | fields), NOW + days * DAY, TRUST)


@pytest.mark.parametrize("kind", [kind for kind in knowledge_types().values() if kind.half_life_days])
def test_confidence_halves_after_the_half_life_of_its_type(kind: Any) -> None:
    inferred = {"type": kind.name, "source": "qa_auto"}
    assert after(0, **inferred) == pytest.approx(0.8)
    assert after(kind.half_life_days, **inferred) == pytest.approx(0.4)
    assert after(2 * kind.half_life_days, **inferred) == pytest.approx(0.2)


@pytest.mark.parametrize("name", ["decision", "reflection", "preference", "requirement"])
def test_a_type_without_a_half_life_does_not_decay(name: str) -> None:
    assert after(10_000, type=name) == pytest.approx(0.8)


def test_a_record_has_its_own_half_life_before_that_of_its_type() -> None:
    assert after(100, type="fact", half_life_days=100) == pytest.approx(0.4)
    assert after(100, type="decision", half_life_days=100) == pytest.approx(0.4)


@pytest.mark.parametrize("protection", ["pinned", "user_verified"])
def test_what_is_pinned_or_confirmed_does_not_decay(protection: str) -> None:
    assert after(10_000, type="work_state", half_life_days=1, **{protection: True}) == pytest.approx(0.8)


def test_a_type_that_this_process_does_not_know_does_not_decay() -> None:
    foreign = Knowledge.from_stored({**knowledge().__dict__, "type": "from_a_plug_in", "payload": None})
    assert isinstance(foreign.payload, Opaque)
    assert half_life_days(foreign) is None
    assert effective_confidence(foreign, NOW + 10_000 * DAY, TRUST) == pytest.approx(foreign.confidence)


def test_use_counts_from_the_last_access_not_from_birth() -> None:
    used = knowledge(type="gotcha", confidence=0.8, created_at=NOW - 600 * DAY, last_accessed_at=NOW)
    assert effective_confidence(used, NOW, TRUST) == pytest.approx(0.8)


def test_a_clock_that_runs_behind_adds_no_confidence() -> None:
    assert after(-30, type="gotcha") == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("fields", "factor"),
    [
        ({"stale_at": NOW}, TRUST.stale_factor),
        ({"stale_at": NOW + DAY}, 1.0),
        ({"valid_until": NOW}, EXPIRED_FACTOR),
        ({"valid_until": NOW + DAY}, 1.0),
        ({"needs_review": True}, REVIEW_FACTOR),
        ({"tainted": True}, TRUST.tainted_factor),
        ({"tainted": True, "user_verified": True}, 1.0),
        ({"stale_at": NOW, "needs_review": True}, TRUST.stale_factor * REVIEW_FACTOR),
        ({"stale_at": NOW, "pinned": True}, TRUST.stale_factor),
    ],
)
def test_each_open_doubt_lowers_confidence_by_its_setting(fields: dict[str, Any], factor: float) -> None:
    assert after(0, type="decision", **fields) == pytest.approx(0.8 * factor)


def test_what_is_true_no_longer_counts_less_than_what_is_merely_stale() -> None:
    assert after(0, valid_until=NOW) < after(0, stale_at=NOW) < after(0, needs_review=True) < after(0)


def test_recency_halves_with_each_half_life() -> None:
    ages = (-5, 0, 30, 60)
    assert [recency(NOW, NOW + days * DAY, 30) for days in ages] == pytest.approx([1.0, 1.0, 0.5, 0.25])


def test_frequency_goes_from_nothing_to_one_at_a_hundred_uses() -> None:
    assert [frequency(count) for count in (0, 100, 10**18)] == pytest.approx([0.0, 1.0, 1.0])
    assert 0.5 < frequency(10) < 0.55


def test_every_source_has_its_trust() -> None:
    assert set(SOURCE_TRUST) == set(Source)
    assert max(SOURCE_TRUST, key=SOURCE_TRUST.__getitem__) is Source.USER_TAUGHT
    assert min(SOURCE_TRUST, key=SOURCE_TRUST.__getitem__) is Source.OBSERVER_INFERRED
