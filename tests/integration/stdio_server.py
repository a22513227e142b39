"""`treering mcp` as a client starts it, for tests of how it ends."""

import json
import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.e2e.terminal import COMMAND
from treering.interfaces.mcp.stdio.printing import greeting, line

PATIENCE = 60
GREETING = greeting("2025-11-25")
INITIALIZED = line("notifications/initialized")


def call(id: int, tool: str, **arguments: Any) -> bytes:
    return line("tools/call", {"name": tool, "arguments": arguments}, id)


class Project:
    """A repository, and a home that is nobody else's."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.root = folder / "project"
        self.memories = folder / "memories"
        for each in (self.home, self.root / ".git"):
            each.mkdir(parents=True)
        self.environment = os.environ | {
            "HOME": str(self.home),
            "TREERING_DATA_DIR": str(self.memories),
            "TREERING_BACKGROUND": "on",
        }

    def piped(self, *lines: bytes, shell: str = f"exec {COMMAND} mcp") -> "subprocess.CompletedProcess[bytes]":
        """Everything said at once, and the end of input behind it."""
        return subprocess.run(
            ["sh", "-c", shell],
            input=b"".join(lines),
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )

    def server(self, command: Sequence[str] = (COMMAND, "mcp"), **options: Any) -> "Server":
        return Server(self, command, **options)


class Server:
    """A server that runs. Leaving the block kills it, if it is still there."""

    def __init__(self, project: Project, command: Sequence[str], **options: Any) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        self.process = subprocess.Popen(command, cwd=project.root, env=project.environment, **pipes)
        self.complaints = b""
        self._reading = threading.Thread(target=self._read_complaints)
        self._reading.start()

    def say(self, *lines: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(lines))
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, *lines: bytes) -> Any:
        self.say(*lines)
        return self.hear()

    def greeted(self) -> Self:
        assert self.ask(GREETING)["id"] == 0
        self.say(INITIALIZED)
        return self

    def ends(self) -> int:
        return self.process.wait(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        self._reading.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue

    def _read_complaints(self) -> None:
        if self.process.stderr is not None:
            self.complaints = self.process.stderr.read()
