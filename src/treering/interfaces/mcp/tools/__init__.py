"""The tools that agents have, one room a purpose."""

from typing import TYPE_CHECKING, Any

from treering.interfaces.mcp.tools.code import CODE
from treering.interfaces.mcp.tools.corrections import PUTTING_RIGHT
from treering.interfaces.mcp.tools.information import LOOKING
from treering.interfaces.mcp.tools.outcomes import WORKING
from treering.interfaces.mcp.tools.recording import KEEPING
from treering.interfaces.mcp.tools.search import SEARCHING

if TYPE_CHECKING:
    from treering.interfaces.mcp.tool import Tool

TOOLS: tuple["Tool[Any, Any]", ...] = (*SEARCHING, *KEEPING, *PUTTING_RIGHT, *LOOKING, *WORKING, *CODE)
BY_NAME = {tool.name: tool for tool in TOOLS}
