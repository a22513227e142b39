"""Has the server of `process_server.py` start a process.

Run as a program, it stands in for `treering`: the process gets its streams, folder and environment, and it ends with
the exit code of the process. It imports little, because imports are most of the time that it takes.
"""

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence


class Connection:
    """One process. Closing the connection kills it."""

    def __init__(
        self,
        server: str,
        arguments: Sequence[str],
        streams: Mapping[int, int],
        *,
        folder: str,
        environment: Mapping[str, str],
        function: tuple[str, str] = ("treering.interfaces.start", "main"),
        new_session: bool = False,
    ) -> None:
        """`streams` are open descriptors by the number that they get in the process, which calls the function."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(server)
        order = {
            "arguments": arguments,
            "environment": dict(environment),
            "folder": folder,
            "function": function,
            "new_session": new_session,
            "streams": [*streams],
        }
        line = json.dumps(order).encode() + b"\n"
        sent = socket.send_fds(self._socket, [line], [*streams.values()])
        self._socket.sendall(line[sent:])
        self._answers = b""
        self.pid = self._next_number(None)

    def exit_code(self, timeout: float | None = None) -> int:
        """Wait for the end of the process, or raise `TimeoutError`; negative if a signal killed it."""
        return self._next_number(timeout)

    def close(self) -> None:
        self._socket.close()

    def _next_number(self, timeout: float | None) -> int:
        self._socket.settimeout(timeout)
        while b"\n" not in self._answers:
            try:
                answer = self._socket.recv(100)
            except BlockingIOError as error:
                raise TimeoutError from error
            assert answer, "the process server has ended"
            self._answers += answer
        line, _, self._answers = self._answers.partition(b"\n")
        return int(line)


def _open_streams() -> dict[int, int]:
    streams = {}
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            continue
        streams[number] = number
    return streams


def main() -> None:
    server, *arguments = sys.argv[1:]
    started = Connection(server, arguments, _open_streams(), folder=os.getcwd(), environment=os.environ)
    code = started.exit_code()
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
