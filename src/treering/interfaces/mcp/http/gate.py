"""Request filter of the MCP server: only its path, and only with the token."""

import json

from mcp_types import INVALID_REQUEST
from starlette.responses import Response

from treering.interfaces.mcp.http import PATH
from treering.interfaces.servers.http.gate import NO_TOKEN, Headers, Refusal, RequestGate

NO_SUCH_PATH = Refusal(404, f"not found; the server is at {PATH}")


class McpGate(RequestGate):
    """Rejects with an error of JSON-RPC."""

    def authorization(self, method: str, path: str, headers: Headers) -> Refusal | None:
        """An unknown path needs no token: clients look for a sign-in page before they send one."""
        if path != PATH:
            return NO_SUCH_PATH
        return None if self.has_token(headers) else NO_TOKEN

    def response(self, refusal: Refusal) -> Response:
        return rpc_error(refusal)


def rpc_error(refusal: Refusal) -> Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": refusal.why}}
    return Response(json.dumps(body), refusal.status, dict(refusal.headers), "application/json")
