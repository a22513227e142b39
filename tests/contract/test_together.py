"""The same verbs at the same moment from many threads: nobody meets a conflict, nothing is kept twice."""

import threading
from collections.abc import Callable

import pytest

from tests.conftest import OpenMemory
from treering.core.records import Knowledge
from treering.memory import Memory

TOGETHER = 4
ROUNDS = 5
VERBS: dict[str, Callable[[Memory, str], Knowledge]] = {
    "pin": lambda memory, id: memory.pin(id),
    "confirm": lambda memory, id: memory.confirm(id),
    "flag": lambda memory, id: memory.flag(id),
}


@pytest.fixture
def memories(open_memory: OpenMemory) -> list[Memory]:
    return [open_memory() for _ in range(TOGETHER)]


def at_once(memories: list[Memory], act: Callable[[Memory, int], object]) -> None:
    """Let every memory act at the same moment, several times; whatever one raises is raised here."""
    start, raised = threading.Barrier(len(memories)), list[Exception]()

    def work(memory: Memory) -> None:
        for round in range(ROUNDS):
            start.wait()
            try:
                act(memory, round)
            except Exception as exc:  # noqa: BLE001 - a thread is a door: its errors are raised by whoever waits
                raised.append(exc)

    threads = [threading.Thread(target=work, args=(memory,)) for memory in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise ExceptionGroup("raised by threads", raised)


def test_a_turn_delivered_by_many_at_once_is_stored_once(memories: list[Memory]) -> None:
    at_once(memories, lambda memory, round: memory.turn(session="s", role="user", text="hello", id=f"turn {round}"))
    assert memories[0].stats().records["turns"] == ROUNDS


def test_words_that_many_remember_at_once_are_one_record_with_all_the_evidence(memories: list[Memory]) -> None:
    at_once(memories, lambda memory, round: memory.remember(f"tea at {round}"))
    records = [hit.record for hit in memories[0].search("tea")]
    assert [record.access_count for record in records] == [TOGETHER - 1] * ROUNDS


@pytest.mark.parametrize("verb", VERBS)
def test_one_record_changed_by_many_at_once_meets_no_conflict(memories: list[Memory], verb: str) -> None:
    record = memories[0].remember("tea at four")
    at_once(memories, lambda memory, _: VERBS[verb](memory, record.id))
    assert memories[0].get(record.id).version == 1 + TOGETHER * ROUNDS


def test_a_record_reinforced_and_pinned_at_once_keeps_both(memories: list[Memory]) -> None:
    record = memories[0].remember("tea at four")
    verbs = dict(zip(map(id, memories), [memories[0].pin] * 2 + [memories[2].remember] * 2, strict=True))
    arguments = {"pin": record.id, "remember": record.content}
    at_once(memories, lambda memory, _: verbs[id(memory)](arguments[verbs[id(memory)].__name__]))
    kept = memories[0].get(record.id)
    assert (kept.pinned, kept.access_count) == (True, 2 * ROUNDS)
