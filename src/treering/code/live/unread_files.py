"""Which files are not what is stored: as a watcher told of them, and as whoever looked found them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from treering.code.build.file_cache import Changes, decides_for_others
from treering.code.language_choice import language_named
from treering.ports.watcher import EVERYTHING


@dataclass(frozen=True, slots=True)
class _Found:
    changes: Changes
    generation: int


class Unread:
    """Nothing is forgotten before it is read: what is told of while others are read stays."""

    def __init__(self) -> None:
        self._heard: dict[str, int] = {}
        self._found = _Found(Changes(), 0)
        self._moment = 0

    def hear(self, paths: Collection[str]) -> None:
        self._moment += 1
        self._heard.update(dict.fromkeys(paths, self._moment))

    @property
    def moment(self) -> int:
        """How much was heard so far."""
        return self._moment

    def find(self, changes: Changes, generation: int) -> None:
        """This is all that differs from a generation of the store."""
        self._found = _Found(changes, generation)

    def read(self, moment: int) -> None:
        """Whatever was heard until then is read."""
        self._heard = {path: heard for path, heard in self._heard.items() if heard > moment}

    @property
    def undecided(self) -> bool:
        """Whether files may belong to the project, or no longer, that nobody knows of yet."""
        return any(path == EVERYTHING or decides_for_others(path) for path in self._heard)

    def stale(self, stored: Mapping[str, int], *, complete: bool) -> set[str]:
        """The files whose stored edges are not to be served, given when each was stored.

        New ones are among them where they are all that is missing.
        """
        return {*self._told(stored), *self._looked(stored, complete=complete)}

    def _told(self, stored: Mapping[str, int]) -> set[str]:
        if not self._heard:
            return set()
        folders = set()
        stale = {path for path in stored if path in self._heard}
        for path in stored:
            above = [folder for folder in _above(path) if folder in self._heard]
            if above:
                folders.update(above)
                stale.add(path)
        new = (path for path in self._heard.keys() - stored.keys() - folders)
        return stale.union(path for path in new if language_named(path[path.rfind("/") + 1 :]) is not None)

    def _looked(self, stored: Mapping[str, int], *, complete: bool) -> Iterator[str]:
        changes, generation = self._found.changes, self._found.generation
        for file in changes.changed:
            if stored.get(file.path, 0 if complete else generation + 1) <= generation:
                yield file.path
        away = (*changes.gone, *changes.unreadable)
        yield from (path for path in away if path in stored and stored[path] <= generation)


def _above(path: str) -> Iterator[str]:
    """The folders that lead to a file."""
    end = path.rfind("/")
    while end > 0:
        yield path[:end]
        end = path.rfind("/", 0, end)
