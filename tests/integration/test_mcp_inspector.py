"""The official Inspector as a client: it starts `treering mcp` or calls `treering mcp --http`, and uses all of it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.forked_process import launcher_command
from tests.integration.http_service import http_service
from tests.integration.node_clients import InspectorCommandLine, inspector_command_line
from tests.leftovers import files_left, processes_left
from treering.interfaces.mcp.prompts import PROMPTS
from treering.interfaces.mcp.resources import RESOURCES
from treering.interfaces.mcp.tools import TOOLS

FACT = "The cellar key hangs behind the blue door."
QUESTION = "where is the key of the cellar"


@dataclass(frozen=True)
class Inspector:
    """Every call is a client of its own, which leaves when it has its answer."""

    command_line: InspectorCommandLine
    server: tuple[str, ...]
    era: str = "modern"

    def ask(self, method: str, *options: str) -> Any:
        manner = ("--protocol-era", self.era, "--format", "json", "--method", method)
        return json.loads(self.command_line.run(*manner, *options, *self.server))["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.ask("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))


@pytest.fixture(params=["stdio", "http"])
def inspector(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Inspector]:
    with inspector_command_line(tmp_path) as command_line:
        if request.param == "stdio":
            yield Inspector(command_line, ("-e", "TREERING_EMBEDDER=bundled", "--", *launcher_command(), "mcp"))
        else:
            with http_service(tmp_path) as service:
                shown = ("--header", f"Authorization: Bearer {service.token}")
                yield Inspector(command_line, ("--transport", "http", "--server-url", service.url, *shown))
    assert processes_left(tmp_path) == []
    assert files_left(tmp_path) == []


def test_the_inspector_sees_and_uses_all_that_the_server_offers(inspector: Inspector) -> None:
    # Strict: a schema that some client or model could not read would end it with an error.
    listed = inspector.ask("tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == [tool.name for tool in TOOLS]

    kept = inspector.call("record_memory", text=FACT)
    id = kept["structuredContent"]["id"]
    found = inspector.call("search_memory", query=QUESTION)
    assert [(hit["id"], hit["text"]) for hit in found["structuredContent"]["results"]] == [(id, FACT)]
    assert FACT in found["content"][0]["text"]
    assert id in found["content"][0]["text"]

    templates = inspector.ask("resources/templates/list")["resourceTemplates"]
    resources = inspector.ask("resources/list")["resources"]
    addresses = {each["uriTemplate"] for each in templates} | {each["uri"] for each in resources}
    assert addresses == {resource.uri for resource in RESOURCES}
    [record] = inspector.ask("resources/read", "--uri", f"treering://memory/{id}")["contents"]
    assert FACT in record["text"]

    prompts = inspector.ask("prompts/list")["prompts"]
    assert [prompt["name"] for prompt in prompts] == [prompt.name for prompt in PROMPTS]
    asked = inspector.ask("prompts/get", "--prompt-name", "search", "--prompt-args", f"about={QUESTION}")
    assert FACT in asked["messages"][0]["content"]["text"]

    # The protocol before is spoken too.
    assert inspector.ask("initialize")["protocolVersion"] == "2026-07-28"
    before = replace(inspector, era="legacy")
    assert before.ask("initialize")["protocolVersion"] == "2025-11-25"
    assert FACT in before.call("search_memory", query=QUESTION)["content"][0]["text"]
