"""Which type of knowledge a query asks for, and whether it asks for anything else."""

import pytest

from tests.samples import NOW
from treering.search.asked_types import asked_type, names_only_type_and_time
from treering.search.query import Question, interpret


def asked(query: str) -> Question:
    return interpret(query, NOW, languages=("en",))


@pytest.mark.parametrize(
    ("query", "type"),
    [
        ("what did we decide today", "decision"),
        ("what did we agree on yesterday", "decision"),
        ("dead ends today", "dead_end"),
        ("gotchas of this week", "gotcha"),
        ("what do we prefer", None),
        ("what does end today", None),
        ("the dead server today", None),
        ("indecisive people today", None),
    ],
)
def test_a_type_is_asked_for_by_its_words_and_a_time(query: str, type: str | None) -> None:
    assert asked_type(asked(query)) == type


@pytest.mark.parametrize(
    ("query", "alone"),
    [("what did we decide today", True), ("what did we decide about Kafka today", False), ("qué decidimos hoy", True),
     ("¿Qué decisiones tomamos ayer?", True), ("was wurde gestern entschieden", True), ("quelles décisions hier", True),
     ("che decisioni abbiamo preso ieri", True), ("which decisions were made on 2 January 2025", True),
     ("what did we choose yesterday", True), ("qué decidimos hoy sobre Kafka", False)],
)  # fmt: skip
def test_a_subject_is_something_else(query: str, alone: bool) -> None:
    assert names_only_type_and_time(asked(query), "decision") is alone
