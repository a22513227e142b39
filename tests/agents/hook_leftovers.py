"""What hooks and their listener leave in a data folder."""

import fcntl
from pathlib import Path

from tests.leftovers import files_left
from treering.location.hook_files import socket_path


def hook_leftovers(data_folder: Path) -> list[Path]:
    """Sockets, held locks and unfinished databases. The files that locks are held on stay, one pair per repository."""
    folders = [path for path in data_folder.glob("hooks/*") if path.is_dir()]
    sockets = [path for path in map(Path, map(socket_path, map(str, folders))) if path.exists()]
    return [*sockets, *(path for path in files_left(data_folder) if path.suffix != ".lock" or _is_held(path))]


def _is_held(lock: Path) -> bool:
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
