"""Between the wire and the SDK: what is answered after the end of input, and what goes wrong on the way."""

import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from treering.compose import now
from treering.core.errors import StoreUnavailable
from treering.interfaces.mcp.desk import Desk
from treering.interfaces.mcp.stdio import wire
from treering.interfaces.mcp.stdio.printing import greeting, line
from treering.interfaces.mcp.stdio.reception import Handover, Reception
from treering.interfaces.mcp.stdio.serving import Patience, serve

GREETED = (greeting("2025-11-25"), line("notifications/initialized"))
STATS = line("tools/call", {"name": "memory_stats", "arguments": {}}, 1)


def no_memory() -> NoReturn:
    raise StoreUnavailable("there is none")


def desk_of(open_memory: Callable[[], Any] = no_memory) -> Desk:
    return Desk(open_memory, session="", clock=now, call_seconds=0)


def read(*lines: bytes, handover: Handover | None = None) -> Reception:
    """Lines with the end of input behind them, before any is answered."""

    class Standing(Reception):
        def hand_over(self) -> Handover:
            return handover or super().hand_over()

    reception = Standing(lines, lambda _: None)
    reception.listen()
    return reception


def test_the_time_to_answer_begins_anew_with_each_answer() -> None:
    heard, gave_up = list[int](), list[int]()

    def write_slowly(text: bytes) -> None:
        time.sleep(0.1)
        heard.append(json.loads(text)["id"])

    pings = [line("ping", id=number) for number in range(1, 31)]
    serve(desk_of(), read(*GREETED, *pings), write_slowly, Patience(1.5, gave_up.append))
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
    serve(desk_of(never_opened), read(*lines), lambda _: None, Patience(0.3, give_up))
    assert gave_up == [3]


def test_a_request_that_is_taken_back_is_not_waited_for() -> None:
    go_on = threading.Event()

    def opened_later() -> NoReturn:
        go_on.wait()
        no_memory()

    threading.Timer(0.5, go_on.set).start()
    gave_up = list[int]()
    cancelled = line("notifications/cancelled", {"requestId": 1})
    serve(desk_of(opened_later), read(*GREETED, STATS, cancelled), lambda _: None, Patience(0.1, gave_up.append))
    assert gave_up == []


def test_a_greeting_that_the_sdk_refuses_ends_nothing() -> None:
    heard = list[Any]()
    answered = Handover(decisive=(b"no greeting\n",), answered=frozenset({0}))
    reception = read(line("ping", id=1), handover=answered)
    serve(desk_of(), reception, lambda text: heard.append(json.loads(text)))
    assert heard == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_what_goes_wrong_is_raised_as_itself() -> None:
    def broken(_text: bytes) -> None:
        raise RuntimeError("the pipe speaks French")

    with pytest.raises(RuntimeError, match="French"):
        serve(desk_of(), read(*GREETED), broken)


def test_a_client_that_hangs_up_is_nothing_that_goes_wrong() -> None:
    def hung_up(_text: bytes) -> None:
        raise wire.HungUp

    serve(desk_of(), read(*GREETED, line("ping", id=1)), hung_up)


def test_of_a_line_that_never_ends_no_more_is_kept_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_LONGEST_LINE", 10)
    incoming, client = os.pipe()
    try:
        os.write(client, b"0123456789 and so on, and on\nshort\n123456789\n0123456789\nno end")
        os.close(client)
        lines = list(wire.Wire(incoming, outgoing=-1).lines())
    finally:
        os.close(incoming)
    assert lines == [b"0123456789", b"short\n", b"123456789\n", b"0123456789", b"no end"]
