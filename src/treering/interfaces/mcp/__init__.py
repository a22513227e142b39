"""The door for agents: an MCP server over stdio or HTTP, on the official SDK."""
