"""Progress bar and signal handling while indexing."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from types import FrameType

    from treering.code.index.report import IndexProgress
    from treering.code.index.update import OnProgress

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def progress_bar() -> "Iterator[OnProgress]":
    """A progress bar on a terminal; otherwise nothing."""
    if not sys.stderr.isatty():
        yield lambda _progress: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        shown = bars.add_task("")

        def show(progress: "IndexProgress") -> None:
            bars.update(shown, description=progress.phase, completed=progress.done, total=progress.total)

        yield show


def report_trouble(why: Exception) -> None:
    """Report a temporary failure on stderr."""
    typer.secho(f"{why}; retrying", fg="yellow", err=True)


@contextmanager
def stop_on_signal() -> Iterator[threading.Event]:
    """An event that is set by the first Ctrl-C or SIGTERM; the second ends the process as usual."""
    stop = threading.Event()

    def on_signal(_number: int, _frame: "FrameType | None") -> None:
        restore()
        # Set in a thread: this handler may interrupt a wait for the same event, which holds its lock.
        threading.Thread(target=stop.set, daemon=True).start()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield stop
    finally:
        restore()
