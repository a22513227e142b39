"""Processes that are forked from one that has imported Treering: they take a tenth of the processor time.

Tests of how `treering` starts, of the interpreter's options, and of what happens during imports start COMMAND instead.
"""

import atexit
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import IO, Any, Self

from tests import launcher
from tests.launcher import Connection
from tests.process_server import COMMAND
from treering.interfaces.start import main

_ROOT = Path(__file__).parents[1]
_PATIENCE = 60


class ProcessServer:
    """The process that forks the others; it and they end with this one, however this one ends."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.process_server"],
            cwd=_ROOT,
            env={name: value for name, value in os.environ.items() if not name.startswith("TREERING_")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for this process, with which the server ends
        )
        assert self._process.stdout is not None
        self.path = self._process.stdout.readline().strip()
        assert self.path, "the process server did not start"

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        self._process.communicate(timeout=_PATIENCE)


@cache
def process_server() -> ProcessServer:
    """The one of this test process."""
    server = ProcessServer()
    atexit.register(server.close)
    return server


def launcher_command() -> tuple[str, ...]:
    """A command for clients that start `treering` themselves; the process that it runs in is a child of the server."""
    return (sys.executable, "-ES", launcher.__file__, process_server().path)


class ForkedProcess:
    """A running process, with what tests use of `subprocess.Popen`."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: int | IO[Any] | None = subprocess.PIPE,
        stdout: int | IO[Any] | None = subprocess.PIPE,
        stderr: int | IO[Any] | None = subprocess.PIPE,
        text: bool = False,
        start_new_session: bool = False,
        function: Callable[[], None] = main,
    ) -> None:
        """The process calls a function of a module, without pytest: `treering` by default."""
        assert _for_python(env) == _for_python(os.environ), "the interpreter has started already"
        self.args = (COMMAND, *arguments)
        self.returncode: int | None = None
        self._waiting = Lock()
        with ExitStack() as theirs:
            streams = list[int]()
            ours = list[IO[Any] | None]()
            for number, given in enumerate((stdin, stdout, stderr)):
                stream, own = _stream(number, given, theirs, text=text)
                streams.append(stream)
                ours.append(own)
            self.stdin, self.stdout, self.stderr = ours
            self._connection = Connection(
                process_server().path,
                arguments,
                dict(enumerate(streams)),
                folder=str(cwd),
                environment=env,
                new_session=start_new_session,
                function=(function.__module__, function.__name__),
            )
        self.pid = self._connection.pid

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        if self._waiting.acquire(blocking=False):
            try:
                return self._exit_code(0)
            except TimeoutError:
                pass
            finally:
                self._waiting.release()
        return None

    def wait(self, timeout: float | None = None) -> int:
        with self._waiting:
            try:
                return self._exit_code(timeout)
            except TimeoutError as error:
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from error

    def _exit_code(self, timeout: float | None) -> int:
        if self.returncode is None:
            self.returncode = self._connection.exit_code(timeout)
            self._connection.close()
        return self.returncode

    def communicate(self, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:
        """Write the input, if any, and return what the process writes until it ends; kill it if it takes too long."""
        with ThreadPoolExecutor(3) as threads:
            output = [stream and threads.submit(stream.read) for stream in (self.stdout, self.stderr)]
            if self.stdin is not None:
                threads.submit(self._feed, input)
            try:
                self.wait(timeout)
            except BaseException:
                self.kill()  # else the threads would wait for it
                raise
            stdout, stderr = (each and each.result() for each in output)
        self._close_streams()
        return stdout, stderr

    def _feed(self, input: Any) -> None:
        assert self.stdin is not None
        try:
            if input:
                self.stdin.write(input)
            self.stdin.close()
        except BrokenPipeError:
            pass

    def _close_streams(self) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close_streams()
        self.wait()


def _for_python(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith("PYTHON")}


def _stream(number: int, given: int | IO[Any] | None, theirs: ExitStack, *, text: bool) -> tuple[int, IO[Any] | None]:
    """The descriptor for the process, and this end of it if it is a pipe."""
    if given == subprocess.PIPE:
        reading, writing = os.pipe()
        child, own = (reading, writing) if number == 0 else (writing, reading)
        theirs.callback(os.close, child)
        return child, open(own, ("w" if number == 0 else "r") + ("" if text else "b"))
    if given == subprocess.DEVNULL:
        child = os.open(os.devnull, os.O_RDWR)
        theirs.callback(os.close, child)
        return child, None
    if given is None:
        return number, None
    return given if isinstance(given, int) else given.fileno(), None
