"""Between the wire and the SDK: what is answered after the end of input, and what goes wrong on the way."""

import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from tests.mcp_messages import greeting, line
from treering.compose import now
from treering.core.errors import StoreUnavailable
from treering.interfaces.mcp.host import MemoryHost
from treering.interfaces.mcp.stdio import wire
from treering.interfaces.mcp.stdio.inbox import Inbox
from treering.interfaces.mcp.stdio.server import SilenceLimit, serve

GREETED = (greeting("2025-11-25"), line("notifications/initialized"))
STATS = line("tools/call", {"name": "memory_stats", "arguments": {}}, 1)


def no_memory() -> NoReturn:
    raise StoreUnavailable("there is none")


def desk_of(open_memory: Callable[[], Any] = no_memory) -> MemoryHost:
    return MemoryHost(open_memory, session="", clock=now, call_seconds=0)


def read(*lines: bytes) -> Inbox:
    """Lines with the end of input behind them, before any is answered."""
    inbox = Inbox(lines)
    inbox.fill()
    return inbox


def test_the_time_to_answer_begins_anew_with_each_answer() -> None:
    heard, gave_up = list[int](), list[int]()

    def write_slowly(text: bytes) -> None:
        time.sleep(0.1)
        heard.append(json.loads(text)["id"])

    pings = [line("ping", id=number) for number in range(1, 31)]
    serve(desk_of(), read(*GREETED, *pings), write_slowly, SilenceLimit(1.5, gave_up.append))
    assert sorted(heard) == list(range(31))
    assert gave_up == []


def test_after_a_silence_what_is_unanswered_is_counted() -> None:
    gave_up, go_on = list[int](), threading.Event()

    def never_opened() -> NoReturn:
        go_on.wait()
        no_memory()

    def give_up(unanswered: int) -> None:
        gave_up.append(unanswered)
        go_on.set()

    calls = [STATS.replace(b'"id": 1', f'"id": {number}'.encode()) for number in (1, 2, 3)]
    lines = (*GREETED, *calls, line("ping", id=4))
    serve(desk_of(never_opened), read(*lines), lambda _: None, SilenceLimit(0.3, give_up))
    assert gave_up == [3]


def test_a_request_that_is_taken_back_is_not_waited_for() -> None:
    go_on = threading.Event()

    def opened_later() -> NoReturn:
        go_on.wait()
        no_memory()

    threading.Timer(0.5, go_on.set).start()
    gave_up = list[int]()
    cancelled = line("notifications/cancelled", {"requestId": 1})
    serve(desk_of(opened_later), read(*GREETED, STATS, cancelled), lambda _: None, SilenceLimit(0.1, gave_up.append))
    assert gave_up == []


def test_a_line_before_the_handshake_that_is_no_message_ends_nothing() -> None:
    heard = list[Any]()
    serve(desk_of(), read(b"no greeting\n", line("ping", id=1)), lambda text: heard.append(json.loads(text)))
    assert heard == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_the_end_of_an_empty_input_is_told_apart() -> None:
    assert not Inbox(()).fill()
    assert Inbox(GREETED).fill()


def test_what_a_tool_needs_is_loaded_after_the_first_answer() -> None:
    happened, loaded = list[str](), threading.Event()

    def load() -> None:
        happened.append("loaded")
        loaded.set()

    def write(_text: bytes) -> None:
        happened.append("answered")

    serve(MemoryHost(no_memory, session="", clock=now, load=load), read(GREETED[0]), write)
    assert loaded.wait(60)
    assert happened == ["answered", "loaded"]


def test_what_goes_wrong_is_raised_as_itself() -> None:
    def broken(_text: bytes) -> None:
        raise RuntimeError("the pipe speaks French")

    with pytest.raises(RuntimeError, match="French"):
        serve(desk_of(), read(*GREETED), broken)


def test_a_client_that_hangs_up_is_nothing_that_goes_wrong() -> None:
    def hung_up(_text: bytes) -> None:
        raise wire.Disconnected

    serve(desk_of(), read(*GREETED, line("ping", id=1)), hung_up)


def test_of_a_line_that_never_ends_no_more_is_kept_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_MAX_LINE", 10)
    incoming, client = os.pipe()
    try:
        os.write(client, b"0123456789 and so on, and on\nshort\n123456789\n0123456789\nno end")
        os.close(client)
        lines = list(wire.Wire(incoming, outgoing=-1).lines())
    finally:
        os.close(incoming)
    assert lines == [b"0123456789", b"short\n", b"123456789\n", b"0123456789", b"no end"]
