"""PostgreSQL that goes away while code is indexed or asked about: one clear error, and work continues afterwards."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import treering
from tests.code_projects import fresh, stored, written
from tests.integration.private_server import PrivateServer
from tests.rest_server import P, rest_client
from treering.code.index.report import IndexPhase, IndexProgress
from treering.core.errors import StoreUnavailable
from treering.core.settings import Settings
from treering.memory import Memory

PATIENT = Settings.make(store={"connect_seconds": 2.0})
FILES: dict[str, str | bytes] = {
    "app/tokens.py": "def decode(token):\n    return token\n",
    **{f"app/use_{i}.py": "from app.tokens import decode\n\n\ndef use():\n    return decode('')\n" for i in range(40)},
}


@pytest.fixture
def server() -> Iterator[PrivateServer]:
    server = PrivateServer()
    try:
        yield server
    finally:
        server.close()


def opened(server: PrivateServer, folder: Path, **further: Any) -> Memory:
    return treering.open(
        server.url(), project="p", blobs=folder / "blobs", settings=PATIENT, background=False, **further
    )


@pytest.mark.parametrize("phase", [IndexPhase.READING, IndexPhase.RESOLVING])
def test_a_run_that_loses_its_server_ends_clearly_and_the_next_continues(
    server: PrivateServer, tmp_path: Path, phase: IndexPhase
) -> None:
    root, gone = written(tmp_path / "project", FILES), list[bool]()

    def stop_once(progress: IndexProgress) -> None:
        if progress.phase is phase and not gone:
            gone.append(True)
            server.kill()

    with opened(server, tmp_path) as memory:
        kept = memory.remember("stored before")
        with pytest.raises(StoreUnavailable):
            memory.code.index(root, history=False, on_progress=stop_once)
        assert gone
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            memory.code.impact("decode")
        server.start()
        assert memory.code.index(root, history=False).complete
        assert memory.code.status().current
        assert stored(memory) == fresh(FILES)
        assert memory.get(kept.id).content == "stored before"


def test_impact_over_rest_is_a_503_without_the_server_and_works_when_it_is_back(
    server: PrivateServer, tmp_path: Path
) -> None:
    root = written(tmp_path / "project", FILES)
    with ExitStack() as stack:

        def open_memory(**given: Any) -> Memory:
            return stack.enter_context(opened(server, tmp_path, **{k: v for k, v in given.items() if k != "project"}))

        open_memory().code.index(root, history=False)
        client: TestClient = stack.enter_context(rest_client(open_memory, tmp_path))

        def asked() -> Any:
            return client.get(f"{P}/code/impact", params={"node": "decode"})

        before = asked()
        assert (before.status_code, before.json()["total"]) == (200, 40)
        server.kill()
        refused = asked()
        assert (refused.status_code, refused.json()["error"]) == (503, "StoreUnavailable")
        assert "cannot be reached" in refused.json()["detail"] or "try again" in refused.json()["detail"]
        server.start()
        assert asked().json()["total"] == before.json()["total"]
