"""where, and search, naming places in the code."""

from pathlib import Path

import pytest

from tests.code_projects import written
from tests.e2e.terminal import Terminal

FILES = {
    "web/redirects.py": "def follow_redirect(request):\n    return request.location\n",
    "web/decoding.py": "def decode_gzip(data):\n    return unzip(data)\n",
}


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    root = written(tmp_path / "project", FILES)
    (root / ".git").mkdir()
    return Terminal(root, {"TREERING_DATA_DIR": str(tmp_path / "data"), "HOME": str(tmp_path)})


def test_a_place_is_found_and_shown(terminal: Terminal) -> None:
    terminal.ok("index")
    shown = terminal.ok("where", "where are redirects followed?", "--limit", "1")
    assert "embedded 2 chunks of code first" in shown
    assert "web/redirects.py:1-2  follow_redirect" in shown
    assert "def follow_redirect(request):" in shown
    found = terminal.json("where", "where are redirects followed?")
    assert found["places"][0]["symbol"] == "follow_redirect"
    assert found["status"]["up_to_date"]
    assert found["embedded"] == 0


def test_search_ranks_places_with_its_results(terminal: Terminal) -> None:
    terminal.ok("index")
    terminal.ok("remember", "Redirects are followed five times at most")
    shown = terminal.ok("search", "where are redirects followed?")
    assert shown.index("five times at most") < shown.index("follow_redirect") < shown.index("web/redirects.py:1-2")
    assert "web/redirects.py" not in terminal.ok("search", "where are redirects followed?", "--no-code")
    assert "found by code #1" in terminal.ok("search", "redirects", "--code", "--explain")
    assert terminal.json("search", "redirects", "--code")["code"][0]["path"] == "web/redirects.py"
    only = terminal.json("search", "redirects", "--kind", "code")
    assert {hit["kind"] for hit in only["hits"]} == {"code"}
    assert "nothing found" in terminal.ok("search", "zebra", "--kind", "code")


def test_embed_makes_the_vectors_of_code_too(terminal: Terminal) -> None:
    terminal.ok("index")
    made = terminal.json("embed")
    assert (made["embedded"], made["code"], made["code_vectors"]) == (2, 2, 2)
    assert "2 of 2 pieces of code" in terminal.ok("doctor")
