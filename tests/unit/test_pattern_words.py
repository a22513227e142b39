"""What a pattern asks of a task and says to do, in plain words."""

import pytest

from tests.samples import sample
from treering.core.conditions import Test
from treering.core.pattern_words import content_lines, instruction_lines, requirement_lines
from treering.core.patterns import (
    Applicability,
    Guidance,
    Heuristic,
    Pattern,
    PatternContent,
    Procedure,
    Strategy,
    Template,
)

SMALL = Test.make(field="complexity", operator="range", value=[None, 0.5])


def test_what_a_pattern_asks_for_is_said_a_line_each() -> None:
    asked = Applicability.make(
        problem_types=["fix", "test", "docs"],
        domains=["backend"],
        complexity_min=0.25,
        capabilities=["git"],
        conditions=[SMALL],
        anti_conditions=[SMALL],
    )
    assert requirement_lines(asked) == (
        "task type is fix, test or docs",
        "domain is backend",
        "complexity is between 0.25 and 1",
        "git is available",
        "only where complexity is at most 0.5",
        "not where complexity is at most 0.5",
    )
    assert requirement_lines(Applicability()) == ("any task",)


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (
            Strategy.make(approach="small steps", principles=["commit often"], trade_offs="slower"),
            ("small steps", "principle: commit often", "trade-offs: slower"),
        ),
        (
            Template.make(
                structure=[
                    {"title": "do", "description": "{what}", "depends_on": ["plan", "ask"]},
                    {"title": "plan"},
                    {"title": "ask"},
                ],
                parameters=[
                    {"name": "what", "description": "the thing"},
                    {"name": "how", "default": "fast", "required": False},
                ],
                rules=["one at a time"],
            ),
            (
                "1. plan",
                "2. ask",
                "3. do: {what} (after plan and ask)",
                "{what}: the thing",
                "{how}, fast without one, may be left out",
                "rule: one at a time",
            ),
        ),
        (
            Template.make(
                structure=[{"title": "a", "depends_on": ["b"]}, {"title": "b", "depends_on": ["a", "elsewhere"]}]
            ),
            ("1. a (after b)", "2. b (after a and elsewhere)"),
        ),
        (
            Heuristic.make(condition=SMALL, action="do it at once", rationale="planning takes longer"),
            ("where complexity is at most 0.5: do it at once", "because planning takes longer"),
        ),
        (
            Procedure.make(
                steps=[
                    {"name": "look", "action": "read the log", "next_if": [[SMALL, "end"]]},
                    {"name": "step 2", "action": "reproduce it"},
                    {"name": "3", "action": "fix it"},
                    {"name": "end", "action": "end"},
                ],
                ends_when=[SMALL],
            ),
            (
                "1. look: read the log; where complexity is at most 0.5 go to end",
                "2. reproduce it",
                "3. fix it",
                "4. end",
                "ends where complexity is at most 0.5",
            ),
        ),
    ],
)
def test_every_form_of_content_is_said_in_lines(content: PatternContent, lines: tuple[str, ...]) -> None:
    assert content_lines(content) == lines


def test_what_it_risks_is_said_with_what_it_does() -> None:
    content = Strategy.make(approach="delete the index", trade_offs="slower until it is built")
    pattern = sample(Pattern, id="p", content=content, guidance=Guidance(risks=("searches fail meanwhile",)))
    assert instruction_lines(pattern) == (
        "delete the index",
        "trade-offs: slower until it is built",
        "risk: searches fail meanwhile",
    )
