"""Prints the programme: `python -m treering.interfaces.mcp.stdio.printing` asks the SDK and keeps what it answers."""

import json
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from treering.compose import now
from treering.interfaces.mcp.desk import Desk
from treering.interfaces.mcp.stdio.programme import CAPABILITIES_KEY, CLIENT_KEY, NAME, VERSION_KEY
from treering.interfaces.mcp.stdio.reception import Reception
from treering.interfaces.mcp.stdio.serving import serve

LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
_CLIENT = {"name": "printing", "version": "1"}
_SDK = ("mcp", "mcp_types")


def line(method: str, params: Any = None, id: Any = None) -> bytes:
    """A message of a client."""
    said = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    return json.dumps({key: value for key, value in said.items() if value is not None}).encode() + b"\n"


def greeting(version: str, id: int = 0) -> bytes:
    """How a connection begins before 2026-07-28."""
    return line("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": _CLIENT}, id)


def envelope(version: str) -> dict[str, Any]:
    """What each request carries since 2026-07-28."""
    return {"_meta": {VERSION_KEY: version, CLIENT_KEY: _CLIENT, CAPABILITIES_KEY: {}}}


def told(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """What the SDK answers to a client that says these lines and leaves."""
    heard = list[bytes]()
    reception = Reception(lines, heard.append)
    reception.listen()
    serve(Desk(_no_memory, session="", clock=now), reception, heard.append)
    return [json.loads(each) for each in heard]


def programme_now() -> dict[str, Any]:
    """As this version of Treering and of the SDK have it."""
    printed = list[dict[str, Any]]()
    for connection, asked, method, answer in (*_handshakes(), *_envelopes()):
        same = {"method": method, "asked": asked, "answer": answer}
        known = next((each for each in printed if {key: each[key] for key in same} == same), None)
        if known is None:
            printed.append({"connections": [connection], **same})
        else:
            known["connections"].append(connection)
    return {"printed_with": {name: version(name) for name in _SDK}, "answers": printed}


def _handshakes() -> Iterable[tuple[str | None, str | None, str, Any]]:
    asked = ("ping", *LISTS)
    for each in HANDSHAKE_PROTOCOL_VERSIONS:
        requests = [line(method, id=number) for number, method in enumerate(asked, 1)]
        answers = _answers((greeting(each), line("notifications/initialized"), *requests))
        yield None, each, "initialize", answers[0]
        yield from ((each, None, method, answers[number]) for number, method in enumerate(asked, 1))


def _envelopes() -> Iterable[tuple[str | None, str | None, str, Any]]:
    asked = ("server/discover", *LISTS)
    for each in MODERN_PROTOCOL_VERSIONS:
        requests = [line(method, envelope(each), number) for number, method in enumerate(asked)]
        refused = [greeting(older, number) for number, older in enumerate(KNOWN_PROTOCOL_VERSIONS, len(asked))]
        answers = _answers((*requests, *refused))
        yield from ((each, each, method, answers[number]) for number, method in enumerate(asked))
        for number, older in enumerate(KNOWN_PROTOCOL_VERSIONS, len(asked)):
            yield each, older, "initialize", answers[number]


def _answers(lines: Iterable[bytes]) -> dict[int, Any]:
    return {each["id"]: {key: each[key] for key in ("result", "error") if key in each} for each in told(lines)}


def _no_memory() -> NoReturn:
    raise AssertionError("nothing that is printed needs a memory")


def main() -> None:
    kept = json.dumps(programme_now(), ensure_ascii=False, indent=1)
    Path(__file__).with_name(NAME).write_text(kept + "\n", "utf-8")


if __name__ == "__main__":
    main()
