"""While indexing goes on: a bar where somebody looks, and an end where somebody asks for one."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from types import FrameType

    from treering.code.build.report import Progress
    from treering.code.build.update import Tell

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def indexing_shown() -> "Iterator[Tell]":
    """A bar on a terminal, gone when all is done; nothing where nobody looks."""
    if not sys.stderr.isatty():
        yield lambda _progress: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        shown = bars.add_task("")

        def tell(progress: "Progress") -> None:
            bars.update(shown, description=progress.phase, completed=progress.done, total=progress.total)

        yield tell


def trouble_shown(why: Exception) -> None:
    """What goes wrong for now, in a line of its own; what is asked for goes on."""
    typer.secho(f"{why}; trying again until it is over", fg="yellow", err=True)


@contextmanager
def until_signalled() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C or SIGTERM sets; the second ends the process as usual."""
    stop = threading.Event()

    def heard(_number: int, _frame: "FrameType | None") -> None:
        restore()
        # Not from here: this may stand in the middle of a wait for the same event.
        threading.Thread(target=stop.set, daemon=True).start()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.signal(number, heard) for number in _SIGNALS}
    try:
        yield stop
    finally:
        restore()
