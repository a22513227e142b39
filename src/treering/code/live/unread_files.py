"""Files that differ from the store: as reported by a watcher, and as found by a scan."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from treering.code.index.file_cache import Changes, decides_for_others
from treering.code.language_choice import language_named
from treering.ports.watcher import EVERYTHING


@dataclass(frozen=True, slots=True)
class _ScanResult:
    changes: Changes
    generation: int


class UnreadFiles:
    """A file stays listed until it is read: changes reported while others are read are kept."""

    def __init__(self) -> None:
        self._reported: dict[str, int] = {}
        self._scan = _ScanResult(Changes(), 0)
        self._moment = 0

    def add(self, paths: Collection[str]) -> None:
        self._moment += 1
        self._reported.update(dict.fromkeys(paths, self._moment))

    @property
    def moment(self) -> int:
        """Counter of reports so far."""
        return self._moment

    def set_scan(self, changes: Changes, generation: int) -> None:
        """Set the complete differences from a generation of the store."""
        self._scan = _ScanResult(changes, generation)

    def forget_until(self, moment: int) -> None:
        """Forget what was reported up to this moment, because it is read."""
        self._reported = {path: at for path, at in self._reported.items() if at > moment}

    @property
    def undecided(self) -> bool:
        """Whether unreported files may have joined or left the project."""
        return any(path == EVERYTHING or decides_for_others(path) for path in self._reported)

    def stale(self, stored: Mapping[str, int], *, complete: bool) -> set[str]:
        """Files whose stored edges must not be served, given the generation in which each was stored.

        New files are included if the index is otherwise complete.
        """
        return {*self._reported_files(stored), *self._scanned_files(stored, complete=complete)}

    def _reported_files(self, stored: Mapping[str, int]) -> set[str]:
        if not self._reported:
            return set()
        folders = set()
        stale = {path for path in stored if path in self._reported}
        for path in stored:
            above = [folder for folder in _above(path) if folder in self._reported]
            if above:
                folders.update(above)
                stale.add(path)
        new = (path for path in self._reported.keys() - stored.keys() - folders)
        return stale.union(path for path in new if language_named(path[path.rfind("/") + 1 :]) is not None)

    def _scanned_files(self, stored: Mapping[str, int], *, complete: bool) -> Iterator[str]:
        changes, generation = self._scan.changes, self._scan.generation
        for file in changes.changed:
            if stored.get(file.path, 0 if complete else generation + 1) <= generation:
                yield file.path
        away = (*changes.gone, *changes.unreadable)
        yield from (path for path in away if path in stored and stored[path] <= generation)


def _above(path: str) -> Iterator[str]:
    """The folders that contain a file."""
    end = path.rfind("/")
    while end > 0:
        yield path[:end]
        end = path.rfind("/", 0, end)
