"""Runs code in this process with the surroundings of a new one, and restores this process's own afterwards."""

import gc
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple
from unittest.mock import patch


class Outcome(NamedTuple):
    """Exit code and output, as a process would have left them."""

    code: int
    stdout: bytes
    stderr: bytes


def run_in_process(
    function: Callable[[], object],
    *,
    folder: Path,
    environment: dict[str, str],
    arguments: Sequence[str | bytes] = (),
    stdin: bytes | IO[bytes] = b"",
) -> Outcome:
    """Call a function that may end with `sys.exit`; any other exception reaches the test."""
    with ExitStack() as stack:
        out, err = (stack.enter_context(TemporaryFile()) for _ in range(2))
        if isinstance(stdin, bytes):
            given, stdin = stdin, stack.enter_context(TemporaryFile())
            stdin.write(given)
            stdin.seek(0)
        stack.enter_context(_collector_restored())
        with (
            chdir(folder),
            patch.dict(os.environ, environment, clear=True),
            patch.object(sys, "argv", [os.fsdecode(each) for each in arguments]),
            # What is logged goes to stderr, as it does without pytest.
            patch.object(logging.root, "handlers", []),
            _standard_streams(stdin, out, err),
        ):
            code = _exit_code(function)
        out.seek(0)
        err.seek(0)
        return Outcome(code, out.read(), err.read())


def _exit_code(function: Callable[[], object]) -> int:
    try:
        function()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


@contextmanager
def _standard_streams(*files: IO[bytes]) -> Iterator[None]:
    """Files as stdin, stdout and stderr, both of Python and, for child processes, of the operating system."""
    own = [os.dup(number) for number in range(3)]
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        with (
            open(0, encoding="utf-8", errors="surrogateescape", closefd=False) as stdin,
            open(1, "w", encoding="utf-8", closefd=False) as stdout,
            open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False) as stderr,
            patch.multiple(sys, stdin=stdin, stdout=stdout, stderr=stderr),
        ):
            yield
    finally:
        for number, kept in enumerate(own):
            os.dup2(kept, number)
            os.close(kept)


@contextmanager
def _collector_restored() -> Iterator[None]:
    """A command tunes the garbage collector for a short life. What it froze stays frozen, as the collected tests do."""
    thresholds = gc.get_threshold()
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
