"""`treering serve` when something goes wrong: killed writers and workers, open streams, slow clients, a taken port."""

import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import pytest

from tests.integration.test_serve import COMMAND, PATIENCE, Served, client_of, environment, served
from treering.core.errors import StoreUnavailable, TreeringError

P = "/api/v1/projects/p"


@pytest.fixture(params=["sqlite", "postgresql"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "m.db")
    url: str = request.getfixturevalue("postgres_url")
    return url


@contextmanager
def writers(server: Served, count: int = 3) -> Iterator[list[str]]:
    """Clients that store records until the block ends or the server does; ids that were acknowledged."""
    acknowledged: list[str] = []
    stop = threading.Event()

    def write(number: int) -> None:
        with suppress(TreeringError), client_of(server) as client:
            for place in range(10_000):
                if stop.is_set():
                    return
                acknowledged.append(client.remember(f"Fact {place} of writer {number}").id)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        until(lambda: len(acknowledged) >= 2 * count)
        yield acknowledged
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_a_killed_server_has_stored_what_it_acknowledged(tmp_path: Path, db: str) -> None:
    with served(tmp_path, db=db) as server, writers(server) as acknowledged:
        server.process.kill()
        server.process.wait(PATIENCE)
    with served(tmp_path, db=db) as again, client_of(again) as client:
        assert all(client.get(id).id == id for id in acknowledged)
        assert client.remember("Stored after the kill.").version == 1


def test_an_export_beside_writers_is_complete_and_can_be_imported(tmp_path: Path, db: str) -> None:
    with served(tmp_path, db=db) as server, client_of(server) as client:
        before = {client.remember(f"Stored before the export, number {number}").id for number in range(20)}
        with writers(server):
            file = tmp_path / "export.jsonl"
            file.write_text("".join(f"{line}\n" for line in client.export_lines()))
        exported = file.read_text()
        assert all(id in exported for id in before)
        # Writers may have changed records since, which an import reports and leaves as they are.
        assert client.import_(file).added == 0


def test_a_change_of_two_writers_is_made_by_one(tmp_path: Path, db: str) -> None:
    with served(tmp_path, db=db) as server, httpx.Client(headers=server.headers, timeout=PATIENCE) as http:
        stored = http.post(f"{server.url}{P}/records", json={"text": "The port is 8080."})
        change = f"{server.url}{P}/records/{stored.json()['id']}/correct"

        def correct(number: int) -> httpx.Response:
            body, headers = {"text": f"The port is {9000 + number}."}, {"If-Match": stored.headers["etag"]}
            return httpx.post(change, json=body, headers={**server.headers, **headers}, timeout=PATIENCE)

        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(correct, range(6)))
        assert sorted(each.status_code for each in answers) == [200] + [409] * 5
        valid = next(each.json()["content"] for each in answers if each.status_code == 200)
        refused = [each.json() for each in answers if each.status_code == 409]
        assert {each["error"] for each in refused} == {"StaleVersion"}
        hits = http.post(f"{server.url}{P}/search", json={"query": "the port"}).json()["hits"]
        assert [hit["text"] for hit in hits if "port" in hit["text"]] == [valid]


def test_a_server_ends_in_time_with_open_streams_and_running_searches(tmp_path: Path) -> None:
    with served(tmp_path) as server, client_of(server) as client:
        client.remember("Deploys happen on Fridays.")
        stopped = threading.Event()

        def search() -> None:
            while not stopped.is_set():
                with suppress(StoreUnavailable):
                    client.search("when do deploys happen?")

        with (
            httpx.stream("GET", f"{server.url}{P}/events", headers=server.headers, timeout=PATIENCE) as stream,
            ThreadPoolExecutor(2) as pool,
        ):
            assert next(stream.iter_lines()) == "retry: 2000"
            searches = [pool.submit(search) for _ in range(2)]
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(PATIENCE) == 0
            stopped.set()
        assert [each.exception(PATIENCE) for each in searches] == [None, None]


def test_a_taken_port_says_what_to_do(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        arguments = ["serve", "--port", str(httpx.URL(server.url).port), "--db", str(tmp_path / "other.db")]
        second = subprocess.run(
            [*COMMAND, *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment(tmp_path),
            timeout=PATIENCE,
        )
        assert second.returncode == 1
        assert "is in use" in second.stderr
        assert "--port 0" in second.stderr
        assert httpx.get(f"{server.url}/healthz").text == "ok\n"


def test_slow_clients_and_floods_of_headers_keep_no_one_out(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        address = (httpx.URL(server.url).host, httpx.URL(server.url).port or 0)
        waiting = [socket.create_connection(address) for _ in range(20)]
        for each in waiting:
            each.sendall(b"POST /api/v1/projects/p/records HTTP/1.1\r\nHost: ")
        flood = socket.create_connection(address)
        flood.settimeout(PATIENCE)
        with suppress(ConnectionError):
            flood.sendall(b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(20_000)) + b"\r\n")
        with suppress(ConnectionError):
            assert flood.recv(100).startswith((b"HTTP/1.1 400", b"HTTP/1.1 431"))
        assert httpx.get(f"{server.url}{P}/stats", headers=server.headers, timeout=PATIENCE).status_code == 200
        for each in (*waiting, flood):
            each.close()


def test_a_client_goes_on_after_its_worker_was_killed(tmp_path: Path, postgres_url: str) -> None:
    with served(tmp_path, "--workers", "2", db=postgres_url) as server, client_of(server) as client:
        first = client.remember("Stored before the worker was killed.")
        for worker in psutil.Process(server.process.pid).children():
            worker.kill()
        assert client.get(first.id).id == first.id
        assert client.remember("Stored after the worker was killed.").version == 1
        assert httpx.get(f"{server.url}/readyz", timeout=PATIENCE).text == "ready\n"
