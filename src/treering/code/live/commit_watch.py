"""Follows the commits of a project while its files are watched: on a thread of its own, so that no file waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from treering.code.live.file_watch import Stopped
from treering.core.errors import InvalidInput, NotFound, RepositoryUnavailable, StoreError, TreeringError

if TYPE_CHECKING:
    from treering.code.history.stored_history import Chronicle

Note = Callable[[str], object]


def nothing() -> None:
    """What is called where no history is followed."""


def seeds_told(pairs: int) -> str:
    return f"history: {pairs:,} pair{'' if pairs == 1 else 's'} of files that change together"


@contextmanager
def history_followed(
    chronicle: Chronicle, root: Path, stop: threading.Event, seconds: float, note: Note
) -> Iterator[Callable[[], None]]:
    """Ask for new commits every so many seconds, from when what is given here is called until the block is left.

    `note` hears what changed, and what went wrong, once until it goes well.
    """
    over, begun = threading.Event(), threading.Event()

    def read(_commits: int) -> None:
        if over.is_set() or stop.is_set():
            raise Stopped

    def look(before: str) -> str:
        try:
            pairs = chronicle.seed(root, read)
        except (RepositoryUnavailable, StoreError) as exc:
            return _told_once(exc, before, note)
        if pairs is not None:
            note(seeds_told(pairs))
        return ""

    def run() -> None:
        trouble = ""
        begun.wait()
        try:
            while not (over.is_set() or stop.is_set()):
                trouble = look(trouble)
                over.wait(seconds)
        except (Stopped, NotFound, InvalidInput):
            # Where the index was forgotten or replaced, whoever follows the files says so.
            return

    thread = threading.Thread(target=run, name="treering-history", daemon=True)
    thread.start()
    try:
        yield begun.set
    finally:
        over.set()
        begun.set()
        thread.join()


def _told_once(exc: TreeringError, before: str, note: Note) -> str:
    if str(exc) != before:
        note(f"no history: {exc}")
    return str(exc)
