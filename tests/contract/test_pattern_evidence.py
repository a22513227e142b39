"""What speaks for a pattern and what does not: the ways in which evidence deceives. On both engines."""

from datetime import timedelta

import pytest

from tests.conftest import OpenMemory
from tests.sample_episodes import Clock
from tests.sample_patterns import HOUR, ROUTINE, STRATEGY, apply_often, did, keep, stand_beside, verdict
from treering.core.episodes import OutcomeStatus
from treering.core.errors import InvalidInput, NothingToUndo
from treering.core.patterns import PatternCategory, PatternStatus
from treering.core.queries import PatternFilter
from treering.core.settings import Settings
from treering.memory import Memory
from treering.patterns import undo as undoing
from treering.patterns.audience import audiences
from treering.patterns.evidence import count_evidence

DAY = timedelta(days=1)
MOSTLY = ("S" * 9 + "F") * 6
CANDIDATE, VALIDATED, REVIEWED = PatternStatus.CANDIDATE, PatternStatus.VALIDATED, PatternStatus.UNDER_REVIEW


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def steady(open_memory: OpenMemory, clock: Clock) -> Memory:
    return open_memory(clock=clock)


def family(memory: Memory) -> int:
    """How many tests compete with each other."""
    shared, *_ = audiences(memory.scope)
    with memory.store.reading(shared.scope, memory.patterns.clock()) as tx:
        counted = count_evidence(tx, shared, memory.settings.patterns)
    return counted.retired + sum(each.tests for each in counted.tested.values())


def test_applications_without_an_episode_are_no_part_of_a_base_rate_and_leave_it_as_it_is(steady: Memory) -> None:
    made = keep(steady)
    stand_beside(steady, MOSTLY)
    apply_often(steady, made.id, MOSTLY)
    judged = verdict(steady, made.id)
    assert judged.base_rate == pytest.approx(0.9, abs=0.04)
    assert judged.status is CANDIDATE


def test_of_a_session_only_the_episodes_that_used_it_are_left_out(steady: Memory) -> None:
    """Five fixes a session, four of five succeed; one of them used the pattern, and it succeeds a little more often."""
    made = keep(steady)
    for session in range(30):
        for place in range(5):
            fails = session % 10 == 0 if place == 0 else (session + place) % 5 == 0
            told = {"session": f"s{session}", "outcome": "FAILURE" if fails else "SUCCESS"}
            did(steady, f"e{session}.{place}", "x", **told)
        steady.patterns.record_application(made.id, episode=f"e{session}.0")
    judged = verdict(steady, made.id)
    assert judged.base_rate == pytest.approx(0.8, abs=0.05)
    assert judged.status is CANDIDATE


def test_a_forgotten_episode_is_no_base_and_takes_none_with_it(steady: Memory) -> None:
    made = keep(steady)
    stand_beside(steady, MOSTLY)
    for place in range(10):
        did(steady, f"e{place}", "x")
        steady.patterns.record_application(made.id, episode=f"e{place}")
    before = verdict(steady, made.id)
    for place in range(10):
        steady.forget(f"e{place}", hard=place % 2 == 0)
    after = verdict(steady, made.id)
    assert (after.base_rate, after.sessions) == (pytest.approx(before.base_rate), before.sessions)


def test_an_episode_that_used_both_of_a_merge_is_left_out_once(steady: Memory) -> None:
    one, other = keep(steady, "one"), keep(steady, "other")
    for session in range(10):
        for place in range(3):
            fails = place == 2
            did(steady, f"e{session}.{place}", "x", session=f"s{session}", outcome="FAILURE" if fails else "SUCCESS")
        for each in (one, other):
            steady.patterns.record_application(each.id, episode=f"e{session}.0")
    made = steady.patterns.merge([one.id, other.id])
    # One of the two that are left in each session succeeded.
    assert verdict(steady, made.id).base_rate == pytest.approx(0.5)


def test_a_form_that_was_undone_leaves_its_evidence_to_nobody(steady: Memory, clock: Clock) -> None:
    made = keep(steady)
    steady.patterns.update(made.id, applicability={"problem_types": ["test"]})
    apply_often(steady, made.id, "S" * 8)
    steady.patterns.validate()
    steady.undo(made.id)
    clock.now += HOUR
    other = steady.patterns.update(made.id, content={**STRATEGY, "approach": "all at once"})
    assert other.evidence.generation == 3
    assert steady.patterns.sessions(made.id) == ()
    # That it was tried is not undone.
    assert other.evidence.tests == 1


def test_every_test_that_was_begun_stays_one_of_the_family(steady: Memory, clock: Clock) -> None:
    for name in ("loser", "refined", "forgotten", "alive"):
        keep(steady, name)
        apply_often(steady, name, "SFSFSFSFSF", prefix=name)
    keep(steady, "untried")
    assert family(steady) == 4
    steady.patterns.validate()
    assert family(steady) == 4
    steady.patterns.update("refined", applicability={"problem_types": ["test"]})
    steady.forget("forgotten")
    assert family(steady) == 4
    clock.now += 200 * DAY
    apply_often(steady, "refined", "S", prefix="again")
    apply_often(steady, "alive", "S", prefix="again")
    steady.patterns.validate()
    assert {each.pattern.id for each in steady.patterns.prune()} == {"loser", "untried"}
    assert family(steady) == 5
    merged = steady.patterns.merge(["refined", "alive"])
    # They were three; the merged one has their evidence, and is a test of its own.
    assert family(steady) == 6
    assert steady.patterns.get(merged.id).evidence.tests == 0


def test_a_review_begins_another_test(steady: Memory, clock: Clock) -> None:
    made = keep(steady)
    apply_often(steady, made.id, "F" * 12)
    assert verdict(steady, made.id).status is REVIEWED
    assert family(steady) == steady.patterns.get(made.id).evidence.tests == 2
    clock.now += HOUR
    apply_often(steady, made.id, "SSSS", prefix="b")
    steady.patterns.validate()
    assert family(steady) == 2


def test_many_failures_in_one_session_take_nothing_out_of_use(steady: Memory) -> None:
    made = keep(steady)
    for place in range(6):
        did(steady, f"e{place}", "x", session="only one", outcome="FAILURE")
        steady.patterns.record_application(made.id, episode=f"e{place}")
    steady.patterns.validate()
    assert steady.patterns.prune() == ()


def test_what_helps_where_almost_everything_fails_is_not_contradicted(steady: Memory) -> None:
    hard, worse = keep(steady, "hard"), keep(steady, "worse", applicability={"problem_types": ["test"]})
    stand_beside(steady, "S" + "F" * 19)
    apply_often(steady, hard.id, "S" * 9 + "F" * 11)
    for place in range(20):
        steady.episode("test it", outcome="FAILURE" if place == 0 else "SUCCESS", session=f"t{place}", task_type="test")
    apply_often(steady, worse.id, "S" * 9 + "F" * 11, task_type="test", prefix="w")
    steady.patterns.validate()
    (low,) = steady.patterns.prune()
    assert low.pattern.id == worse.id
    assert "contradicted: 45% success in 20 sessions" in low.why


def mined(memory: Memory, category: PatternCategory) -> str:
    (found, *_) = memory.patterns.list(PatternFilter(categories=(category,)), limit=1)
    return found.id


def test_what_a_pattern_was_found_in_or_narrowed_by_is_refused_as_its_proof(steady: Memory, clock: Clock) -> None:
    for place in range(8):
        did(steady, f"e{place}", *ROUTINE)
    steady.patterns.mine()
    routine = mined(steady, PatternCategory.SEQUENCE)
    clock.now += HOUR
    with pytest.raises(InvalidInput, match=r"'e0' was stored before pattern .* took its present form"):
        steady.patterns.record_application(routine, episode="e0")
    did(steady, "later", *ROUTINE)
    first = steady.patterns.record_application(routine, episode="later")
    told = keep(steady)
    did(steady, "before the change", "x")
    steady.patterns.record_application(told.id, episode="before the change")
    clock.now += HOUR
    steady.patterns.update(told.id, content={**STRATEGY, "approach": "all at once"})
    with pytest.raises(InvalidInput, match="present form"):
        steady.patterns.record_application(told.id, episode="later")
    # What was told before stands, and is no error when it is told again.
    assert steady.patterns.record_application(routine, episode="later") == first
    assert steady.patterns.record_application(told.id, episode="before the change").evidence == 1


def test_what_is_seldom_used_is_doubted_too(steady: Memory, clock: Clock) -> None:
    made = keep(steady)
    stand_beside(steady, "SF" * 30)
    apply_often(steady, made.id, "S" * 40)
    assert verdict(steady, made.id).status is VALIDATED
    for place in range(12):
        clock.now += 23 * DAY
        apply_often(steady, made.id, "F", prefix=f"q{place}.")
    judged = verdict(steady, made.id)
    assert judged.sessions < Settings().patterns.least_evidence
    assert judged.status is REVIEWED


def test_another_category_claims_something_else_and_begins_anew(steady: Memory) -> None:
    made = keep(steady)
    apply_often(steady, made.id, "S" * 25)
    assert verdict(steady, made.id).status is VALIDATED
    changed = steady.patterns.update(made.id, category="failure")
    assert (changed.status, changed.evidence.generation) == (CANDIDATE, 2)


def test_what_somebody_shares_is_proven_anew_and_tells_nothing_of_his_episodes(
    open_memory: OpenMemory, clock: Clock
) -> None:
    ada, bob = (open_memory(clock=clock, principal=name) for name in ("ada", "bob"))
    keep(ada, "mine", visibility="personal")
    for place in range(30):
        did(ada, f"e{place}", *ROUTINE, visibility="personal")
        ada.patterns.record_application("mine", episode=f"e{place}")
    ada.patterns.validate()
    ada.patterns.mine()
    assert ada.patterns.get("mine").status is VALIDATED
    for id in ("mine", mined(ada, PatternCategory.SEQUENCE)):
        ada.patterns.update(id, visibility="project")
        seen = bob.patterns.get(id)
        assert (seen.status, seen.evidence.generation) == (CANDIDATE, 2)
        assert (seen.evidence.supporting, seen.usage_count, seen.last_used_at) == ((), 0, None)
        assert "e0" not in seen.to_json()
        ada.patterns.mine()
        ada.patterns.validate()
        assert "e0" not in bob.patterns.get(id).to_json()
        assert bob.patterns.get(id).evidence.sessions == 0


def test_a_mined_pattern_takes_no_outcome_of_an_episode_that_did_not_follow_it(steady: Memory, clock: Clock) -> None:
    for place in range(8):
        did(steady, f"e{place}", "!pytest -q", "pip install x", "pytest -q")
    for place in range(10):
        did(steady, f"quick {place}", "make cached", "pytest -q", duration_ms=1_000.0 + place)
        did(steady, f"slow {place}", "make all", "pytest -q", duration_ms=9_000.0 + place)
    steady.patterns.mine()
    recovery = mined(steady, PatternCategory.RECOVERY)
    savings = steady.patterns.list(PatternFilter(categories=(PatternCategory.OPTIMISATION,)), limit=50)
    saving = next(each.id for each in savings if "make cached" in each.name)
    clock.now += HOUR
    did(steady, "calm", "ls")
    with pytest.raises(InvalidInput, match=r"'calm' did not follow pattern .*; give an `outcome`"):
        steady.patterns.record_application(recovery, episode="calm")
    given = steady.patterns.record_application(recovery, episode="calm", outcome="PARTIAL")
    assert given.outcome is OutcomeStatus.PARTIAL
    did(steady, "quick", "make cached", "pytest -q", duration_ms=900.0)
    assert steady.patterns.record_application(saving, episode="quick").time_saved_ms > 8_000  # type: ignore[operator]


def test_what_others_did_teaches_nothing_about_my_own_patterns(open_memory: OpenMemory, clock: Clock) -> None:
    ada, bob = (open_memory(clock=clock, principal=name) for name in ("ada", "bob"))
    keep(ada, "mine", visibility="personal")
    clock.now += HOUR
    did(bob, "bobs", "x", patterns=["mine"])
    did(ada, "adas", "x", patterns=["mine"])
    assert ada.patterns.learn_from_episode("bobs").counted == frozenset()
    assert ada.patterns.learn_from_episode("adas").counted == {"mine"}


def test_of_a_session_that_outlasts_a_review_only_the_rest_counts(steady: Memory, clock: Clock) -> None:
    made = keep(steady)
    apply_often(steady, made.id, "F" * 12)
    assert verdict(steady, made.id).status is REVIEWED
    clock.now += HOUR
    apply_often(steady, made.id, "SS", session="a0")
    judged = verdict(steady, made.id)
    assert (judged.sessions, judged.applications, judged.success_rate) == (1, 2, 1.0)


def test_what_has_not_happened_yet_is_refused(steady: Memory, clock: Clock) -> None:
    made = keep(steady)
    with pytest.raises(InvalidInput, match="2999-01-01 is in the future"):
        steady.patterns.record_application(made.id, outcome="SUCCESS", at="2999-01-01")
    ahead = steady.patterns.record_application(made.id, outcome="SUCCESS", at=clock.now + 2 * HOUR)
    assert ahead.at == clock.now + 2 * HOUR


def test_an_episode_that_is_gone_for_good_is_named_by_no_pattern(open_memory: OpenMemory, clock: Clock) -> None:
    ada, bob = (open_memory(clock=clock, principal=name) for name in ("ada", "bob"))
    keep(ada)
    keep(bob, "bobs own", visibility="personal")
    for place, outcome in enumerate(("SUCCESS", "FAILURE")):
        did(ada, f"e{place}", "x", outcome=outcome)
        ada.patterns.record_application("small steps", episode=f"e{place}")
        bob.patterns.record_application("bobs own", episode=f"e{place}")
    for memory in (ada, bob):
        memory.patterns.validate()
    own = bob.patterns.get("bobs own")
    assert (own.evidence.supporting, own.evidence.counter) == (("e0",), ("e1",))
    ada.forget("e1", hard=True)
    # What is only forgotten may come back, and is named until then.
    ada.forget("e0")
    for memory, id in ((ada, "small steps"), (bob, "bobs own")):
        known = memory.patterns.get(id)
        assert (known.evidence.supporting, known.evidence.counter) == (("e0",), ())
        assert (known.evidence.sessions, known.version) == (2, own.version)
        assert verdict(memory, id).sessions == 2
        assert memory.patterns.get(id).evidence.counter == ()


def test_undo_looks_at_the_newest_change(steady: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undoing, "_MAX_REVISIONS", 2)
    made = keep(steady)
    for place in range(6):
        clock.now += HOUR
        steady.patterns.update(made.id, summary=f"told {place} times")
    clock.now += HOUR
    steady.patterns.deprecate(made.id, "it is old")
    with pytest.raises(NothingToUndo, match="deprecated"):
        steady.undo(made.id)
    assert steady.patterns.get(made.id).status is PatternStatus.DEPRECATED


def test_it_says_when_enough_sessions_were_last_judged(steady: Memory, clock: Clock) -> None:
    made, tried = keep(steady), keep(steady, "tried")
    apply_often(steady, made.id, "SSSS")
    steady.patterns.validate()
    assert steady.patterns.get(made.id).evidence.last_validated_at is None
    apply_often(steady, made.id, "S", prefix="b")
    steady.patterns.validate()
    known = steady.patterns.get(made.id)
    assert known.evidence.last_validated_at == clock.now
    clock.now += DAY
    steady.patterns.validate()
    again = steady.patterns.get(made.id)
    # The same verdict on another day: no other version, and nothing to undo.
    assert (again.evidence.last_validated_at, again.version) == (clock.now, known.version)
    assert steady.patterns.versions(made.id) == ()
    assert steady.patterns.get(tried.id).evidence.last_validated_at is None
