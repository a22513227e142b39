"""`treering mcp` as a client starts it, for tests of how it ends.

Servers are forked from a process that has imported everything, unless the test gives a command to start.
"""

import json
import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import treering
from tests.forked_process import ForkedProcess
from tests.leftovers import files_left, processes_left
from tests.mcp_messages import greeting, line
from treering.interfaces.mcp.stdio import server as serving
from treering.interfaces.start import main
from treering.memory import Memory

Process = ForkedProcess | subprocess.Popen[bytes]
PATIENCE = 60
GREETING = greeting("2025-11-25")
INITIALIZED = line("notifications/initialized")


def call(id: int, tool: str, **arguments: Any) -> bytes:
    return line("tools/call", {"name": tool, "arguments": arguments}, id)


STATS = call(1, "memory_stats")
IMPACT = call(1, "analyze_impact", node="part_1.step_3")


def record(id: int) -> bytes:
    return call(id, "record_memory", text=f"The gate {id} of the garden is painted green every spring.", type="fact")


def answers(said: bytes) -> list[Any]:
    return [json.loads(each) for each in said.splitlines()]


def serve_impatiently() -> None:
    """Run `treering`, which waits for one second where it waits for fifteen."""
    serving.SILENCE_SECONDS = 1
    main()


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

    def piped(
        self, *lines: bytes, shell: str | None = None, options: Sequence[str] = (), **choices: Any
    ) -> "subprocess.CompletedProcess[bytes]":
        """Everything said at once, and the end of input behind it."""
        command = None if shell is None else ("sh", "-c", shell)
        with self._started(command, options, **choices) as process:
            stdout, stderr = process.communicate(b"".join(lines), PATIENCE)
        assert process.returncode is not None
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def write_code(self, files: int) -> None:
        source = "\n\n".join(f"def step_{n}(given):\n    return step_{n - 1}(given)" for n in range(1, 40))
        for number in range(files):
            (self.root / f"part_{number}.py").write_text(source)

    def opened(self) -> Memory:
        """Its memory, which a server has made."""
        [found] = self.memories.rglob("memory.db")
        return treering.open(found, project=found.parent.name)

    def server(self, command: Sequence[str] | None = None, **choices: Any) -> "Server":
        return Server(self._started(command, (), **choices))

    def _started(self, command: Sequence[str] | None, options: Sequence[str], **choices: Any) -> Process:
        place: dict[str, Any] = {"cwd": self.root, "env": self.environment}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        if command is None:
            return ForkedProcess(("mcp", *options), **place | pipes | choices)
        return subprocess.Popen(command, **place | pipes | choices)


def assert_nothing_left(project: Project) -> None:
    assert processes_left(project.home, project.root) == []
    assert files_left(project.memories.parent) == []


class Server:
    """A server that runs. Leaving the block kills it, if it is still there."""

    def __init__(self, process: Process) -> None:
        self.process = process
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
