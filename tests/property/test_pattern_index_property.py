"""The index finds what asking every pattern finds, however it was built; ranking through it changes no order."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.samples import NOW, sample
from treering.core.applicability import applies
from treering.core.conditions import AllOf, AnyOf, Not, Operator
from treering.core.conditions import Test as FieldTest
from treering.core.patterns import Applicability, Pattern, PatternCategory, PatternStatus
from treering.core.settings.patterns import PatternSettings
from treering.patterns.matching.index import PatternIndex
from treering.patterns.matching.ranking import ranked

LABELS = st.sampled_from(("fix", "Fix", "test", "docs"))
FIELDS = st.sampled_from(("languages", "complexity", "context.n", "context.b", "task_type", "nowhere"))
VALUES = st.sampled_from((None, True, 1, 1.0, 0, 0.5, 2, "fix", "python", "py", "", 10**400))
SHARES = st.sampled_from((0.0, 0.25, 0.5, 0.75, 1.0))


def of(operator: Operator) -> st.SearchStrategy[Any]:
    if operator is Operator.RANGE:
        return st.lists(st.sampled_from((None, 0, 0.5, 1, 2)), min_size=2, max_size=2) | VALUES
    return st.lists(VALUES, max_size=3) | VALUES


tests = st.sampled_from(Operator).flatmap(
    lambda operator: st.builds(FieldTest, field=FIELDS, operator=st.just(operator), value=of(operator))
)
conditions = st.recursive(
    tests,
    lambda inner: (
        st.builds(Not, condition=inner)
        | st.builds(AllOf, conditions=st.lists(inner, max_size=3))
        | st.builds(AnyOf, conditions=st.lists(inner, max_size=3))
    ),
    max_leaves=4,
)
labels = st.lists(LABELS, max_size=2).map(tuple)
applicabilities = st.builds(
    lambda ends, **fields: Applicability(complexity_min=min(ends), complexity_max=max(ends), **fields),
    ends=st.just((0.0, 1.0)) | st.tuples(SHARES, SHARES),
    problem_types=labels,
    domains=labels,
    capabilities=labels,
    conditions=st.lists(conditions, max_size=3).map(tuple),
    anti_conditions=st.lists(conditions, max_size=1).map(tuple),
)
evidence = st.fixed_dictionaries(
    {"confidence": SHARES, "success_rate": st.none() | SHARES, "last_validated_at": st.none() | st.just(NOW)}
)


def pattern(number: int, where: Applicability, status: PatternStatus, category: PatternCategory, proof: Any) -> Pattern:
    made: Pattern = sample(
        Pattern, f"p{number:03}", applicability=where, status=status, category=category, evidence=proof
    )
    return made


@st.composite
def crowds(draw: st.DrawFn, most: int = 120) -> list[Pattern]:
    """So many patterns over so few ways to apply that the tree has something to split."""
    kinds = draw(st.lists(applicabilities, min_size=1, max_size=12))
    proofs = draw(st.lists(evidence, min_size=1, max_size=4))
    chance = draw(st.randoms(use_true_random=False))
    statuses = (PatternStatus.VALIDATED, PatternStatus.VALIDATED, PatternStatus.CANDIDATE)
    return [
        pattern(
            number,
            chance.choice(kinds),
            chance.choice(statuses),
            chance.choice(list(PatternCategory)),
            chance.choice(proofs),
        )
        for number in range(draw(st.integers(0, most)))
    ]


features = st.fixed_dictionaries(
    {},
    optional={
        "task_type": LABELS | st.none() | st.lists(LABELS, max_size=2),
        "domain": LABELS,
        "complexity": SHARES | st.sampled_from((None, "high", [0.5], float("nan"), 2, True)),
        "languages": st.lists(VALUES, max_size=3) | VALUES,
        "tools": st.lists(LABELS, max_size=3),
        "context": st.fixed_dictionaries({}, optional={"n": VALUES | st.lists(VALUES, max_size=2), "b": VALUES})
        | VALUES,
    },
)


def brute_force(patterns: list[Pattern], task: dict[str, Any]) -> list[Pattern]:
    return [each for each in patterns if each.status == "VALIDATED" and applies(each.applicability, task)]


@given(patterns=crowds(), tasks=st.lists(features, min_size=1, max_size=5))
def test_the_index_answers_as_brute_force(patterns: list[Pattern], tasks: list[dict[str, Any]]) -> None:
    with_tree, without = PatternIndex(reversed(patterns)), PatternIndex(patterns, tree=False)
    for task in tasks:
        expected = brute_force(patterns, task)
        assert with_tree.applicable(task) == expected
        assert without.applicable(task) == expected
        assert with_tree.checked_count(task) <= without.checked_count(task) <= len(patterns)


@given(patterns=crowds(60), task=features, statuses=st.sets(st.sampled_from(PatternStatus)), data=st.data())
def test_other_statuses_and_categories_are_found_when_asked_for(
    patterns: list[Pattern], task: dict[str, Any], statuses: set[PatternStatus], data: st.DataObject
) -> None:
    categories = data.draw(st.none() | st.sets(st.sampled_from(PatternCategory)))
    expected = [
        each
        for each in patterns
        if each.status in statuses
        and (categories is None or each.category in categories)
        and applies(each.applicability, task)
    ]
    assert PatternIndex(patterns).applicable(task, statuses=statuses, categories=categories) == expected


@given(patterns=crowds(), task=features, most=st.integers(0, 7))
def test_best_is_what_ranking_makes_of_all_that_apply(patterns: list[Pattern], task: dict[str, Any], most: int) -> None:
    settings = PatternSettings()
    expected = ranked(brute_force(patterns, task), task, NOW, settings, limit=most)
    assert PatternIndex(patterns).best(task, NOW, settings, limit=most) == expected


@given(patterns=crowds(40), task=features, data=st.data())
def test_an_index_that_was_changed_is_an_index_of_what_is_left(
    patterns: list[Pattern], task: dict[str, Any], data: st.DataObject
) -> None:
    settings, start = PatternSettings(), data.draw(st.integers(0, len(patterns)))
    index, left = PatternIndex(patterns[:start]), {each.id: each for each in patterns[:start]}
    before = index.applicable(task)
    changed = index.with_changes({each.id: each for each in patterns[start:]})
    left |= {each.id: each for each in patterns[start:]}
    for id in data.draw(st.lists(st.sampled_from([each.id for each in patterns] or ["nobody"]), max_size=5)):
        changed = changed.with_changes({id: None})
        left.pop(id, None)
    expected = brute_force(sorted(left.values(), key=lambda each: each.id), task)
    assert len(changed) == len(left)
    assert changed.applicable(task) == expected
    assert changed.best(task, NOW, settings) == ranked(expected, task, NOW, settings)
    assert index.applicable(task) == before
