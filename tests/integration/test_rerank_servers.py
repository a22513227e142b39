"""Rerankers over real HTTP: each dialect, and what they make of bad answers."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.integration.model_server import (
    KEY,
    QUICK,
    ModelServer,
    Reply,
    rerank_results,
)
from treering.adapters.models.remote import BatchLimits
from treering.adapters.models.rerank import DialectName, HttpReranker
from treering.core.errors import ModelUnavailable
from treering.ports.models import Reranker


@pytest.mark.parametrize(
    ("dialect", "given", "asked", "echo"),
    [
        ("cohere", "", "/v2/rerank", None),
        ("cohere", "/v2", "/v2/rerank", None),
        ("jina", "", "/v1/rerank", False),
        ("jina", "/v1/", "/v1/rerank", False),
        ("vllm", "", "/v1/rerank", None),
        ("vllm", "/rerank", "/rerank", None),
        ("vllm", "/proxy/v9/rerank", "/proxy/v9/rerank", None),
    ],
)
def test_each_dialect_is_spoken(
    server: ModelServer, dialect: DialectName, given: str, asked: str, echo: bool | None
) -> None:
    server.answer(asked, rerank_results(0.1, 0.9, 0.5))
    with closing(HttpReranker(server.url + given, "r", KEY, dialect)) as made:
        reranker: Reranker = made
        assert reranker.scores("who?", ["a", "b", "c"]) == [0.1, 0.9, 0.5]
        assert reranker.model == f"{dialect}/r"
    body = server.bodies()[0]
    assert (body["model"], body["query"], body["documents"], body["top_n"]) == ("r", "who?", ["a", "b", "c"], 3)
    assert body.get("return_documents") is echo
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.soon_without_connections()


@pytest.fixture
def reranker(server: ModelServer) -> Iterator[HttpReranker]:
    with closing(HttpReranker(server.url, "r", KEY, "vllm", timeouts=QUICK)) as reranker:
        yield reranker


def test_texts_that_the_answer_leaves_out_have_0(reranker: HttpReranker, server: ModelServer) -> None:
    server.answer("/v1/rerank", Reply({"results": [{"index": 2, "relevance_score": 1}]}))
    assert reranker.scores("who?", ["a", "b", "c"]) == [0.0, 0.0, 1.0]


def test_logits_become_likelihoods_in_the_same_order(reranker: HttpReranker, server: ModelServer) -> None:
    server.answer("/v1/rerank", rerank_results(-9.0, 0.0, 0.5, 1e6))
    low, middle, higher, top = reranker.scores("who?", ["a", "b", "c", "d"])
    assert (round(low, 5), middle, round(higher, 3), top) == (0.00012, 0.5, 0.622, 1.0)


def test_a_text_left_out_among_logits_still_has_0(reranker: HttpReranker, server: ModelServer) -> None:
    server.answer("/v1/rerank", Reply({"results": [{"index": 1, "relevance_score": -9.0}]}))
    left_out, given = reranker.scores("who?", ["a", "b"])
    assert left_out == 0.0 < given


def test_rounding_beyond_1_does_not_make_logits(reranker: HttpReranker, server: ModelServer) -> None:
    server.answer("/v1/rerank", rerank_results(1.0000002, -0.0000001, 0.5))
    assert reranker.scores("who?", ["a", "b", "c"]) == [1.0, 0.0, 0.5]


def test_nothing_is_sent_where_nothing_is_said(reranker: HttpReranker, server: ModelServer) -> None:
    assert list(reranker.scores("who?", [])) == []
    assert reranker.scores(" ", ["a"]) == [0.0]
    assert reranker.scores("who?", ["", " "]) == [0.0, 0.0]
    assert server.asked == []
    server.answer("/v1/rerank", rerank_results(0.7))
    assert reranker.scores("who?", ["", "x" * 300_000]) == [0.0, 0.7]
    assert server.bodies()[0]["documents"] == ["x" * 8_000]


def test_many_candidates_are_scored_in_batches_on_one_scale(server: ModelServer) -> None:
    server.answer("/v1/rerank", rerank_results(0.2, 0.4), rerank_results(-3.0))
    with closing(HttpReranker(server.url, "r", None, "vllm", limits=BatchLimits(texts=2))) as reranker:
        first, second, last = reranker.scores("who?", ["a", "b", "c"])
    assert last < 0.5 < first < second


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ([], "no list of scores"),
        ({}, "no list of scores"),
        ({"results": None}, "no list of scores"),
        ({"results": [1]}, "no list of scores"),
        ({"results": [{"index": 0}]}, "no list of scores"),
        ({"results": [{"index": 2, "relevance_score": 0.5}]}, "text 2, which was not sent"),
        ({"results": [{"index": -1, "relevance_score": 0.5}]}, "text -1"),
        ({"results": [{"index": True, "relevance_score": 0.5}]}, "text True"),
        ({"results": [{"index": 0, "relevance_score": 0.5}] * 2}, "already has one"),
        ({"results": [{"index": 0, "relevance_score": "high"}]}, "not a number"),
        ({"results": [{"index": 0, "relevance_score": None}]}, "not a number"),
        ({"results": [{"index": 0, "relevance_score": float("nan")}]}, "not a number"),
        ({"results": [{"index": 0, "relevance_score": 10**400}]}, "not a number"),
    ],
)
def test_unusable_scores_are_told(reranker: HttpReranker, server: ModelServer, body: object, told: str) -> None:
    server.answer("/v1/rerank", Reply(body))
    with pytest.raises(ModelUnavailable, match=rf"the reranker at http://127.0.0.1:\d+ answered .*{told}"):
        reranker.scores("who?", ["a", "b"])
