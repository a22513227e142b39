"""Groups of sessions and trust levels."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treering.core.injections import SessionGroup, session_group
from treering.core.trust import MIN_CONFIDENCE, TrustEvidence, TrustLevel, next_level, offered_level


def test_groups_have_their_shares() -> None:
    drawn = Counter(session_group("p", f"session-{number}") for number in range(20_000))
    assert drawn[SessionGroup.CONTROL] / 20_000 == pytest.approx(0.05, abs=0.01)
    assert drawn[SessionGroup.PASSIVE] / 20_000 == pytest.approx(0.10, abs=0.01)


def test_the_group_of_a_session_never_changes() -> None:
    assert [session_group("treering", f"s{number}").value for number in range(12)] == [
        "full",
        "full",
        "full",
        "full",
        "full",
        "full",
        "full",
        "full",
        "full",
        "full",
        "full",
        "full",
    ]


def test_projects_draw_apart() -> None:
    sessions = [f"s{number}" for number in range(500)]
    assert [session_group("one", each) for each in sessions] != [session_group("other", each) for each in sessions]


@pytest.mark.parametrize(
    ("level", "seen", "expected"),
    [
        (TrustLevel.CAUTIOUS, TrustEvidence(sessions=3, reviewed=4, confirmed=2), TrustLevel.STANDARD),
        (TrustLevel.CAUTIOUS, TrustEvidence(sessions=2, reviewed=4, confirmed=4), TrustLevel.CAUTIOUS),
        (TrustLevel.CAUTIOUS, TrustEvidence(sessions=9), TrustLevel.CAUTIOUS),
        (TrustLevel.CAUTIOUS, TrustEvidence(sessions=3, reviewed=5, confirmed=2), TrustLevel.CAUTIOUS),
        (TrustLevel.STANDARD, TrustEvidence(sessions=10, used=40, corrected=1), TrustLevel.CONFIDENT),
        (TrustLevel.STANDARD, TrustEvidence(sessions=10, used=40, corrected=2), TrustLevel.STANDARD),
        (TrustLevel.STANDARD, TrustEvidence(sessions=9, used=40), TrustLevel.STANDARD),
    ],
)
def test_a_level_advances_by_its_rule(level: TrustLevel, seen: TrustEvidence, expected: TrustLevel) -> None:
    assert next_level(level, seen) is expected


COUNTS = st.integers(0, 1_000)


@given(st.builds(TrustEvidence, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS), st.sampled_from(TrustLevel))
def test_nothing_makes_a_project_autonomous_but_a_person(seen: TrustEvidence, level: TrustLevel) -> None:
    assert next_level(level, seen) is not TrustLevel.AUTONOMOUS or level is TrustLevel.AUTONOMOUS


@given(st.builds(TrustEvidence, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS), st.sampled_from(TrustLevel))
def test_only_a_more_careful_level_is_offered(seen: TrustEvidence, level: TrustLevel) -> None:
    offered = offered_level(level, seen)
    assert offered is None or MIN_CONFIDENCE[offered] > MIN_CONFIDENCE[level]
    assert (offered is None) is (seen.flagged_in_last_session < 3 or level is TrustLevel.CAUTIOUS)
