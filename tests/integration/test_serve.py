"""`treering serve` as a process of its own: signals, restarts, events, workers, and the command line through it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from treering import Client
from treering.client import connection
from treering.core.errors import StoreUnavailable

PATIENCE = 120
COMMAND = (sys.executable, "-c", "from treering.interfaces.start import main; main()")


@dataclass(frozen=True)
class Served:
    url: str
    link: str
    token: str
    process: "subprocess.Popen[str]"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


def environment(folder: Path) -> dict[str, str]:
    data = {"TREERING_DATA_DIR": str(folder / "data"), "TREERING_BACKGROUND": "on"}
    return {**os.environ, **data, "PYTHONPATH": os.pathsep.join(sys.path)}


@contextmanager
def served(folder: Path, *options: str, port: int = 0, db: str | None = None) -> Iterator[Served]:
    arguments = ["serve", "--json", "--port", str(port), "--project", "p", "--db", db or str(folder / "m.db"), *options]
    with (folder / "stderr.txt").open("w") as stderr:
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            cwd=folder,
            env=environment(folder),
        )
    assert process.stdout is not None
    with process, process.stdout:
        line = process.stdout.readline()
        assert line, (folder / "stderr.txt").read_text()
        found = json.loads(line)
        token = Path(found["token_file"]).read_text().strip()
        try:
            yield Served(found["url"], found["link"], token, process)
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(PATIENCE)


def client_of(server: Served) -> Client:
    return Client(server.url, token=server.token)


def test_a_signal_ends_the_server_and_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    with served(tmp_path) as server:

        def write() -> None:
            with client_of(server) as client, suppress(StoreUnavailable):
                for number in range(10_000):
                    acknowledged.append(client.remember(f"Fact number {number} of the writer").id)

        writer = threading.Thread(target=write)
        writer.start()
        while len(acknowledged) < 5:
            time.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE) == 0
        writer.join(PATIENCE)
    with served(tmp_path) as again, client_of(again) as client:
        assert all(client.get(id).id == id for id in acknowledged)


def test_a_client_goes_on_after_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "ATTEMPTS", 12)
    with served(tmp_path) as server:
        client = client_of(server)
        first = client.remember("Stored before the restart.")
        for id in ("..", "%2e", "a/b", "a?b"):
            client.turn(session="s", role="user", text=f"turn {id}", id=id)
            assert client.get(id).id == id
        port = httpx.URL(server.url).port or 0
        cookie = httpx.get(server.link).cookies
    with served(tmp_path, port=port) as again, client:
        assert client.get(first.id).content == "Stored before the restart."
        assert client.remember("Stored after the restart.").version == 1
        stats = httpx.get(f"{again.url}/api/v1/projects/p/stats", cookies=cookie)
        assert stats.status_code == 200


def test_events_tell_of_changes_and_resume(tmp_path: Path) -> None:
    with served(tmp_path) as server, client_of(server) as client:
        events = f"{server.url}/api/v1/projects/p/events"

        def next_record(lines: Iterator[str]) -> tuple[str, str]:
            last_id = ""
            for line in lines:
                last_id = line.removeprefix("id: ") if line.startswith("id: ") else last_id
                if line.startswith("data: ") and '"kind": "knowledge"' in line:
                    return last_id, json.loads(line.removeprefix("data: "))["id"]
            raise AssertionError("the stream ended")

        with httpx.stream("GET", events, headers=server.headers, timeout=PATIENCE) as stream:
            lines = stream.iter_lines()
            assert next(lines) == "retry: 2000"
            first = client.remember("The first fact.")
            last_id, seen = next_record(lines)
            assert seen == first.id
        second = client.remember("The second fact.")
        resumed = {**server.headers, "Last-Event-ID": last_id}
        with httpx.stream("GET", events, headers=resumed, timeout=PATIENCE) as stream:
            assert next_record(stream.iter_lines())[1] == second.id


def test_mcp_is_beside_the_api(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        headers = {**server.headers, "Accept": "application/json, text/event-stream"}
        hello = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-03-26",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        }
        assert httpx.post(f"{server.url}/mcp", json=hello).status_code == 401
        answer = httpx.post(f"{server.url}/mcp", json=hello, headers=headers, timeout=PATIENCE)
        assert answer.json()["result"]["serverInfo"]["name"] == "treering"


def test_commands_work_through_the_server(tmp_path: Path) -> None:
    with served(tmp_path) as server:

        def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
            return subprocess.run(
                [*COMMAND, *arguments, "--db", server.url],
                capture_output=True,
                text=True,
                cwd=tmp_path,
                env={**environment(tmp_path), "TREERING_TOKEN": server.token},
                timeout=PATIENCE,
            )

        stored = run("remember", "Deploys happen on Fridays.", "--json")
        assert stored.returncode == 0, stored.stderr
        id = json.loads(stored.stdout)["id"]
        assert "Fridays" in run("search", "when do deploys happen?").stdout
        assert json.loads(run("stats", "--json").stdout)["records"]["knowledge"] == 1
        assert run("pin", id).returncode == 0
        refused = run("backup", "copy.db")
        assert refused.returncode == 1
        assert "through a server" in refused.stderr


@pytest.mark.usefixtures("postgres_admin_url")
def test_workers_share_links_projects_and_repeated_requests(tmp_path: Path, postgres_url: str) -> None:
    with served(tmp_path, "--workers", "2", db=postgres_url) as server:
        base = f"{server.url}/api/v1/projects/p"
        answers = [httpx.get(server.link).status_code for _ in range(4)]
        assert sorted(answers) == [303, 403, 403, 403]
        headers = {**server.headers, "Idempotency-Key": "k"}
        body = {"text": "Stored by one of the workers."}
        ids = {httpx.post(f"{base}/records", json=body, headers=headers, timeout=60).json()["id"] for _ in range(4)}
        assert len(ids) == 1
        assert httpx.put(f"{server.url}/api/v1/projects/new", headers=server.headers, timeout=60).status_code == 200
        found = [
            httpx.get(f"{server.url}/api/v1/projects/new/stats", headers=server.headers, timeout=60).status_code
            for _ in range(4)
        ]
        assert found == [200] * 4
