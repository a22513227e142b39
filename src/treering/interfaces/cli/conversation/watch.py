"""Redraws a conversation whenever it changes, until Ctrl-C."""

import sys
import time
from collections.abc import Callable
from io import TextIOWrapper
from typing import TYPE_CHECKING, NoReturn

from rich.console import Console
from rich.live import Live

from treering.interfaces.cli.conversation.view import WindowView

if TYPE_CHECKING:
    from treering.conversation.api import Conversation
    from treering.conversation.views import WindowExplanation

Show = Callable[["WindowExplanation"], None]


def watch(talk: "Conversation", every: float, show: Show, *, as_json: bool) -> NoReturn:
    """Redraw in place on a terminal; elsewhere, `show` each state after the other."""
    console = Console(highlight=False, markup=False, emoji=False)
    if as_json or not sys.stdout.isatty() or console.is_dumb_terminal:
        _follow(talk.revision, talk.explain, show, every)
    _draw(console, talk, every)


def _draw(console: Console, talk: "Conversation", every: float) -> NoReturn:
    """Draw in the size of the terminal; the last view stays visible."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    with Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live:
        # A hidden cursor would stay hidden if this process were killed.
        console.show_cursor(True)

        def draw(explanation: "WindowExplanation") -> None:
            live.update(WindowView(explanation, height=console.size.height - 1), refresh=True)

        _follow(lambda: (talk.revision(), console.size), talk.explain, draw, every)


def _follow(
    state: Callable[[], object], explain: Callable[[], "WindowExplanation"], show: Show, every: float
) -> NoReturn:
    """Show the explanation now and whenever `state` changes; it is checked `every` few seconds."""
    seen: object = None
    while True:
        if (now := state()) != seen:
            seen = now
            show(explain())
        time.sleep(every)
