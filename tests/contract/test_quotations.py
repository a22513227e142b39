"""What is taken away is quoted nowhere: not in the summary of a conversation, not in what a task saved."""

from collections.abc import Callable
from pathlib import Path

import pytest

from treering.conversation.api import Conversation
from treering.core.settings import Settings
from treering.memory import Memory

SECRET = "the ocelot sleeps in vault seven"


def overflowing(memory: Memory) -> tuple[Conversation, str]:
    """A conversation whose first messages left and are summarised in their own words."""
    talk = memory.conversation("long", model="gpt-4o", limit=1_200, keep_recent=2, strategy="rolling_window")
    told = talk.add("user", f"Never forget that {SECRET}.")
    talk.add("assistant", "Noted.")
    for number in range(40):
        talk.add("user", f"What does part {number} do, and how does it hang together with the others?")
        talk.add("assistant", f"Part {number} holds one step of the work and calls the next one when it is done.")
    talk.build()
    return talk, str(told.id)


@pytest.mark.parametrize("hard", [False, True])
def test_a_forgotten_message_is_in_no_summary(memory: Memory, hard: bool) -> None:
    talk, id = overflowing(memory)
    assert SECRET in talk.stats().spans[0].summary
    memory.forget(id, hard=hard)
    assert SECRET not in talk.stats().spans[0].summary
    assert all(SECRET not in message.text for message in talk.build().messages)
    assert all(SECRET not in message.text for message in talk.messages())


def test_a_message_that_comes_back_is_in_the_conversation_again(memory: Memory) -> None:
    talk, id = overflowing(memory)
    said = talk.stats().messages
    memory.forget(id)
    assert talk.stats().messages == said - 1
    memory.undo(id)
    assert talk.stats().messages == said


@pytest.mark.parametrize("hard", [False, True])
def test_forgotten_knowledge_is_in_no_saved_task(memory: Memory, hard: bool) -> None:
    known = memory.remember(SECRET)
    task = memory.task("Find the ocelot")
    task.retrieve_from_episodic("where does the ocelot sleep")
    task.save()
    assert SECRET in memory.task(id=task.id).render().text
    memory.forget(known.id, hard=hard)
    assert SECRET not in memory.task(id=task.id).render().text


def test_a_moved_result_that_is_forgotten_leaves_no_extract(memory: Memory) -> None:
    task = memory.task("Long work")
    for number in range(12):
        task.add_intermediate(f"s{number}", f"{SECRET if number == 0 else number} " + "and so on " * 450)
    task.save()
    moved = next(each for each in task.references() if SECRET in each.extract)
    memory.forget(moved.id, hard=True)
    resumed = memory.task(id=task.id)
    assert SECRET not in resumed.render().text
    assert all(SECRET not in each.extract for each in resumed.references())


def test_nothing_of_it_is_left_in_the_file(open_engine: Callable[..., Memory], tmp_path: Path) -> None:
    with open_engine("sqlite", settings=Settings.make(store={"blob_bytes": 1_024})) as memory:
        _, id = overflowing(memory)
        known = memory.remember(f"{SECRET}, they say")
        task = memory.task("Find the ocelot")
        task.retrieve_from_episodic("ocelot vault")
        task.save()
        memory.forget(id, hard=True)
        memory.forget(known.id, hard=True)
    left = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert left == []
