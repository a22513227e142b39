"""Forks processes for tests: `treering` commands, and functions of modules. Nothing has to be imported in them.

Run as a program by `forked_process.py`; `launcher.py` has the client's side of the protocol. Each connection is one
process: it receives an order as JSON with the streams of the process, and sends the id and later the exit code of
the process. If the client closes the connection first, the process is killed. The server ends when its stdin does.

No module of tests that changes Treering is imported here, so that processes run as they do for users.
"""

import gc
import importlib
import json
import os
import pkgutil
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO, cast

from tests.lifetimes import end_with_parent

COMMAND = str(Path(sys.executable).parent / "treering")
_STDERR = 2
_IMPORTED_LATE = (
    "Stemmer",
    "alembic.command",
    "alembic.config",
    "anyio._backends._asyncio",
    "croniter",
    "encodings.idna",
    "numpy.ma",
    "psycopg",
    "rich.live",
    "rich.progress",
    "typer._adapters",
    "uvicorn.lifespan.on",
    "uvicorn.loops.asyncio",
)


def import_everything() -> None:
    """Import all of Treering and what it imports late, and load the bundled model."""
    # As `treering` does, before the first import of pydantic.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    import treering

    for module in pkgutil.walk_packages(treering.__path__, "treering."):
        if ".migrations." not in module.name:
            importlib.import_module(module.name)
    for name in _IMPORTED_LATE:
        importlib.import_module(name)
    from treering.adapters.models import bundled

    bundled._load = cache(bundled._load)
    bundled._load(bundled._installed_folder())
    gc.collect()
    gc.freeze()


class Server:
    """Runs in one thread, because forks of a process with several are unsafe."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "socket")
        self._running: dict[int, socket.socket] = {}
        self._opened = ExitStack()
        self._selector = self._opened.enter_context(selectors.DefaultSelector())
        self._listener = self._opened.enter_context(socket.socket(socket.AF_UNIX))
        self._listener.bind(self.path)
        self._listener.listen()
        ended, tell_ended = (self._opened.enter_context(each) for each in socket.socketpair())
        for each in (ended, tell_ended):
            each.setblocking(False)
        signal.set_wakeup_fd(tell_ended.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(0, selectors.EVENT_READ)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._ended = ended
        self._selector.register(ended, selectors.EVENT_READ)

    def serve(self) -> dict[str, Any] | None:
        """Fork until stdin ends. Returns the order in each forked process, and None in this one."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj == 0:
                    self._kill_all()
                    return None
                if key.fileobj is self._listener:
                    if order := self._start():
                        return order
                elif key.fileobj is self._ended:
                    self._ended.recv(1_000)
                    self._report_ended()
                else:
                    self._hang_up(key.data)

    def _start(self) -> dict[str, Any] | None:
        connection = self._listener.accept()[0]
        line, descriptors, _, _ = socket.recv_fds(connection, 1 << 16, 3)
        while not line.endswith(b"\n"):
            more = connection.recv(1 << 16)
            assert more, "a client left before it had sent its order"
            line += more
        order = json.loads(line)
        pid = os.fork()
        if pid:
            for each in descriptors:
                os.close(each)
            self._running[pid] = connection
            self._selector.register(connection, selectors.EVENT_READ, pid)
            _send(connection, pid)
            return None
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for inherited in (connection, *self._running.values()):
            inherited.close()
        self._opened.close()
        _take_streams(dict(zip(order["streams"], descriptors, strict=True)))
        return dict(order)

    def _report_ended(self) -> None:
        for pid in [*self._running]:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                with self._forget(pid) as connection:
                    _send(connection, os.waitstatus_to_exitcode(status))

    def _hang_up(self, pid: int) -> None:
        """The client is gone; it may also have ended before it read the exit code."""
        if pid in self._running:
            self._forget(pid).close()
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def _forget(self, pid: int) -> socket.socket:
        connection = self._running.pop(pid)
        self._selector.unregister(connection)
        return connection

    def _kill_all(self) -> None:
        for pid in [*self._running]:
            self._hang_up(pid)


def _send(connection: socket.socket, number: int) -> None:
    with suppress(BrokenPipeError):  # the client is gone, which the selector will tell
        connection.sendall(b"%d\n" % number)


def _take_streams(streams: dict[int, int]) -> None:
    """Replace the standard streams by these descriptors, and close those that are not given."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if number in streams:
            os.dup2(streams[number], number)
            os.close(streams[number])
        else:
            os.close(number)
        stream = _opened(number, getattr(sys, name)) if number in streams else None
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _opened(number: int, like: TextIO) -> TextIO:
    """Open a standard stream as the interpreter does when it starts."""
    buffering = 1 if number == _STDERR or os.isatty(number) else -1
    mode = "w" if number else "r"
    return cast(TextIO, open(number, mode, buffering, encoding=like.encoding, errors=like.errors, closefd=False))


def run(order: dict[str, Any]) -> None:
    """Be a process that was started for this order."""
    end_with_parent()
    if order["new_session"]:
        os.setsid()
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    tempfile.tempdir = None  # look for TMPDIR again
    os.chdir(order["folder"])
    module, function = order["function"]
    run_function = getattr(importlib.import_module(module), function)
    # Processes that it starts look at these.
    sys.argv = [COMMAND, *order["arguments"]]
    sys.path[0] = str(Path(COMMAND).parent)
    sys.modules["__main__"] = ModuleType("__main__")
    sys.modules["__main__"].__file__ = COMMAND
    run_function()


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="treering-processes-"))
    order = None
    owner = os.getpid()
    try:
        import_everything()
        server = Server(folder)
        print(server.path, flush=True)
        order = server.serve()
    finally:
        if os.getpid() == owner:
            shutil.rmtree(folder)
    if order is not None:
        run(order)


if __name__ == "__main__":
    main()
