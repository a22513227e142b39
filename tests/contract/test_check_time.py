"""A text that cannot be checked for secrets in time is refused at every door, and nothing of it is stored."""

from collections.abc import Callable

import pytest

from tests.served import agent_of
from treering.compose import now
from treering.core import time_limit
from treering.core.errors import CheckTimedOut
from treering.memory import Memory


@pytest.fixture
def no_time(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.setattr(time_limit, "CHECK_SECONDS", -1.0)
    return memory


def _said(memory: Memory) -> None:
    conversation = memory.conversation("c", model="gpt-4o")
    conversation.add("user", "Port 5432 is taken.")


STORING: dict[str, Callable[[Memory], object]] = {
    "remember": lambda memory: memory.remember("Port 5432 is taken."),
    "turn": lambda memory: memory.turn(session="s", role="user", text="Port 5432 is taken."),
    "conversation": _said,
    "task": lambda memory: memory.task("Free port 5432."),
}


def _stored(memory: Memory) -> int:
    with memory.store.reading(memory.scope, now()) as tx:
        return tx.knowledge.count() + tx.turns.count() + tx.episodes.count()


@pytest.mark.parametrize("door", STORING)
def test_a_text_that_takes_too_long_to_check_is_not_stored(no_time: Memory, door: str) -> None:
    with pytest.raises(CheckTimedOut, match=r"could not be checked for secrets within .* split it into shorter texts"):
        STORING[door](no_time)
    assert _stored(no_time) == 0


def test_an_agent_is_told_and_goes_on(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    with agent_of(memory) as agent:
        with monkeypatch.context() as patched:
            patched.setattr(time_limit, "CHECK_SECONDS", -1.0)
            assert "could not be checked for secrets" in agent.refused("remember_fact", fact="Port 5432 is taken.")
        assert _stored(memory) == 0
        agent.call("remember_fact", fact="Port 5432 is taken.")
