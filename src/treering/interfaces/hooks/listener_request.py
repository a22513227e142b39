"""Asks the listener, a thread of the session's MCP server, what to inject: one line each way over a private socket."""

import os
import time

from treering.core.light_json import dumps, loads
from treering.location.hook_spool import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_ANSWER_BYTES = 1024 * 1024


def ask_listener(path: str, request: "dict[str, Any]", deadline: float) -> str | None:
    """The listener's text; empty if it gives none before the deadline, None if no listener of this user is there."""
    if not _is_own_socket(path):
        return None
    # The module `socket` imports `selectors` and `enum`, which cost more than the request.
    from _socket import AF_UNIX, SOCK_STREAM, socket

    connection = socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.settimeout(_left(deadline))
        connection.connect(path)
    except TimeoutError:
        connection.close()
        return ""
    except (OSError, ValueError):
        connection.close()
        return None
    try:
        connection.send(dumps({**request, "ms": int(_left(deadline) * 1000)}).encode("ascii") + b"\n")
        return _text_of(_first_line(connection, deadline))
    except OSError:  # also TimeoutError
        return ""
    finally:
        connection.close()


def _is_own_socket(path: str) -> bool:
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return False
    return found.st_mode & 0o170000 == 0o140000 and found.st_uid == os.getuid()


def _left(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())


def _first_line(connection: "Any", deadline: float) -> bytes:
    received = b""
    while b"\n" not in received and len(received) < MAX_ANSWER_BYTES:
        if time.monotonic() > deadline:
            raise TimeoutError
        connection.settimeout(_left(deadline))
        part = connection.recv(64 * 1024)
        if not part:
            break
        received += part
    return received


def _text_of(line: bytes) -> str:
    try:
        answer = loads(line)
    except (ValueError, RecursionError):
        return ""
    text = answer.get("text") if isinstance(answer, dict) and answer.get("v") == VERSION else None
    return text if isinstance(text, str) else ""
