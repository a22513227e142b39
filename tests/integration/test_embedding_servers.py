"""Embedders and the writer over real HTTP: what they send, and what they make of bad answers."""

from collections.abc import Callable, Iterator
from contextlib import closing
from time import monotonic
from typing import Any

import numpy as np
import pytest

from tests.integration.model_server import (
    KEY,
    QUICK,
    ModelServer,
    Reply,
    ollama_embeddings,
    openai_embeddings,
    vector_of,
)
from treering.adapters.models.ollama import OllamaEmbedder, choose_model, installed
from treering.adapters.models.openai_compatible import ChatWriter, OpenAIEmbedder
from treering.adapters.models.prefixes import prefixes_of
from treering.adapters.models.remote import BatchLimits, RemoteEmbedder
from treering.core.errors import ModelUnavailable
from treering.ports.models import Embedder, Writer

GB = 10**9


@pytest.fixture
def ollama(server: ModelServer) -> Iterator[OllamaEmbedder]:
    server.answer("/api/embed", ollama_embeddings())
    with closing(OllamaEmbedder(server.url, "all-minilm", timeouts=QUICK)) as embedder:
        yield embedder


@pytest.fixture
def openai(server: ModelServer) -> Iterator[OpenAIEmbedder]:
    server.answer("/v1/embeddings", openai_embeddings())
    with closing(OpenAIEmbedder(f"{server.url}/v1", "text-embedding-3-small", KEY, timeouts=QUICK)) as embedder:
        yield embedder


EMBEDDERS = {"ollama": "/api/embed", "openai": "/v1/embeddings"}


@pytest.fixture(params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest) -> RemoteEmbedder:
    made: RemoteEmbedder = request.getfixturevalue(request.param)
    return made


@pytest.fixture
def path(embedder: RemoteEmbedder) -> str:
    return EMBEDDERS["ollama" if isinstance(embedder, OllamaEmbedder) else "openai"]


@pytest.fixture
def answer_with(embedder: RemoteEmbedder, server: ModelServer, path: str) -> Callable[..., None]:
    """Tell the server to answer these vectors, one list of them after the other."""

    def wrapped(rows: list[Any]) -> Reply:
        if isinstance(embedder, OllamaEmbedder):
            return Reply({"embeddings": rows})
        return Reply({"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]})

    return lambda *answers: server.answer(path, *map(wrapped, answers))


# What all embedders on a server do


def test_vectors_come_in_the_order_of_the_texts_with_length_1(embedder: RemoteEmbedder) -> None:
    port: Embedder = embedder
    texts = ["a", "bb", "ccc"]
    expected = np.array([vector_of(text, 4) for text in texts])
    vectors = port.documents(texts)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    assert np.allclose(port.query("bb"), vectors[[1]])
    assert port.local is False


def test_the_dimension_is_learned_from_the_first_answer(embedder: RemoteEmbedder, server: ModelServer) -> None:
    embedder.documents(["a"])
    assert embedder.dimension == 4
    assert len(server.asked) == 1


def test_the_dimension_is_asked_for_where_nothing_is_known(embedder: RemoteEmbedder, server: ModelServer) -> None:
    assert (embedder.dimension, embedder.dimension) == (4, 4)
    assert [body["input"] for body in server.bodies()] == [["a"]]


def test_texts_that_say_nothing_are_zeros_and_not_sent(embedder: RemoteEmbedder, server: ModelServer) -> None:
    vectors = embedder.documents(["", "word", " \n"])
    assert [bool(row.any()) for row in vectors] == [False, True, False]
    assert [body["input"] for body in server.bodies()] == [["word"]]
    assert embedder.documents([]).shape == (0, 4)
    assert not embedder.query(" ").any()
    assert len(server.asked) == 1


def test_only_blank_texts_still_have_the_models_dimension(embedder: RemoteEmbedder) -> None:
    assert embedder.documents(["", " "]).shape == (2, 4)


def test_a_long_document_is_cut_in_whole_characters(embedder: RemoteEmbedder, server: ModelServer) -> None:
    embedder.documents(["x" * 300_000, "é" * 300_000, "half \ud800 character"])
    texts = [text for body in server.bodies() for text in body["input"]]
    assert texts == ["x" * 8_000, "é" * 4_000, "half ? character"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([[1.0, 2.0]], "1 vectors for 2 texts"),
        ([[1.0, 2.0]] * 3, "3 vectors for 2 texts"),
        ([[1.0, 2.0], [1.0]], "different lengths"),
        ([[1.0, float("nan")], [1.0, 2.0]], "not finite"),
        ([[1.0, float("inf")], [1.0, 2.0]], "not finite"),
        ([[1.0, 1e300], [1.0, 2.0]], "not finite"),
        ([["1.0", "2.0"], ["1.0", "2.0"]], "other than a list of numbers"),
        ([[1.0, None], [1.0, 2.0]], "other than a list of numbers"),
        ([[], []], "other than a list of numbers"),
        ([1.0, 2.0], "other than a list of numbers"),
        ([[[1.0]], [[2.0]]], "other than a list of numbers"),
        ([{"a": 1}, {"a": 1}], "other than a list of numbers"),
        ([[10**400], [1]], "other than a list of numbers"),
    ],
)
def test_unusable_vectors_are_told(
    embedder: RemoteEmbedder, server: ModelServer, answer_with: Callable[..., None], rows: list[Any], told: str
) -> None:
    answer_with(rows)
    with pytest.raises(ModelUnavailable, match=rf"answered .*{told}.*; check the model, or choose another embedder"):
        embedder.documents(["one", "two"])
    assert len(server.asked) == 1


@pytest.mark.parametrize("body", [None, [], "text", 1, {}, {"embeddings": None, "data": None}, {"data": [1, 2]}])
def test_an_answer_of_another_shape_is_told(
    embedder: RemoteEmbedder, server: ModelServer, path: str, body: object
) -> None:
    server.answer(path, Reply(body))
    with pytest.raises(ModelUnavailable, match="answered no "):
        embedder.documents(["one", "two"])


def test_another_dimension_midway_is_told(embedder: RemoteEmbedder, answer_with: Callable[..., None]) -> None:
    answer_with([[1.0, 2.0]], [[1.0, 2.0, 3.0]])
    embedder.documents(["one"])
    with pytest.raises(ModelUnavailable, match=r"3 numbers for a text where 2 are expected; .*treering embed"):
        embedder.documents(["two"])
    assert embedder.dimension == 2


def test_connections_are_kept_between_calls_and_closed_in_the_end(
    embedder: RemoteEmbedder, server: ModelServer
) -> None:
    for query in "abc":
        embedder.query(query)
    assert server.connections == 1
    embedder.close()
    assert server.soon_without_connections()
    with pytest.raises(ModelUnavailable, match="is closed; open the memory again"):
        embedder.query("a")


def test_a_repeated_query_is_sent_once_and_a_document_each_time(embedder: RemoteEmbedder, server: ModelServer) -> None:
    first, again = embedder.query("a"), embedder.query("a")
    assert (first == again).all()
    assert len(server.asked) == 1
    embedder.documents(["a"])
    assert len(server.asked) == 2
    embedder.forget_queries()
    embedder.query("a")
    assert len(server.asked) == 3


# Ollama


def test_ollama_is_asked_in_small_batches(ollama: OllamaEmbedder, server: ModelServer) -> None:
    ollama.documents([f"text {n}" for n in range(70)])
    assert [len(body["input"]) for body in server.bodies()] == [32, 32, 6]
    assert server.bodies()[0]["model"] == "all-minilm"
    assert "authorization" not in server.asked[0].headers


def test_ollama_model_names_the_space_without_the_host(ollama: OllamaEmbedder) -> None:
    assert ollama.model == "ollama/all-minilm"


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        (
            "qwen3-embedding:0.6b",
            "Instruct: Given a question, retrieve memories that answer it\nQuery: who?",
            "me",
        ),
        ("nomic-embed-text:latest", "search_query: who?", "search_document: me"),
        ("embeddinggemma", "task: search result | query: who?", "title: none | text: me"),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: who?", "me"),
        ("snowflake-arctic-embed2", "query: who?", "me"),
        ("bge-m3", "who?", "me"),
        ("all-minilm", "who?", "me"),
    ],
)
def test_queries_and_documents_have_the_prefixes_that_the_model_wants(
    server: ModelServer, model: str, query: str, document: str
) -> None:
    server.answer("/api/embed", ollama_embeddings())
    server.answer("/embeddings", openai_embeddings())
    for made in (OllamaEmbedder(server.url, model), OpenAIEmbedder(server.url, model)):
        with closing(made):
            made.query("who?")
            made.documents(["me"])
    assert [body["input"] for body in server.bodies()] == [[query], [document]] * 2


def test_prefixes_are_found_however_a_server_spells_the_model() -> None:
    assert prefixes_of("Qwen/Qwen3-Embedding-8B") == prefixes_of("qwen3-embedding:8b")
    assert prefixes_of("nomic-ai/nomic-embed-text-v1.5").document == "search_document: "
    assert prefixes_of("Snowflake/snowflake-arctic-embed-l-v2.0").query == "query: "
    assert prefixes_of("Snowflake/snowflake-arctic-embed-l").query.startswith("Represent")
    assert prefixes_of("intfloat/multilingual-e5-large-instruct").document == ""
    assert prefixes_of("intfloat/multilingual-e5-base").document == "passage: "


def test_installed_models_are_listed(server: ModelServer) -> None:
    server.answer("/api/tags", Reply({"models": [{"name": "bge-m3:latest"}, {"name": 7}, "x", {"name": "llama3:8b"}]}))
    assert installed(server.url, 1.0) == ("bge-m3:latest", "llama3:8b")
    assert server.soon_without_connections()


def test_no_list_of_models_is_told(server: ModelServer) -> None:
    server.answer("/api/tags", Reply({"data": []}))
    with pytest.raises(ModelUnavailable, match="no list of models; check that the URL belongs to Ollama"):
        installed(server.url, 1.0)


def test_asking_for_installed_models_ends_at_its_timeout(server: ModelServer) -> None:
    server.answer("/api/tags", Reply({"models": []}, hang_seconds=5))
    began = monotonic()
    with pytest.raises(ModelUnavailable, match="did not answer in time"):
        installed(server.url, 0.1)
    assert monotonic() - began < 1.5
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("names", "memory", "chosen"),
    [
        (["qwen3-embedding:8b", "qwen3-embedding:4b", "qwen3-embedding:0.6b"], 64 * GB, "qwen3-embedding:8b"),
        (["qwen3-embedding:8b", "qwen3-embedding:4b", "qwen3-embedding:0.6b"], 24 * GB, "qwen3-embedding:4b"),
        (["qwen3-embedding:8b", "qwen3-embedding:4b", "qwen3-embedding:0.6b"], 8 * GB, "qwen3-embedding:0.6b"),
        (["qwen3-embedding:8b", "nomic-embed-text:latest"], 16 * GB, "nomic-embed-text:latest"),
        (["qwen3-embedding:latest"], 32 * GB, "qwen3-embedding:latest"),
        (["qwen3-embedding"], 32 * GB, "qwen3-embedding"),
        (["qwen3-embedding:latest"], 16 * GB, None),
        (["qwen3-embedding:4b-q4_K_M"], 16 * GB, "qwen3-embedding:4b-q4_K_M"),
        (["embeddinggemma:300m", "all-minilm:latest", "bge-m3:567m"], 8 * GB, "bge-m3:567m"),
        (["embeddinggemma:300m"], 8 * GB, "embeddinggemma:300m"),
        (["llama3:8b", "my-bge-m3"], 64 * GB, None),
        ([], 64 * GB, None),
    ],
)
def test_the_best_installed_model_that_fits_is_chosen(names: list[str], memory: int, chosen: str | None) -> None:
    assert choose_model(names, memory) == chosen
    assert choose_model(reversed(names), memory) == chosen


# Servers that speak OpenAI's API


def test_openai_is_asked_in_batches_of_texts_and_characters(server: ModelServer) -> None:
    server.answer("/embeddings", openai_embeddings())
    limits = BatchLimits(texts=3, characters=10)
    with closing(OpenAIEmbedder(server.url, "m", limits=limits)) as embedder:
        vectors = embedder.documents(["a", "b", "c", "d", "5char", "sixsix", "longer than the batch", "e"])
    assert [body["input"] for body in server.bodies()] == [
        ["a", "b", "c"],
        ["d", "5char"],
        ["sixsix"],
        ["longer than the batch"],
        ["e"],
    ]
    assert vectors.shape == (8, 4)
    assert server.bodies()[0]["encoding_format"] == "float"
    assert "dimensions" not in server.bodies()[0]


def test_openai_sends_the_key(openai: OpenAIEmbedder, server: ModelServer) -> None:
    openai.query("a")
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert openai.model == "openai/text-embedding-3-small"


def test_shorter_vectors_are_asked_for_and_part_of_the_name(server: ModelServer) -> None:
    server.answer("/embeddings", openai_embeddings(8))
    with closing(OpenAIEmbedder(server.url, "m", dimension=3)) as embedder:
        assert (embedder.model, embedder.dimension, server.asked) == ("openai/m@3", 3, [])
        assert embedder.query("a").shape == (1, 3)
    assert server.bodies()[0]["dimensions"] == 3


def test_a_server_that_ignores_the_dimension_is_told(server: ModelServer) -> None:
    server.answer("/embeddings", Reply({"data": [{"index": 0, "embedding": [1.0, 2.0]}]}))
    with (
        closing(OpenAIEmbedder(server.url, "m", dimension=3)) as embedder,
        pytest.raises(ModelUnavailable, match=r"2 numbers .* 3 are expected; m does not support this dimension"),
    ):
        embedder.query("a")


@pytest.mark.parametrize("indices", [(0, 0), (0, 2), (-1, 0), ("0", "1"), (None, 1), ([], 1)])
def test_places_that_are_not_those_of_the_texts_are_told(
    openai: OpenAIEmbedder, server: ModelServer, indices: tuple[Any, Any]
) -> None:
    server.answer("/v1/embeddings", Reply({"data": [{"index": at, "embedding": [1.0]} for at in indices]}))
    with pytest.raises(ModelUnavailable, match="indexes do not match the texts"):
        openai.documents(["one", "two"])


def test_answers_without_places_are_in_order(openai: OpenAIEmbedder, server: ModelServer) -> None:
    server.answer("/v1/embeddings", Reply({"data": [{"embedding": [1.0, 0.0]}, {"embedding": [0.0, 1.0]}]}))
    assert openai.documents(["one", "two"]).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_the_writer_writes_with_the_most_likely_words(server: ModelServer) -> None:
    server.answer("/v1/chat/completions", Reply({"choices": [{"message": {"content": "written"}}]}))
    with closing(ChatWriter(f"{server.url}/v1/", "small", KEY)) as writer:
        port: Writer = writer
        assert port.write("prompt \ud800", max_tokens=50) == "written"
        assert port.model == "openai/small"
    assert server.bodies() == [
        {
            "model": "small",
            "messages": [{"role": "user", "content": "prompt ?"}],
            "temperature": 0,
            "max_tokens": 50,
        }
    ]
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.soon_without_connections()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, "no message"),
        ([], "no message"),
        ({"choices": []}, "no message"),
        ({"choices": [{"message": None}]}, "no message"),
        ({"choices": [{"message": {"content": None}}]}, "an empty message; raise the token limit"),
        ({"choices": [{"message": {"content": " "}}]}, "an empty message"),
    ],
)
def test_a_writer_that_writes_nothing_is_told(server: ModelServer, body: object, told: str) -> None:
    server.answer("/chat/completions", Reply(body))
    with closing(ChatWriter(server.url, "m")) as writer, pytest.raises(ModelUnavailable, match=told):
        writer.write("prompt", max_tokens=5)
