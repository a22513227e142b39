"""What each operator means, and how a person reads it."""

from typing import Any

import pytest

from treering.core.conditions import AllOf, AnyOf, Condition, Not, explain, fields_of, holds
from treering.core.conditions import Test as FieldTest

FEATURES = {
    "task_type": "fix",
    "complexity": 0.4,
    "urgent": True,
    "retries": 1,
    "languages": ("python", "SQL"),
    "files": ["src/api/users.py", "docs/api.md"],
    "owner": None,
    "context": {"branch": "main", "python.version": 3.11, "ci": {"green": False}},
}


def asks(field: str, operator: str, value: Any = None) -> FieldTest:
    return FieldTest.make(field=field, operator=operator, value=value)


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        (asks("task_type", "eq", "fix"), True),
        (asks("task_type", "eq", "Fix"), False),
        (asks("retries", "eq", 1.0), True),
        (asks("retries", "eq", True), False),
        (asks("urgent", "eq", 1), False),
        (asks("urgent", "eq", True), True),
        (asks("owner", "eq", None), True),
        (asks("nobody", "eq", None), False),
        (asks("languages", "eq", "python"), True),
        (asks("languages", "eq", ["python", "SQL"]), True),
        (asks("languages", "eq", ["python"]), False),
        (asks("context.ci", "eq", {"green": False}), True),
        (asks("context.ci", "eq", {"green": 0}), False),
        (asks("task_type", "in", ["test", "fix"]), True),
        (asks("task_type", "in", []), False),
        (asks("task_type", "in", "fix"), True),
        (asks("task_type", "in", "fixture"), False),
        (asks("languages", "in", ["rust", "SQL"]), True),
        (asks("complexity", "range", [0.4, 0.4]), True),
        (asks("complexity", "range", [None, 0.39]), False),
        (asks("complexity", "range", [0.1, None]), True),
        (asks("urgent", "range", [0, 2]), False),
        (asks("task_type", "range", [None, None]), False),
        (asks("task_type", "contains", "FI"), True),
        (asks("languages", "contains", "sql"), True),
        (asks("languages", "contains", "pyth"), False),
        (asks("retries", "contains", 1), False),
        (asks("files", "prefix", "src/"), True),
        (asks("files", "prefix", "SRC/"), False),
        (asks("task_type", "prefix", "fi"), True),
        (asks("retries", "prefix", "1"), False),
        (asks("owner", "exists"), False),
        (asks("owner", "exists", False), True),
        (asks("context.branch", "exists"), True),
        (asks("nobody", "exists"), False),
        (asks("context.python.version", "range", [3.11, None]), True),
        (asks("context.ci.green", "eq", False), True),
        (asks("context.branch.name", "exists"), False),
        (Not(condition=asks("nobody", "eq", "x")), True),
        (AllOf(conditions=()), True),
        (AnyOf(conditions=()), False),
    ],
)
def test_operators_mean_what_the_table_says(condition: Condition, answer: bool) -> None:
    assert holds(condition, FEATURES) is answer


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (
            AllOf(conditions=(asks("language", "eq", "python"), asks("complexity", "range", [None, 0.4]))),
            "language is python and complexity is at most 0.4",
        ),
        (asks("task_type", "in", ["fix", "test", "a b"]), 'task type is fix, test or "a b"'),
        (
            Not(condition=asks("task_type", "in", ["fix", "this or that"])),
            'task type is neither fix nor "this or that"',
        ),
        (Not(condition=asks("task_type", "in", ["fix"])), "task type is not fix"),
        (asks("complexity", "range", [0.2, 0.6]), "complexity is between 0.2 and 0.6"),
        (asks("complexity", "range", [0.2, None]), "complexity is at least 0.2"),
        (asks("complexity", "range", [None, None]), "complexity is a number"),
        (asks("complexity", "range", "wide"), "complexity is within wide, which is not a range"),
        (Not(condition=asks("files", "prefix", "src/")), "files does not begin with src/"),
        (asks("context.branch", "exists"), "context.branch is known"),
        (asks("context.branch", "exists", False), "context.branch is unknown"),
        (Not(condition=asks("context.branch", "exists")), "context.branch is unknown"),
        (Not(condition=Not(condition=asks("urgent", "eq", True))), "urgent is true"),
        (
            AnyOf(conditions=(asks("a", "eq", 1), AllOf(conditions=(asks("b", "eq", 2), asks("c", "contains", "x"))))),
            "a is 1 or (b is 2 and c contains x)",
        ),
        (
            Not(condition=AnyOf(conditions=(asks("a", "eq", 1), asks("b", "eq", 2)))),
            "a is not 1 and b is not 2",
        ),
        (
            AllOf(conditions=(asks("a", "eq", 1), AllOf(conditions=(asks("b", "eq", 2), asks("c", "eq", 3))))),
            "a is 1 and b is 2 and c is 3",
        ),
        (AllOf(conditions=()), "always"),
        (Not(condition=AllOf(conditions=())), "never"),
        (asks("a", "eq", "1"), 'a is "1"'),
        (asks("a", "eq", "true"), 'a is "true"'),
        (asks("a", "eq", None), "a is null"),
        (asks("a", "in", ["null", None, "-2.5"]), 'a is "null", null or "-2.5"'),
        (asks("a", "contains", "1e3"), 'a contains "1e3"'),
        (asks("a", "prefix", "2026"), 'a begins with "2026"'),
        (asks("a", "eq", "known"), 'a is "known"'),
        (asks("a", "eq", "[x"), 'a is "[x"'),
        (asks("a", "range", ["1", None]), 'a is within ["1", null], which is not a range'),
        (asks("task type", "eq", "fix"), '"task type" is fix'),
        (asks("a_or_b", "exists"), '"a_or_b" is known'),
    ],
)
def test_conditions_are_said_in_words(condition: Condition, words: str) -> None:
    assert explain(condition) == words


def test_a_condition_knows_the_fields_it_depends_on() -> None:
    condition = AnyOf(conditions=(asks("a", "exists"), Not(condition=AllOf(conditions=(asks("b.c", "eq"),)))))
    assert fields_of(condition) == {"a", "b.c"}
