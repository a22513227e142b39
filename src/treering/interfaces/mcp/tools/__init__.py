"""The tools of the MCP server."""

from typing import TYPE_CHECKING, Any

from treering.interfaces.mcp.tools.code import CODE_TOOLS
from treering.interfaces.mcp.tools.corrections import CORRECTION_TOOLS
from treering.interfaces.mcp.tools.information import INFORMATION_TOOLS
from treering.interfaces.mcp.tools.outcomes import OUTCOME_TOOLS
from treering.interfaces.mcp.tools.recording import RECORDING_TOOLS
from treering.interfaces.mcp.tools.search import SEARCH_TOOLS

if TYPE_CHECKING:
    from treering.interfaces.mcp.tool import Tool

TOOLS: tuple["Tool[Any, Any]", ...] = (
    *SEARCH_TOOLS,
    *RECORDING_TOOLS,
    *CORRECTION_TOOLS,
    *INFORMATION_TOOLS,
    *OUTCOME_TOOLS,
    *CODE_TOOLS,
)
BY_NAME = {tool.name: tool for tool in TOOLS}
