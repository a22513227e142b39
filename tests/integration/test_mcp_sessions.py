"""Whose session it is over HTTP: of the previous protocol each client has one, of the current nobody has."""

import pytest

from tests.integration.http_service import HttpService
from tests.integration.test_mcp_http import agent_at, asked

REQUEST = (
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_session_context","arguments":{},"_meta":'
    b'{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},'
    b'"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}}'
)


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_what_one_client_kept_is_not_told_another_as_its_own(service: HttpService, era: str) -> None:
    with agent_at(service, era) as one, agent_at(service, era) as other:
        id = one.call("record_memory", text="The lamp is green.")["id"]
        assert other.call("get_session_context")["items"] == []
        own = one.call("get_session_context")
        assert [each["id"] for each in own["items"]] == ([id] if era == "legacy" else [])
        assert (own["session"] is None) == (era == "auto")
        assert any("no sessions over HTTP" in note for note in own["notes"]) == (era == "auto")


def test_a_session_that_a_request_only_claims_is_not_believed(service: HttpService) -> None:
    with agent_at(service, "legacy") as one:
        one.call("record_memory", text="The lamp is green.")
        session = one.call("get_session_context")["session"].rpartition("-")[2]
        headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Session_Id": session}
        named = {"Mcp_Method": "tools/call", "Mcp_Name": "get_session_context"}
        answer, said = asked(service, body=REQUEST, **headers, **named)
        assert answer.status == 200, said
        assert "no sessions over HTTP" in said
        assert "lamp" not in said
