"""The library, the command and the MCP server find the same, in the same order."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import treering
from tests.code_projects import written
from tests.e2e.terminal import Terminal
from tests.examples import examples
from tests.served import Agent, agent_of
from treering.core.queries import SearchFilter
from treering.memory import Memory

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
        assert [each["id"] for each in told["hits"]] == [hit.id for hit in memory.search(query)]


def test_a_kind_can_be_asked_for(terminal: Terminal) -> None:
    terminal.ok("remember", "The login test is flaky on Mondays")
    terminal.ok("episode", "Fix flaky login test")
    for kind in ("knowledge", "episode"):
        told = terminal.json("search", "flaky login", "--kind", kind)
        assert {each["kind"] for each in told["hits"]} == {kind}
    assert "no kind of record has all of these fields" in terminal.refused(
        "search", "flaky", "--kind", "turn", "--type", "fact"
    )
    assert "only the kind turn is requested" in terminal.refused("search", "flaky", "--code", "--kind", "turn")
    assert "`code` excludes code locations" in terminal.refused("search", "flaky", "--no-code", "--kind", "code")


CODE = {
    "shop/login.py": "def login(cookie):\n    # Waits for the cookie of the session.\n    return cookie\n",
    "shop/tea.py": "def sell_tea(order):\n    return order\n",
    "tests/test_login.py": "def test_login():\n    assert login(1)\n",
}
WORDS = (
    "where",
    "is",
    "the",
    "login",
    "cookie",
    "tea",
    "sold",
    "function",
    "flaky",
    "test",
    "shop",
    "which",
    "why",
    "is",
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Terminal, Memory, Agent]]:
    folder = tmp_path_factory.mktemp("doors")
    terminal = Terminal(folder, {"TREERING_DB": str(folder / "memory.db"), "TREERING_PROJECT": PROJECT})
    root = written(folder / "code", CODE)
    with treering.open(folder / "memory.db", project=PROJECT, background=False) as memory:
        memory.remember("The login test is flaky on Mondays", type="gotcha", files=["shop/login.py"])
        memory.turn(session="talk", role="user", text="Which cookie does the login wait for?")
        memory.episode("Fix flaky login test", output="it waits for the cookie now")
        memory.remember("The shop sells tea in two sizes")
        memory.patterns.add(
            name="Wait for the cookie",
            category="strategy",
            summary="A flaky test waits for its cookie",
            content={"form": "strategy", "approach": "Wait."},
        )
        memory.code.index(root)
        memory.settle()
        with agent_of(memory, repository=root) as agent:
            yield terminal, memory, agent


KINDS = ("knowledge", "turn", "episode", "pattern", "code")


@examples(25)
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    kinds=st.lists(st.sampled_from(KINDS), max_size=2, unique=True),
)
@example(words=["where", "is", "the", "login", "cookie"], kinds=[])
@example(words=["which", "function", "test", "login"], kinds=[])
@example(words=["login"], kinds=["code", "knowledge"])
def test_three_doors_give_the_same_ids_in_the_same_order(
    shop: tuple[Terminal, Memory, Agent], words: list[str], kinds: list[str]
) -> None:
    terminal, memory, agent = shop
    query = " ".join(words)
    where = SearchFilter.make(kinds=kinds) if kinds else None
    found = [hit.id for hit in memory.search(query, where=where)]
    typed = terminal.json("search", query, *(part for kind in kinds for part in ("--kind", kind)))
    asked = agent.call("search_memory", query=query, kinds=kinds, budget=8_000)
    assert [hit["id"] for hit in typed["hits"]] == found
    assert [each["id"] for each in asked["results"]] == found


def test_the_doors_find_code_and_records(shop: tuple[Terminal, Memory, Agent]) -> None:
    _terminal, memory, agent = shop
    assert {hit.kind for hit in memory.search("where is the login cookie")} > {"code", "knowledge"}
    told = agent.told("search_memory", query="where is the login cookie")
    assert "shop/login.py:1-3" in told
