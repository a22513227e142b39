"""Marks by which an agent cites records."""

from uuid import uuid4

import pytest

from tests.growth import LINEAR, growth
from tests.samples import knowledge
from treering.core.citations import citation, citations_in, is_citation_of, short_source
from treering.core.text_marks import short_id

UUID = "0199a3b4-c5d6-7e8f-9a0b-c1d2e3f4a5b6"


def test_a_generated_id_is_cited_by_its_random_end() -> None:
    assert short_id(UUID) == "e3f4a5b6"
    assert citation(UUID, "Use pnpm,\nnot npm") == "[Memory #e3f4a5b6: Use pnpm, not npm]"


@pytest.mark.parametrize(("id", "short"), [("known", "known"), ("a b:c]", "a-b-c-"), ("", "")])
def test_another_id_is_cited_as_it_is_without_what_would_end_the_citation(id: str, short: str) -> None:
    assert short_id(id) == short


def test_marks_are_found_once_each_and_in_order() -> None:
    text = f"As [Memory #b2: the rule] says, and {citation(UUID, 'x [1]')}, [memory #b2], [^ Memory #c: d]. [Memory: x]"
    assert citations_in(text) == ("b2", "e3f4a5b6", "c")


@pytest.mark.parametrize(
    "text", ["", "Memory #a: b]", "[Memory #]", "[Memory #: text]", "[Memory #a b: c]", "[Memory #ab"]
)
def test_other_text_is_not_a_citation(text: str) -> None:
    assert citations_in(text) == ()


def test_what_is_cited_is_recognised_as_the_record() -> None:
    id = str(uuid4())
    (found,) = citations_in(citation(id, "text"))
    assert is_citation_of(found, id)
    assert is_citation_of(id, id)
    assert is_citation_of(found.upper(), id)
    assert not is_citation_of(found, str(uuid4()))


@pytest.mark.parametrize("unit", ["[Memory #", "[", "[Memory #a:", "[Memory #" + "x" * 600, "[^ [^ Memory #"])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    small, large = (unit * (size // len(unit)) for size in (500_000, 2_000_000))
    assert growth(citations_in, small, large) < LINEAR


@pytest.mark.parametrize(
    ("content", "files", "where"),
    [
        ("`prices.py` rounds twice", ("shop/prices.py",), " in shop/prices.py"),
        ("shop/prices.py rounds twice", ("shop/tax.py", "shop/prices.py"), ""),
        ("Use pnpm", (), ""),
    ],
)
def test_the_source_of_an_injected_record_is_short(content: str, files: tuple[str, ...], where: str) -> None:
    record = knowledge(content=content, files=files, modules=("shop",), tags=("signal:error_retry",))
    assert short_source(record) == f"{record.type}, {record.source.value}{where}, {record.created_at:%Y-%m-%d}"
