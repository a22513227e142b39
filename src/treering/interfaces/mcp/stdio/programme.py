"""What every client hears first, printed in advance.

The greeting and the lists of tools, prompts and resources are the same in every project, but the SDK that answers them
takes longer to load than a client should wait. So its answers are kept in `programme.json`, which `printing` makes, and
are given to whoever asks in the plainest way. Everything else waits for the SDK.
"""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

NAME = "programme.json"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_ENVELOPE = frozenset({VERSION_KEY, CLIENT_KEY, CAPABILITIES_KEY})
_READY = "notifications/initialized"
_NOTIFIED = frozenset({"jsonrpc", "method"})
_MESSAGE = frozenset({"jsonrpc", "id", "method", "params"})
_INITIALIZE = frozenset({"protocolVersion", "capabilities", "clientInfo"})
_CLIENT = frozenset({"name", "title", "version", "description", "websiteUrl"})
_TREES = frozenset({"sampling", "elicitation", "experimental", "extensions", "tasks"})
"""What a client can do, said by objects in objects."""
_DEEPEST = 8
"""How deep whatever a client tells of itself can go: more than any does, and far less than parsers take."""
_LARGEST_ID = 2**53

Asked = tuple[str | None, str, str | None]
"""The version that a connection speaks (none before a greeting), the method, and the version that the request names."""
_NOWHERE: Asked = (None, "", None)
Programme = Mapping[Asked, Mapping[str, Any]]


class Standing(NamedTuple):
    """What a client has said so far, as far as answers depend on it."""

    version: str | None = None
    """What the connection speaks; the first request decides."""
    ids: frozenset[int | str] = frozenset()


class Reply(NamedTuple):
    """The answer to a line (nothing, for a notification). A line is decisive where later answers depend on it."""

    standing: Standing
    text: bytes = b""
    id: int | str | None = None
    decisive: bool = False


def printed() -> Programme | None:
    """The answers of the SDK that is installed; None where they were printed with another."""
    with open(os.path.join(os.path.dirname(__file__), NAME), encoding="utf-8") as file:
        kept = json.load(file)
    return programme(kept["answers"]) if _installed(kept["printed_with"]) else None


def programme(answers: list[dict[str, Any]]) -> Programme:
    return {
        (connection, each["method"], each["asked"]): each["answer"]
        for each in answers
        for connection in each["connections"]
    }


def reply(programme: Programme, standing: Standing, line: bytes) -> Reply | None:
    """The answer where it is printed and the line is as plain as can be; None is for the SDK to answer."""
    said = _message(line)
    if said is None:
        return None
    method, params = said["method"], said.get("params", {})
    if "id" not in said:
        greeted = (None, "initialize", standing.version) in programme
        return Reply(standing, decisive=True) if greeted and said.keys() == _NOTIFIED and method == _READY else None
    id, asked = said["id"], _asked(standing.version, method, params)
    if asked not in programme or not _fresh(id, standing):
        return None
    text = json.dumps({"jsonrpc": "2.0", "id": id, **programme[asked]}, ensure_ascii=False, separators=(",", ":"))
    after = Standing(standing.version or asked[2], standing.ids | {id})
    return Reply(after, text.encode() + b"\n", id, decisive=standing.version is None)


def _installed(versions: Mapping[str, str]) -> bool:
    """Looked up by hand: the module for that takes as long to load as everything here together."""
    folder = next((each for each in sys.path if os.path.isdir(os.path.join(each, "mcp"))), "")
    return all(os.path.isdir(os.path.join(folder, f"{name}-{version}.dist-info")) for name, version in versions.items())


def _message(line: bytes) -> dict[str, Any] | None:
    # An escape can stand for half a character, about which parsers disagree.
    if b"\\u" in line:
        return None
    try:
        said = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    plain = (
        isinstance(said, dict)
        and said.keys() <= _MESSAGE
        and said.get("jsonrpc") == "2.0"
        and isinstance(said.get("method"), str)
        and isinstance(said.get("params", {}), dict)
    )
    return said if plain else None


def _asked(connection: str | None, method: str, params: Mapping[str, Any]) -> Asked:
    """What is looked up; what is not plain is found nowhere."""
    if method == "initialize":
        plain = (
            params.keys() == _INITIALIZE
            and isinstance(params["protocolVersion"], str)
            and _client(params["clientInfo"])
            and _capabilities(params["capabilities"])
        )
        return (connection, method, params["protocolVersion"]) if plain else _NOWHERE
    meta = params.get("_meta", {})
    if not params.keys() <= {"_meta"} or not isinstance(meta, dict):
        return _NOWHERE
    told = {key: value for key, value in meta.items() if key != "progressToken" or type(value) not in (int, str)}
    if not told:
        return connection, method, None
    version = told[VERSION_KEY] if told.keys() == _ENVELOPE else None
    plain = isinstance(version, str) and _capabilities(told[CAPABILITIES_KEY]) and _client(told[CLIENT_KEY])
    return (connection or version, method, version) if plain else _NOWHERE


def _fresh(id: object, standing: Standing) -> bool:
    return (type(id) is str or (type(id) is int and abs(id) < _LARGEST_ID)) and id not in standing.ids


def _client(told: object) -> bool:
    return (
        isinstance(told, dict)
        and {"name", "version"} <= told.keys() <= _CLIENT
        and all(isinstance(value, str) for value in told.values())
    )


def _capabilities(told: object) -> bool:
    """What is not known by name can be anything that the SDK can read."""
    return isinstance(told, dict) and all(_capability(name, value) for name, value in told.items())


def _capability(name: str, told: object) -> bool:
    if name == "roots":
        return isinstance(told, dict) and told.keys() <= {"listChanged"} and all(type(v) is bool for v in told.values())
    return _objects_only(told) if name in _TREES else _shallow(told)


def _objects_only(told: object, depth: int = _DEEPEST) -> bool:
    return isinstance(told, dict) and depth > 0 and all(_objects_only(each, depth - 1) for each in told.values())


def _shallow(told: object, depth: int = _DEEPEST) -> bool:
    inner = told.values() if isinstance(told, dict) else told if isinstance(told, list) else ()
    return depth > 0 and all(_shallow(each, depth - 1) for each in inner)
