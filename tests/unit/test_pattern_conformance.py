"""Whether an episode did what a mined pattern says, and what a pattern is held against."""

from typing import Any

import pytest

from tests.samples import NOW, sample
from treering.core.episodes import Episode, OutcomeStatus
from treering.core.patterns import Pattern
from treering.core.settings.patterns import PatternSettings
from treering.patterns.base_rates import base_rates_without
from treering.patterns.mining.conformance import EpisodeReading, holds_in_order, match_episode
from treering.patterns.mining.limits import MiningLimits
from treering.patterns.statistics import BaseRates, Tally
from treering.patterns.validation import SessionCount

MINING, SETTINGS = MiningLimits(), PatternSettings()


def episode(*commands: str, **fields: Any) -> Episode:
    trace = [{"at": NOW, "action": "run", "tool": "Bash", "input": command} for command in commands]
    told: dict[str, Any] = {"execution": {"trace": trace}, "metadata": {"task_type": "fix"}}
    made: Episode = sample(Episode, "e", **told | fields)
    return made


def routine(*actions: str, category: str = "sequence", **fields: Any) -> Pattern:
    steps = [{"name": f"{place}", "action": action} for place, action in enumerate(actions)]
    told: dict[str, Any] = {
        "category": category,
        "content": {"form": "procedure", "steps": steps},
        "metadata": {"mined": {"steps": actions, "sessions": 20, "base_rate": 0.3}},
    }
    made: Pattern = sample(Pattern, "p", **told | fields)
    return made


def came_of(pattern: Pattern, told: Episode) -> OutcomeStatus | None:
    done = match_episode(pattern, EpisodeReading.of(told, MINING), MINING)
    return None if done is None else done.outcome


@pytest.mark.parametrize(
    ("line", "wanted", "gap", "holds"),
    [
        ("abc", "abc", 0, True),
        ("axbxc", "abc", 1, True),
        ("axybc", "abc", 1, False),
        # The first beginning leads nowhere, a later one does.
        ("axxxab", "ab", 0, True),
        ("aaabbb", "ab", 0, True),
        ("ba", "ab", 2, False),
        ("", "a", 2, False),
        ("a", "", 2, False),
    ],
)
def test_steps_in_order_with_gaps(line: str, wanted: str, gap: int, holds: bool) -> None:
    assert holds_in_order(tuple(line), tuple(wanted), gap) is holds


def test_a_sequence_is_followed_where_all_of_it_is_done_in_order() -> None:
    pattern = routine("Bash: ls", "Bash: pwd")
    assert came_of(pattern, episode("ls", "date", "pwd")) is OutcomeStatus.SUCCESS
    assert came_of(pattern, episode("pwd", "ls")) is None
    assert came_of(pattern, episode("ls")) is None
    failed = episode("ls", "pwd", outcome={"status": "FAILURE"})
    assert came_of(pattern, failed) is OutcomeStatus.FAILURE
    assert came_of(pattern.replace(metadata={}), failed) is None


def test_it_counts_only_where_the_pattern_applies() -> None:
    pattern = routine("Bash: ls", "Bash: pwd", applicability={"problem_types": ["docs"]})
    assert came_of(pattern, episode("ls", "pwd")) is None
    assert came_of(pattern, episode("ls", "pwd", metadata={"task_type": "docs"})) is OutcomeStatus.SUCCESS


@pytest.mark.parametrize(
    ("status", "outcome"), [("SUCCESS", "FAILURE"), ("PARTIAL", "PARTIAL"), ("FAILURE", "SUCCESS")]
)
def test_a_warning_succeeds_where_the_task_fails(status: str, outcome: str) -> None:
    pattern = routine("Bash: ls", "Bash: pwd", category="failure")
    assert came_of(pattern, episode("ls", "pwd", outcome={"status": status})) is OutcomeStatus(outcome)


def sessions(outcomes: str) -> tuple[SessionCount, ...]:
    return tuple(SessionCount(NOW, int(letter == "S"), 0, 1, (("fix", 1),)) for letter in outcomes)


def test_a_warning_is_held_against_how_often_tasks_fail() -> None:
    """Ninety of a hundred fixes succeeded; ten did what it warns of, and failed: without them all succeeded."""
    everything = BaseRates({"fix": Tally(90.0, 100)})
    used = sessions("S" * 10)
    lost: dict[str | None, Tally] = {"fix": Tally(0.0, 10)}
    warning = base_rates_without(routine("a", category="failure"), everything, lost, used)
    told = base_rates_without(routine("a", category="failure", metadata={}), everything, lost, used)
    assert warning.of("fix").rate < 0.05
    assert told.of("fix").rate == pytest.approx(everything.without(lost).of("fix").rate)
    helpful = base_rates_without(routine("a"), everything, lost, used)
    assert helpful.of("fix").rate > 0.85


def test_a_recovery_is_held_against_all_that_was_tried_and_a_saving_against_a_coin() -> None:
    everything = BaseRates({"fix": Tally(99.0, 100)})
    recovery = base_rates_without(routine("a", category="recovery"), everything, {}, sessions("SSF"))
    saving = base_rates_without(routine("a", category="optimisation"), everything, {}, sessions("SSF"))
    assert 0.3 < recovery.of("fix").rate < 0.4
    assert saving.of("fix").rate == pytest.approx(0.5)
    for bases in (recovery, saving):
        assert bases.of("fix").upper > bases.of("fix").rate
