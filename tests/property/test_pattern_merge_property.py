"""A merge loses no evidence and no place where a pattern applied; likeness is a measure."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property.strategies import records
from tests.property.test_pattern_index_property import applicabilities, features
from tests.samples import NOW, sample
from treering.core.applicability import applies
from treering.core.errors import InvalidInput
from treering.core.patterns import Pattern, PatternStatus
from treering.core.scope import Visibility
from treering.core.settings.patterns import PatternSettings
from treering.patterns.lifecycle import Cause, is_allowed
from treering.patterns.merge import merged
from treering.patterns.pruning import low_value_patterns
from treering.patterns.similarity import compare_outlines, most_similar, outline_of

SETTINGS = PatternSettings()
SHARES = st.none() | st.floats(0, 1)
proofs = st.fixed_dictionaries(
    {
        "applications": st.integers(0, 50),
        "success_rate": SHARES,
        "confidence": st.floats(0, 1),
        "mean_time_saved_ms": st.none() | st.floats(-1e6, 1e6),
        "supporting": st.lists(st.sampled_from(("e1", "e2", "e3")), max_size=3),
        "counter": st.lists(st.sampled_from(("e4", "e5")), max_size=2),
    }
)
kinds = st.fixed_dictionaries(
    {
        "evidence": proofs,
        "applicability": applicabilities,
        "usage_count": st.integers(0, 99),
        "visibility": st.sampled_from(Visibility),
        "status": st.sampled_from([each for each in PatternStatus if each is not PatternStatus.DEPRECATED]),
        "last_used_at": st.none() | st.just(NOW) | st.just(NOW - timedelta(days=400)),
        "links": st.fixed_dictionaries(
            {},
            optional={
                "specialises": st.sampled_from(("p1", "z1")),
                "generalises": st.lists(st.sampled_from(("p0", "z2", "z3")), max_size=2),
                "contradicts": st.lists(st.sampled_from(("z4", "z5")), max_size=2),
                "complements": st.lists(st.sampled_from(("p0", "p1", "z6")), max_size=2),
            },
        ),
    }
)


@st.composite
def crowds(draw: st.DrawFn) -> list[Pattern]:
    drawn = draw(st.lists(kinds, min_size=2, max_size=4))
    if any(each["visibility"] is Visibility.PERSONAL for each in drawn):
        # What is somebody's own is merged with nothing that others see.
        drawn = [{**each, "visibility": Visibility.PERSONAL} for each in drawn]
    return [sample(Pattern, f"p{place}", **fields) for place, fields in enumerate(drawn)]


def successes(pattern: Pattern) -> float:
    return pattern.evidence.applications * (pattern.evidence.success_rate or 0.0)


@given(patterns=crowds())
def test_the_sum_of_the_evidence_is_kept(patterns: list[Pattern]) -> None:
    made = merged(patterns, NOW, "new").pattern
    assert made.evidence.applications == sum(each.evidence.applications for each in patterns)
    assert made.usage_count == sum(each.usage_count for each in patterns)
    assert set(made.evidence.supporting) == {id for each in patterns for id in each.evidence.supporting}
    assert set(made.evidence.counter) == {id for each in patterns for id in each.evidence.counter}
    if all(each.evidence.success_rate is not None for each in patterns) and made.evidence.applications:
        assert successes(made) == pytest.approx(sum(map(successes, patterns)))
    known = [each.last_used_at for each in patterns if each.last_used_at]
    assert made.last_used_at == max(known, default=None)


@given(patterns=crowds(), task=features)
def test_what_was_merged_applies_wherever_one_of_them_did(patterns: list[Pattern], task: dict[str, Any]) -> None:
    made = merged(patterns, NOW, "new").pattern
    if any(applies(each.applicability, task) for each in patterns):
        assert applies(made.applicability, task)


@given(patterns=crowds())
def test_the_originals_are_superseded_and_the_new_one_has_to_prove_itself(patterns: list[Pattern]) -> None:
    merge = merged(patterns, NOW, "new")
    assert merge.pattern.status is PatternStatus.CANDIDATE
    assert merge.pattern.evidence.p_value is None
    assert merge.pattern.metadata["merged_from"] == tuple(each.id for each in patterns)
    for before, after in zip(patterns, merge.superseded, strict=True):
        assert (after.id, after.links.superseded_by, after.version) == (before.id, "new", before.version + 1)
        assert "new" in (after.deprecation_reason or "")
        assert is_allowed(before.status, after.status, Cause.MERGE)
        assert after.evidence == before.evidence
    with pytest.raises(InvalidInput, match="do not come back"):
        merged(merge.superseded, NOW, "newer")


@given(patterns=crowds())
def test_links_to_others_are_kept_and_links_among_them_are_gone(patterns: list[Pattern]) -> None:
    made, ids = merged(patterns, NOW, "new").pattern, {each.id for each in patterns}
    for name in ("generalises", "contradicts", "complements"):
        linked = {id for each in patterns for id in getattr(each.links, name)}
        assert set(getattr(made.links, name)) == linked - ids
    assert made.links.specialises not in ids
    assert (made.links.specialises is None) == all(each.links.specialises in {None, *ids} for each in patterns)


@given(patterns=crowds())
def test_a_merge_is_seen_by_nobody_who_did_not_see_all_of_it(patterns: list[Pattern]) -> None:
    order = list(Visibility)
    made = merged(patterns, NOW, "new").pattern
    assert order.index(made.visibility) == min(order.index(each.visibility) for each in patterns)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"id": "p0"}, "two or more"),
        ({"status": "DEPRECATED"}, "do not come back"),
        ({"deleted_at": NOW}, "do not come back"),
        ({"category": "domain"}, "differ in their category"),
        ({"content": {"form": "template", "structure": ()}}, "differ in their form of content"),
        ({"owner": "ada", "visibility": "personal"}, "differ in their owner"),
        ({"links": {"contradicts": ["p0"]}}, "contradict each other"),
    ],
)
def test_what_does_not_belong_together_is_not_merged(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        merged([sample(Pattern, "p0"), sample(Pattern, **{"id": "p1"} | fields)], NOW, "new")
    with pytest.raises(InvalidInput, match="cannot have the id"):
        merged([sample(Pattern, "p0"), sample(Pattern, "p1")], NOW, "p1")


@given(patterns=records(Pattern))
def test_likeness_is_symmetric_and_complete_for_a_pattern_and_itself(patterns: list[Pattern]) -> None:
    outlines = [outline_of(each) for each in patterns]
    for one in outlines:
        assert compare_outlines(one, one, SETTINGS).score == pytest.approx(1.0)
        for other in outlines:
            measured = compare_outlines(one, other, SETTINGS)
            assert measured == compare_outlines(other, one, SETTINGS)
            assert all(0 <= part <= 1 for part in (measured.structure, measured.applicability, measured.words))
            assert -1e-9 <= measured.score <= 1 + 1e-9


@given(patterns=crowds())
def test_only_the_same_category_is_similar_and_never_the_pattern_itself(patterns: list[Pattern]) -> None:
    found = most_similar(patterns[0], patterns, SETTINGS)
    assert patterns[0].id not in [each.pattern.id for each in found]
    scores = [each.likeness.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert all(score >= SETTINGS.alike for score in scores)


@given(patterns=crowds(), days=st.integers(0, 500))
def test_what_is_validated_and_used_lately_is_never_pruned(patterns: list[Pattern], days: int) -> None:
    now = NOW + timedelta(days=days)
    for found in low_value_patterns(patterns, now, SETTINGS):
        assert found.reasons
        used = found.pattern.last_used_at
        lately = used is not None and now - used <= timedelta(days=SETTINGS.window_days)
        assert not (found.pattern.status is PatternStatus.VALIDATED and lately)
        assert found.pattern.status is not PatternStatus.DEPRECATED
