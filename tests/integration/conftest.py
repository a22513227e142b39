"""What several bad days need."""

from collections.abc import Iterator

import pytest

from tests.integration.crew import Crew
from tests.integration.model_server import ModelServer, model_server


@pytest.fixture
def crew() -> Iterator[Crew]:
    """Processes to be killed; none may fail by itself."""
    with Crew() as crew:
        yield crew
        assert crew.told("failed") == []


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture(autouse=True)
def durable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that kill processes run with the durability that users have."""
    monkeypatch.delenv("TREERING_TEST_SYNCHRONOUS")
