"""Patterns: kept, found for a task, changed, brought together, taken out of use. On both engines."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.sample_episodes import Clock
from tests.sample_patterns import STRATEGY, apply_often, did, keep
from treering.core.errors import InvalidInput, NotFound, NothingToUndo
from treering.core.patterns import Pattern, PatternCategory, PatternStatus
from treering.core.queries import PatternFilter
from treering.memory import Memory

ANY = tuple(PatternStatus)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def steady(open_memory: OpenMemory, clock: Clock) -> Memory:
    return open_memory(clock=clock)


def names(found: Any) -> list[str]:
    return [each.pattern.name for each in found]


def test_a_new_pattern_is_a_candidate_whoever_says_that_it_works(memory: Memory) -> None:
    made = keep(memory)
    assert memory.patterns.get(made.id) == made == memory.get(made.id)
    assert (made.status, made.evidence.applications) == (PatternStatus.CANDIDATE, 0)
    assert memory.patterns.list() == (made,)
    with pytest.raises(InvalidInput, match="status cannot be set"):
        keep(memory, "proven", status="VALIDATED")
    with pytest.raises(InvalidInput, match="evidence cannot be set"):
        memory.patterns.update(made.id, evidence={"applications": 9})


def test_only_what_is_validated_is_suggested(steady: Memory) -> None:
    proven, tried, doubted = (keep(steady, name) for name in ("proven", "tried", "doubted"))
    apply_often(steady, proven.id, "S" * 25)
    apply_often(steady, doubted.id, "F" * 12)
    steady.patterns.validate()
    assert names(steady.patterns.find_applicable("fix the login")) == ["proven"]
    assert set(names(steady.patterns.find_applicable("fix the login", statuses=ANY))) == {"proven", "tried", "doubted"}
    assert steady.patterns.find_applicable("write the documentation", statuses=ANY) == ()
    assert steady.patterns.get(tried.id).status is PatternStatus.CANDIDATE


def test_a_suggestion_shows_what_its_score_is_made_of(steady: Memory) -> None:
    made = keep(steady)
    apply_often(steady, made.id, "S" * 25)
    steady.patterns.validate()
    (found,) = steady.patterns.find_applicable("fix the login")
    assert found.score == pytest.approx(sum(found.terms.values()))
    assert set(found.terms) == {"confidence", "success", "use", "recency", "match"}
    assert "used 25 times" in found.why
    assert "success rate 1.00" in found.why


def test_what_is_given_goes_before_the_words(memory: Memory) -> None:
    keep(memory, "for tests", applicability={"problem_types": ["test"], "capabilities": ["pytest"]})
    ask = memory.patterns.find_applicable
    assert names(ask("fix the login", statuses=ANY)) == []
    assert names(ask("fix the login", statuses=ANY, task_type="test", tools=["pytest"])) == ["for tests"]
    assert names(ask("fix it", statuses=ANY, categories=["recovery"], task_type="test", tools=["pytest"])) == []
    with pytest.raises(InvalidInput, match="task_type, domain"):
        ask("fix it", colour="red")
    with pytest.raises(InvalidInput, match="VALIDATED"):
        ask("fix it", statuses=["fine"])
    with pytest.raises(InvalidInput, match="limit is 0"):
        ask("fix it", limit=0)


def test_a_pattern_is_found_as_it_is_now(open_memory: OpenMemory, clock: Clock) -> None:
    one, other = open_memory(clock=clock), open_memory(clock=clock)
    ask = lambda: names(one.patterns.find_applicable("fix it", statuses=ANY, limit=100))  # noqa: E731
    assert ask() == []
    made = keep(other)
    assert ask() == ["small steps"]
    other.patterns.update(made.id, name="smaller steps")
    assert ask() == ["smaller steps"]
    other.forget(made.id)
    assert ask() == []
    other.undo(made.id)
    assert ask() == ["smaller steps"]
    for number in range(80):
        keep(other, f"more {number}", id=f"m{number:03}")
    assert len(ask()) == 81
    other.forget(made.id, hard=True)
    # As many as before, and of the same versions.
    keep(other, "instead")
    assert "instead" in ask()
    assert "smaller steps" not in ask()


def test_a_change_of_words_keeps_the_evidence_and_a_change_of_content_begins_it_anew(steady: Memory) -> None:
    made = keep(steady)
    apply_often(steady, made.id, "S" * 25)
    steady.patterns.validate()
    told = steady.patterns.update(made.id, summary="Change one thing at a time")
    assert (told.status, told.evidence.generation, told.evidence.applications) == (PatternStatus.VALIDATED, 1, 25)
    other = steady.patterns.update(made.id, content={**STRATEGY, "approach": "all at once"})
    assert (other.status, other.evidence.generation, other.evidence.applications) == (PatternStatus.CANDIDATE, 2, 0)
    assert steady.patterns.sessions(made.id) == ()
    assert steady.patterns.update(made.id, name=other.name).version == other.version
    moves = [
        (each.detail["from"], each.detail["to"]) for each in steady.patterns.history(made.id) if "from" in each.detail
    ]
    assert moves == [("VALIDATED", "CANDIDATE"), ("CANDIDATE", "VALIDATED")]


def test_undo_takes_back_the_last_change(steady: Memory) -> None:
    made = keep(steady)
    steady.patterns.update(made.id, summary="other words")
    undone = steady.undo(made.id)
    assert isinstance(undone, Pattern)
    assert undone.summary == ""
    with pytest.raises(NothingToUndo):
        steady.undo(made.id)
    steady.forget(made.id)
    with pytest.raises(NotFound):
        steady.patterns.get(made.id)
    assert isinstance(steady.undo(made.id), Pattern)


def test_what_is_deprecated_stays_so(steady: Memory) -> None:
    made, better = keep(steady), keep(steady, "better")
    gone = steady.patterns.deprecate(made.id, "the tool is gone", superseded_by=better.id)
    assert (gone.status, gone.links.superseded_by) == (PatternStatus.DEPRECATED, better.id)
    refused: tuple[Callable[[], Any], ...] = (
        lambda: steady.patterns.update(made.id, name="again"),
        lambda: steady.patterns.refine(made.id),
        lambda: steady.patterns.deprecate(made.id, "once more"),
        lambda: steady.patterns.merge([made.id, better.id]),
        lambda: steady.patterns.deprecate(better.id, "turned around", superseded_by=made.id),
        lambda: steady.undo(made.id),
    )
    for act in refused:
        with pytest.raises((InvalidInput, NothingToUndo), match="deprecated"):
            act()
    apply_often(steady, made.id, "S" * 25)
    assert [each.pattern for each in steady.patterns.validate()] == [better.id]
    steady.patterns.import_(steady.patterns.export())
    assert steady.patterns.get(made.id).status is PatternStatus.DEPRECATED
    steady.forget(made.id)
    assert isinstance(steady.undo(made.id), Pattern)
    assert steady.patterns.get(made.id).status is PatternStatus.DEPRECATED


def test_a_merge_counts_what_was_told_of_all_of_them(steady: Memory) -> None:
    one, other = keep(steady), keep(steady, "little steps", applicability={"problem_types": ["test"]})
    apply_often(steady, one.id, "S" * 10)
    # One session used both, and is one piece of evidence.
    apply_often(steady, other.id, "S" * 10, prefix="a")
    apply_often(steady, other.id, "SSF", prefix="b")
    steady.patterns.validate()
    alike = steady.patterns.similar(one.id)
    assert [each.pattern.id for each in alike] == [other.id]
    made = steady.patterns.merge([one.id, other.id])
    assert (made.evidence.applications, made.evidence.sessions) == (23, 13)
    assert made.evidence.success_rate == pytest.approx(12 / 13)
    assert made == steady.patterns.get(made.id)
    assert made.status is PatternStatus.CANDIDATE
    steady.patterns.validate()
    judged = steady.patterns.get(made.id).evidence
    for name in ("applications", "sessions", "success_rate", "base_rate", "improvement", "confidence"):
        assert getattr(made.evidence, name) == getattr(judged, name), name
    assert len(steady.patterns.sessions(made.id)) == 13
    assert sum(each.n for each in steady.patterns.sessions(made.id)) == 23
    apply_often(steady, made.id, "S", prefix="c")
    (verdict,) = (each for each in steady.patterns.validate() if each.pattern == made.id)
    assert (verdict.judged.sessions, verdict.judged.applications) == (14, 24)
    assert set(steady.patterns.get(made.id).applicability.problem_types) == {"fix", "test"}
    for each in (one, other):
        known = steady.patterns.get(each.id)
        assert (known.status, known.links.superseded_by) == (PatternStatus.DEPRECATED, made.id)
    with pytest.raises(NothingToUndo, match="deprecated"):
        steady.undo(made.id)


def test_a_merge_of_merges_counts_all_and_a_new_generation_none(steady: Memory) -> None:
    ids = [keep(steady, f"p{number}").id for number in range(3)]
    for place, id in enumerate(ids):
        apply_often(steady, id, "SSSS", prefix=f"{place}-")
    first = steady.patterns.merge(ids[:2])
    both = steady.patterns.merge([first.id, ids[2]])
    assert len(steady.patterns.sessions(both.id)) == 12
    steady.patterns.update(both.id, content={**STRATEGY, "approach": "other"})
    assert steady.patterns.sessions(both.id) == ()


def test_what_nobody_uses_is_pruned(steady: Memory, clock: Clock) -> None:
    old, used = keep(steady, "old"), keep(steady, "used")
    clock.now += timedelta(days=200)
    apply_often(steady, used.id, "S")
    fresh = keep(steady, "fresh")
    assert [each.pattern.id for each in steady.patterns.prune(dry_run=True)] == [old.id]
    assert steady.patterns.get(old.id).status is PatternStatus.CANDIDATE
    (low,) = steady.patterns.prune()
    assert "unused" in low.why
    assert [each.id for each in steady.patterns.list(PatternFilter(statuses=(PatternStatus.DEPRECATED,)))] == [old.id]
    assert steady.patterns.get(fresh.id).status is PatternStatus.CANDIDATE
    assert "unused" in str(steady.patterns.get(old.id).deprecation_reason)


def test_a_template_becomes_subtasks(memory: Memory) -> None:
    content = {
        "form": "template",
        "structure": [{"title": "test {module}", "depends_on": ["write {module}"]}, {"title": "write {module}"}],
        "parameters": [{"name": "module"}],
    }
    made = keep(memory, "module", category="decomposition", content=content)
    assert [each.title for each in memory.patterns.instantiate(made.id, module="login")] == [
        "write login",
        "test login",
    ]
    with pytest.raises(InvalidInput, match="module"):
        memory.patterns.instantiate(made.id)
    with pytest.raises(InvalidInput, match="strategy"):
        memory.patterns.instantiate(keep(memory).id)


def test_filters_and_words(memory: Memory) -> None:
    keep(memory)
    keep(memory, "recover", category="recovery", applicability={"domains": ["web"]})
    assert [each.name for each in memory.patterns.list(PatternFilter(categories=(PatternCategory.RECOVERY,)))] == [
        "recover"
    ]
    assert [each.name for each in memory.patterns.list(PatternFilter(problem_types=("fix",)))] == ["small steps"]
    test = {"form": "test", "field": "files", "operator": "exists"}
    told = keep(memory, "when", applicability={"conditions": [test]})
    assert "files" in memory.patterns.explain(told.applicability.conditions[0])
    with pytest.raises(NotFound, match="no pattern 'nothing'"):
        memory.patterns.get("nothing")


def test_a_condition_on_one_is_not_a_condition_on_true(memory: Memory) -> None:
    asked = lambda value: {"conditions": [{"form": "test", "field": "a", "operator": "eq", "value": value}]}  # noqa: E731
    made = keep(memory, applicability=asked(1))
    changed = memory.patterns.update(made.id, applicability=asked(True))
    assert (changed.version, changed.evidence.generation) == (2, 2)
    assert memory.patterns.update(made.id, applicability=asked(True)).version == 2


def test_what_was_merged_keeps_its_uses_episodes_and_savings(memory: Memory) -> None:
    for name in ("one", "two"):
        keep(memory, name)
        for number in range(6):
            did(memory, f"{name} {number}", "ls")
            memory.patterns.record_application(name, episode=f"{name} {number}", time_saved_ms=100)
    merged = memory.patterns.merge(["one", "two"])
    assert memory.patterns.get(merged.id).usage_count == 12
    memory.patterns.validate()
    for number in range(5):
        memory.patterns.record_application(merged.id, outcome="SUCCESS", session=f"new {number}")
    found = memory.patterns.get(merged.id)
    assert (found.usage_count, found.evidence.applications, found.evidence.sessions) == (17, 12, 12)
    assert len(found.evidence.supporting) == 12
    assert found.evidence.mean_time_saved_ms == 100
    assert len(memory.patterns.applications(merged.id)) == 17
