"""Many clients at once over HTTP, for some seconds: what `make bench NAME=mcp-load` measures for a minute."""

from pathlib import Path

import pytest

from bench.mcp_load import run
from tests.lengths import at_length


def test_no_call_fails_and_no_record_is_lost(tmp_path: Path, request: pytest.FixtureRequest, engine: str) -> None:
    place = str(tmp_path / "memory.db") if engine == "sqlite" else request.getfixturevalue("postgres_url")
    load = run(place, tmp_path, clients=10, seconds=at_length(1, full=20), reading=at_length(0, full=5))
    assert load.errors == {}
    assert load.kept
    assert load.lost == []
    clients_gone = load.samples[-1]
    assert clients_gone.files < 40
    assert clients_gone.threads < 20
