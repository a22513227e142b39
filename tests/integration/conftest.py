"""Processes and servers that the tests share."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.crew import Crew, ForkServer
from tests.integration.http_service import HttpService, http_service
from tests.integration.model_server import ModelServer, model_server


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    server = ForkServer()
    yield server
    server.close()


@pytest.fixture
def durable(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that kill processes: the durability that users have."""
    monkeypatch.delenv("TREERING_TEST_SYNCHRONOUS")


@pytest.fixture
def crew(fork_server: ForkServer, durable: None) -> Iterator[Crew]:
    """Processes to be killed; none may fail by itself."""
    with Crew(fork_server) as crew:
        yield crew
        assert crew.told("failed") == []


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpService]:
    """`treering mcp --http` for tests that concern neither its start and options nor its end."""
    with http_service(tmp_path_factory.mktemp("served")) as service:
        yield service


@pytest.fixture
def place(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """Arguments for a process that opens the memory of this test."""
    where = str(tmp_path / "memory.db") if engine == "sqlite" else request.getfixturevalue("postgres_url")
    return {"place": where, "tenant": f"t-{uuid4().hex[:12]}", "blobs": str(tmp_path / "blobs")}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server
