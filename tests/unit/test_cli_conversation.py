"""The picture of a conversation's window, without a memory."""

import time
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from tests.golden.context.drawing import (
    CONVERSATION,
    PICTURES,
    SYSTEM,
    drawn,
    explained,
    golden,
    gone,
    line,
    shown,
    span,
)
from treering.conversation.exchanges import ORPHAN
from treering.conversation.views import ExplainedMessage, WindowExplanation
from treering.core.contexts import RemovedMessages
from treering.core.errors import InvalidInput
from treering.interfaces.cli.conversation import watch
from treering.interfaces.cli.conversation.command import _check_options
from treering.interfaces.cli.conversation.gauge import usage_bar
from treering.interfaces.cli.conversation.runs import RemovedRun, messages_and_runs
from treering.interfaces.cli.conversation.view import ROWS, WindowView
from treering.interfaces.cli.views import bar

HOSTILE = "a\x1b[31m\x1b]0;t\x07b\n\r\u202ec\x9b"


def long_conversation() -> WindowExplanation:
    """A system prompt, twenty removals between single messages, then sixty messages."""
    lines = [line(0, "system", "You help.", importance=SYSTEM)]
    for place in range(1, 41, 2):
        lines += [gone(place), line(place + 1)]
    lines += [line(place) for place in range(41, 101)]
    return explained(lines, [span(place, place) for place in range(1, 41, 2)])


def laid_out(lines: list[ExplainedMessage], spans: list[RemovedMessages]) -> list[object]:
    """Places of messages; of runs the places and where their span began."""
    return [
        ([each.place for each in piece.lines], piece.span and piece.span.first)
        if isinstance(piece, RemovedRun)
        else piece.place
        for piece in messages_and_runs(lines, spans)
    ]


@pytest.mark.parametrize("name", PICTURES)
def test_a_window_is_drawn_as_its_golden_file_shows(name: str) -> None:
    """Changed on purpose? `.venv/bin/python -m tests.golden.context.drawing`, then read the diff."""
    assert shown(name) == golden(name).read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [10, 40, 60, 79, 80, 120, 300])
@pytest.mark.parametrize("whole", [False, True])
def test_no_line_is_wider_than_the_terminal(width: int, whole: bool) -> None:
    for told in (CONVERSATION, long_conversation()):
        for each in drawn(WindowView(told, whole=whole), width):
            assert Text(each).cell_len <= width


def test_nothing_that_a_terminal_obeys_is_drawn() -> None:
    told = explained(
        (
            gone(0, text=HOSTILE, why=HOSTILE, cues=(("directive", HOSTILE),)),
            line(1, text=HOSTILE, id=HOSTILE, segment=1),
        ),
        (span(0, 0, why=HOSTILE, summary=HOSTILE),),
        id=HOSTILE,
        segments=((0, HOSTILE, HOSTILE), (1, HOSTILE, "")),
    )
    for whole in (False, True):
        text = "\n".join(drawn(WindowView(told, whole=whole), 200))
        assert not set(text) & set("\x1b\x07\r\x9b\u202e")
        assert "a␛[31m" in text


def test_a_long_conversation_shows_its_beginning_its_last_removals_and_its_end() -> None:
    lines = drawn(WindowView(long_conversation()))
    body = lines[lines.index("") + 1 :]

    assert len(body) <= ROWS
    assert body[0].endswith("…b000000")
    assert body[-1].startswith("101")
    assert sum("tokens removed" in each for each in body) >= 3
    hidden = sum(int(each.split()[0]) for each in body if each.endswith("more, --all shows them"))
    assert hidden > 1
    assert (
        hidden
        + sum(each.split()[0].isdigit() and "--all" not in each for each in body)
        + sum("tokens removed" in each for each in body)
        == 1 + 20 + 20 + 60
    )


def test_all_shows_every_message_once() -> None:
    text = "\n".join(drawn(WindowView(long_conversation(), whole=True)))
    assert all(text.count(f"-1fa73b{place:06x}") == 1 for place in range(101))
    assert "--all" not in text


@pytest.mark.parametrize("height", [13, 16, 24, 60])
def test_a_picture_fits_the_screen_it_is_drawn_on(height: int) -> None:
    lines = drawn(WindowView(long_conversation(), height=height))
    assert len(lines) <= height
    assert lines[-1].startswith("101")


def test_an_empty_conversation_is_drawn_too() -> None:
    assert "the window is empty, nothing was removed" in drawn(WindowView(explained((), tokens=3)))


@pytest.mark.parametrize(
    ("tokens", "colour"), [(1, "green"), (599, "green"), (700, "yellow"), (801, "red"), (5000, "red")]
)
def test_the_bar_is_coloured_and_marked_where_messages_leave(tokens: int, colour: str) -> None:
    bar, told = usage_bar(explained((), tokens=tokens).stats, 80)
    assert len(bar.plain) == 61
    assert bar.plain.index("|") == 48
    assert colour in str(bar.spans[0].style)
    assert colour in str(told.spans[0].style)


def test_a_bar_shows_what_there_is() -> None:
    assert [bar(part, 100, 4) for part in (0, 1, 50, 100, 300)] == ["", "▏", "██", "████", "████"]
    assert bar(1, 0, 4) == ""


def test_runs_know_their_spans() -> None:
    lines = [gone(0), gone(1), line(2), gone(3), gone(4)]
    assert laid_out(lines, [span(3, 4), span(0, 1)]) == [([0, 1], 0), 2, ([3, 4], 3)]


def test_what_was_never_sent_parts_no_run() -> None:
    lines = [gone(0), gone(1, "tool", why=ORPHAN), gone(2), line(3), gone(4, "tool", why=ORPHAN)]
    assert laid_out(lines, [span(0, 2, messages=2)]) == [([0, 2], 0), 1, 3, 4]


def test_spans_are_found_though_messages_before_them_were_forgotten() -> None:
    """Of the session's places 0 to 9 the first span is forgotten but for one, the second wholly."""
    lines = [
        gone(0, seq=3),
        line(1, seq=4),
        gone(2, why="requested", seq=7),
        gone(3, why="requested", seq=8),
        line(4, seq=9),
    ]
    spans = [span(0, 3), span(5, 5), span(7, 8, why="requested")]
    assert laid_out(lines, spans) == [([0], 0), 1, ([2, 3], 7), 4]


def test_neighbours_removed_separately_are_separate_runs() -> None:
    lines = [gone(0), gone(1, why="requested"), gone(2, why="requested")]
    assert laid_out(lines, [span(0, 0), span(1, 2, why="requested")]) == [([0], 0), ([1, 2], 1)]


def test_following_tells_only_what_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    states, slept, told = iter([1, 1, 2, 2, 2, 3]), list[float](), list[WindowExplanation]()
    monkeypatch.setattr(time, "sleep", slept.append)

    def state() -> int:
        for each in states:
            return each
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch._follow(state, lambda: CONVERSATION, told.append, 0.5)
    assert len(told) == 3
    assert slept == [0.5] * 6


CONTRADICTIONS: list[tuple[list[str], dict[str, Any], str]] = [
    (["--prune", "--pin"], {}, "--prune and --pin cannot be combined"),
    (["--search"], {"whole": True}, "cannot be combined with --all"),
    (["--prune"], {"watch": True}, "cannot be combined with --prune"),
    ([], {"watch": True, "whole": True}, "cannot be combined with --all"),
    ([], {"every": 1.0}, "add --watch"),
    ([], {"every": 0.0, "watch": True}, "0.1 to 3600"),
    ([], {"every": float("nan"), "watch": True}, "0.1 to 3600"),
    (["--prune"], {"yes": True}, "add --clear"),
]


@pytest.mark.parametrize(("chosen", "more", "told"), CONTRADICTIONS)
def test_options_that_contradict_each_other_are_refused(chosen: list[str], more: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        _check_options(chosen, **{"whole": False, "watch": False, "every": None, "yes": False, **more})


def test_a_picture_has_colours_on_a_terminal_only() -> None:
    for terminal in (True, False):
        console = Console(width=80, force_terminal=terminal, color_system="standard" if terminal else None)
        with console.capture() as captured:
            console.print(PICTURES["window"])
        assert ("\x1b[" in captured.get()) is terminal
