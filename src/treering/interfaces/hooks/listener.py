"""Answers hooks over a socket, in a thread beside an MCP server, and drains the spool.

One process of a repository listens; when it ends, another one takes over. Importing this module must stay cheap: MCP
clients wait for it.
"""

from __future__ import annotations

import json
import logging
import os
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from treering.location.hook_files import ensure_private_folder, is_private_folder, socket_path
from treering.location.hook_spool import LISTEN, FolderLock, spool_bytes

if TYPE_CHECKING:
    from treering.interfaces.hooks.live_sessions import LiveSessions

VERSION = 1
MAX_REQUEST_BYTES = 4_096
MAX_SECONDS = 3.0  # of an answer, whatever the request allows
POLL_SECONDS = 1.0  # between two looks at the spool, and between two attempts to take over
SETTLE_SECONDS = 5.0  # between two checkpoints; what was read until then stays in the spool as well
REQUEST_SECONDS = 0.5  # for a client to send its request, and to take the answer
CLOSE_SECONDS = 0.5  # of the time that the server has for its own end
REOPEN_SECONDS = 30.0  # between two attempts to open the memory
_THREADS = 4  # requests at once; further ones are refused, and their hooks use their own look-up
_IDLE_CHECK_SECONDS = 60.0
_BACKLOG = 16
_LOG = logging.getLogger(__name__)


class Listener:
    """Listens for the hooks of one hook folder, if it exists, as soon as `ready` is set."""

    def __init__(
        self,
        folder: str,
        open_sessions: Callable[[str], LiveSessions],
        *,
        ready: threading.Event | None = None,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self._folder = folder
        self._open_sessions = open_sessions
        self._ready = ready
        self._poll_seconds = poll_seconds
        self._path = socket_path(folder)
        self._lock = FolderLock(folder, LISTEN)
        self._stop = threading.Event()
        self._closing = threading.Lock()
        self._free = threading.BoundedSemaphore(_THREADS)
        self._sessions: LiveSessions | None = None
        self._has_warned: set[str] = set()
        self._signal, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._thread = threading.Thread(target=self._run, name="hooks-listener", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Stop listening, drain what fits into the time, and remove the socket. Safe to call twice."""
        with self._closing:
            if not self._stop.is_set() and self._thread.is_alive():
                os.write(self._wake, b"\0")
            self._stop.set()
        if self._ready is not None:
            self._ready.set()
        if self._thread.ident is not None:
            self._thread.join(seconds)

    @property
    def path(self) -> str:
        return self._path

    def _run(self) -> None:
        if self._ready is not None:
            self._ready.wait()
        try:
            while not self._stop.is_set():
                # The hook process creates the folder with the first event.
                pause = self._poll_seconds
                if is_private_folder(self._folder) and self._lock.acquire():
                    try:
                        pause = pause if self._listen() else REOPEN_SECONDS
                    finally:
                        self._lock.release()
                self._stop.wait(pause)
        except Exception as exc:  # noqa: BLE001 - a thread's outermost handler; the server goes on without hooks
            self._warn("the listener for hooks has ended", exc)
        finally:
            with self._closing:
                self._stop.set()
                os.close(self._signal)
                os.close(self._wake)

    def _listen(self) -> bool:
        """Serve until the end; False if the memory cannot be opened.

        The socket is created after the memory is open: until then, hooks use their own look-up.
        """
        if self._stop.is_set() or not self._open():
            return False
        try:
            with self._bound() as listening:
                self._drain()
                self._serve(listening)
        except OSError as exc:
            self._warn(f"hooks cannot be answered at {self._path}", exc)
        finally:
            with suppress(OSError):
                os.unlink(self._path)  # only the process with the lock binds it
            self._drain(CLOSE_SECONDS / 2 if self._stop.is_set() else None)
        return True

    def _open(self) -> bool:
        if self._sessions is None:
            try:
                self._sessions = self._open_sessions(self._path)
            except Exception as exc:  # noqa: BLE001 - tried again; the server itself reports why it cannot open
                self._warn("hooks are not answered yet, the memory cannot be opened", exc)
        return self._sessions is not None

    def _bound(self) -> socket.socket:
        """The listening socket, in place of one that a killed server left."""
        ensure_private_folder(os.path.dirname(self._path))
        os.chmod(os.path.dirname(self._path), 0o700)  # it is ours, and may have been readable by others
        with suppress(FileNotFoundError):
            os.unlink(self._path)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listening.bind(self._path)
            os.chmod(self._path, 0o600)
            listening.listen(_BACKLOG)
            listening.setblocking(False)
        except OSError:
            listening.close()
            raise
        return listening

    def _serve(self, listening: socket.socket) -> None:
        next_check, next_settling = time.monotonic() + _IDLE_CHECK_SECONDS, 0.0
        while not self._stop.is_set():
            readable, _, _ = select.select([listening.fileno(), self._signal], [], [], self._poll_seconds)
            if listening.fileno() in readable:
                self._accept(listening)
            if self._sessions is None:
                continue
            if not readable and spool_bytes(self._folder):
                self._guard(self._sessions.feed)
            is_due = time.monotonic() > next_settling and self._sessions.has_unsettled
            if is_due or self._sessions.has_ended:
                self._guard(self._sessions.settle)
                next_settling = time.monotonic() + SETTLE_SECONDS
            if time.monotonic() > next_check:
                next_check = time.monotonic() + _IDLE_CHECK_SECONDS
                self._guard(self._sessions.finish_idle)

    def _accept(self, listening: socket.socket) -> None:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        if not self._free.acquire(blocking=False):
            connection.close()
            return
        threading.Thread(target=self._answer, args=(connection,), name="hooks-answer", daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        try:
            with connection:
                received = time.monotonic()
                connection.settimeout(REQUEST_SECONDS)
                if (request := _request(connection)) is None or self._sessions is None:
                    return
                id, seconds = request
                text = self._sessions.answer(id, seconds - (time.monotonic() - received))
                connection.sendall(json.dumps({"v": VERSION, "text": text}).encode("ascii") + b"\n")
        except OSError:
            pass  # the hook gave up
        except Exception as exc:  # noqa: BLE001 - a door: the hook goes on without an answer
            self._warn("a hook was not answered", exc)
        finally:
            self._free.release()

    def _drain(self, seconds: float | None = None) -> None:
        sessions = self._sessions
        if sessions is not None:
            self._guard(lambda: sessions.drain(seconds=seconds))

    def _guard(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as exc:  # noqa: BLE001 - the spool stays, and the next attempt reads it again
            if not self._stop.is_set():
                self._warn("events of hooks are not stored yet", exc)

    def _warn(self, message: str, exc: Exception) -> None:
        """Log each problem once."""
        problem = f"{message}: {type(exc).__name__}"
        if problem not in self._has_warned and len(self._has_warned) < 2:
            self._has_warned.add(problem)
            _LOG.warning("%s: %s", problem, exc)


def _request(connection: socket.socket) -> tuple[str, float] | None:
    """Id and seconds of a request; None if it is not one."""
    received = b""
    deadline = time.monotonic() + REQUEST_SECONDS
    while b"\n" not in received:
        part = connection.recv(MAX_REQUEST_BYTES)
        received += part
        if not part or len(received) > MAX_REQUEST_BYTES or time.monotonic() > deadline:
            return None
    try:
        request = json.loads(received.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return None
    if not isinstance(request, dict) or request.get("v") != VERSION:
        return None
    id, milliseconds = request.get("id"), request.get("ms")
    if not isinstance(id, str) or isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    return id, min(max(0.0, milliseconds / 1000), MAX_SECONDS)
