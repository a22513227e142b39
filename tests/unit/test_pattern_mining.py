"""What mining calls a step, what it finds, what it leaves out, and what it advises."""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from tests.samples import NOW
from treering.core.conditions import explain, holds
from treering.core.episodes import Episode, TraceEntry
from treering.core.patterns import Heuristic, PatternCategory, Procedure, Template
from treering.core.settings.mining import AdviceSettings, MiningSettings
from treering.patterns.mining.candidates import mine
from treering.patterns.mining.commands import command_head
from treering.patterns.mining.costs import less_by_rank
from treering.patterns.mining.findings import MinedPattern, Mining
from treering.patterns.mining.next_steps import next_steps
from treering.patterns.mining.recoveries import AGAIN, failure_features
from treering.patterns.mining.steps import coarser, levels_of, step_of

FEW = MiningSettings(least_episodes=3, least_sessions=3, least_share=0)
Step = str | tuple[str, str]


def entry(tool: str | None = None, given: Any = "", action: str = "did it", error: str = "") -> TraceEntry:
    text = given if isinstance(given, str) else json.dumps(given)
    return TraceEntry(at=NOW, action=action, tool=tool, input=text, output=error, is_error=bool(error))


def entries(steps: Sequence[Step]) -> list[TraceEntry]:
    """A step is the name of a tool, or the name with the error it met."""
    return [entry(step) if isinstance(step, str) else entry(step[0], error=step[1]) for step in steps]


def episode(number: int, steps: Sequence[Step], **more: Any) -> Episode:
    return Episode.make(
        id=f"e{number}",
        session=more.get("session", f"s{number}"),
        at=NOW + timedelta(minutes=number),
        task={"input": "x", "context": more.get("context", {})},
        execution={"trace": entries(steps), "plan": more.get("plan", ()), "duration_ms": more.get("duration_ms")},
        outcome={"status": more.get("status", "SUCCESS")},
        metadata={
            "task_type": more.get("task_type"),
            "domain": more.get("domain"),
            "tools": more.get("tools", ()),
        },
        deleted_at=more.get("deleted_at"),
        consolidation=more.get("consolidation"),
    )


def found(mining: Mining, category: PatternCategory, *steps: str) -> MinedPattern | None:
    return next((m for m in mining.candidates if m.category is category and m.steps == steps), None)


@pytest.mark.parametrize(
    ("command", "head"),
    [
        ("pytest -q tests", "pytest"),
        ("cd /srv && FOO=1 python3.11 -m pytest -x", "pytest"),
        ('git add . && git commit -m "$(cat <<\'EOF\'\nIt\'s a "fix" && done\n\nEOF\n)"', "git commit"),
        ("git commit -qm x && git status", "git commit"),
        ("git -C /srv --no-pager log --oneline | head -5", "git log"),
        ("git status", "git status"),
        ("sudo -n timeout 60 npm run test:unit -- --watch", "npm run test:unit"),
        ("uv run ruff check .", "ruff"),
        ("npx --yes jest a.test.ts", "jest"),
        ('bash -lc "cargo test --all"', "cargo test"),
        ("python tools/make.py --all", "python *.py"),
        ("node -e 'console.log(1)'", "node -e"),
        ("docker compose up -d", "docker compose up"),
        ("go run ./cmd/server", "go run"),
        ("./scripts/check.sh 2>&1 | tee log", "check.sh"),
        ("echo '{}' | jq .", "jq"),
        ("for f in *.py; do black $f; done", "black"),
        ("ls missing 2>/dev/null || echo none", "ls"),
        ("VERSION=$(git describe --tags) && make release", "make release"),
        ("cat > a.txt <<EOF\nrm -rf /\nEOF", "cat"),
        ("C:\\tools\\python.exe -m pip install x", "pip install"),
        ("# only a remark", ""),
        ("", ""),
        ("'unclosed", "unclosed"),
    ],
)
def test_a_command_is_told_by_what_it_does(command: str, head: str) -> None:
    assert " ".join(command_head(command)) == head


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (entry("Bash", {"command": "git commit -m x", "description": "Commit"}), "Bash: git commit"),
        (entry("run_in_terminal", {"command": "pytest"}), "run_in_terminal: pytest"),
        (entry("shell", {"command": ["bash", "-lc", "cd x && npm test"]}), "shell: npm test"),
        (entry("bash", "make check"), "bash: make check"),
        (entry("Edit", {"file_path": "/srv/a.PY", "new_string": '{"command": "rm"}'}), "Edit: *.py"),
        (entry("str_replace", {"path": "docs/Makefile"}), "str_replace: Makefile"),
        (entry("read_file", "src/app.ts"), "read_file: *.ts"),
        (entry("Grep", {"pattern": "x", "path": "/srv/src"}), "Grep"),
        (entry("search", "how does it work"), "search"),
        (entry("Edit", '{"file_path": "a.go", "old_string": "cut off he'), "Edit: *.go"),
        (entry(None, "", action="Updated src/a/b.py with 12 lines"), "updated *.py with lines"),
        (entry(None, "", action="42"), "step"),
        (entry("odd: name"), "odd:name"),
    ],
)
def test_a_step_is_called_alike_whoever_did_it(step: TraceEntry, name: str) -> None:
    assert step_of(step) == name


def test_a_step_has_wider_names() -> None:
    assert levels_of("Bash: git commit") == ("Bash: git commit", "Bash: git", "Bash")
    assert coarser("Edit: *.py") == "Edit"
    assert coarser("Grep") is None


def test_a_routine_names_its_episodes_and_how_they_went() -> None:
    world = [episode(n, ["read", "edit", "look", "test"]) for n in range(4)]
    world.append(episode(4, ["read", "edit", "test"], status="FAILURE"))
    world += [episode(n, ["test", "talk"], status="FAILURE") for n in range(5, 10)]
    mined = found(mine(world, FEW), PatternCategory.SEQUENCE, "read", "edit", "test")
    assert mined is not None
    assert (mined.support, mined.against, mined.sessions, mined.sessions_for) == (4, 1, 5, 4)
    assert mined.supporting == ("e3", "e2", "e1", "e0")
    assert mined.counter == ("e4",)
    assert mined.base_rate == pytest.approx(0.4)
    assert mined.lift == pytest.approx(0.8 / 0.4)
    assert isinstance(mined.content, Procedure)
    assert [step.action for step in mined.content.steps] == ["read", "edit", "test"]


def test_a_part_of_a_routine_is_not_told_beside_it() -> None:
    mining = mine([episode(n, ["read", "edit", "test"]) for n in range(5)], FEW)
    assert [m.steps for m in mining.candidates if m.category is PatternCategory.SEQUENCE] == [("read", "edit", "test")]


def test_what_goes_wrong_is_told_as_a_warning_with_its_failures_as_support() -> None:
    world = [episode(n, ["read", "push"], status="FAILURE") for n in range(5)]
    world += [episode(n, ["read", "test"]) for n in range(5, 20)]
    mined = found(mine(world, FEW), PatternCategory.FAILURE, "read", "push")
    assert mined is not None
    assert (mined.support, mined.against) == (5, 0)
    assert mined.base_rate == pytest.approx(0.25)


def test_one_busy_session_is_no_support() -> None:
    busy = [episode(n, ["read", "edit"], session="one") for n in range(50)]
    assert mine(busy, FEW).candidates == ()
    assert mine(busy, FEW).habits == ()


def test_steps_too_far_apart_are_no_sequence() -> None:
    world = [episode(n, ["read", f"a{n}", f"b{n}", f"c{n}", "test"]) for n in range(5)]
    assert mine(world, FEW).candidates == ()
    wider = FEW.replace(most_gap=3)
    assert found(mine(world, wider), PatternCategory.SEQUENCE, "read", "test")


def test_subtasks_that_follow_each_other_are_found_whatever_they_were_about() -> None:
    plans = [(f"Read src/m{n}.py", f"Fix bug {n}", "Run tests") for n in range(4)]
    mining = mine([episode(n, [], plan=plan) for n, plan in enumerate(plans)], FEW)
    (whole,) = [m for m in mining.candidates if m.category is PatternCategory.DECOMPOSITION]
    assert isinstance(whole.content, Template)
    assert [part.title for part in whole.content.structure] == ["read", "fix bug", "run tests"]
    assert whole.content.structure[2].depends_on == ("fix bug",)
    assert any(m.category is PatternCategory.SEQUENCE and "fix bug → run tests" in m.name for m in mining.candidates)


def test_a_plan_that_fails_more_than_others_is_no_decomposition() -> None:
    world = [episode(n, [], plan=("a", "b"), status="FAILURE") for n in range(4)]
    world += [episode(n, [], plan=(f"only {chr(97 + n)}",)) for n in range(4, 10)]
    assert not [m for m in mine(world, FEW).candidates if m.category is PatternCategory.DECOMPOSITION]


MISSING = "File /srv/{0}/a.py was not found"


def test_a_recovery_counts_when_it_worked_and_when_it_did_not() -> None:
    world = [episode(n, [("open", MISSING.format(n)), "glob", "open"]) for n in range(4)]
    world.append(episode(4, [("open", MISSING.format(4)), "glob", ("open", MISSING.format(4))]))
    world += [episode(n, [("open", MISSING.format(n)), ("open", "other"), "talk"]) for n in range(5, 8)]
    mined = found(mine(world, FEW), PatternCategory.RECOVERY, "open", "glob")
    assert mined is not None
    assert (mined.support, mined.against, mined.counter) == (4, 1, ("e4",))
    assert mined.base_rate == pytest.approx(4 / 8)
    assert mined.lift == pytest.approx(0.8 / 0.5)
    (asked,) = mined.applicability.conditions
    assert holds(asked, failure_features(MISSING.format(99), "open"))
    assert not holds(asked, failure_features("out of memory", "open"))
    assert isinstance(mined.content, Heuristic)
    assert explain(mined.content.condition) == "failure.step is open"


def test_trying_again_is_a_recovery_too() -> None:
    world = [episode(n, [("fetch", "timed out"), "fetch"]) for n in range(3)]
    mined = found(mine(world, FEW), PatternCategory.RECOVERY, "fetch")
    assert mined is not None
    assert isinstance(mined.content, Heuristic)
    assert mined.content.action == AGAIN


def test_a_success_long_after_the_failure_is_no_recovery() -> None:
    rest = [f"x{n}" for n in range(FEW.recovery_within)]
    world = [episode(n, [("fetch", "timed out"), *rest, "fetch"]) for n in range(3)]
    assert found(mine(world, FEW), PatternCategory.RECOVERY, "fetch", *rest[: FEW.recovery_steps]) is None


def test_a_tool_that_does_better_for_a_kind_of_task_is_found_for_that_kind_only() -> None:
    world = [episode(n, ["debugger"], task_type="fix") for n in range(5)]
    world += [episode(n, ["print"], task_type="fix", status="FAILURE") for n in range(5, 10)]
    world += [episode(n, ["debugger"], task_type="docs", status="FAILURE") for n in range(10, 15)]
    world += [episode(n, ["print"], task_type="docs", status="FAILURE") for n in range(15, 20)]
    choices = [m for m in mine(world, FEW).candidates if m.category is PatternCategory.TOOL_SELECTION]
    assert [(m.steps, m.applicability.problem_types, m.support, m.against) for m in choices] == [
        (("debugger",), ("fix",), 5, 0)
    ]


def test_a_tool_that_no_trace_names_is_mined_too() -> None:
    told = [
        episode(number, [], task_type="fix", tools=("pytest",) if number % 2 else ("print",), status=status)
        for number, status in enumerate(["FAILURE", "SUCCESS"] * 10)
    ]
    choice = found(mine(told, FEW), PatternCategory.TOOL_SELECTION, "pytest")
    assert choice is not None
    assert choice.name == "fix: use pytest"
    assert len(choice.supporting) == 10
    assert found(mine(told, FEW), PatternCategory.TOOL_SELECTION, "print") is None


@pytest.mark.parametrize("tool", [None, "editor"])
def test_a_routine_is_called_by_its_actions(tool: str | None) -> None:
    actions = ("write failing test", "implement", "run tests")
    trace = [entry(tool, action=action) for action in actions]
    told = [
        each.replace(execution=each.execution.replace(trace=tuple(trace)))
        for each in (episode(number, []) for number in range(6))
    ]
    (routine,) = [each for each in mine(told, FEW).candidates if each.category is PatternCategory.SEQUENCE]
    assert routine.name == "write failing test → implement → run tests"


@pytest.mark.parametrize(
    ("action", "name"),
    [
        ("editor", "editor"),
        ("use the editor", "editor"),
        ("write failing test", "write failing test"),
        ("Refactor", "refactor"),
        ("I looked at the file once more and then changed the third line of it", "editor"),
    ],
)
def test_an_action_names_a_step_where_it_is_short_and_says_more_than_the_tool(action: str, name: str) -> None:
    assert step_of(entry("editor", action=action)) == name
    assert step_of(entry("editor", {"path": "a.py"}, action=action)) == "editor: *.py"


def test_languages_are_features_too() -> None:
    world = [episode(n, ["mypy"], context={"languages": ["python", "sql"]}) for n in range(5)]
    world += [episode(n, ["guess"], context={"languages": ["python"]}, status="FAILURE") for n in range(5, 10)]
    (choice,) = [m for m in mine(world, FEW).candidates if m.category is PatternCategory.TOOL_SELECTION]
    assert holds(choice.applicability.conditions[0], {"languages": ["go", "python"]})
    assert not holds(choice.applicability.conditions[0], {"languages": ["go"]})


def test_what_saves_time_is_told_with_how_much() -> None:
    world = [episode(n, ["cache", "build"], task_type="release", duration_ms=100 + n) for n in range(8)]
    world += [episode(n, ["build"], task_type="release", duration_ms=1_000 + n) for n in range(8, 16)]
    mined = found(mine(world, FEW), PatternCategory.OPTIMISATION, "cache")
    assert mined is not None
    assert mined.saved_ms == pytest.approx(1_011.5 - 103.5)
    assert mined.lift == pytest.approx(1_011.5 / 103.5)
    assert not [m for m in mine(world[:8], FEW).candidates if m.category is PatternCategory.OPTIMISATION]


def test_giving_up_quickly_saves_nothing() -> None:
    world = [episode(n, ["quit"], task_type="fix", duration_ms=1, status="FAILURE") for n in range(10)]
    world += [episode(n, ["work"], task_type="fix", duration_ms=1_000) for n in range(10, 20)]
    assert not [m for m in mine(world, FEW).candidates if m.category is PatternCategory.OPTIMISATION]


def test_ranks_tell_how_surely_one_is_less() -> None:
    low, high = np.arange(10.0), np.arange(10.0) + 20
    # By hand: U = 0 of 100, mean 50, spread sqrt(10 * 10 * 21 / 12).
    assert less_by_rank(low, high) == pytest.approx(50 / (175**0.5))
    assert less_by_rank(high, low) == pytest.approx(-50 / (175**0.5))
    assert less_by_rank(np.ones(5), np.ones(5)) == 0


def test_evidence_is_capped_but_counted() -> None:
    mining = mine([episode(n, ["read", "edit"]) for n in range(9)], FEW.replace(named_episodes=2))
    mined = found(mining, PatternCategory.SEQUENCE, "read", "edit")
    assert mined is not None
    assert (mined.supporting, mined.support) == (("e8", "e7"), 9)


def test_new_evidence_keeps_the_key() -> None:
    few, more = (mine([episode(n, ["read", "edit"]) for n in range(count)], FEW) for count in (5, 8))
    assert [m.key for m in few.candidates] == [m.key for m in more.candidates]
    assert few.candidates[0].support < more.candidates[0].support


def test_what_was_deleted_is_no_evidence() -> None:
    world = [episode(n, ["read", "edit"], deleted_at=NOW if n < 3 else None) for n in range(6)]
    (mined,) = mine(world, FEW).candidates
    assert set(mined.supporting) == {"e3", "e4", "e5"}


def test_an_episode_that_stands_for_others_is_not_counted_beside_them() -> None:
    world = [episode(n, ["read", "edit"]) for n in range(4)]
    about = {"representative": "e0", "members": ("e0", "e1"), "instances": 2, "first_at": NOW, "last_at": NOW}
    standing = episode(9, ["read", "edit"], consolidation={**about, "success_rate": 1.0})
    assert mine([*world, standing], FEW) == mine(world, FEW)
    assert "e9" in mine([*world[2:], standing], FEW).candidates[0].supporting


def test_nothing_gives_nothing() -> None:
    assert mine([]) == Mining()
    assert next_steps(Mining(), entries(["read"])) == []
    assert mine([episode(1, [])]).candidates == ()


def habits() -> Mining:
    world = [episode(n, ["read", "edit", "test", "commit"]) for n in range(6)]
    world += [episode(n, ["read", "edit", ("test", "2 failed, 1 passed"), "edit", "test"]) for n in range(6, 10)]
    world += [episode(n, ["read", ("open", "permission denied"), "ask", "open"]) for n in range(10, 14)]
    return mine(world, FEW)


def test_advice_follows_the_last_steps() -> None:
    best = next_steps(habits(), entries(["read", "edit", "test"]))
    assert best[0].step == "commit"
    assert "after" in best[0].because
    assert [each.share for each in best] == sorted((each.share for each in best), reverse=True)
    assert next_steps(habits(), [])[0].step == "read"


def test_advice_after_a_failure_comes_from_failures_like_it() -> None:
    mining = habits()
    assert next_steps(mining, entries(["read", "edit", ("test", "7 failed, 30 passed")]))[0].step == "edit"
    assert next_steps(mining, entries(["read", ("write", "error: permission denied")]))[0].step == "ask"


def test_a_step_nobody_did_before_is_no_obstacle() -> None:
    assert len(next_steps(habits(), entries(["unheard of", ("never seen", "strange")]), limit=2)) == 2
    assert next_steps(habits(), entries(["unheard of"]))


def test_the_runs_own_steps_count_as_far_as_they_are_told_to() -> None:
    steps = entries(["edit", "commit", "edit", "commit", "edit", "commit", "edit"])
    alone = AdviceSettings(own_following=0, own_use=0, own_new=0)
    own = AdviceSettings(own_following=3, own_use=0)
    assert next_steps(habits(), steps, advice=alone)[0].step == "test"
    assert next_steps(habits(), steps, advice=own)[0].step == "commit"


def test_advice_knows_the_kind_of_task() -> None:
    world = [episode(n, ["look", "fix"], task_type="bug") for n in range(5)]
    world += [episode(n, ["look", "write"], task_type="docs") for n in range(5, 10)]
    mining = mine(world, FEW)
    assert next_steps(mining, entries(["look"]), {"task_type": "bug"})[0].step == "fix"
    assert next_steps(mining, entries(["look"]), {"task_type": "docs"})[0].step == "write"


def test_what_was_mined_survives_a_trip_through_json() -> None:
    mining = habits()
    again = Mining.from_json(mining.to_json())
    assert again == mining
    history = entries(["read", "edit"])
    assert next_steps(again, history) == next_steps(mining, history)


def test_a_step_nobody_did_before_is_known_by_its_wider_name() -> None:
    def run(command: str) -> TraceEntry:
        return entry("Bash", {"command": command})

    world = [
        episode(n, []).replace(execution={"trace": [run(f"tool-{n}"), entry("note"), entry("talk"), entry("talk")]})
        for n in range(6)
    ]
    mining = mine(world, FEW)
    assert next_steps(mining, [run("never-seen")])[0].step == "note"
    assert next_steps(mining, [entry("unheard of")])[0].step == "talk"


def test_what_only_this_run_did_can_be_advised() -> None:
    steps = entries(["mine", "yours", "mine", "yours", "mine"])
    best = next_steps(habits(), steps)
    assert "yours" in {each.step for each in best}
    assert sum(each.share for each in next_steps(habits(), steps, limit=100)) == pytest.approx(1)
    none = AdviceSettings(own_new=0)
    assert "yours" not in {each.step for each in next_steps(habits(), steps, advice=none)}
