"""Messages of an MCP client, as lines on stdin."""

import json
from typing import Any

_CLIENT = {"name": "test", "version": "1"}


def line(method: str, params: Any = None, id: Any = None) -> bytes:
    """A request, or without an id a notification."""
    said = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    return json.dumps({key: value for key, value in said.items() if value is not None}).encode() + b"\n"


def greeting(version: str, id: int = 0) -> bytes:
    """The request that begins a connection before 2026-07-28."""
    return line("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": _CLIENT}, id)


def envelope(version: str) -> dict[str, Any]:
    """Parameters that every request carries since 2026-07-28."""
    said = {"protocolVersion": version, "clientInfo": _CLIENT, "clientCapabilities": dict[str, Any]()}
    return {"_meta": {f"io.modelcontextprotocol/{key}": value for key, value in said.items()}}
