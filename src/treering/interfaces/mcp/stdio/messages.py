"""Lines as messages of the protocol. Whoever asks in a way that is none hears so, instead of waiting for ever."""

import json
from typing import Any

import mcp_types as types

_NO_REQUEST = types.ErrorData(
    code=types.INVALID_REQUEST,
    message='this is not a request of JSON-RPC 2.0: it needs "jsonrpc", "method" and an "id"',
)


def message(line: bytes) -> types.JSONRPCMessage:
    """`ValueError` where it is none. Halves of characters, which some clients send, are replaced."""
    text = line.decode("utf-8", errors="replace")
    try:
        return types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        whole = json.dumps(_read(text), ensure_ascii=False).encode("utf-8", errors="replace")
        return types.jsonrpc_message_adapter.validate_json(whole, by_name=False)


def complaint(line: bytes) -> types.JSONRPCError | None:
    """What to tell whoever sent a line that is no message; None where nobody waits for an answer."""
    try:
        said = _read(line.decode("utf-8", errors="replace"))
    except ValueError:
        return None
    if not isinstance(said, dict) or "method" not in said or type(said.get("id")) not in (int, str):
        return None
    return types.JSONRPCError(jsonrpc="2.0", id=said["id"], error=_NO_REQUEST)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
