"""Real coding agents, connected by `treering init`, share a memory between sessions. Only their models are scripted."""

import json
import re

import pytest

from tests.agents.script import Say, ToolCall, UseMemory
from tests.agents.workplace import Workplace
from treering.interfaces.mcp.texts import prompt_text
from treering.interfaces.mcp.tools import TOOLS

pytestmark = pytest.mark.agents

FACT = "The cellar key hangs behind the blue door."
QUESTION = "where is the key of the cellar"
AN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def test_a_session_finds_what_an_earlier_session_recorded(workplace: Workplace) -> None:
    [stored] = workplace.session(UseMemory("record_memory", {"text": FACT})).tool_results()
    id = AN_ID.search(stored)
    assert id, stored
    [found] = workplace.session(UseMemory("search_memory", {"query": QUESTION})).tool_results()
    assert FACT in found
    assert id[0] in found
    assert workplace.leftovers() == []


def test_the_model_gets_the_instructions_and_every_tool_of_the_memory(workplace: Workplace) -> None:
    """Codex gives its models the instructions at once, and the tools when they search for them."""
    search = ToolCall("tool_search", {"query": "treering memory", "limit": 50})
    turns = [search] if workplace.agent.name == "codex" else []
    use = workplace.agent.tools[UseMemory](UseMemory("memory_stats", {}), workplace.project)
    received = json.dumps(workplace.play([use, *turns, Say("Done.")]).requests[-1])
    assert json.dumps(prompt_text("instructions").strip())[1:-1] in received
    assert [tool.name for tool in TOOLS if tool.name not in received or json.dumps(tool.about) not in received] == []
