"""The end of the HTTP server: soon, whatever is going on, and nothing stays behind."""

import signal
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle, product
from pathlib import Path

import httpx2
import pytest

import treering
from tests.integration.http_service import PATIENCE, eventually, http_service, nobody_can_write
from tests.integration.telling_calls import serve_telling_calls
from tests.integration.test_mcp_http import agent_at, recording
from tests.leftovers import files_left
from tests.lengths import at_length
from tests.served import ERAS
from treering.interfaces.servers.http.address import listen, resolve
from treering.interfaces.servers.shutdown import handled_signals

# In a short run each signal is sent once, to either protocol in turn.
ENDINGS = at_length([*zip(cycle(ERAS), handled_signals(), strict=False)], full=[*product(ERAS, handled_signals())])


@pytest.mark.parametrize(("era", "sent"), ENDINGS)
def test_it_ends_with_streams_open_and_calls_under_way(tmp_path: Path, era: str, sent: signal.Signals) -> None:
    with http_service(tmp_path, function=serve_telling_calls) as service, ThreadPoolExecutor(4) as calling:
        recording(service, era, "The first opens the memory.")
        with agent_at(service, "legacy"), nobody_can_write(tmp_path):
            waiting = [calling.submit(recording, service, era, f"Record {number}") for number in range(4)]
            eventually(lambda: service.calls_begun > 1)
            service.process.send_signal(sent)
            assert service.process.wait(PATIENCE) == 0
        assert all(_failed(call) for call in waiting)
    listen(resolve("127.0.0.1", httpx2.URL(service.url).port or 0)).close()
    assert service.token not in service.stderr.read_text()
    assert "Traceback" not in service.stderr.read_text()


def _failed(call: Future[str]) -> bool:
    return call.exception(PATIENCE) is not None


def test_it_closes_the_memory_when_it_ends(tmp_path: Path) -> None:
    with http_service(tmp_path, in_new_interpreter=True) as service:
        id = recording(service, "auto", "The log is folded into the file.")
    assert files_left(tmp_path) == []
    (file,) = (tmp_path / "data").glob("*/memory.db")
    with treering.open(file, project=file.parent.name, background=False) as memory:
        assert memory.get(id)


def test_asked_twice_it_ends_at_once(tmp_path: Path) -> None:
    with http_service(tmp_path, function=serve_telling_calls) as service, ThreadPoolExecutor(1) as calling:
        recording(service, "auto", "The first opens the memory.")
        with nobody_can_write(tmp_path):
            call = calling.submit(recording, service, "auto", "This one waits.")
            eventually(lambda: service.calls_begun > 1)
            # Two of the same kind at once would be one.
            service.process.send_signal(signal.SIGINT)
            service.process.send_signal(signal.SIGTERM)
            assert service.process.wait(PATIENCE) == 130
        assert _failed(call)
