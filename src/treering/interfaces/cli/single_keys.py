"""Single keys from the terminal, without Enter."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

_ESCAPE, _END_OF_INPUT = "\x1b", "\x04"
_SEQUENCES = ("[", "O")  # begin control sequences; they end with a byte from @ to ~
_REST_OF_SEQUENCE = 0.05  # seconds within which a terminal sends the rest of an arrow or function key


@dataclass
class SingleKeys:
    """Reads keys from a terminal that is in cbreak mode until `leave`; Ctrl-C interrupts as usual."""

    descriptor: int
    before: list[Any]

    def read(self) -> str:
        """The next key; empty for keys without a character, and `q` at the end of the input."""
        key = self._byte()
        if key in ("", _END_OF_INPUT):
            return "q"
        if key == _ESCAPE:
            self._skip_sequence()
            return ""
        return key if key < "\x80" else ""

    def _skip_sequence(self) -> None:
        """Read the rest of an arrow or function key, whose last byte would count as a key: the up arrow ends with A."""
        if not select.select([self.descriptor], [], [], _REST_OF_SEQUENCE)[0]:
            return  # the Escape key itself
        if self._byte() in _SEQUENCES:
            while (byte := self._byte()) and not "@" <= byte <= "~":
                pass

    def _byte(self) -> str:
        return os.read(self.descriptor, 1).decode("latin-1")

    def line(self, prompt: str, text: str) -> str:
        """A line that the user edits, beginning with `text`; `text` itself if they interrupt it."""
        self.leave()
        try:
            return _edited(prompt, text)
        except (EOFError, KeyboardInterrupt):
            print()
            return text
        finally:
            self.enter()

    def enter(self) -> None:
        # Discards what was typed before the question was shown.
        tty.setcbreak(self.descriptor, termios.TCSAFLUSH)

    def leave(self) -> None:
        termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self.before)


@contextmanager
def single_keys() -> Iterator[SingleKeys]:
    """Keys of the terminal that is stdin; its mode is restored at the end."""
    descriptor = sys.stdin.fileno()
    keys = SingleKeys(descriptor, termios.tcgetattr(descriptor))
    keys.enter()
    try:
        yield keys
    finally:
        keys.leave()


def _edited(prompt: str, text: str) -> str:
    try:
        import readline
    except ImportError:  # this interpreter was built without it: the user types the whole text
        return input(prompt) or text
    readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        return input(prompt)
    finally:
        readline.set_startup_hook(None)
