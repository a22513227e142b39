"""The HTTP transport of the MCP server."""

PATH = "/mcp"
