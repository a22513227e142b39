"""What a program leaves behind that should have ended: processes, and files that only somebody at work needs."""

from pathlib import Path
from time import monotonic, sleep

import psutil

PATIENCE = 10
AT_WORK_ONLY = ("-wal", "-shm", "-journal", ".lock", ".pid")


def processes_left(home: Path, folder: Path | None = None) -> list[str]:
    """Whatever was started with this home, or works in this folder, and stays.

    The system shows the environment with which a program was started, so forked commands are found by their folder.
    """
    give_up = monotonic() + PATIENCE
    while running := [_named(each) for each in psutil.process_iter() if _belongs_to(each, home, folder or home)]:
        if monotonic() > give_up:
            break
        sleep(0.05)
    return running


def files_left(folder: Path) -> list[Path]:
    """Sockets, locks and half of a database."""
    return [path for path in folder.rglob("*") if path.is_socket() or path.name.endswith(AT_WORK_ONLY)]


def _belongs_to(process: psutil.Process, home: Path, folder: Path) -> bool:
    try:
        return process.environ().get("HOME") == str(home) or process.cwd() == str(folder)
    except psutil.Error:
        return False


def _named(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return f"process {process.pid}, which has just ended"
