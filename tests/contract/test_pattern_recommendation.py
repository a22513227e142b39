"""What a task is given when it begins, when a step fails, and when it ends. On both engines."""

from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.sample_episodes import Clock
from tests.sample_patterns import HOUR, ROUTINE, apply_often, did, keep, pattern_stages
from treering.core.errors import InvalidInput, NotFound
from treering.core.patterns import PatternCategory
from treering.core.queries import PatternFilter
from treering.memory import Memory


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def steady(open_memory: OpenMemory, clock: Clock) -> Memory:
    """With four proven patterns, seven episodes and something known."""
    memory = open_memory(clock=clock)
    for number in range(4):
        made = keep(memory, f"pattern {number}", summary=f"do it in way {number}")
        apply_often(memory, made.id, "S" * (25 + number))
    # Before there are episodes that say how well such tasks go without them.
    memory.patterns.validate()
    for number in range(7):
        did(memory, f"e{number}", *ROUTINE, insights=[f"lesson {number}"])
    memory.remember("The login checks the password twice", id="known")
    return memory


def test_a_task_begins_with_three_patterns_five_episodes_and_what_is_known(steady: Memory) -> None:
    found = steady.patterns.context_for_task("fix the login")
    assert [each.pattern.name for each in found.patterns] == ["pattern 3", "pattern 2", "pattern 1"]
    assert len(found.episodes) == 5
    assert [hit.id for hit in found.known] == ["known"]
    assert (found.task, found.features["task_type"]) == ("fix the login", "fix")
    text = found.text()
    for said in ("do it in way 3", "lesson", "password twice", "100% success"):
        assert said in text
    few = steady.patterns.context_for_task("fix the login", patterns=1, episodes=2)
    assert (len(few.patterns), len(few.episodes)) == (1, 2)
    with pytest.raises(InvalidInput, match="task is empty"):
        steady.patterns.context_for_task("  ")


def test_the_text_stays_within_its_budget(steady: Memory) -> None:
    found = steady.patterns.context_for_task("fix the login")
    words = lambda text: len(text.split())  # noqa: E731
    for budget in (0, 10, 30, 60, 10_000):
        text = found.text(budget, count=words)
        assert words(text) <= budget
    # What is proven comes first.
    assert "pattern 3" in found.text(30, count=words)
    assert found.text(10_000, count=words) == found.text()


def test_a_task_has_it_in_its_working_memory(steady: Memory) -> None:
    task = steady.task("fix the login")
    found = steady.patterns.context_for_task(task)
    shown = task.render().text
    assert "do it in way 3" in shown
    assert "lesson" in shown
    assert task.read(found.patterns[0].pattern.id).text.startswith("pattern 3")
    # Asked once more, nothing stands there twice.
    steady.patterns.context_for_task(task)
    assert task.render().text.count("do it in way 3") == 1
    assert all(each.tokens <= each.budget for each in task.stats().sections)


def test_what_is_not_proven_is_not_given_unless_it_is_asked_for(steady: Memory) -> None:
    keep(steady, "tried")
    given = steady.patterns.context_for_task("fix the login", patterns=10)
    assert "tried" not in [each.pattern.name for each in given.patterns]
    asked = steady.patterns.context_for_task("fix the login", patterns=10, statuses=["CANDIDATE"])
    assert [each.pattern.name for each in asked.patterns] == ["tried"]


def test_a_failure_brings_recoveries_failures_like_it_and_next_steps(steady: Memory, clock: Clock) -> None:
    fixing = ("!pytest -q", "pip install x", "pytest -q")
    for number in range(8):
        did(steady, f"broke {number}", *fixing)
    clock.now += HOUR
    steady.patterns.mine()
    clock.now += HOUR
    for number in range(40):
        did(steady, f"again {number}", *fixing)
        did(steady, f"otherwise {number}", "!pytest -q", "git stash", "!pytest -q")
    clock.now += HOUR
    pattern_stages(steady)
    steps = [{"tool": "Bash", "input": "pytest -q", "action": "run"}]
    found = steady.patterns.after_failure("error: it broke", history=steps, task="fix the login")
    assert found.recoveries
    assert all(each.pattern.category is PatternCategory.RECOVERY for each in found.recoveries)
    assert "pip install" in found.recoveries[0].pattern.name
    assert [hit.same for hit in found.similar] == [True] * 3
    assert "Bash: pip install" in [each.step for each in found.next_steps]
    assert "pip install" in found.text()
    assert len(found.text(40).split()) <= 40
    unknown = steady.patterns.after_failure(
        "segmentation fault", history=[{"tool": "Bash", "input": "cc", "action": "x"}]
    )
    assert unknown.recoveries == ()
    with pytest.raises(InvalidInput, match="error message is empty"):
        steady.patterns.after_failure(" ")


def test_an_error_alone_is_held_against_failures_with_its_words(steady: Memory) -> None:
    for number in range(6):
        did(steady, f"odd {number}", "!frobnicate", "defrobnicate", "frobnicate")
    found = steady.patterns.after_failure("error: it broke")
    assert "step" not in found.features["failure"]
    assert found.next_steps[0].step == "Bash: defrobnicate"
    assert all("it broke" not in each.step for each in found.next_steps)
    assert "defrobnicate" in found.text()
    assert steady.patterns.after_failure("segmentation fault").next_steps == ()


def test_people_tell_recoveries_for_messages(steady: Memory) -> None:
    condition = {"form": "test", "field": "failure.message", "operator": "contains", "value": "timeout"}
    content = {"form": "heuristic", "condition": condition, "action": "wait a second, then try again"}
    where = {"conditions": [condition]}
    keep(steady, "retry", category="recovery", content=content, applicability=where)
    ask = lambda error: steady.patterns.after_failure(error, statuses=["CANDIDATE"]).recoveries  # noqa: E731
    assert [each.pattern.id for each in ask("API Timeout after 30 s")] == ["retry"]
    assert ask("permission denied") == ()


@pytest.mark.parametrize(
    ("features", "said"),
    [
        ({"tools": "pytest"}, "tools"),
        ({"complexity": "high"}, "complexity"),
        ({"complexity": 7}, "complexity"),
        ({"context": "x"}, "context"),
        ({"task_type": 5}, "task_type"),
        ({"files": [1]}, "files"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_is_no_feature_is_refused(memory: Memory, features: dict[str, Any], said: str) -> None:
    for ask in (memory.patterns.find_applicable, memory.patterns.context_for_task):
        with pytest.raises(InvalidInput, match=said):
            ask("fix the login", **features)


def test_what_is_no_task_error_or_history_is_refused(memory: Memory) -> None:
    nothing: Any = None
    for ask in (
        lambda: memory.patterns.find_applicable(nothing),
        lambda: memory.patterns.context_for_task(nothing),
        lambda: memory.patterns.after_failure(nothing),
        lambda: memory.patterns.after_failure("x", history=["a"]),  # type: ignore[list-item]
        lambda: memory.patterns.next_steps(limit=0),
        lambda: memory.patterns.similar("x", limit=0),
        lambda: memory.patterns.explain({"form": "test"}),
    ):
        with pytest.raises(InvalidInput):
            ask()


def test_long_lessons_leave_room_for_the_other_episodes(memory: Memory) -> None:
    for number in range(5):
        memory.episode(f"fix the login {number}", insights=["word " * 400] * 3, task_type="fix")
    text = memory.patterns.context_for_task("fix the login").text(3_000)
    assert sum(f"fix the login {number}" in text for number in range(5)) == 5


def test_without_a_past_there_is_no_advice(memory: Memory) -> None:
    found = memory.patterns.after_failure("error: it broke")
    assert (found.recoveries, tuple(found.similar), found.next_steps, found.text()) == ((), (), (), "")
    begun = memory.patterns.context_for_task("fix the login")
    assert (begun.patterns, tuple(begun.episodes), tuple(begun.known), begun.text()) == ((), (), (), "")


def test_what_was_forgotten_is_no_longer_advised(steady: Memory) -> None:
    for number in range(3):
        did(steady, f"odd {number}", "!frobnicate", "defrobnicate", "frobnicate")
    steps = [{"tool": "Bash", "input": "frobnicate", "output": "error: it broke", "action": "run", "is_error": True}]
    ask = lambda: [each.step for each in steady.patterns.next_steps(steps, limit=50)]  # noqa: E731
    assert "Bash: defrobnicate" in ask()
    for number in range(3):
        steady.forget(f"odd {number}", hard=True)
    assert "Bash: defrobnicate" not in ask()


def test_the_end_of_a_task_says_what_was_learned(steady: Memory, clock: Clock) -> None:
    clock.now += HOUR
    steady.patterns.mine()
    routine = steady.patterns.list(PatternFilter(categories=(PatternCategory.SEQUENCE,)), limit=1)[0]
    clock.now += HOUR
    did(steady, "done", *ROUTINE, patterns=["pattern 0"])
    learned = steady.patterns.learn_from_episode("done")
    assert {routine.id, "pattern 0"} <= {each.id for each in learned.patterns}
    assert routine.id in {each.id for each in learned.candidates}
    assert learned.counted == {each.id for each in learned.patterns}
    assert f"CANDIDATE {routine.name}: worked; 1 of 1 in 1 session so far" in learned.lines
    assert steady.patterns.get("pattern 0").usage_count == 26
    again = steady.patterns.learn_from_episode("done")
    assert (again.applications, again.counted) == (learned.applications, frozenset())
    assert "counted before" in again.text
    did(steady, "nothing", "ls")
    assert steady.patterns.learn_from_episode("nothing").applications == ()
    with pytest.raises(NotFound):
        steady.patterns.learn_from_episode("nowhere")
    # What it was found in taught nothing about it.
    before = steady.patterns.learn_from_episode("e0")
    assert routine.id not in {each.id for each in before.patterns}


def test_what_is_remembered_about_an_error_comes_with_it_and_steps_have_no_ids(steady: Memory) -> None:
    for number in range(6):
        did(steady, f"odd {number}", "!frobnicate", "defrobnicate", "frobnicate", output="restarted the frobnicator")
    known = steady.remember("error: it broke when the belt was off; put it on", type="error_pattern")
    steady.remember("error: it broke is what we print", type="decision")
    retired = steady.remember("error: it broke means no oil", type="gotcha")
    steady.correct(retired.id, "inaccurate")
    found = steady.patterns.after_failure("error: it broke")
    assert [hit.id for hit in found.known] == [known.id]
    stored = {known.id, *(f"odd {number}" for number in range(6))}
    assert {each.id for each in found.passages()} <= stored
    assert known.id in found.text()
    assert "What usually comes next: Bash: defrobnicate" in found.text()
    (first, *_) = (each for each in found.passages() if each.id != known.id)
    assert "task: fix the login" in first.text
    assert "in the end: restarted the frobnicator" in first.text
