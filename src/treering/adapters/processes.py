"""Processes of this machine, as the operating system knows them."""

import os
import socket
from pathlib import Path

from treering.ports.processes import WriterProcess

_PROCESSES = Path("/proc")
_START_FIELD = 19
"""Index of the start time in `/proc/PID/stat`, counted from the state, which follows the process name."""
_ENDED = frozenset("ZX")
"""States of an ended process that its parent has not waited for yet."""


def this_writer(name: str) -> WriterProcess:
    """A new writer identity in this process."""
    return WriterProcess(_host(), os.getpid(), _state_and_start(os.getpid())[1], name)


def has_ended(writer: WriterProcess) -> bool:
    """See `treering.ports.processes.ProcessEnded`."""
    # On other systems, sending signal 0 would end the process.
    if os.name != "posix" or writer.host != _host():
        return False
    try:
        os.kill(writer.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    state, started = _state_and_start(writer.pid)
    # Process ids are reused; a different start time means a different process.
    return state in _ENDED or bool(writer.started and started and writer.started != started)


def _host() -> str:
    """The machine, its boot and its pid namespace, as far as the system reports them."""
    named = socket.gethostname().replace(" ", "-") or "this-machine"
    try:
        boot = (_PROCESSES / "sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink(_PROCESSES / "self/ns/pid")
    except OSError:
        return named
    return f"{named}/{boot}/{namespace}"


def _state_and_start(pid: int) -> tuple[str, str]:
    """State and start time of a process; empty strings if the system does not report them."""
    try:
        stat = (_PROCESSES / str(pid) / "stat").read_text()
    except OSError:
        return "", ""
    fields = stat.rpartition(")")[2].split()
    return fields[0], fields[_START_FIELD]
