"""Where is …? With an embedder on a server, at its HTTP interface."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import treering
from tests.code_projects import written
from tests.integration.model_server import ModelServer, Reply, model_server
from treering.core.settings import EmbedderSettings, Settings

# Words that the model knows: those of one row mean the same.
_MEANINGS = (
    ("log in", "sign on", "authenticate"),
    ("throttle", "too many requests", "rate"),
    ("evict", "forgets entries", "expire"),
)
FILES = {
    "shop/gate.py": "def authenticate(person):\n    return person.key == stored(person)\n",
    "shop/limits.py": "def throttle(caller):\n    return caller.seen > allowed(caller)\n",
    "shop/memo.py": "def expire(entry):\n    return entry.age > oldest(entry)\n",
    "shop/requests.py": "def requests(person):\n    # People sign requests on entries of a log.\n    return log\n",
}
QUESTIONS = {
    "where do people sign on with their key?": "shop/gate.py",
    "which code answers too many requests of a caller?": "shop/limits.py",
    "The store forgets entries\n" + "It happens on one machine after an hour, since the upgrade. " * 4: "shop/memo.py",
}


def _embeddings(body: Any) -> Reply:
    vectors = [
        [0.1, *(float(any(word in text.lower() for word in row)) for row in _MEANINGS), 0.0] for text in body["input"]
    ]
    return Reply({"data": [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]})


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        server.answer("/v1/embeddings", _embeddings)
        yield server


def _first(tmp_path: Path, embedder: EmbedderSettings) -> dict[str, str]:
    """The first file for each question, after all chunks are embedded."""
    root = written(tmp_path / "project", FILES)
    with treering.open(tmp_path / "memory.db", settings=Settings(embedder=embedder), background=False) as memory:
        memory.code.index(root, history=False)
        if embedder.provider != "none":
            memory.vectors.update()
        return {question: memory.code.where(question)[0].path for question in QUESTIONS}


def test_a_served_embedder_finds_what_words_miss(tmp_path: Path, server: ModelServer) -> None:
    served = EmbedderSettings.make(provider="openai", model="code-embedder", url=f"{server.url}/v1")
    assert _first(tmp_path, served) == QUESTIONS
    assert server.asked


def test_without_it_other_files_come_first(tmp_path: Path) -> None:
    assert _first(tmp_path, EmbedderSettings.make(provider="none")) != QUESTIONS
