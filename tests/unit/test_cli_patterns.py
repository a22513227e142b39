"""How patterns are drawn and put into words, without a memory."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.golden.patterns import drawing
from tests.samples import NOW, sample
from treering.core.conditions import Test
from treering.core.patterns import Applicability, Pattern
from treering.interfaces.cli.patterns import change_lines as words
from treering.interfaces.cli.patterns.weeks import weeks_of
from treering.patterns.validation import SessionCount

SMALL = Test.make(field="complexity", operator="range", value=[None, 0.5])


def session(days: float, successes: int = 1, n: int = 1, *, partial: int = 0) -> SessionCount:
    return SessionCount(NOW - timedelta(days=days), successes, partial, n, (("fix", n),))


@pytest.mark.parametrize(("name", "width"), drawing.DRAWN)
def test_a_picture_is_drawn_as_its_golden_file_shows(name: str, width: int) -> None:
    """Changed on purpose? `.venv/bin/python -m tests.golden.patterns.drawing`, then read the diff."""
    assert drawing.drawn(name, width) == drawing.golden(name, width).read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("name", [name for name in drawing.PICTURES if name.endswith("_long")])
def test_names_and_paths_are_never_truncated(name: str, width: int) -> None:
    shown = drawing.drawn(name, width)
    told = {"list_long": (drawing.UUID, drawing.KEY, "UNDER_REVIEW"), "validate_long": (drawing.UUID, drawing.KEY)}
    told |= {"mine_long": (drawing.UUID, drawing.KEY), "show_long": (drawing.KEY,), "find_long": (drawing.UUID,)}
    told |= {"review_long": (drawing.UUID,), "similar_long": (drawing.UUID,)}
    assert [word for word in told[name] if word not in shown] == []
    if name in ("list_long", "validate_long", "find_long"):
        assert set(drawing.LONG[0].name.split()) <= set(shown.split())
    assert max(map(len, shown.splitlines())) <= width


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


@pytest.mark.parametrize(
    ("field", "value", "lines"),
    [
        ("summary", "in a word", ["+ in short: in a word"]),
        ("description", "at length", ["+ description: at length"]),
        ("explanation", "it is so", ["+ why: it is so"]),
        ("category", "domain", ["− category: strategy", "+ category: domain"]),
        ("visibility", "team", ["− visibility: project", "+ visibility: team"]),
        ("guidance", {"when": "now", "risks": ("one", "two")}, ["+ when: now", "+ risks: one", "+ risks: two"]),
        ("links", {"complements": ("p2",), "superseded_by": "p3"}, ["+ complements: p2", "+ superseded by: p3"]),
        ("metadata", {"ticket": 7, "mined": {"support": 3}}, ["+ metadata ticket: 7"]),
        ("evidence", {"generation": 2}, []),
        (
            "content",
            {"form": "strategy", "approach": "go slow", "principles": ("b", "a")},
            ["− principle: b", "+ principle: b"],
        ),
    ],
)
def test_every_field_that_is_told_is_compared(field: str, value: object, lines: list[str]) -> None:
    content = {"form": "strategy", "approach": "go slow", "principles": ("a", "b")}
    before = sample(Pattern, id="p", category="strategy", content=content)
    found = words.changes(before, before.replace(**{field: value}))
    assert sorted(f"{'+' if each.added else '−'} {each.line}" for each in found) == sorted(lines)


def test_data_that_is_said_alike_is_compared_as_data() -> None:
    """One task type with `or` in its name is not two, though the words are the same."""
    before, after = (
        sample(Pattern, id="p", applicability=Applicability.make(problem_types=types))
        for types in (["fix", "test"], ["fix or test"])
    )
    assert [each.added for each in words.changes(before, after)] == [False, True]
    assert '["fix or test"]' in words.changes(before, after)[1].line


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
