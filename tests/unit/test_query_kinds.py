"""Which kind of answer a query asks for."""

import pytest

from bench.query_kinds import load
from tests.growth import LINEAR, growth
from treering.search.query_kinds import LONGEST_QUERY, QueryKind, classify_query


@pytest.mark.parametrize("case", load("query_kinds", "tune"), ids=lambda case: case["query"])
def test_a_labelled_query_is_of_its_kind(case: dict[str, str]) -> None:
    assert classify_query(case["query"]).kind == case["kind"]


@pytest.mark.parametrize(
    ("query", "kind", "why"),
    [
        ("where is parse_config", QueryKind.IDENTIFIER, "snake_case"),
        ("who calls parse_config", QueryKind.STRUCTURAL, "calls"),
        ('"connection reset by peer"', QueryKind.IDENTIFIER, "quotes"),
        ("why did we move to GitHub", QueryKind.SEMANTIC, "names no identifier"),
    ],
)
def test_the_kind_says_why(query: str, kind: QueryKind, why: str) -> None:
    assert classify_query(query).kind is kind
    assert why in classify_query(query).why


@pytest.mark.parametrize(
    "query",
    ["what does she call her dog?", "who imports wine from France", "my COVID-19 vaccine", "Node.js or not", ""],
)
def test_life_is_not_code(query: str) -> None:
    assert classify_query(query).kind is QueryKind.SEMANTIC


@pytest.mark.parametrize(
    "piece", ["what ", "which tests ", "a.", "_", "/", "a/", "what breaks if ", "-", "'", '" ', "(", "0a"]
)
def test_no_query_takes_long(piece: str) -> None:
    query = piece * LONGEST_QUERY
    assert growth(classify_query, query[: LONGEST_QUERY // 4], query[:LONGEST_QUERY]) < LINEAR
    assert growth(classify_query, query[:LONGEST_QUERY], query, enough=2) < 2
