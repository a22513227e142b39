"""Fixtures of the tests with real coding agents."""

from pathlib import Path

import pytest

from tests.agents.coding_agents import AGENTS
from tests.agents.workplace import Workplace


@pytest.fixture(params=[agent.name for agent in AGENTS])
def unconnected(request: pytest.FixtureRequest, tmp_path: Path) -> Workplace:
    """A workplace of each agent, not yet connected to Treering."""
    agent = next(each for each in AGENTS if each.name == request.param)
    program = agent.program()
    if program is None:
        pytest.skip(f"{agent} is not installed; `make test-agents` does it where it is published for the platform")
    return Workplace(agent, program, tmp_path / "home", tmp_path / "project")


@pytest.fixture
def workplace(unconnected: Workplace) -> Workplace:
    """A workplace of each agent, connected to Treering."""
    unconnected.set_up({"README.md": "# A shop\n"})
    unconnected.treering("init", unconnected.agent.name, "--yes")
    return unconnected


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Allow for several sessions in one test on a busy machine."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(900))
