"""Names and keys of statements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treering.core.queries import KnowledgeFilter
from treering.core.statements import fact_key, same_name
from treering.core.values import KEY_BYTES


@pytest.mark.parametrize(
    ("one", "other"),
    [("Service A", "the service"), ("Plan A", "plan"), ("!!!", "???"), ("the", "a"), ("Vitamin D", "Vitamin")],
)
def test_other_names_stay_apart(one: str, other: str) -> None:
    assert same_name(one) != same_name(other)


@pytest.mark.parametrize(("one", "other"), [("the API team", "API-Team"), ("our the API", "api"), ("L'API", "api")])
def test_one_name_is_the_same_however_it_is_written(one: str, other: str) -> None:
    assert same_name(one) == same_name(other)


@given(st.text(max_size=400), st.text(max_size=300), st.text(max_size=300))
def test_any_subject_gives_a_key_of_its_own_for_each_attribute(subject: str, one: str, other: str) -> None:
    keys = [fact_key(subject, attribute) for attribute in (one, other)]
    KnowledgeFilter(fact_keys=tuple(keys))
    assert all(len(key.encode()) <= KEY_BYTES for key in keys)
    assert (keys[0] == keys[1]) == (one == other)


def test_a_long_subject_keeps_its_attribute() -> None:
    subject = "中" * 250
    assert fact_key(subject, "works_at") != fact_key(subject, "lives_in")
    assert fact_key(subject, "works_at") != fact_key(f"{subject}文", "works_at")
    assert fact_key("Anna", "works_at") == "anna|works_at"
