"""Identity of files: a number that a file keeps through renames, and that no later file at its path inherits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from treering.ports.commits import Touch

_GONE, _MOVED, _ADDED = "D", "R", ("A", "C")


class LineageChange(NamedTuple):
    """Existing files that a commit touched, and files that it removed."""

    touched: set[int]
    left: set[int]


class Lineage:
    """Numbers of files, and their current paths.

    Commits of several branches are applied in sequence, so a path may be changed after it was renamed elsewhere: it
    then still refers to the renamed file, until a new file is added there.
    """

    __slots__ = ("alive", "numbers", "paths")

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.paths: list[str] = []
        self.alive: set[int] = set()

    def number(self, path: str) -> int | None:
        """The file that is at `path` now."""
        number = self.numbers.get(path)
        return number if number in self.alive else None

    def apply(self, touches: Sequence[Touch]) -> LineageChange:
        left = {self._remove(touch.before) for touch in touches if touch.letter == _GONE}
        # All renames together: two files may swap names.
        moved = {touch.after: self._known(touch.before) for touch in touches if touch.letter == _MOVED}
        left |= {self._move(after, number) for after, number in moved.items()}
        touched = {
            moved[touch.after] if touch.letter == _MOVED else self._written(touch)
            for touch in touches
            if touch.letter != _GONE
        }
        return LineageChange(touched & self.alive, {number for number in left if number is not None} - self.alive)

    def _remove(self, path: str) -> int | None:
        """Remove the file at `path`; returns its number."""
        number = self.numbers.get(path)
        if number is None or self.paths[number] != path:
            return None
        self.alive.discard(number)
        return number

    def _known(self, path: str) -> int:
        number = self.numbers.get(path)
        return self._new(path) if number is None else number

    def _written(self, touch: Touch) -> int:
        number = self.numbers.get(touch.after)
        if number is None:
            return self._new(touch.after)
        is_here, is_there = self.paths[number] == touch.after, number in self.alive
        # Modified after a deletion: it was not deleted on another branch.
        if (is_here and is_there) or (touch.letter not in _ADDED and (is_here or is_there)):
            self.alive.add(number)
            return number
        return self._new(touch.after)

    def _move(self, path: str, number: int) -> int | None:
        """Move a file; returns the number of the file it replaced."""
        before = self._remove(path)
        self.numbers[path] = number
        self.paths[number] = path
        self.alive.add(number)
        return before

    def _new(self, path: str) -> int:
        number = len(self.paths)
        self.paths.append(path)
        self.numbers[path] = number
        self.alive.add(number)
        return number
