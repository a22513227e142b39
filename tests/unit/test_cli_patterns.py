"""How patterns are drawn and put into words, without a memory."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.golden.patterns import drawing
from tests.samples import NOW, sample
from treering.core.conditions import Test
from treering.core.patterns import Applicability, Heuristic, Pattern, Procedure, Strategy, Template
from treering.interfaces.cli.patterns import words
from treering.interfaces.cli.patterns.weeks import weeks_of
from treering.learn.patterns.validation import SessionCount

SMALL = Test.make(field="complexity", operator="range", value=[None, 0.5])


def session(days: float, successes: int = 1, n: int = 1, *, partial: int = 0) -> SessionCount:
    return SessionCount(NOW - timedelta(days=days), successes, partial, n, (("fix", n),))


@pytest.mark.parametrize("name", drawing.PICTURES)
def test_a_picture_is_drawn_as_its_golden_file_shows(name: str) -> None:
    """Changed on purpose? `.venv/bin/python -m tests.golden.patterns.drawing`, then read the diff."""
    assert drawing.drawn(name) == drawing.golden(name).read_text(encoding="utf-8")


def test_what_a_pattern_asks_for_is_said_a_line_each() -> None:
    asked = Applicability.make(
        problem_types=["fix", "test", "docs"],
        domains=["backend"],
        complexity_min=0.25,
        capabilities=["git"],
        conditions=[SMALL],
        anti_conditions=[SMALL],
    )
    assert words.where(asked) == [
        "task type is fix, test or docs",
        "domain is backend",
        "complexity is between 0.25 and 1",
        "git is at hand",
        "only where complexity is at most 0.5",
        "not where complexity is at most 0.5",
    ]
    assert words.where(Applicability()) == ["any task"]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (
            Strategy.make(approach="small steps", principles=["commit often"], trade_offs="slower"),
            ["small steps", "principle: commit often", "trade-offs: slower"],
        ),
        (
            Template.make(
                structure=[{"title": "plan"}, {"title": "do", "description": "{what}", "depends_on": ["plan"]}],
                parameters=[
                    {"name": "what", "description": "the thing"},
                    {"name": "how", "default": "fast", "required": False},
                ],
                rules=["one at a time"],
            ),
            [
                "1. plan",
                "2. do: {what} (after plan)",
                "{what}: the thing",
                "{how}, fast without one, may be left out",
                "rule: one at a time",
            ],
        ),
        (
            Heuristic.make(condition=SMALL, action="do it at once", rationale="planning takes longer"),
            ["where complexity is at most 0.5: do it at once", "because planning takes longer"],
        ),
        (
            Procedure.make(
                steps=[
                    {"name": "look", "action": "read the log", "next_if": [[SMALL, "end"]]},
                    {"name": "end", "action": "end"},
                ],
                ends_when=[SMALL],
            ),
            [
                "1. look: read the log; where complexity is at most 0.5 go to end",
                "2. end",
                "ends where complexity is at most 0.5",
            ],
        ),
    ],
)
def test_every_form_of_content_is_said_in_lines(content: Strategy, lines: list[str]) -> None:
    assert words.doing(content) == lines


def test_a_change_says_what_was_taken_away_and_what_came_in() -> None:
    before = sample(Pattern, id="p", applicability=Applicability.make(problem_types=["fix"], domains=["backend"]))
    narrower = before.applicability.replace(domains=(), conditions=(SMALL,))
    after = before.replace(name="smaller steps", applicability=narrower)
    assert [(each.added, each.line) for each in words.changes(before, after)] == [
        (False, "name: small steps"),
        (True, "name: smaller steps"),
        (False, "domain is backend"),
        (True, "only where complexity is at most 0.5"),
    ]
    assert words.changes(before, before.replace(version=9)) == []


def test_weeks_begin_on_monday_and_have_no_gaps() -> None:
    found = weeks_of([session(22), session(0)], NOW, 90.0)
    assert [f"{week.since:%m-%d}" for week in found] == ["04-13", "04-20", "04-27", "05-04"]
    assert [week.success_rate for week in found] == [1.0, None, None, 1.0]


def test_every_session_counts_alike_and_a_part_counts_half() -> None:
    (week,) = weeks_of([session(2, 1, 4, partial=1), session(1)], NOW, 90.0)
    assert (week.sessions, week.success_rate) == (2, pytest.approx((1.5 / 4 + 1) / 2))


def test_what_lies_outside_the_window_or_ahead_is_left_out() -> None:
    assert weeks_of([session(90.0), session(-1.0)], NOW, 90.0) == []


@given(some.lists(some.tuples(some.floats(-20, 120), some.integers(1, 5), some.integers(0, 5)), max_size=30))
def test_every_session_in_the_window_stands_in_one_week(told: list[tuple[float, int, int]]) -> None:
    sessions = [session(days, min(n, won), n) for days, n, won in told]
    found = weeks_of(sessions, NOW, 90.0)
    inside = sum(NOW - timedelta(days=90) < each.at <= NOW for each in sessions)
    assert sum(week.sessions for week in found) == inside
    assert all((week.success_rate is None) == (week.sessions == 0) for week in found)
    assert all(0.0 <= week.success_rate <= 1.0 for week in found if week.success_rate is not None)
