"""A language model reads sessions: better than the rules where it answers, and at no loss where it does not."""

from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.integration.model_server import ModelServer, Reply, chat
from treering.core.payloads import Stated
from treering.core.queries import KnowledgeFilter
from treering.core.settings import Settings
from treering.memory import Memory

CHAT = "/v1/chat/completions"
SAID = "We use pnpm. By the way, Ada has the pager until Friday."
PAGER = {
    "turn": 1,
    "quote": "Ada has the pager until Friday",
    "subject": "Ada",
    "attribute": "role",
    "value": "on call",
    "text": "Ada is on call until Friday.",
    "type": "fact",
    "over": [],
    "ended": False,
    "valid_from": None,
    "valid_until": None,
    "names": ["Ada"],
}


def values(memory: Memory) -> set[str]:
    with memory.store.reading(memory.scope, memory._ports.clock()) as tx:
        found = [fact.payload for fact in tx.knowledge.stream(KnowledgeFilter())]
    return {each.value or "" for each in found if isinstance(each, Stated)}


def with_writer(server: ModelServer, **learn: Any) -> Settings:
    return Settings.make(writer={"url": f"{server.url}/v1", "model": "w"}, learn=learn)


def test_the_model_reads_what_the_rules_would_miss(server: ModelServer, open_memory: OpenMemory) -> None:
    server.answer(CHAT, chat({"facts": [PAGER]}))
    memory = open_memory(settings=with_writer(server))
    memory.turn(session="s", role="user", text=SAID)
    assert server.asked == [], "storing a turn asks nobody"
    memory.settle()
    assert values(memory) == {"on call"}
    assert len(server.asked) == 1
    memory.settle()
    assert len(server.asked) == 1, "what was read is not paid for twice"


@pytest.mark.parametrize(
    "answer",
    [
        Reply({"error": "down"}, 500),
        Reply({"error": "no"}, 400),
        chat("I would rather talk about the weather."),
        chat(None, refusal="I cannot help with that."),
        chat('{"facts": [{"turn": 1,', ended="length"),
        chat({"facts": []}),
        chat({"facts": [PAGER | {"quote": "words that nobody said"}]}),
    ],
)
def test_where_the_model_fails_or_finds_nothing_the_rules_read(
    server: ModelServer, open_memory: OpenMemory, answer: Reply
) -> None:
    server.answer(CHAT, answer)
    memory = open_memory(settings=with_writer(server))
    memory.turn(session="s", role="user", text=SAID)
    assert memory.settle().dead == 0
    assert "pnpm" in values(memory)


def test_without_a_server_the_rules_read(open_memory: OpenMemory) -> None:
    settings = Settings.make(writer={"url": "http://127.0.0.1:9/v1", "model": "w"})
    memory = open_memory(settings=settings)
    memory.turn(session="s", role="user", text=SAID)
    memory.settle()
    assert "pnpm" in values(memory)


def test_switched_off_it_is_not_asked(server: ModelServer, open_memory: OpenMemory) -> None:
    memory = open_memory(settings=with_writer(server, model="off"))
    memory.turn(session="s", role="user", text=SAID)
    memory.settle()
    assert server.asked == []
    assert "pnpm" in values(memory)


def test_a_personal_turn_is_read_by_the_rules_only(server: ModelServer, open_memory: OpenMemory) -> None:
    memory = open_memory(settings=with_writer(server))
    memory.turn(session="s", role="user", text=SAID, visibility="personal")
    memory.settle()
    assert server.asked == []
    assert "pnpm" in values(memory)
