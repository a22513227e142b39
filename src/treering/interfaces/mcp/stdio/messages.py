"""Parses lines as messages of the protocol; an invalid request gets an error instead of no answer."""

import json
from typing import Any

import mcp_types as types

_INVALID_REQUEST = types.ErrorData(
    code=types.INVALID_REQUEST,
    message='this is not a JSON-RPC 2.0 request: it needs "jsonrpc", "method" and an "id"',
)


def message(line: bytes) -> types.JSONRPCMessage:
    """The message in a line, else `ValueError`. Lone surrogates, which some clients send, are replaced."""
    text = line.decode("utf-8", errors="replace")
    try:
        return types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        repaired = json.dumps(_read(text), ensure_ascii=False).encode("utf-8", errors="replace")
        return types.jsonrpc_message_adapter.validate_json(repaired, by_name=False)


def error_for(line: bytes) -> types.JSONRPCError | None:
    """The error that answers an invalid line; None if the sender expects no answer."""
    try:
        parsed = _read(line.decode("utf-8", errors="replace"))
    except ValueError:
        return None
    if not isinstance(parsed, dict) or "method" not in parsed or type(parsed.get("id")) not in (int, str):
        return None
    return types.JSONRPCError(jsonrpc="2.0", id=parsed["id"], error=_INVALID_REQUEST)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
