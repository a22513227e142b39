"""Follows a conversation: it is drawn anew whenever it changes, until Ctrl-C."""

import sys
import time
from collections.abc import Callable
from io import TextIOWrapper
from typing import TYPE_CHECKING, NoReturn

from rich.console import Console
from rich.live import Live

from treering.interfaces.cli.conversation.view import Picture

if TYPE_CHECKING:
    from treering.conversation.api import Conversation
    from treering.conversation.views import Explained
    from treering.memory import Memory

Tell = Callable[["Explained"], None]


def watch(memory: "Memory", held: "Conversation", every: float, tell: Tell, *, as_json: bool) -> NoReturn:
    """Draw over the last picture on a terminal; elsewhere `tell` it again, one after the other."""
    console = Console(highlight=False, markup=False, emoji=False)
    if as_json or not sys.stdout.isatty() or console.is_dumb_terminal:
        _follow(lambda: _pulse(memory, held), held.explain, tell, every)
    _draw(console, memory, held, every)


def _draw(console: Console, memory: "Memory", held: "Conversation", every: float) -> NoReturn:
    """In the size that the terminal has; the last picture stays."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    with Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live:
        # A hidden cursor would stay hidden if this process were killed.
        console.show_cursor(True)

        def draw(told: "Explained") -> None:
            live.update(Picture(told, height=console.size.height - 1), refresh=True)

        _follow(lambda: (_pulse(memory, held), console.size), held.explain, draw, every)


def _follow(state: Callable[[], object], explain: Callable[[], "Explained"], tell: Tell, every: float) -> NoReturn:
    """Tell what there is, and again whenever `state` changes, which is looked at every so many seconds."""
    seen: object = None
    while True:
        if (now := state()) != seen:
            seen = now
            tell(explain())
        time.sleep(every)


def _pulse(memory: "Memory", held: "Conversation") -> object:
    """Changes whenever the conversation does; asking costs next to nothing."""
    from treering.compose import now

    with memory.store.reading(memory.scope, now()) as tx:
        return tx.sessions.current_version(held.id)
