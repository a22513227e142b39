"""A server of the official SDK for our tools, resources and prompts. Async code is only here and in the transports."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from treering import __version__
from treering.core.errors import InvalidInput, NotFound, TreeringError
from treering.core.visible_text import visible
from treering.interfaces.mcp.host import Caller, MemoryHost
from treering.interfaces.mcp.texts import prompt_text
from treering.interfaces.servers.threads import CallQueue, CallThreads

# The tables are imported on first use, after the client has its first answer.
if TYPE_CHECKING:
    from treering.interfaces.mcp.tool import Tool

NAME = "treering"
_SESSION_HEADER = "mcp-session-id"
_LOG = logging.getLogger(__name__)
T = TypeVar("T")


def build_server(host: MemoryHost) -> Server[Any]:
    """A server for the hosted memory, over any transport."""
    handlers = _Handlers(host)
    return Server(
        NAME,
        version=__version__,
        title="Treering",
        description="Memory for AI agents: store, search, correct.",
        instructions=prompt_text("instructions"),
        get_tool_input_schema=_header_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    def __init__(self, host: MemoryHost) -> None:
        self._desk = host
        self._threads = CallThreads()

    async def list_tools(self, _ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=_listed_tools())

    async def call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Errors are answers too, so that the model can react to them."""
        from treering.interfaces.mcp.tools import BY_NAME

        tool = BY_NAME.get(params.name)
        if tool is None:
            from treering.interfaces.mcp.tool import error_line

            unknown = f"unknown tool {params.name[:60]!r}; use one of {', '.join(BY_NAME)}"
            raise MCPError(types.INVALID_PARAMS, error_line(unknown))
        try:
            work = partial(self._call, tool, _caller(ctx), params.arguments or {})
            return await self._threads.run(_queue(tool), work)
        except TreeringError as exc:
            return _failed(str(exc))
        except Exception as exc:  # noqa: BLE001 - the outermost handler: the agent gets an error, the server goes on
            _LOG.exception("tool %s failed", tool.name)
            return _failed(_bug_report(exc))

    def _call(self, tool: Tool[Any, Any], caller: Caller, given: dict[str, Any]) -> types.CallToolResult:
        from treering.interfaces.mcp.answers import cited_ids

        asked = tool.parse(given)
        with self._desk.call(caller) as call:
            answer = tool.work(call, asked)
            call.note_injection(answer.text, cited_ids(answer.result), via=tool.name)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)], structured_content=answer.sent
        )

    async def list_resources(self, _ctx: Any, _params: Any) -> types.ListResourcesResult:
        from treering.interfaces.mcp.resources import RESOURCES

        listed = [
            types.Resource(
                uri=each.uri, name=each.name, title=each.title, description=each.about, mime_type=each.media_type
            )
            for each in RESOURCES
            if not each.is_template
        ]
        return types.ListResourcesResult(resources=listed)

    async def list_templates(self, _ctx: Any, _params: Any) -> types.ListResourceTemplatesResult:
        from treering.interfaces.mcp.resources import RESOURCES

        listed = [
            types.ResourceTemplate(
                uri_template=each.uri,
                name=each.name,
                title=each.title,
                description=each.about,
                mime_type=each.media_type,
            )
            for each in RESOURCES
            if each.is_template
        ]
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read_resource(self, ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)

        def read() -> types.TextResourceContents:
            from treering.interfaces.mcp.resources import resource_at

            resource, name = resource_at(uri)
            with self._desk.call(_caller(ctx)) as call:
                text = visible(resource.read(call, name))
                call.note_injection(text, [name] if resource.of_record else (), via=f"resource {resource.name}")
            return types.TextResourceContents(uri=uri, text=text, mime_type=resource.media_type)

        return types.ReadResourceResult(contents=[await _run(self._threads, read, {"uri": uri})])

    async def list_prompts(self, _ctx: Any, _params: Any) -> types.ListPromptsResult:
        from treering.interfaces.mcp.prompts import PROMPTS

        listed = [
            types.Prompt(
                name=prompt.name,
                title=prompt.title,
                description=prompt.about,
                arguments=[
                    types.PromptArgument(name=each.name, description=each.about, required=each.required)
                    for each in prompt.arguments
                ],
            )
            for prompt in PROMPTS
        ]
        return types.ListPromptsResult(prompts=listed)

    async def get_prompt(self, ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        work = partial(self._render_prompt, _caller(ctx), params)
        text = await _run(self._threads, work)
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(messages=[message])

    def _render_prompt(self, caller: Caller, params: types.GetPromptRequestParams) -> str:
        from treering.interfaces.mcp.prompts import render_prompt

        with self._desk.call(caller) as call:
            rendered, ids = render_prompt(call, params.name, params.arguments or {})
            text = visible(rendered)
            call.note_injection(text, ids, via=f"prompt {params.name}")
            return text


async def _run(threads: CallThreads, work: Callable[[], T], about: dict[str, str] | None = None) -> T:
    """Run in a thread; errors become errors of the protocol, since resources and prompts have no others."""
    try:
        return await threads.run(CallQueue.SLOW, work)
    except TreeringError as exc:
        from treering.interfaces.mcp.tool import error_line

        code = types.INVALID_PARAMS if isinstance(exc, (InvalidInput, NotFound)) else types.INTERNAL_ERROR
        raise MCPError(code, error_line(str(exc)), about) from exc
    except Exception as exc:  # the outermost handler, as for tools
        _LOG.exception("a resource or prompt failed")
        raise MCPError(types.INTERNAL_ERROR, _bug_report(exc)) from exc


def _queue(tool: Tool[Any, Any]) -> CallQueue:
    if tool.lengthy:
        return CallQueue.SLOW
    return CallQueue.READ if tool.hints.reads else CallQueue.WRITE


def _header_schema(_tool: str) -> None:
    """No argument is repeated in a header; without this the SDK lists all tools before each call."""


@cache
def _listed_tools() -> list[types.Tool]:
    from treering.interfaces.mcp.tools import TOOLS

    return [_described(tool) for tool in TOOLS]


def _described(tool: Tool[Any, Any]) -> types.Tool:
    hints = tool.hints
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=hints.reads,
            destructive_hint=hints.destroys,
            idempotent_hint=hints.repeatable,
            open_world_hint=False,
        ),
    )


def _bug_report(exc: Exception) -> str:
    return f"unexpected {type(exc).__name__}; this is a bug in Treering, see the log of the server for details"


def _failed(message: str) -> types.CallToolResult:
    from treering.interfaces.mcp.tool import error_line

    return types.CallToolResult(content=[types.TextContent(type="text", text=error_line(message))], is_error=True)


def _caller(ctx: Any) -> Caller:
    """The client of a request. Over HTTP, only the previous protocol has sessions, which the SDK verifies; in the
    current one, a session header cannot be trusted."""
    if ctx.request is None:
        return Caller()
    has_sessions = ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    session = ctx.request.headers.get(_SESSION_HEADER) if has_sessions else None
    return Caller(session, is_anonymous=session is None)
