"""Watching of a project's commits on a separate thread, so that reading files is not delayed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from treering.code.live.file_watch import WatchStopped
from treering.core.errors import InvalidInput, NotFound, RepositoryUnavailable, StoreError, TreeringError

if TYPE_CHECKING:
    from treering.code.history.stored_history import CoChangeHistory

Note = Callable[[str], object]


def do_nothing() -> None:
    """Used instead if no history is followed."""


def seeds_note(pairs: int) -> str:
    return f"history: {pairs:,} pair{'' if pairs == 1 else 's'} of files that change together"


@contextmanager
def follow_history(
    history: CoChangeHistory, root: Path, stop: threading.Event, seconds: float, note: Note
) -> Iterator[Callable[[], None]]:
    """Poll for new commits every `seconds` seconds, from the call of the yielded function until the end of the block.

    `note` is called with changes, and with each new error.
    """
    over, begun = threading.Event(), threading.Event()

    def read(_commits: int) -> None:
        if over.is_set() or stop.is_set():
            raise WatchStopped

    def look(before: str) -> str:
        try:
            pairs = history.seed(root, read)
        except (RepositoryUnavailable, StoreError) as exc:
            return _note_once(exc, before, note)
        if pairs is not None:
            note(seeds_note(pairs))
        return ""

    def run() -> None:
        trouble = ""
        begun.wait()
        try:
            while not (over.is_set() or stop.is_set()):
                trouble = look(trouble)
                over.wait(seconds)
        except (WatchStopped, NotFound, InvalidInput):
            # The thread that watches the files reports that the index was forgotten or replaced.
            return

    thread = threading.Thread(target=run, name="treering-history", daemon=True)
    thread.start()
    try:
        yield begun.set
    finally:
        over.set()
        begun.set()
        thread.join()


def _note_once(exc: TreeringError, before: str, note: Note) -> str:
    if str(exc) != before:
        note(f"no history: {exc}")
    return str(exc)
