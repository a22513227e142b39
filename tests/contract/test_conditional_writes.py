"""Writes on a condition: once per request, and only on the version that was read; and lists page by page."""

import threading
from typing import Any

import pytest

from tests.conftest import OpenMemory
from treering.core.errors import InvalidInput, NotFound, RequestRepeated, StaleVersion
from treering.core.queries import KnowledgeFilter, TurnFilter
from treering.memory import Memory


def test_a_request_is_carried_out_once(memory: Memory) -> None:
    record = memory.conditional(request="k", content="a").remember("Deploys happen on Fridays.")
    with pytest.raises(RequestRepeated) as repeated:
        memory.conditional(request="k", content="a")
    assert repeated.value.record == record.id
    with pytest.raises(InvalidInput, match="another request"):
        memory.conditional(request="k", content="b")


def test_the_key_of_a_failed_request_is_free(memory: Memory) -> None:
    with pytest.raises(NotFound):
        memory.conditional(request="k").confirm("nothing")
    assert memory.conditional(request="k").remember("Stored by the second attempt.").version == 1


def test_keys_belong_to_one_principal_and_one_project(open_memory: OpenMemory) -> None:
    for options in ({}, {"project": "other"}, {"principal": "ada"}):
        assert open_memory(**options).conditional(request="k").remember("A fact.", visibility="personal").id


def test_of_many_equal_requests_one_is_carried_out(open_memory: OpenMemory) -> None:
    memory = open_memory()
    outcomes: list[Any] = []
    begin = threading.Barrier(6)

    def ask() -> None:
        begin.wait()
        try:
            outcomes.append(memory.conditional(request="k").episode("carried out once").id)
        except RequestRepeated as repeated:
            outcomes.append(repeated.record)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 6
    assert len(set(outcomes)) == 1
    assert memory.count("episodes") == 1


def test_of_many_changes_of_one_version_one_is_made(open_memory: OpenMemory) -> None:
    memory = open_memory()
    record = memory.remember("The port is 8080.")
    outcomes: list[str] = []
    begin = threading.Barrier(6)

    def change(number: int) -> None:
        begin.wait()
        try:
            memory.conditional(versions={record.id: 1}).correct(record.id, text=f"The port is {number}.")
            outcomes.append("made")
        except StaleVersion as stale:
            outcomes.append(f"stale, now {stale.current.version}")

    threads = [threading.Thread(target=change, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["made", *["stale, now 2"] * 5]


def test_a_purge_leaves_nothing_of_a_request(memory: Memory) -> None:
    text = "Zanzibar is the code name of the merger."
    record = memory.conditional(request="k", content=text).remember(text)
    receipt = memory.forget(record.id, hard=True)
    assert receipt is not None
    assert receipt.prove().clean


@pytest.mark.parametrize("order", ["created_at", "confidence"])
def test_pages_list_everything_once_in_order(memory: Memory, order: str) -> None:
    for number in range(7):
        memory.remember(f"Fact number {number}", confidence=(number % 3) / 10)
    seen: list[Any] = []
    after = None
    while True:
        page = memory.page("knowledge", order=order, limit=3, after=after)
        seen += page.items
        if (after := page.next) is None:
            break
    keys = [(getattr(each, order), each.id) for each in seen]
    assert keys == sorted(keys, reverse=True)
    assert len(set(keys)) == memory.count("knowledge") == 7
    assert memory.count("knowledge", where=KnowledgeFilter.make(tags=("none",))) == 0


def test_what_cannot_be_listed_is_refused(memory: Memory) -> None:
    wrong: list[dict[str, Any]] = [
        {"kind": "everything"},
        {"kind": "knowledge", "where": TurnFilter.make()},
        {"kind": "knowledge", "order": "content"},
        {"kind": "knowledge", "limit": 0},
        {"kind": "knowledge", "after": "no cursor"},
    ]
    for arguments in wrong:
        with pytest.raises(InvalidInput):
            memory.page(**arguments)
    for kind in ("turns", "conversations", "episodes", "patterns", "entities", "observed_sessions", "injected_items"):
        assert memory.page(kind).items == ()
    for kind in ("audit", "jobs", "runs"):
        assert memory.count(kind) == 0
