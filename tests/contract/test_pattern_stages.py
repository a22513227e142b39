"""What episodes teach by themselves: finds become candidates, later episodes their evidence. On both engines."""

from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.sample_episodes import Clock
from tests.sample_patterns import ROUTINE, STRATEGY, apply_often, did, keep, pattern_stages, stand_beside
from treering.core.episodes import OutcomeStatus
from treering.core.patterns import Pattern, PatternCategory, PatternStatus
from treering.core.queries import PatternFilter
from treering.core.runs import RunState
from treering.memory import Memory
from treering.patterns.application_stage import record_applications

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def steady(open_memory: OpenMemory, clock: Clock) -> Memory:
    return open_memory(clock=clock)


def mined(memory: Memory, category: PatternCategory, says: str = "") -> Pattern:
    """The find of this kind."""
    found = memory.patterns.list(PatternFilter(categories=(category,)), limit=200)
    return next(each for each in found if says in each.name)


def night(memory: Memory, clock: Clock) -> dict[str, int]:
    clock.now += 12 * HOUR
    counts = dict[str, int]()
    for run in pattern_stages(memory):
        assert (run.state, run.error) == (RunState.DONE, None)
        counts |= run.counts
    clock.now += 12 * HOUR
    return counts


def test_finds_become_candidates_without_any_evidence(steady: Memory) -> None:
    for place in range(8):
        did(steady, f"e{place}", *ROUTINE)
    rehearsed = steady.patterns.mine(dry_run=True)
    assert steady.patterns.list() == ()
    found = steady.patterns.mine()
    assert found == rehearsed
    kept = {each.id: each for each in steady.patterns.list(limit=200)}
    assert kept.keys() == {each.key for each in found}
    for each in kept.values():
        assert (each.status, each.evidence.applications) == (PatternStatus.CANDIDATE, 0)
        assert each.metadata["mined"]["support"] == 8
    steady.patterns.validate()
    assert all(each.evidence.sessions == 0 for each in steady.patterns.list(limit=200))


def test_mined_again_they_are_brought_up_to_date_and_never_doubled(steady: Memory) -> None:
    for place in range(8):
        did(steady, f"e{place}", *ROUTINE)
    first = {each.key for each in steady.patterns.mine()}
    known = mined(steady, PatternCategory.SEQUENCE)
    for place in range(8, 12):
        did(steady, f"e{place}", *ROUTINE)
    assert {each.key for each in steady.patterns.mine()} == first
    again = steady.patterns.get(known.id)
    assert again.metadata["mined"]["support"] == 12
    assert "12 of 12" in again.summary
    assert (again.version, again.evidence) == (known.version, known.evidence)


def test_what_was_taken_out_of_use_or_changed_by_somebody_is_left(steady: Memory) -> None:
    for place in range(8):
        for name in ("a", "b", "c"):
            did(steady, f"{name}{place}", f"{name}ls", f"{name}cat")
    found = {each.name: each.key for each in steady.patterns.mine()}
    gone, own, forgotten = (found[f"Bash: {name}ls → Bash: {name}cat"] for name in ("a", "b", "c"))
    steady.patterns.deprecate(gone, "nobody wants it")
    steady.patterns.update(own, content=STRATEGY, name="my own words")
    steady.forget(forgotten)
    steady.patterns.mine()
    assert steady.patterns.get(gone).status is PatternStatus.DEPRECATED
    assert steady.patterns.get(own).name == "my own words"
    assert "mined" not in steady.patterns.get(own).metadata
    assert forgotten not in {each.id for each in steady.patterns.list(limit=200)}


def test_only_episodes_stored_after_it_was_found_are_evidence(steady: Memory, clock: Clock) -> None:
    for place in range(8):
        did(steady, f"e{place}", *ROUTINE)
    assert night(steady, clock)["candidates"] > 0
    routine = mined(steady, PatternCategory.SEQUENCE)
    night(steady, clock)
    assert steady.patterns.sessions(routine.id) == ()
    # When it happened does not matter, when it was stored does.
    did(steady, "later", *ROUTINE, at=clock.now - 30 * DAY)
    did(steady, "failed", *ROUTINE, outcome="FAILURE")
    did(steady, "other", "ls", "cat x")
    assert night(steady, clock)["applications"] >= 2
    told = {each.episode: each.outcome for each in steady.patterns.applications(routine.id)}
    assert told == {"later": OutcomeStatus.SUCCESS, "failed": OutcomeStatus.FAILURE}
    assert steady.patterns.get(routine.id).evidence.sessions == 2
    assert night(steady, clock).get("applications", 0) == 0


def test_a_night_without_news_searches_nothing(steady: Memory, clock: Clock) -> None:
    for place in range(8):
        did(steady, f"e{place}", *ROUTINE)
    assert night(steady, clock)["candidates"] > 0
    clock.now += DAY
    assert night(steady, clock)["candidates"] == 0


def test_a_routine_that_helps_is_believed_by_what_came_after(steady: Memory, clock: Clock) -> None:
    for place in range(8):
        did(steady, f"e{place}", *ROUTINE)
    night(steady, clock)
    stand_beside(steady, "F" * 30 + "S" * 10)
    for place in range(30):
        did(steady, f"after {place}", *ROUTINE)
    night(steady, clock)
    assert mined(steady, PatternCategory.SEQUENCE).status is PatternStatus.VALIDATED


def test_a_warning_is_right_where_things_go_wrong(steady: Memory, clock: Clock) -> None:
    stand_beside(steady, "S" * 60)
    for place in range(10):
        did(steady, f"e{place}", "git add .", "git push --force", outcome="FAILURE")
    night(steady, clock)
    warning = mined(steady, PatternCategory.FAILURE)
    for place in range(30):
        did(steady, f"after {place}", "git add .", "git push --force", outcome="FAILURE" if place % 10 else "SUCCESS")
    night(steady, clock)
    known = steady.patterns.get(warning.id)
    assert known.status is PatternStatus.VALIDATED
    assert known.evidence.success_rate == pytest.approx(0.9)
    assert known.evidence.base_rate < 0.3  # type: ignore[operator]


def test_a_recovery_is_judged_by_the_step_that_had_failed(steady: Memory, clock: Clock) -> None:
    fixing = ("!pytest -q", "pip install x", "pytest -q")
    for place in range(8):
        did(steady, f"e{place}", *fixing)
    night(steady, clock)
    recovery = mined(steady, PatternCategory.RECOVERY, "pip install")
    # The task failed in the end, and still the recovery worked.
    did(steady, "worked", *fixing, outcome="FAILURE")
    did(steady, "did not", "!pytest -q", "pip install x", "!pytest -q")
    did(steady, "another way", "!pytest -q", "git stash", "pytest -q")
    night(steady, clock)
    told = {each.episode: each.outcome for each in steady.patterns.applications(recovery.id)}
    assert told == {"worked": OutcomeStatus.SUCCESS, "did not": OutcomeStatus.FAILURE}


def test_a_saving_is_judged_by_what_it_took(steady: Memory, clock: Clock) -> None:
    for place in range(10):
        did(steady, f"quick {place}", "make cached", "pytest -q", duration_ms=1_000.0 + place)
        did(steady, f"slow {place}", "make all", "pytest -q", duration_ms=9_000.0 + place)
    night(steady, clock)
    saving = mined(steady, PatternCategory.OPTIMISATION, "make cached")
    did(steady, "again quick", "make cached", "pytest -q", duration_ms=900.0)
    did(steady, "not quick", "make cached", "pytest -q", duration_ms=20_000.0)
    did(steady, "quick and wrong", "make cached", "pytest -q", duration_ms=900.0, outcome="FAILURE")
    night(steady, clock)
    told = {each.episode: each for each in steady.patterns.applications(saving.id)}
    assert {name: each.outcome.value for name, each in told.items()} == {
        "again quick": "SUCCESS",
        "not quick": "FAILURE",
        "quick and wrong": "FAILURE",
    }
    assert told["again quick"].time_saved_ms > 8_000  # type: ignore[operator]


def test_tools_and_plans_gather_evidence(steady: Memory, clock: Clock) -> None:
    plan = ["find the cause", "write a test", "change the code"]
    for place in range(10):
        did(steady, f"with {place}", "ruff check", plan=plan)
        did(steady, f"without {place}", "ls", outcome="FAILURE" if place else "SUCCESS")
    night(steady, clock)
    tool = mined(steady, PatternCategory.TOOL_SELECTION, "ruff")
    shape = mined(steady, PatternCategory.DECOMPOSITION)
    did(steady, "used", "ruff check --fix", plan=plan)
    did(steady, "planned", "ls", plan=plan, outcome="FAILURE")
    night(steady, clock)
    assert [each.episode for each in steady.patterns.applications(tool.id)] == ["used"]
    assert {each.episode for each in steady.patterns.applications(shape.id)} == {"used", "planned"}


def test_what_an_episode_names_counts_and_what_is_planted_does_not(steady: Memory, clock: Clock) -> None:
    made = keep(steady)
    clock.now += HOUR
    did(steady, "named", "ls", patterns=[made.id])
    did(steady, "planted", "ls", patterns=[made.id], tainted=True)
    did(steady, "silent", "ls")
    night(steady, clock)
    assert [each.episode for each in steady.patterns.applications(made.id)] == ["named"]


def test_what_is_under_review_is_narrowed_at_night(steady: Memory, clock: Clock) -> None:
    made = keep(steady)
    apply_often(steady, made.id, "S" * 12, features={"languages": ["python"]}, prefix="p")
    apply_often(steady, made.id, "F" * 40, features={"languages": ["rust"]}, prefix="r")
    hopeless = keep(steady, "hopeless")
    apply_often(steady, hopeless.id, "F" * 20)
    counts = night(steady, clock)
    assert (counts["under_review"], counts["refined"]) == (2, 1)
    assert steady.patterns.get(made.id).evidence.generation == 2
    assert steady.patterns.get(hopeless.id).status is PatternStatus.UNDER_REVIEW
    # Episodes that were stored before it was narrowed are not its evidence, recorded late or not.
    assert steady.patterns.sessions(made.id) == ()


def test_a_rehearsal_writes_nothing(steady: Memory, clock: Clock) -> None:
    for place in range(8):
        did(steady, f"e{place}", *ROUTINE)
    stand_beside(steady, "F" * 20)
    apply_often(steady, keep(steady).id, "S" * 25)
    mine, validate, _refine = pattern_stages(steady, dry_run=True)
    assert (mine.counts["candidates"] > 0, validate.counts["validated"]) == (True, 1)
    assert [each.status for each in steady.patterns.list()] == [PatternStatus.CANDIDATE]


def test_a_night_that_was_stopped_goes_on_where_it_was(
    open_memory: OpenMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.patterns.stages.PAGE_EPISODES", 3)
    memory = open_memory(clock=clock)
    for place in range(8):
        did(memory, f"e{place}", *ROUTINE)
    night(memory, clock)
    routine = mined(memory, PatternCategory.SEQUENCE)
    for place in range(10):
        clock.now += timedelta(minutes=1)
        did(memory, f"after {place}", *ROUTINE)
    from treering.patterns import stages as stage

    pages = list[int]()

    def counted(*given: Any) -> int:
        pages.append(len(given[3]))
        return record_applications(*given)

    def stopping(*given: Any) -> int:
        if len(pages) == 2:
            raise RuntimeError("stopped")
        return counted(*given)

    monkeypatch.setattr(stage, "record_applications", stopping)
    (run,) = memory.maintenance.run("validate")
    assert run.state is RunState.FAILED
    assert len(memory.patterns.sessions(routine.id)) == 6
    monkeypatch.setattr(stage, "record_applications", counted)
    clock.now += 12 * HOUR
    (run,) = memory.maintenance.run("validate")
    assert (run.state, run.counts["applications"]) == (RunState.DONE, 10)
    assert len(memory.patterns.sessions(routine.id)) == 10
    # The last page is looked at once more, what was done before it is not.
    assert sum(pages) <= 10 + 3
