"""Processes that read and resolve code for the index, and that some files kill or keep busy for ever."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from treering.code.facts import Facts
from treering.code.files.source_file import SourceFile, read_file
from treering.code.index import worker_process as crew_process
from treering.code.index.resolution import Resolution, resolve_file
from treering.code.index.stored_symbols import StoredSymbols

HANGING = "TREERING_TEST_HANGING"
"""Variable with the file that gets the id of a process that hangs."""
START = (
    f"import json, sys; sys.path[:] = [*json.loads(sys.argv[1]), {str(Path(__file__).parents[2])!r}]; "
    f"from {__name__} import serve; serve()"
)


def serve() -> None:
    """Be a reader process, until stdin ends or a file ends it."""
    crew_process.read_file = _deadly_read_file  # type: ignore[attr-defined]
    crew_process.resolve_file = _deadly_resolve_file  # type: ignore[attr-defined]
    crew_process.serve()


def index() -> None:
    """Index the project in the second argument into the database in the first, with deadly readers."""
    # Readers do without these imports.
    import treering
    from tests.code_projects import code_of
    from treering.code.index import worker_pool as crew

    crew._START = START
    place, root = sys.argv[1:]
    with treering.open(place, project="p", background=False) as memory:
        code_of(memory, many_files=2, seconds_a_file=3600).index(root)


def _deadly_read_file(root: Path, path: str, *others: Any, **named: Any) -> SourceFile:
    content = Path(root, path).read_bytes()
    if b"reading_kills" in content:
        os.kill(os.getpid(), signal.SIGKILL)
    if b"reading_hangs" in content:
        _hang()
    return read_file(root, path, *others, **named)


def _deadly_resolve_file(language: str, facts: Facts, symbols: StoredSymbols) -> Resolution:
    names = {each.qualname for each in facts.definitions}
    if "resolving_kills" in names:
        os.kill(os.getpid(), signal.SIGKILL)
    if "resolving_hangs" in names:
        _hang()
    return resolve_file(language, facts, symbols)


def _hang() -> None:
    if mark := os.environ.get(HANGING):
        Path(mark).write_text(str(os.getpid()))
    while True:
        time.sleep(60)
