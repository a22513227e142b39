"""The command finds what the library finds, in the same order."""

from pathlib import Path

import pytest

import treering
from tests.e2e.terminal import Terminal

PROJECT = "shop"


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, {"TREERING_DB": str(tmp_path / "memory.db"), "TREERING_PROJECT": PROJECT})


QUERIES = ("flaky login test", "cookie", "what does the shop sell", "zebra", "")


@pytest.mark.parametrize("query", QUERIES)
def test_the_command_and_the_library_get_the_same_results(terminal: Terminal, query: str) -> None:
    terminal.ok("remember", "The login test is flaky on Mondays", "--type", "gotcha")
    terminal.ok("turn", "That flaky login test again!", "--session", "talk", "--role", "user")
    terminal.ok("episode", "Fix flaky login test", "--output", "it waits for the cookie now")
    terminal.ok("remember", "The shop sells tea")
    told = terminal.json("search", query)
    with treering.open(terminal.folder / "memory.db", project=PROJECT, background=False) as memory:
        assert [each["id"] for each in told["hits"]] == [hit.id for hit in memory.recall(query)]


def test_a_kind_can_be_asked_for(terminal: Terminal) -> None:
    terminal.ok("remember", "The login test is flaky on Mondays")
    terminal.ok("episode", "Fix flaky login test")
    for kind in ("knowledge", "episode"):
        told = terminal.json("search", "flaky login", "--kind", kind)
        assert {each["kind"] for each in told["hits"]} == {kind}
    assert "nothing has all of these" in terminal.refused("search", "flaky", "--kind", "turn", "--type", "fact")
