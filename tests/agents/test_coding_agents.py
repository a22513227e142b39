"""Real coding agents, connected by `treering init`, remember from one session to the next.

Everything is as people have it but the model, whose part a script plays.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.agents.coding_agents import AGENTS, CodingAgent, environment
from tests.agents.script import Calls, Says
from tests.agents.scripted_model import ScriptedModel, scripted_model
from tests.e2e.terminal import COMMAND
from tests.leftovers import files_left, processes_left
from treering.interfaces.mcp.texts import prompt_text
from treering.interfaces.mcp.tools import TOOLS

pytestmark = pytest.mark.agents

FACT = "The cellar key hangs behind the blue door."
QUESTION = "where is the key of the cellar"
AN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Workplace:
    """A repository, a person's home, and an agent that was connected there."""

    agent: CodingAgent
    program: Path
    home: Path
    project: Path

    def session(self, tool: str, **arguments: str) -> ScriptedModel:
        """One run of the agent, whose model calls one tool of ours and is done."""
        call = Calls(self.agent.tool.format(tool), arguments)
        with scripted_model(self.agent.dialect, call, Says("Done.")) as model:
            command = self.agent.command(self.program, model.url, "Do it.")
            self.run(*command, **self.agent.variables(model.url))
        return model

    def run(self, *command: str | Path, **variables: str) -> None:
        done = subprocess.run(
            command,
            cwd=self.project,
            env=environment(self.home) | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done


@pytest.fixture(params=AGENTS, ids=str)
def workplace(request: pytest.FixtureRequest, tmp_path: Path) -> Workplace:
    agent: CodingAgent = request.param
    program = agent.program()
    if program is None:
        pytest.skip(f"{agent} is not installed; `make test-agents` does it where it is published for the platform")
    place = Workplace(agent, program, tmp_path / "home", tmp_path / "project")
    for name, text in agent.at_home.items():
        (place.home / name).parent.mkdir(parents=True)
        (place.home / name).write_text(text)
    place.home.mkdir(exist_ok=True)
    place.project.mkdir()
    place.run("git", "init", "--quiet")
    place.run(COMMAND, "init", agent.name, "--yes")
    return place


def test_what_one_session_records_the_next_one_finds(workplace: Workplace) -> None:
    [kept] = workplace.session("record_memory", text=FACT).tool_results()
    id = AN_ID.search(kept)
    assert id, kept
    [found] = workplace.session("search_memory", query=QUESTION).tool_results()
    assert FACT in found
    assert id[0] in found
    assert processes_left(workplace.home) == []
    [memory] = workplace.home.rglob("memory.db")
    assert files_left(memory.parent) == []


def test_the_model_is_told_of_the_memory_before_it_does_anything(workplace: Workplace) -> None:
    first = json.dumps(workplace.session("memory_stats").asked[0])
    assert json.dumps(prompt_text("instructions").strip())[1:-1] in first
    assert [tool.name for tool in TOOLS if tool.name not in first or json.dumps(tool.about) not in first] == []
