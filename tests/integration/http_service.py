"""`treering mcp --http` as somebody runs it: a process of its own on a free port, with the token that it made."""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests import lifetimes
from tests.e2e.terminal import COMMAND, Terminal
from tests.forked_process import ForkedProcess
from tests.integration import telling_calls
from treering.interfaces.start import main

PATIENCE = 60


@dataclass(frozen=True)
class HttpService:
    url: str
    token: str
    process: "ForkedProcess | subprocess.Popen[str]"
    stderr: Path
    calls: Path

    @property
    def calls_begun(self) -> int:
        """Calls of tools that are at work, or were, if the server runs `serve_telling_calls`."""
        return len(self.calls.read_text().splitlines())

    @property
    def connections(self) -> int:
        """Clients that hold one."""
        return sum(each.status != psutil.CONN_LISTEN for each in self._seen.net_connections("tcp"))

    @property
    def files(self) -> int:
        return self._seen.num_fds()

    @property
    def threads(self) -> int:
        return self._seen.num_threads()

    @property
    def _seen(self) -> psutil.Process:
        return psutil.Process(self.process.pid)


@contextmanager
def http_service(
    project: Path,
    *options: str,
    function: Callable[[], None] = main,
    in_new_interpreter: bool = False,
    **environment: str,
) -> Iterator[HttpService]:
    """Serve the memory of the project in this folder, which is the user's home too, until the block ends.

    The process is forked and calls a function, unless it is to start a new interpreter.
    """
    arguments = ("mcp", "--http", "--port", "0", "--json", *options)
    calls, heard = project / "mcp.calls", project / "mcp.stderr"
    variables = Terminal(project).variables({telling_calls.BEGUN: str(calls), **environment})
    with heard.open("w") as stderr, ExitStack() as stack:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": stderr, "text": True}
        process: ForkedProcess | subprocess.Popen[str]
        if in_new_interpreter:
            command = (sys.executable, "-IS", lifetimes.__file__, COMMAND, *arguments)
            process = subprocess.Popen(command, cwd=project, env=variables, stdout=subprocess.PIPE, **streams)
        else:
            process = ForkedProcess(arguments, cwd=project, env=variables, function=function, **streams)
        stack.enter_context(process)
        try:
            assert process.stdout
            first = process.stdout.readline()
            assert first, heard.read_text()
            told = json.loads(first)
            token = Path(told["token_file"]).read_text().strip() if told["token_file"] else ""
            yield HttpService(told["url"], token, process, heard, calls)
        finally:
            if process.poll() is None:
                process.terminate()
                assert process.wait(PATIENCE) == 0


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def nobody_can_write(project: Path) -> Iterator[None]:
    """Calls that write wait for as long as this lasts: longer than any test."""
    (file,) = (project / "data").glob("*/memory.db")
    with closing(sqlite3.connect(file, isolation_level=None, timeout=PATIENCE)) as holding:
        holding.execute("BEGIN IMMEDIATE")
        yield
        holding.execute("ROLLBACK")
