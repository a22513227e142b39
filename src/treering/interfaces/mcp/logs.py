"""What a server tells its user besides the protocol: warnings, on stderr, without secrets."""

import logging
import sys
import threading
from collections.abc import Callable
from queue import Full, Queue

_LINES_AHEAD = 1_000
"""Warnings that wait to be written: more than anybody reads, less than a megabyte."""
_FLUSH_SECONDS = 0.3
"""How long the end of a server waits for whoever should read them: a part of what is left when all is closed."""


class Unhurried(logging.Handler):
    """Writes in a thread of its own: a client that does not read its server's stderr would otherwise stop it.

    What does not fit is left out, and counted.
    """

    def __init__(self, write: Callable[[str], object], lines_ahead: int = _LINES_AHEAD) -> None:
        super().__init__()
        self._write = write
        self._waiting: Queue[str] = Queue(lines_ahead)
        self._left_out = 0
        threading.Thread(target=self._write_all, name="mcp-logs", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._waiting.put_nowait(self.format(record))
        except Full:
            self._left_out += 1

    def flush(self) -> None:
        """Until all is written, or nobody reads it."""
        with self._waiting.all_tasks_done:
            self._waiting.all_tasks_done.wait_for(lambda: not self._waiting.unfinished_tasks, _FLUSH_SECONDS)

    def _write_all(self) -> None:
        while True:
            self._say(self._waiting.get())
            if left_out := self._counted():
                self._say(f"treering mcp: {left_out} more were left out, because nobody read them")
            self._waiting.task_done()

    def _say(self, line: str) -> None:
        try:
            self._write(f"{line}\n")
        except (OSError, ValueError):
            # Nobody will ever read it; there is no other place to say so.
            self._left_out += 1

    def _counted(self) -> int:
        self.acquire()
        try:
            left_out, self._left_out = self._left_out, 0
        finally:
            self.release()
        return left_out


class _WithoutSecrets(logging.Formatter):
    """What goes wrong is told with the words of whoever raised it, and those may quote anything."""

    def format(self, record: logging.LogRecord) -> str:
        from treering.core.secrets import redact

        return redact(super().format(record)).text


def log_to_stderr() -> logging.Handler:
    """Warnings of all that is loaded, from here on."""
    handler = Unhurried(_to_stderr)
    handler.setFormatter(_WithoutSecrets("treering mcp: %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    return handler


def _to_stderr(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
