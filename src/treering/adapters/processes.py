"""Processes of this machine, as the operating system knows them."""

import os
import socket
from pathlib import Path

from treering.ports.processes import Writer

_PROCESSES = Path("/proc")
_BEGUN = 19
"""Where a process's time of start stands in `/proc/PID/stat`, counted from its state, which follows its name."""
_ENDED = frozenset("ZX")
"""States of a process that has ended, and that its parent has not asked for yet."""


def this_writer(name: str) -> Writer:
    """Somebody in this process."""
    return Writer(_host(), os.getpid(), _standing(os.getpid())[1], name)


def has_ended(writer: Writer) -> bool:
    """See `treering.ports.processes.Ended`."""
    # Elsewhere, to ask for a process by a signal would end it.
    if os.name != "posix" or writer.host != _host():
        return False
    try:
        os.kill(writer.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    state, begun = _standing(writer.pid)
    # A number is given again some time after its process has ended.
    return state in _ENDED or bool(writer.begun and begun and writer.begun != begun)


def _host() -> str:
    """The machine since it was started and the room for numbers of processes in it, as far as they can be told."""
    named = socket.gethostname().replace(" ", "-") or "this-machine"
    try:
        boot = (_PROCESSES / "sys/kernel/random/boot_id").read_text().strip()
        room = os.readlink(_PROCESSES / "self/ns/pid")
    except OSError:
        return named
    return f"{named}/{boot}/{room}"


def _standing(pid: int) -> tuple[str, str]:
    """A process's state and when it began; nothing where the system does not tell."""
    try:
        told = (_PROCESSES / str(pid) / "stat").read_text()
    except OSError:
        return "", ""
    fields = told.rpartition(")")[2].split()
    return fields[0], fields[_BEGUN]
