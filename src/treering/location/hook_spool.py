"""The spool of hook events: appended to by hook processes without waiting, drained by one process at a time."""

import os
import time

from treering.core.light_json import dumps, loads
from treering.location.hook_files import (
    APPEND,
    READ,
    SPOOL,
    is_private_folder,
    iso_time,
    note_lost,
    open_own,
    try_lock,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

VERSION = 1
MAX_LINE_BYTES = 256 * 1024
LOW_VALUE_BYTES = 32 * 1024 * 1024  # of the spool: past it, low-value events are dropped
MAX_SPOOL_BYTES = 40 * 1024 * 1024  # past it, every event is dropped
DRAINING = ".draining"
DRAIN, LISTEN, LOOK_UP = "drain.lock", "listen.lock", "look-up.lock"
"""Locks of the process that drains the spool, of the one that listens on the socket, and of a hook's own look-up."""
_INJECTED, _TYPED = b'"injected":[', b'"prompt":"'
_MAX_REOPENED = 16
_SETTLE_SECONDS = 1.0
_STEP = 0.005


def event_line(agent: str, hook: str, payload: object, id: str, now: float) -> bytes:
    """The spool line of a hook event."""
    return _line({"v": VERSION, "id": id, "at": iso_time(now), "agent": agent, "hook": hook, "payload": payload})


def injected_line(agent: str, session: str, items: "list[dict[str, Any]]", id: str, now: float) -> bytes:
    """The spool line of what a hook process gave by its own look-up."""
    at = iso_time(now)
    return _line({"v": VERSION, "id": id, "at": at, "agent": agent, "session": session, "injected": items})


def _line(fields: "dict[str, Any]") -> bytes:
    # The leading line feed ends a line that a killed process, or a full disk, left incomplete.
    return f"\n{dumps(fields)}\n".encode("ascii")


def new_event_id(now: float) -> str:
    return f"{int(now * 1e6):x}-{os.urandom(6).hex()}"


def append_line(folder: str, line: bytes, *, low_value: bool = False) -> bool:
    """Append a line to the spool without waiting; False if it was dropped because the spool is full.

    The shared lock lets a drainer wait until the line is complete. A spool that was renamed meanwhile is opened again.
    """
    path = os.path.join(folder, SPOOL)
    for _ in range(_MAX_REOPENED):
        handle = open_own(path, APPEND)
        try:
            if try_lock(handle, shared=True) is False or not _is_at(handle, path):
                continue
            if os.fstat(handle).st_size + len(line) > (LOW_VALUE_BYTES if low_value else MAX_SPOOL_BYTES):
                note_lost(folder, "dropped")
                return False
            if os.write(handle, line) < len(line):
                raise OSError("the spool line was written in part; the disk may be full")
            return True
        finally:
            os.close(handle)
    raise OSError("the spool was renamed at each attempt to open it")


def _is_at(handle: int, path: str) -> bool:
    try:
        there, here = os.lstat(path), os.fstat(handle)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


class FolderLock:
    """A lock that one process holds at a time, without waiting: `with FolderLock(folder, DRAIN) as held:`.

    `held` is False if another process, or another lock of this one, has it, or if the folder is missing or not ours.
    It ends with its process.
    """

    def __init__(self, folder: str, name: str) -> None:
        self._folder, self._name, self._handle = folder, name, -1

    def acquire(self) -> bool:
        if self._handle >= 0 or not is_private_folder(self._folder):
            return False
        try:
            self._handle = open_own(os.path.join(self._folder, self._name), APPEND)
        except OSError:
            return False
        if try_lock(self._handle) is False:
            self.release()
        return self._handle >= 0

    def release(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class DrainedFile:
    """Complete lines of a spool that no process appends to any more. `remove` it once its events are stored."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.torn = 0
        """Lines that are not JSON objects, counted by `lines`: a process was killed, or the disk full, in mid-line."""

    def lines(self) -> "Iterator[dict[str, Any]]":
        self.torn = 0
        with open(open_own(self.path, READ), "rb") as reading:
            for line in reading:
                if not line.strip():
                    continue
                try:
                    found = loads(line)
                except (ValueError, RecursionError):
                    found = None
                if isinstance(found, dict):
                    yield found
                else:
                    self.torn += 1

    def remove(self) -> None:
        """Delete the file, and count its torn lines as lost."""
        if self.torn:
            note_lost(os.path.dirname(self.path), "torn", self.torn)
        os.unlink(self.path)


def drained_files(folder: str) -> "Iterator[DrainedFile]":
    """Files that an earlier drainer left, oldest first, then the current spool, renamed. Needs the lock DRAIN.

    A file that is not removed comes again, so events are delivered at least once; their ids make that idempotent.
    """
    names = sorted(each for each in _waiting(folder) if each != SPOOL)
    yield from filter(None, (_settled(os.path.join(folder, each)) for each in names))
    spool, aside = os.path.join(folder, SPOOL), os.path.join(folder, f"spool.{time.time_ns():020}{DRAINING}")
    try:
        os.close(open_own(spool, READ))
        if os.lstat(spool).st_size:
            os.rename(spool, aside)
    except OSError:
        return
    yield from filter(None, (_settled(aside),))


def _settled(path: str) -> DrainedFile | None:
    """Wait until the processes that opened the file before it was renamed have written.

    None if one of them hangs, which leaves the file for the next time, or if the file is not ours.
    """
    try:
        handle = open_own(path, READ)
    except OSError:
        return None
    try:
        deadline = time.monotonic() + _SETTLE_SECONDS
        while (locked := try_lock(handle)) is not True and time.monotonic() < deadline:
            time.sleep(_STEP)
        return None if locked is False else DrainedFile(path)
    finally:
        os.close(handle)


def session_lines(folder: str, session: str) -> "Iterator[dict[str, Any]]":
    """Lines that wait in the spool and say what hook processes gave this session, or what its user typed."""
    own = dumps(session).encode("ascii")
    for name in sorted(_waiting(folder), reverse=True):
        try:
            with open(open_own(os.path.join(folder, name), READ), "rb") as reading:
                lines = [line for line in reading if own in line and (_INJECTED in line or _TYPED in line)]
        except OSError:  # drained meanwhile
            continue
        for line in lines:
            try:
                found = loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                yield found


def _waiting(folder: str) -> list[str]:
    return [each for each in os.listdir(folder) if each == SPOOL or each.endswith(DRAINING)]


def spool_bytes(folder: str) -> int:
    """Size of everything that waits to be drained."""
    try:
        return sum(os.lstat(os.path.join(folder, each)).st_size for each in _waiting(folder))
    except OSError:
        return 0
