"""How much memory this process has."""

import resource
import sys
from pathlib import Path


def peak() -> float:
    """Megabytes at most so far. What the system calls the most may be that of the process that started this one."""
    told = _told("VmHWM")
    return _megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) if told is None else told


def peak_of_children() -> float:
    """Megabytes of the largest process that this one has started, or of itself at that time, if that was more."""
    return _megabytes(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def resident() -> float:
    """Megabytes now, where the system tells; else the peak."""
    told = _told("VmRSS")
    return peak() if told is None else told


def _told(what: str) -> float | None:
    """Linux tells."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else ()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(what)), None)


def _megabytes(counted: int) -> float:
    """The system counts in kilobytes, but for macOS."""
    return counted / (1024 * 1024 if sys.platform == "darwin" else 1024)
