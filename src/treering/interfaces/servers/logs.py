"""Logging of a server: warnings on stderr, without secrets."""

import logging
import sys
import threading
from collections.abc import Callable
from queue import Full, Queue

_MAX_QUEUED_LINES = 1_000
"""Warnings that wait to be written: less than a megabyte."""
_FLUSH_SECONDS = 0.3
"""How long a closing server waits until queued lines are written."""


class QueuedLogHandler(logging.Handler):
    """Writes in a thread of its own, so that a client that does not read stderr cannot block the server.

    Lines that do not fit into the queue are dropped and counted.
    """

    def __init__(self, write: Callable[[str], object], max_lines: int = _MAX_QUEUED_LINES) -> None:
        super().__init__()
        self._write = write
        self._waiting: Queue[str] = Queue(max_lines)
        self._dropped = 0
        threading.Thread(target=self._write_all, name="mcp-logs", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._waiting.put_nowait(self.format(record))
        except Full:
            self._dropped += 1

    def flush(self) -> None:
        """Wait until all lines are written, or until the time is up."""
        with self._waiting.all_tasks_done:
            self._waiting.all_tasks_done.wait_for(lambda: not self._waiting.unfinished_tasks, _FLUSH_SECONDS)

    def _write_all(self) -> None:
        while True:
            self._write_line(self._waiting.get())
            if dropped := self._take_dropped():
                self._write_line(f"treering: {dropped} more lines were dropped, because stderr was not read")
            self._waiting.task_done()

    def _write_line(self, line: str) -> None:
        try:
            self._write(f"{line}\n")
        except (OSError, ValueError):
            # stderr is closed, and there is no other place to report it.
            self._dropped += 1

    def _take_dropped(self) -> int:
        self.acquire()
        try:
            dropped, self._dropped = self._dropped, 0
        finally:
            self.release()
        return dropped


class _RedactingFormatter(logging.Formatter):
    """Redacts secrets, because error messages may quote anything."""

    def format(self, record: logging.LogRecord) -> str:
        from treering.core.secrets import redact

        return redact(super().format(record)).text


def log_to_stderr() -> logging.Handler:
    """Log warnings of all modules to stderr; return the handler."""
    handler = QueuedLogHandler(_to_stderr)
    handler.setFormatter(_RedactingFormatter("treering: %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    return handler


def _to_stderr(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
