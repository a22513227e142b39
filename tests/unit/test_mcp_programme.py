"""What a client hears before the SDK is loaded: as printed, to plain requests, and nothing else."""

import json
from typing import Any

import pytest

from treering.interfaces.mcp.stdio.printing import LISTS, envelope, greeting, line, programme_now, told
from treering.interfaces.mcp.stdio.programme import Programme, Reply, Standing, printed, programme, reply
from treering.interfaces.mcp.stdio.reception import Reception

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
INITIALIZED = line("notifications/initialized")


@pytest.fixture(scope="module")
def known() -> Programme:
    found = printed()
    assert found is not None, "the programme was printed with another SDK; print it again"
    return found


def heard(known: Programme, *lines: bytes) -> Reply | None:
    """The reply to the last line, after the others."""
    standing, found = Standing(), None
    for each in lines:
        found = reply(known, standing, each)
        standing = found.standing if found else standing
    return found


def answer(found: Reply | None) -> dict[str, Any]:
    assert found is not None
    read: dict[str, Any] = json.loads(found.text)
    return read


def test_the_programme_is_what_the_sdk_answers_now(known: Programme) -> None:
    now = programme_now()
    assert known == programme(now["answers"]), "run `python -m treering.interfaces.mcp.stdio.printing`"


def test_another_sdk_than_it_was_printed_with_answers_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", ["/nowhere"])
    assert printed() is None


@pytest.mark.parametrize("version", HANDSHAKES)
def test_a_handshake_and_the_lists_are_answered_in_its_version(known: Programme, version: str) -> None:
    assert answer(heard(known, greeting(version)))["result"]["protocolVersion"] == version
    for number, method in enumerate(LISTS, 1):
        found = answer(heard(known, greeting(version), INITIALIZED, line(method, id=number)))
        assert found["id"] == number
        assert found["result"]


def test_requests_with_an_envelope_need_no_greeting(known: Programme) -> None:
    assert answer(heard(known, line("tools/list", envelope(MODERN), "a")))["result"]["tools"]
    found = answer(heard(known, line("server/discover", envelope(MODERN), "a")))
    assert found["result"]["supportedVersions"] == [MODERN]


def test_a_handshake_after_an_envelope_is_refused_as_the_sdk_does(known: Programme) -> None:
    lines = (line("server/discover", envelope(MODERN), "probe"), greeting("2025-11-25"))
    assert answer(heard(known, *lines)) == told(lines)[1]
    assert answer(heard(known, *lines))["error"]["code"] == -32022


def test_only_lines_that_later_answers_depend_on_are_decisive(known: Programme) -> None:
    assert [
        found.decisive
        for found in (
            heard(known, greeting("2025-11-25")),
            heard(known, greeting("2025-11-25"), INITIALIZED),
            heard(known, greeting("2025-11-25"), line("tools/list", id=1)),
            heard(known, line("tools/list", envelope(MODERN), 1)),
            heard(known, line("tools/list", envelope(MODERN), 1), line("prompts/list", envelope(MODERN), 2)),
        )
        if found
    ] == [True, True, False, True, False]


CLIENT = {"name": "c", "version": "1"}
CLAUDE = {
    "name": "claude-code",
    "title": "Claude Code",
    "version": "2.1.325",
    "description": "Anthropic's agentic coding tool",
    "websiteUrl": "https://claude.com/claude-code",
}
CLAUDE_CAN = {"roots": {"listChanged": True}, "elicitation": {"form": {}, "url": {}}}


def initialize(**changed: Any) -> bytes:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT} | changed
    return line("initialize", params, 0)


@pytest.mark.parametrize(
    "capabilities",
    [
        CLAUDE_CAN,
        {"elicitation": {}},
        {"roots": {"listChanged": True}},
        {"tools": True, "prompts": True, "logging": False, "elicitation": {}, "roots": {"listChanged": False}},
        {"roots": {"listChanged": True}, "sampling": {"tools": {}}, "tasks": {"list": {}, "requests": {"tools": {}}}},
    ],
)
def test_what_coding_agents_say_first_is_plain(known: Programme, capabilities: dict[str, Any]) -> None:
    assert answer(heard(known, initialize(capabilities=capabilities, clientInfo=CLAUDE)))["result"]
    meta = envelope(MODERN)["_meta"]
    told = {key: capabilities if "Capabilities" in key else CLAUDE if "Info" in key else meta[key] for key in meta}
    assert answer(heard(known, line("server/discover", {"_meta": told}, "server-discover-probe-1")))["result"]


@pytest.mark.parametrize(
    "said",
    [
        b"\n",
        b"no JSON\n",
        b"\xff\xfe\n",
        b"[" * 100_000,
        b"[" + greeting("2025-11-25") + b"]",
        greeting("1999-01-01"),
        initialize(capabilities=[]),
        initialize(capabilities={"roots": {"listChanged": "yes"}}),
        initialize(capabilities={"sampling": True}),
        greeting("2025-11-25").replace(
            b'"capabilities": {}', b'"capabilities": {"tasks": ' + b'{"a": ' * 900 + b"1" + b"}" * 901
        ),
        greeting("2025-11-25").replace(
            b'"capabilities": {}', b'"capabilities": {"x": ' + b"[" * 300 + b"]" * 300 + b"}"
        ),
        initialize(clientInfo={"name": "c"}),
        initialize(clientInfo=CLIENT | {"name": 7}),
        initialize(clientInfo=CLIENT | {"icons": []}),
        initialize(extra=1),
        greeting("2025-11-25").replace(b'"2.0"', b'"1.0"'),
        greeting("2025-11-25").replace(b'"id": 0', b'"id": true'),
        greeting("2025-11-25").replace(b'"id": 0', b'"id": 1.5'),
        greeting("2025-11-25").replace(b'"id": 0', b'"id": null'),
        greeting("2025-11-25").replace(b'"id": 0', b'"id": "\\ud800"'),
        greeting("2025-11-25").replace(b'"id": 0', b'"id": 0, "more": 1'),
        INITIALIZED,
        line("ping", id=1),
        line("tools/list", id=1),
        line("tools/list", envelope("2099-01-01"), 1),
        line("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN}}, 1),
        line("tools/list", envelope(MODERN) | {"cursor": "x"}, 1),
        line("tools/call", envelope(MODERN) | {"name": "memory_stats"}, 1),
    ],
)
def test_what_is_not_plain_is_left_to_the_sdk(known: Programme, said: bytes) -> None:
    assert heard(known, said) is None


@pytest.mark.parametrize(
    "then",
    [
        greeting("2025-11-25", 1),
        line("tools/list", {"cursor": "x"}, 1),
        line("tools/list", id=0),
        line("tools/list", envelope(MODERN), 1),
        line("server/discover", id=1),
        line("tools/call", {"name": "memory_stats", "arguments": {}}, 1),
        line("notifications/cancelled", {"requestId": 0}),
    ],
)
def test_after_a_handshake_too(known: Programme, then: bytes) -> None:
    assert heard(known, greeting("2025-11-25"), then) is None


def test_nothing_is_answered_out_of_the_programme_once_a_line_was_passed_on(known: Programme) -> None:
    lines = (greeting("2025-11-25"), b"garbage\n", line("tools/list", id=1))
    said = list[bytes]()
    reception = Reception(lines, said.append, known)
    assert reception.listen()
    assert [json.loads(each)["id"] for each in said] == [0]
    assert [reception.inbox.get() for _ in range(3)] == [*lines[1:], None]


def test_whoever_heard_everything_from_the_programme_needs_no_server(known: Programme) -> None:
    assert not Reception((greeting("2025-11-25"), INITIALIZED), lambda _: None, known).listen()


def test_a_client_is_ready_for_the_memory_only_when_it_goes_on_after_the_greeting(known: Programme) -> None:
    def ready(*lines: bytes) -> bool:
        reception = Reception(lines, lambda _: None, known)
        reception.listen()
        return reception.hand_over().ready

    assert not ready(greeting("2025-11-25"))
    assert ready(greeting("2025-11-25"), INITIALIZED)
    assert ready(greeting("2025-11-25"), line("tools/list", id=1))
