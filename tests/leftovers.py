"""What a program leaves behind that should have ended: processes, and files that only somebody at work needs."""

from pathlib import Path
from time import monotonic, sleep

import psutil

PATIENCE = 10
AT_WORK_ONLY = ("-wal", "-shm", "-journal", ".lock", ".pid")


def processes_left(home: Path) -> list[str]:
    """Whatever was started with this home and stays."""
    give_up = monotonic() + PATIENCE
    while running := [_named(process) for process in psutil.process_iter() if _is_at_home(process, home)]:
        if monotonic() > give_up:
            break
        sleep(0.05)
    return running


def files_left(folder: Path) -> list[Path]:
    """Sockets, locks and half of a database."""
    return [path for path in folder.rglob("*") if path.is_socket() or path.name.endswith(AT_WORK_ONLY)]


def _is_at_home(process: psutil.Process, home: Path) -> bool:
    try:
        return process.environ().get("HOME") == str(home)
    except psutil.Error:
        return False


def _named(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return f"process {process.pid}, which has just ended"
