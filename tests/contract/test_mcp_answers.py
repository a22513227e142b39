"""What agents get: every tool, resource and prompt through the official client, on both engines, in both eras."""

from pathlib import Path

import pytest

from tests.served import ERAS, agent_of
from tests.served_table import filled, go_through, repository
from treering.memory import Memory


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_resource_and_prompt_answers(memory: Memory, tmp_path: Path, era: str) -> None:
    root = repository(tmp_path / "shop")
    ids = filled(memory)
    with agent_of(memory, repository=root, era=era) as agent:
        go_through(agent, ids)
