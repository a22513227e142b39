"""When a pattern is believed, when it is doubted, and when the evidence says nothing."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.samples import NOW, sample
from treering.core.errors import InvalidInput
from treering.core.patterns import Pattern, PatternStatus
from treering.core.settings.patterns import PatternSettings
from treering.patterns.evidence import group_by_session
from treering.patterns.lifecycle import TRANSITIONS, Cause, is_allowed, with_status
from treering.patterns.statistics import BaseRates, Tally, binomial_p, confidence, e_value, log_e_better
from treering.patterns.validation import (
    EvidenceMeasure,
    PatternVerdict,
    SessionCount,
    Trial,
    judge,
    judge_all,
    measure_trial,
)
from treering.ports.patterns import SessionOutcomes

SETTINGS = PatternSettings()
CANDIDATE, VALIDATED = PatternStatus.CANDIDATE, PatternStatus.VALIDATED
REVIEWED, DEPRECATED = PatternStatus.UNDER_REVIEW, PatternStatus.DEPRECATED
HALF = BaseRates({"fix": Tally(5_000.0, 10_000)}, SETTINGS)
EASY = BaseRates({"fix": Tally(8_500.0, 10_000)}, SETTINGS)
DAY = timedelta(days=1)


def told(outcomes: str, *, ends: float = 0.0, size: int = 1, task_type: str = "fix") -> tuple[SessionCount, ...]:
    """A session an hour for each letter: `+` succeeded, `~` in part, `-` failed; the last one `ends` days ago."""
    begun = NOW - ends * DAY - timedelta(hours=len(outcomes) - 1)
    return tuple(
        SessionCount(
            begun + timedelta(hours=hour),
            size * (letter == "+"),
            size * (letter == "~"),
            size,
            ((task_type, size),),
        )
        for hour, letter in enumerate(outcomes)
    )


def judged(sessions: tuple[SessionCount, ...], status: PatternStatus = CANDIDATE, **fields: Any) -> PatternVerdict:
    return judged_together({"p": Trial(status, sessions, **{"bases": HALF} | fields)})["p"]


def judged_together(trials: dict[str, Trial], *, retired: int = 0) -> dict[str, PatternVerdict]:
    measured = {key: measure_trial(each, NOW, SETTINGS) for key, each in trials.items()}
    return judge_all(measured, SETTINGS, retired=retired)


def row(session: str, successes: int, partial: int, n: int, task_type: str | None = "fix") -> SessionOutcomes:
    return SessionOutcomes("p", 1, session, task_type, NOW, successes, partial, n)


def test_one_session_is_one_piece_of_evidence_however_often_it_applied_the_pattern() -> None:
    crowd = group_by_session([row("s", 60, 0, 60), row("s", 40, 0, 40, "write")])
    (found,) = crowd
    assert (found.n, found.successes, found.partial) == (100, 100, 0)
    assert set(found.task_types) == {("fix", 60), ("write", 40)}
    assert (judged(crowd).sessions, judged(crowd).status) == (1, CANDIDATE)


def test_a_session_succeeds_when_more_than_half_of_it_did() -> None:
    (tie,), (won,) = group_by_session([row("s", 2, 1, 4)]), group_by_session([row("s", 3, 1, 5)])
    assert (tie.succeeded, won.succeeded) == (False, True)
    assert tie.share == 0.5
    assert judged((tie,)).success_rate == 0.625


@pytest.mark.parametrize("status", PatternStatus)
def test_four_sessions_decide_nothing(status: PatternStatus) -> None:
    for outcomes in ("++++", "----", ""):
        assert judged(told(outcomes), status).status is status


def test_what_clearly_works_is_validated_with_the_figures_of_pt4() -> None:
    found = judged(told("+" * 36 + "-" * 4))
    assert found.status is VALIDATED
    assert found.success_rate == pytest.approx(0.9)
    assert found.p_value == pytest.approx(binomial_p(36, 40, found.null_rate))
    assert found.confidence == pytest.approx(confidence(0.9, 40, found.p_value or 0.0))
    assert found.improvement == pytest.approx(0.4, abs=0.01)
    assert 0.5 <= found.null_rate < 0.52
    assert found.e_value > 1_000
    assert found.reason.startswith("90% success in 40 sessions (50% without it, 51% at most): ")


def test_success_no_better_than_the_base_rate_of_the_task_is_no_success() -> None:
    found = judged(told("+" * 85 + "-" * 15), bases=EASY)
    assert binomial_p(85, 100, 0.5) < 1e-10
    assert found.status is CANDIDATE
    assert "e-value" in found.reason
    assert found.improvement == pytest.approx(0.0, abs=0.01)


def test_a_base_rate_that_rests_on_few_sessions_has_to_be_beaten_by_more() -> None:
    sessions = told("+" * 34 + "-" * 6)
    few = BaseRates({"fix": Tally(3.0, 5)}, SETTINGS)
    many = BaseRates({"fix": Tally(600.0, 1_000)}, SETTINGS)
    assert judged(sessions, bases=many).status is VALIDATED
    assert judged(sessions, bases=few).status is CANDIDATE
    assert judged(sessions, bases=few).null_rate > judged(sessions, bases=many).null_rate + 0.1


def test_beating_a_low_base_rate_is_not_enough_where_a_coin_does_as_well() -> None:
    hard = BaseRates({"fix": Tally(200.0, 1_000)}, SETTINGS)
    found = judged(told("+-" * 60), bases=hard)
    assert found.null_rate == 0.5
    assert found.status is not VALIDATED


def test_sessions_of_many_applications_do_not_make_an_idle_pattern_look_good() -> None:
    """Most of 9 tries at 0.7 succeed nine times in ten; that is no nine in ten of a pattern."""
    bases = BaseRates({"fix": Tally(7_000.0, 10_000)}, SETTINGS)
    sessions = tuple(
        SessionCount(NOW - timedelta(hours=i), 6 + i % 2 * 2 - (i % 10 == 0) * 3, 0, 10, (("fix", 10),))
        for i in reversed(range(100))
    )
    found = judged(sessions, bases=bases)
    assert sum(each.succeeded for each in sessions) == 90
    assert found.p_value is not None
    assert found.p_value < 0.001
    assert found.success_rate == pytest.approx(0.67)
    assert found.status is CANDIDATE


def test_the_more_patterns_are_tried_the_more_one_has_to_show() -> None:
    good = Trial(CANDIDATE, told("+" * 22 + "-" * 3), HALF)
    idle = Trial(CANDIDATE, told("+-" * 10), HALF)
    unused, refined = Trial(CANDIDATE, (), HALF, tests=0), Trial(CANDIDATE, (), HALF, tests=1)
    assert judged_together({"good": good})["good"].status is VALIDATED
    for others, status in ((idle, CANDIDATE), (unused, VALIDATED), (refined, CANDIDATE)):
        among = judged_together({"good": good} | {f"other {i}": others for i in range(1_000)})
        assert among["good"].status is status


def test_tests_of_the_past_count_as_tries() -> None:
    sessions = told("+" * 22 + "-" * 3)
    trial = Trial(CANDIDATE, sessions, HALF)
    assert judged_together({"p": trial}, retired=1_000)["p"].status is CANDIDATE
    assert judged(sessions, tests=1_000).status is CANDIDATE


def test_what_succeeds_but_is_not_proven_stays_a_candidate() -> None:
    found = judged(told("+++++-"))
    assert found.status is CANDIDATE
    assert "not yet proven" in found.reason


def test_a_candidate_that_clearly_fails_is_reviewed_and_a_few_failures_do_not_make_it_so() -> None:
    assert judged(told("-" * 15 + "+" * 3)).status is REVIEWED
    assert judged(told("---++")).status is CANDIDATE


def test_a_candidate_that_succeeds_less_often_than_without_it_is_reviewed() -> None:
    assert judged(told("++-" * 30), bases=EASY).status is REVIEWED


def test_a_validated_pattern_that_stops_working_is_reviewed_and_one_that_goes_on_is_not() -> None:
    good, since = told("+" * 45 + "-" * 5, ends=3), NOW - 2 * DAY
    assert judged(good + told("+++-+++++-" * 3), VALIDATED, since=since).status is VALIDATED
    assert judged(good + told("+-" * 15), VALIDATED, since=since).status is REVIEWED


def test_a_bad_night_does_not_cost_a_validated_pattern_its_status() -> None:
    """Two failures bring p above 0.05 in a window of few sessions; that is no evidence against it."""
    old, since = told("+" * 45 + "-" * 5, ends=200), NOW - 190 * DAY
    found = judged(old + told("+++-+-"), VALIDATED, since=since)
    assert found.p_value is not None
    assert found.p_value > 0.05
    assert found.status is VALIDATED


def test_a_validated_pattern_is_watched_however_seldom_it_is_used() -> None:
    good, since = told("+" * 45 + "-" * 5, ends=900), NOW - 899 * DAY
    seldom = tuple(each for quarter in range(8) for each in told("----", ends=100 * (8 - quarter)))
    found = judged(good + seldom, VALIDATED, since=since)
    assert (found.sessions, found.status) == (0, REVIEWED)
    assert judged(good + seldom[:4], VALIDATED, since=since).status is VALIDATED


def test_a_reviewed_pattern_comes_back_by_what_came_since() -> None:
    assert judged(told("+++-+-"), REVIEWED).status is REVIEWED
    assert judged(told("+" * 28 + "--"), REVIEWED).status is VALIDATED


def test_only_the_window_counts_for_the_figures_and_the_whole_generation_for_the_e_value() -> None:
    old, new = told("+" * 40, ends=100), told("+" * 6)
    found = judged(old + new)
    assert found.sessions == found.applications == 6
    assert found.e_value > judged(new).e_value * 100


def test_what_is_done_in_part_counts_half_for_the_rate_and_not_at_all_for_the_test() -> None:
    found = judged(told("+" * 10 + "~" * 10))
    assert found.success_rate == pytest.approx(0.75)
    assert found.p_value == pytest.approx(binomial_p(10, 20, found.null_rate))


def test_each_session_is_held_against_its_own_type_of_task() -> None:
    bases = BaseRates({"easy": Tally(9_000.0, 10_000), "hard": Tally(3_000.0, 10_000)}, SETTINGS)
    mixed = SessionCount(NOW, 3, 0, 4, (("easy", 3), ("hard", 1)))
    found = judged((mixed,) * 5, bases=bases)
    assert found.base_rate == pytest.approx(0.75, abs=0.01)


def test_a_deprecated_pattern_stays_so() -> None:
    assert judged(told("+" * 100), DEPRECATED).status is DEPRECATED
    assert not any(is_allowed(DEPRECATED, after) for after in PatternStatus)


def test_the_table_says_who_may_move_a_pattern() -> None:
    assert is_allowed(CANDIDATE, VALIDATED, Cause.VALIDATION)
    assert not is_allowed(CANDIDATE, VALIDATED, Cause.REFINEMENT)
    assert is_allowed(REVIEWED, CANDIDATE, Cause.REFINEMENT)
    assert not is_allowed(REVIEWED, CANDIDATE, Cause.VALIDATION)
    assert all(is_allowed(before, DEPRECATED, Cause.MERGE) for before in (CANDIDATE, VALIDATED, REVIEWED))
    assert not any(before is after for before, after in TRANSITIONS)


def test_every_move_asks_the_table() -> None:
    made: Pattern = sample(Pattern, "x", status=DEPRECATED)
    for cause in Cause:
        with pytest.raises(InvalidInput, match="'x' is DEPRECATED"):
            with_status(made, VALIDATED, cause, NOW)
    candidate = made.replace(status=CANDIDATE, status_since=None)
    assert with_status(candidate, CANDIDATE, Cause.MERGE, NOW) is candidate
    validated = with_status(candidate, VALIDATED, Cause.VALIDATION, NOW)
    assert (validated.status, validated.status_since) == (VALIDATED, NOW)
    with pytest.raises(InvalidInput, match="cannot become VALIDATED by merge"):
        with_status(candidate, VALIDATED, Cause.MERGE, NOW)


PROVEN = EvidenceMeasure(
    sessions=40,
    applications=40,
    success_rate=0.8,
    base_rate=0.5,
    null_rate=0.5,
    p_value=0.001,
    confidence=0.85,
    log_e=10.0,
    log_worse=0.0,
    log_decay=0.0,
)


def test_what_meets_every_condition_is_validated() -> None:
    assert judge(PROVEN, CANDIDATE, SETTINGS, discovered=True).status is VALIDATED


@pytest.mark.parametrize(
    "missed", [{"success_rate": 0.59}, {"p_value": 0.05}, {"confidence": 0.69}, {"sessions": 4}], ids=str
)
@pytest.mark.parametrize("status", [CANDIDATE, REVIEWED])
def test_each_condition_by_itself_keeps_a_pattern_from_being_validated(
    missed: dict[str, Any], status: PatternStatus
) -> None:
    assert judge(replace(PROVEN, **missed), status, SETTINGS, discovered=True).status is status
    assert judge(PROVEN, status, SETTINGS, discovered=False).status is status


def test_the_e_value_is_that_of_the_higher_of_coin_and_bound() -> None:
    sessions = told("+" * 20 + "-" * 5)
    hard = BaseRates({"fix": Tally(200.0, 1_000)}, SETTINGS)
    few, many = (BaseRates({"fix": Tally(0.6 * n, n)}, SETTINGS) for n in (20, 100_000))
    coin = log_e_better([each.share for each in sessions], 0.5)
    assert judged(sessions, bases=hard).e_value == pytest.approx(e_value(coin))
    assert judged(sessions, bases=few).e_value < 0.7 * judged(sessions, bases=many).e_value


def test_a_session_half_of_which_succeeded_is_no_success_for_the_test() -> None:
    halves = tuple(replace(each, successes=1) for each in told("-" * 10, size=2))
    assert judged(halves).p_value == 1.0
