"""What applies, case by case; and that the tree rules out what it is there to rule out."""

import random
from typing import Any

import pytest

from tests.samples import NOW, sample
from treering.core.applicability import applies
from treering.core.patterns import Applicability, Pattern, PatternStatus
from treering.patterns.matching.index import PatternIndex

TASK = {"task_type": "fix", "domain": "backend", "complexity": 0.4, "tools": ("Git",), "languages": ("go", "sql")}


def asks(field: str, operator: str, value: Any = None) -> dict[str, Any]:
    return {"form": "test", "field": field, "operator": operator, "value": value}


def pattern(id: str = "x", **fields: Any) -> Pattern:
    made: Pattern = sample(Pattern, id, **{"status": "VALIDATED"} | fields)
    return made


@pytest.mark.parametrize(
    ("asked", "task", "answer"),
    [
        ({}, {}, True),
        ({"problem_types": ["Fix", "docs"]}, TASK, True),
        ({"problem_types": ["docs"]}, TASK, False),
        ({"problem_types": ["fix"]}, {}, False),
        ({"domains": ["backend"]}, TASK, True),
        ({"domains": ["frontend"]}, TASK, False),
        ({"capabilities": ["git", "go"]}, TASK, True),
        ({"capabilities": ["git", "docker"]}, TASK, False),
        ({"capabilities": ["gpu"]}, {"context": {"capabilities": ["GPU"]}}, True),
        ({"complexity_min": 0.4, "complexity_max": 0.4}, TASK, True),
        ({"complexity_max": 0.39}, TASK, False),
        ({"complexity_max": 0.1}, {}, True),
        ({"complexity_max": 0.1}, {"complexity": "high"}, True),
        ({"conditions": [asks("languages", "eq", "go"), asks("complexity", "range", [0.1, None])]}, TASK, True),
        ({"conditions": [asks("languages", "eq", "go"), asks("languages", "eq", "rust")]}, TASK, False),
        ({"anti_conditions": [asks("languages", "eq", "rust"), asks("languages", "eq", "sql")]}, TASK, False),
        ({"anti_conditions": [asks("languages", "eq", "rust")]}, TASK, True),
    ],
)
def test_where_a_pattern_applies(asked: dict[str, Any], task: dict[str, Any], answer: bool) -> None:
    applicability = Applicability.make(**asked)
    assert applies(applicability, task) is answer
    assert bool(PatternIndex([pattern(applicability=applicability)]).applicable(task)) is answer


@pytest.mark.parametrize("status", ["CANDIDATE", "UNDER_REVIEW", "DEPRECATED"])
def test_only_validated_patterns_are_found_unless_others_are_asked_for(status: str) -> None:
    index = PatternIndex([pattern(status=status)])
    assert index.applicable(TASK) == []
    assert [each.id for each in index.applicable(TASK, statuses=[PatternStatus(status)])] == ["x"]


def test_deleted_patterns_are_never_found() -> None:
    gone = pattern(deleted_at=NOW)
    assert PatternIndex([gone]).applicable(TASK) == []
    assert PatternIndex([pattern()]).with_changes({gone.id: gone}).applicable(TASK) == []
    assert len(PatternIndex([gone])) == 0


CONDITIONS = {
    "by value": lambda place: asks("context.repository", "eq", f"r{place % 50}"),
    "by several values": lambda place: asks("context.repository", "in", [f"r{place % 50}", f"r{(place + 1) % 50}"]),
    "by range": lambda place: asks("context.size", "range", [place, place + 5]),
    "by beginning": lambda place: asks("context.path", "prefix", f"src/{place % 50}/"),
    "by absence": lambda place: {"form": "not", "condition": asks("context.path", "prefix", "src/7")},
}


@pytest.mark.parametrize("way", CONDITIONS)
def test_the_tree_rules_out_patterns_before_they_are_asked(way: str) -> None:
    patterns = [pattern(f"p{place:03}", applicability={"conditions": [CONDITIONS[way](place)]}) for place in range(400)]
    task = {"context": {"repository": "r7", "size": 207, "path": "src/7/main.py"}}
    index, labels_alone = PatternIndex(patterns), PatternIndex(patterns, tree=False)
    assert index.applicable(task) == labels_alone.applicable(task)
    assert labels_alone.checked_count(task) == 400
    assert index.checked_count(task) <= 40


def crowd(chance: random.Random) -> list[Pattern]:
    """So many patterns over so few fields that every branch of the tree has several."""
    values = ("r1", "r2", "r3", 1, True, None)
    kinds = (
        lambda: asks("context.repository", "in", chance.sample(values, 3)),
        lambda: asks("context.repository", "eq", chance.choice(values)),
        lambda: asks("context.size", "range", [low := chance.randrange(6), low + chance.randrange(3)]),
        lambda: asks("context.size", "range", chance.choice([[None, 3], [3, None], [None, None]])),
        lambda: {"form": "not", "condition": asks("context.size", "exists")},
        lambda: asks("context.path", "prefix", chance.choice(("src/", "src/a", "docs/"))),
        lambda: {"form": "all", "conditions": [asks("context.size", "eq", 3), asks("context.path", "exists")]},
        lambda: {"form": "any", "conditions": [asks("context.size", "eq", 3), asks("context.path", "exists")]},
    )
    return [
        pattern(
            f"p{place:03}",
            applicability={
                "problem_types": chance.sample(("fix", "docs"), chance.randrange(2)),
                "complexity_min": (low := chance.randrange(4)) / 8,
                "complexity_max": (low + chance.randrange(5)) / 8,
                "conditions": [make() for make in chance.choices(kinds, k=chance.randrange(3))],
                "anti_conditions": [make() for make in chance.choices(kinds, k=chance.randrange(2))],
            },
        )
        for place in range(300)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_a_tree_with_many_branches_loses_no_pattern(seed: int) -> None:
    chance = random.Random(seed)
    patterns = crowd(chance)
    index = PatternIndex(patterns)
    for _ in range(60):
        context = {
            "repository": chance.choice(("r1", "r3", 1, 1.0, True, None, ["r1", "r2"], "other")),
            "size": chance.choice((0, 1, 2, 3, 4, 5, 6, 7, "large", [1, 6])),
            "path": chance.choice(("src/a.py", "docs/b.md", ["src/b.py", "src/a.py"])),
        }
        known = {name: context[name] for name in context if chance.random() < 0.8}
        task = {"task_type": "fix", "complexity": chance.choice((None, 0, 0.25, 0.5, 1)), "context": known}
        assert index.applicable(task) == [each for each in patterns if applies(each.applicability, task)]


def test_complexity_rules_patterns_out_as_well() -> None:
    patterns = [
        pattern(f"p{place:03}", applicability={"complexity_min": place / 100, "complexity_max": (place + 2) / 100})
        for place in range(99)
    ]
    index = PatternIndex(patterns)
    assert len(index.applicable({"complexity": 0.5})) == 3
    assert index.checked_count({"complexity": 0.5}) <= 20
    assert len(index.applicable({})) == 99


def test_an_index_that_changes_leaves_the_old_one_alone() -> None:
    first = PatternIndex([pattern("a"), pattern("b")])
    second = first.with_changes({"c": pattern("c"), "a": pattern("a", status="CANDIDATE"), "b": None, "nobody": None})
    assert [each.id for each in first.applicable(TASK)] == ["a", "b"]
    assert [each.id for each in second.applicable(TASK)] == ["c"]
    assert (len(first), len(second)) == (2, 2)


def test_an_empty_index_has_no_answer() -> None:
    assert PatternIndex().applicable(TASK) == []
    assert PatternIndex().best(TASK, NOW) == []
