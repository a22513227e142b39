"""The tables of tools, resources and prompts as a server of the official SDK. The only async code is here and below."""

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
from treering.interfaces.mcp.host import Caller, Desk
from treering.interfaces.mcp.texts import written
from treering.interfaces.mcp.threads import Row, Threads

# The tables are imported when they are first asked for: a client gets its first answer before.
if TYPE_CHECKING:
    from treering.interfaces.mcp.tool import Tool

NAME = "treering"
_SESSION_HEADER = "mcp-session-id"
_LOG = logging.getLogger(__name__)
T = TypeVar("T")


def build_server(desk: Desk) -> Server[Any]:
    """A server for the memory at this desk, over any transport."""
    serving = _Serving(desk)
    return Server(
        NAME,
        version=__version__,
        title="Treering",
        description="Memory for AI agents: kept, found again, put right.",
        instructions=written("instructions"),
        get_tool_input_schema=_in_headers,
        on_list_tools=serving.list_tools,
        on_call_tool=serving.call_tool,
        on_list_resources=serving.list_resources,
        on_list_resource_templates=serving.list_templates,
        on_read_resource=serving.read_resource,
        on_list_prompts=serving.list_prompts,
        on_get_prompt=serving.get_prompt,
    )


class _Serving:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._threads = Threads()

    async def list_tools(self, _ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=_listed_tools())

    async def call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """What goes wrong is an answer too: a model reads it and does better."""
        from treering.interfaces.mcp.tools import BY_NAME

        tool = BY_NAME.get(params.name)
        if tool is None:
            from treering.interfaces.mcp.tool import one_clear_line

            unknown = f"there is no tool {params.name[:60]!r}; there are {', '.join(BY_NAME)}"
            raise MCPError(types.INVALID_PARAMS, one_clear_line(unknown))
        try:
            called = partial(self._called, tool, _caller(ctx), params.arguments or {})
            return await self._threads.work(_row(tool), called)
        except TreeringError as exc:
            return _failed(str(exc))
        except Exception as exc:  # noqa: BLE001 - the door: the agent hears of it, and the server lives on
            _LOG.exception("tool %s failed", tool.name)
            return _failed(_mistake(exc))

    def _called(self, tool: Tool[Any, Any], caller: Caller, given: dict[str, Any]) -> types.CallToolResult:
        from treering.interfaces.mcp.answers import cited_ids

        asked = tool.understood(given)
        with self._desk.at_work(caller) as call:
            answer = tool.work(call, asked)
            call.handed_over(answer.text, cited_ids(answer.result), via=tool.name)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)], structured_content=answer.result.sent()
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
            from treering.interfaces.mcp.resources import addressed

            resource, name = addressed(uri)
            with self._desk.at_work(_caller(ctx)) as call:
                text = visible(resource.read(call, name))
                call.handed_over(text, [name] if resource.of_record else (), via=f"resource {resource.name}")
            return types.TextResourceContents(uri=uri, text=text, mime_type=resource.media_type)

        return types.ReadResourceResult(contents=[await _asked(self._threads, read, {"uri": uri})])

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
        asked = partial(self._prompted, _caller(ctx), params)
        text = await _asked(self._threads, asked)
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(messages=[message])

    def _prompted(self, caller: Caller, params: types.GetPromptRequestParams) -> str:
        from treering.interfaces.mcp.prompts import prompted

        with self._desk.at_work(caller) as call:
            written_text, ids = prompted(call, params.name, params.arguments or {})
            text = visible(written_text)
            call.handed_over(text, ids, via=f"prompt {params.name}")
            return text


async def _asked(threads: Threads, work: Callable[[], T], about: dict[str, str] | None = None) -> T:
    """Resources and prompts have no errors of their own: what goes wrong is an error of the protocol."""
    try:
        return await threads.work(Row.LENGTHY, work)
    except TreeringError as exc:
        from treering.interfaces.mcp.tool import one_clear_line

        code = types.INVALID_PARAMS if isinstance(exc, (InvalidInput, NotFound)) else types.INTERNAL_ERROR
        raise MCPError(code, one_clear_line(str(exc)), about) from exc
    except Exception as exc:  # the door, as for tools
        _LOG.exception("a resource or prompt failed")
        raise MCPError(types.INTERNAL_ERROR, _mistake(exc)) from exc


def _row(tool: Tool[Any, Any]) -> Row:
    if tool.lengthy:
        return Row.LENGTHY
    return Row.READING if tool.hints.reads else Row.WRITING


def _in_headers(_tool: str) -> None:
    """No argument of ours is repeated in a header. Told so, the SDK need not list all tools before each call."""


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


def _mistake(exc: Exception) -> str:
    return f"unexpected {type(exc).__name__}; this is a mistake in Treering, which its log tells more of"


def _failed(told: str) -> types.CallToolResult:
    from treering.interfaces.mcp.tool import one_clear_line

    return types.CallToolResult(content=[types.TextContent(type="text", text=one_clear_line(told))], is_error=True)


def _caller(ctx: Any) -> Caller:
    """Over HTTP many clients call. Of the previous protocol, the SDK has checked which session a request belongs to;
    the current one has no sessions, and a header that names one could say anything."""
    if ctx.request is None:
        return Caller()
    checked = ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    session = ctx.request.headers.get(_SESSION_HEADER) if checked else None
    return Caller(session, among_others=session is None)
