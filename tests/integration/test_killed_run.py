"""A test run that is killed leaves neither a PostgreSQL server nor its folder behind."""

import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

PATIENCE = 120
STARTED = """
import sys
from tests.postgres_server import PostgresServer
server = PostgresServer()
print(server.folder, server.url(), flush=True)
sys.stdin.read()
"""


def test_the_server_of_a_killed_run_ends() -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", STARTED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_project()
    )
    assert run.stdout is not None
    folder, url = run.stdout.readline().split()
    with psycopg.connect(url, autocommit=True) as admin:
        relaxed = [admin.execute(f"SHOW {name}").fetchone() for name in ("fsync", "synchronous_commit")]
    assert relaxed == [("off",), ("off",)]
    run.kill()
    run.communicate()
    deadline = time.monotonic() + PATIENCE
    while Path(folder).exists():
        assert time.monotonic() < deadline, f"{folder} is still there"
        time.sleep(0.05)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


def _project() -> Path:
    return Path(__file__).parents[2]
