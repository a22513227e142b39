"""The tools that agents have, one room a purpose."""

from typing import TYPE_CHECKING, Any

from treering.interfaces.mcp.tools.code import CODE
from treering.interfaces.mcp.tools.keeping import KEEPING
from treering.interfaces.mcp.tools.looking import LOOKING
from treering.interfaces.mcp.tools.putting_right import PUTTING_RIGHT
from treering.interfaces.mcp.tools.searching import SEARCHING
from treering.interfaces.mcp.tools.working import WORKING

if TYPE_CHECKING:
    from treering.interfaces.mcp.tool import Tool

TOOLS: tuple["Tool[Any, Any]", ...] = (*SEARCHING, *KEEPING, *PUTTING_RIGHT, *LOOKING, *WORKING, *CODE)
BY_NAME = {tool.name: tool for tool in TOOLS}
