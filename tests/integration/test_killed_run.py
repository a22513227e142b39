"""A test run that is killed leaves neither processes nor a PostgreSQL server and its folder behind."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import psycopg
import pytest

PATIENCE = 120
STARTED_PROCESSES = """
import sys
from pathlib import Path
from tests.forked_process import process_server
from tests.integration.crew import Crew, ForkServer
from tests.integration.crew_members import hold_transaction
from tests.integration.http_service import http_service
from tests.integration.private_server import PrivateServer
folder = Path(sys.argv[1])
server = ForkServer()
crew = Crew(server)
member = crew.start(hold_transaction, place=str(folder / "memory.db"))
crew.hear(1)
database = PrivateServer()
with http_service(folder) as service:
    print(server.pid, member, process_server().pid, service.process.pid, database.pid, flush=True)
    sys.stdin.read()
"""
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


def test_the_processes_of_a_killed_run_end(tmp_path: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", STARTED_PROCESSES, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=_project(),
    )
    assert run.stdout is not None
    started = [psutil.Process(int(pid)) for pid in run.stdout.readline().split()]
    assert len(started) == 5
    run.kill()
    run.communicate()
    deadline = time.monotonic() + PATIENCE
    while running := [each for each in started if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]:
        assert time.monotonic() < deadline, running
        time.sleep(0.05)


def _project() -> Path:
    return Path(__file__).parents[2]
