"""Agents for tests of the MCP server: a desk with a memory, and a client of the official SDK that talks to it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp_types import CallToolResult, TextContent, TextResourceContents

from treering.interfaces.mcp.host import MemoryHost
from treering.interfaces.mcp.server import build_server
from treering.memory import Memory

ERAS = ("legacy", "auto")
"""The handshake of the protocol before, and the current one."""
SESSION = "mcp-test"


def desk_of(memory: Memory, *, repository: Path | None = None, session: str = SESSION) -> MemoryHost:
    return MemoryHost(lambda: memory, session=session, clock=memory._parts.clock, repository=repository)


class Agent:
    """A client that waits for each answer."""

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self._client, self._portal = client, portal
        self.schemas = {tool.name: tool.output_schema for tool in self.ask("list_tools").tools}

    def ask(self, verb: str, *arguments: Any) -> Any:
        return self._portal.call(getattr(self._client, verb), *arguments)

    def try_call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """Whatever comes of it, as long as it is an answer."""
        answer = self.ask("call_tool", tool, arguments)
        if not answer.is_error:
            jsonschema.validate(answer.structured_content, self.schemas[tool])
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What the tool gives to programs."""
        answer = self.try_call(tool, arguments)
        assert not answer.is_error, text_of(answer)
        return answer.structured_content

    def told(self, tool: str, **arguments: Any) -> str:
        """What the tool tells a model."""
        answer = self.try_call(tool, arguments)
        assert not answer.is_error, text_of(answer)
        return text_of(answer)

    def refused(self, tool: str, **arguments: Any) -> str:
        """Why the tool does not do it."""
        answer = self.try_call(tool, arguments)
        assert answer.is_error, text_of(answer)
        return text_of(answer)

    def read(self, uri: str) -> str:
        (content,) = self.ask("read_resource", uri).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    def prompt(self, name: str, **arguments: str) -> str:
        (message,) = self.ask("get_prompt", name, arguments).messages
        assert isinstance(message.content, TextContent)
        return message.content.text

    @property
    def instructions(self) -> str:
        return self._client.instructions or ""

    @property
    def protocol(self) -> str:
        return self._client.protocol_version


def text_of(answer: CallToolResult) -> str:
    (content,) = answer.content
    assert isinstance(content, TextContent)
    return content.text


def json_of(answer: CallToolResult) -> str:
    """The structured content as a client shows it to a model."""
    return json.dumps(answer.structured_content, ensure_ascii=False, separators=(",", ":"))


@contextmanager
def connected(target: Any, era: str = "auto") -> Iterator[Agent]:
    """A client of a server in this process, or over any transport."""
    with start_blocking_portal() as portal:
        opened = portal.wrap_async_context_manager(Client(target, mode=era))
        client = opened.__enter__()
        try:
            yield Agent(client, portal)
        finally:
            # Without what went wrong in the test: it would come back wrapped in groups.
            opened.__exit__(None, None, None)


@contextmanager
def agent_of(
    memory: Memory, *, repository: Path | None = None, era: str = "auto", session: str = SESSION
) -> Iterator[Agent]:
    """An agent that works with this memory."""
    with connected(build_server(desk_of(memory, repository=repository, session=session)), era) as agent:
        yield agent
