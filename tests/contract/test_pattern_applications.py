"""What counts as evidence for a pattern, and what validation makes of it. On both engines."""

from collections import Counter, defaultdict
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.lengths import at_length
from tests.sample_episodes import Clock
from tests.sample_patterns import apply_often, did, keep, stand_beside, verdict
from treering.core.episodes import OutcomeStatus
from treering.core.errors import InvalidInput, NotFound
from treering.core.patterns import Application, PatternStatus
from treering.core.settings import Settings
from treering.memory import Memory
from treering.patterns.validation import judge_all

DAY = timedelta(days=1)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def steady(open_memory: OpenMemory, clock: Clock) -> Memory:
    return open_memory(clock=clock)


def test_an_episode_tells_what_came_of_it_and_counts_once(steady: Memory) -> None:
    made = keep(steady)
    told = did(steady, "e", "pytest -q", outcome="PARTIAL", context={"files": ["src/login.py"]})
    first = steady.patterns.record_application(made.id, episode=told.id, time_saved_ms=50.0)
    again = steady.patterns.record_application(made.id, episode=told.id, outcome="FAILURE")
    assert again == first
    assert (first.outcome, first.session, first.task_type) == (OutcomeStatus.PARTIAL, told.session, "fix")
    assert (first.at, first.time_saved_ms, first.features["files"]) == (told.at, 50.0, ("src/login.py",))
    assert steady.patterns.get(made.id).usage_count == 1
    assert steady.patterns.applications(made.id) == (first,)


def test_what_is_given_goes_before_what_the_episode_says(steady: Memory) -> None:
    made, told = keep(steady), did(steady, "e", "pytest -q")
    given = steady.patterns.record_application(
        made.id, episode=told.id, outcome="FAILURE", session="other", task_type="test", features={"a": 1}
    )
    assert (given.outcome, given.session, given.task_type) == (OutcomeStatus.FAILURE, "other", "test")
    assert given.features == {"a": 1}


def test_without_an_episode_each_telling_is_one_more(steady: Memory) -> None:
    made = keep(steady)
    for _ in range(2):
        steady.patterns.record_application(made.id, outcome="SUCCESS", features={"task_type": "fix"})
    found = steady.patterns.applications(made.id)
    assert [each.task_type for each in found] == ["fix", "fix"]
    assert len(steady.patterns.sessions(made.id)) == 2
    for wrong, says in (
        (lambda: steady.patterns.record_application(made.id), "outcome is missing"),
        (lambda: steady.patterns.record_application(made.id, outcome="fine"), "outcome"),
        (lambda: steady.patterns.record_application(made.id, outcome="SUCCESS", features=[1]), "mapping"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidInput, match=says):
            wrong()
    for missing in (
        lambda: steady.patterns.record_application("nothing", outcome="SUCCESS"),
        lambda: steady.patterns.record_application(made.id, episode="nothing"),
    ):
        with pytest.raises(NotFound, match="nothing"):
            missing()


def test_the_store_counts_sessions_as_one_would_by_hand(steady: Memory, clock: Clock) -> None:
    made = keep(steady)
    for number, letter in enumerate("SSFPSFSPPS"):
        clock.now += timedelta(minutes=1)
        told: dict[str, Any] = {
            "session": f"s{number % 3}" if number % 4 else None,
            "task_type": "fix" if number % 2 else "test",
        }
        apply_often(steady, made.id, letter, **told)
    groups = defaultdict[str, list[Application]](list)
    for each in steady.patterns.applications(made.id, limit=100):
        groups[each.session or each.id].append(each)
    counted = [
        (
            max(each.at for each in group),
            sum(each.outcome is OutcomeStatus.SUCCESS for each in group),
            sum(each.outcome is OutcomeStatus.PARTIAL for each in group),
            len(group),
            set(Counter(each.task_type for each in group).items()),
        )
        for group in groups.values()
    ]
    found = steady.patterns.sessions(made.id)
    assert [(each.at, each.successes, each.partial, each.n, set(each.task_types)) for each in found] == sorted(
        counted, key=lambda each: each[0]
    )
    assert len(found) == 3 + 3


def test_a_hundred_times_in_one_session_is_one_piece_of_evidence(steady: Memory) -> None:
    made = keep(steady)
    apply_often(steady, made.id, "S" * 100, session="one")
    judged = verdict(steady, made.id)
    assert (judged.sessions, judged.applications, judged.status) == (1, 100, PatternStatus.CANDIDATE)
    assert "fewer than 5" in judged.reason


def test_success_no_better_than_without_it_is_no_success(steady: Memory, clock: Clock) -> None:
    common, rare = keep(steady, "common"), keep(steady, "rare")
    stand_beside(steady, "S" * 90 + "F" * 10)
    apply_often(steady, common.id, ("S" * 9 + "F") * 4)
    assert verdict(steady, common.id).status is PatternStatus.CANDIDATE
    assert verdict(steady, common.id).base_rate > 0.8
    # The same success where such tasks mostly fail.
    for place in range(100):
        steady.episode("test it", outcome="FAILURE", session=f"t{place}", task_type="test")
    apply_often(steady, rare.id, ("S" * 9 + "F") * 4, task_type="test")
    assert verdict(steady, rare.id).status is PatternStatus.VALIDATED


def test_what_it_was_applied_in_is_left_out_of_its_base_rate(steady: Memory) -> None:
    made = keep(steady)
    for place in range(30):
        told = did(steady, f"with {place}", "pytest -q")
        steady.patterns.record_application(made.id, episode=told.id)
    stand_beside(steady, "F" * 30)
    judged = verdict(steady, made.id)
    assert judged.base_rate < 0.2
    assert judged.status is PatternStatus.VALIDATED


def test_only_the_window_counts_for_success(steady: Memory, clock: Clock) -> None:
    made = keep(steady)
    apply_often(steady, made.id, "S" * 25)
    assert verdict(steady, made.id).status is PatternStatus.VALIDATED
    clock.now += 91 * DAY
    judged = verdict(steady, made.id)
    assert (judged.sessions, judged.success_rate, judged.status) == (0, None, PatternStatus.VALIDATED)


def test_a_pattern_that_stops_working_is_reviewed_and_comes_back_only_by_new_evidence(
    steady: Memory, clock: Clock
) -> None:
    made = keep(steady)
    apply_often(steady, made.id, "S" * 40)
    assert verdict(steady, made.id).status is PatternStatus.VALIDATED
    clock.now += DAY
    apply_often(steady, made.id, "F" * 15, prefix="b")
    assert verdict(steady, made.id).status is PatternStatus.UNDER_REVIEW
    assert steady.patterns.find_applicable("fix the login") == ()
    assert verdict(steady, made.id).status is PatternStatus.UNDER_REVIEW
    clock.now += DAY
    apply_often(steady, made.id, "S" * 40, prefix="c")
    assert verdict(steady, made.id).status is PatternStatus.VALIDATED
    moves = [each.detail for each in steady.patterns.history(made.id) if each.detail.get("cause") == "validation"]
    assert [each["to"] for each in moves] == ["VALIDATED", "UNDER_REVIEW", "VALIDATED"]
    for each in moves:
        assert {"reason", "sessions", "success_rate", "base_rate", "p_value", "e_value", "confidence"} <= each.keys()


def test_the_pattern_names_episodes_for_and_against_it_and_what_it_saved(
    open_memory: OpenMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.patterns.validation_stage.MAX_LISTED_EPISODES", 2)
    memory = open_memory(clock=clock)
    made = keep(memory)
    for number, outcome in enumerate(("SUCCESS", "FAILURE", "SUCCESS", "SUCCESS")):
        clock.now += timedelta(minutes=1)
        did(memory, f"e{number}", "pytest -q", outcome=outcome)
        memory.patterns.record_application(made.id, episode=f"e{number}", time_saved_ms=10.0 * number, cost_saved=1.0)
    memory.patterns.validate()
    evidence = memory.patterns.get(made.id).evidence
    assert (evidence.supporting, evidence.counter) == (("e3", "e2"), ("e1",))
    assert (evidence.mean_time_saved_ms, evidence.mean_cost_saved) == (15.0, 1.0)


def test_validation_writes_only_what_is_new(steady: Memory, clock: Clock) -> None:
    made = keep(steady)
    apply_often(steady, made.id, "SSS")
    rehearsed = steady.patterns.validate(dry_run=True)
    assert steady.patterns.get(made.id).evidence.sessions == 0
    assert rehearsed == steady.patterns.validate()
    known = steady.patterns.get(made.id)
    clock.now += timedelta(hours=1)
    steady.patterns.validate()
    assert steady.patterns.get(made.id) == known
    # A count is no change: the last change of a person is what undo takes back.
    steady.patterns.update(made.id, summary="told")
    apply_often(steady, made.id, "S", prefix="b")
    steady.patterns.validate()
    assert steady.patterns.get(made.id).evidence.sessions == 4
    assert steady.undo(made.id).summary == ""


def test_a_change_between_counting_and_writing_is_kept(
    open_memory: OpenMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = open_memory(clock=clock), open_memory(clock=clock)
    made = keep(memory)
    apply_often(memory, made.id, "S" * 25)
    from treering.patterns import validation_stage as validating

    def meanwhile(*given: Any, **options: Any) -> Any:
        if other.patterns.get(made.id).status is not PatternStatus.DEPRECATED:
            other.patterns.deprecate(made.id, "gone")
        return judge_all(*given, **options)

    monkeypatch.setattr(validating, "judge_all", meanwhile)
    memory.patterns.validate()
    assert memory.patterns.get(made.id).status is PatternStatus.DEPRECATED


def test_a_refinement_narrows_to_where_it_works(steady: Memory) -> None:
    made = keep(steady)
    apply_often(steady, made.id, "S" * 12, features={"languages": ["python"], "size": 1}, prefix="p")
    apply_often(steady, made.id, "F" * 40, features={"languages": ["rust"], "size": 1}, prefix="r")
    assert verdict(steady, made.id).status is PatternStatus.UNDER_REVIEW
    review = steady.patterns.review(made.id)
    assert (len(review.failed), review.succeeded) == (40, 12)
    shown = steady.patterns.refine(made.id, dry_run=True)
    assert steady.patterns.get(made.id).applicability == made.applicability
    done = steady.patterns.refine(made.id)
    assert done.refinement.changes == shown.refinement.changes
    assert len(done.refinement.changes) == 1
    assert (done.after.status, done.after.evidence.generation) == (PatternStatus.CANDIDATE, 2)
    ask = steady.patterns.find_applicable
    assert len(ask("fix it", statuses=["CANDIDATE"], languages=["python"])) == 1
    assert ask("fix it", statuses=["CANDIDATE"], languages=["rust"]) == ()
    (last, *_) = steady.patterns.history(made.id)
    assert (last.detail["cause"], tuple(last.detail["changes"])) == ("refinement", done.refinement.changes)
    assert steady.patterns.refine(made.id).after.version == done.after.version


def test_many_idle_patterns_do_not_bring_forth_a_lucky_one(steady: Memory) -> None:
    """What would be proof for one pattern alone is luck among many."""
    stand_beside(steady, "SF" * 40)
    ids = [keep(steady, f"p{number}").id for number in range(at_length(80, full=200))]
    for number, id in enumerate(ids):
        apply_often(steady, id, "SSSSSSSF" if number == 0 else "SFSFSFSF")
    alone = Settings().patterns
    moved = [
        each for each in steady.patterns.validate() if each.moved and each.judged.status is PatternStatus.VALIDATED
    ]
    assert moved == []
    assert alone.false_discovery_rate == 0.05
