"""Counts of files that change together, updated commit by commit."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.code.history.lineage import Lineage
from treering.code.history.names import name_of
from treering.code.limits import HistoryLimits

if TYPE_CHECKING:
    from treering.ports.commits import Commit


@dataclass(slots=True)
class DecayingSum:
    """A sum whose parts decay with every later commit; `at` is the commit it was last added to."""

    value: float = 0.0
    at: int = 0

    def now(self, moment: int, half_life: float) -> float:
        return self.value * 0.5 ** ((moment - self.at) / half_life) if self.value else 0.0

    def add(self, amount: float, moment: int, half_life: float) -> None:
        self.value = self.now(moment, half_life) + amount
        self.at = moment


@dataclass(slots=True)
class PairCount(DecayingSum):
    """How often another file changed with a file: the sum of 1 / (other files of the commit).

    It decays with the commits of the file itself, so that pairs of a file that rests are not forgotten.
    """

    count: int = 0
    """Number of commits that changed both."""
    moment: int = 0
    """Index of the last of them."""


@dataclass(slots=True)
class FileCount:
    """Counts of one file: recent activity, counted commits, and the last commit."""

    busy: DecayingSum
    touched: int = 0
    last: int = 0


class CoChange:
    """Co-change counts of all commits so far. `counts` decides which paths are counted; others are only tracked."""

    def __init__(self, counts: Callable[[str], bool], settings: HistoryLimits | None = None) -> None:
        self.settings = settings or HistoryLimits()
        self.lineage = Lineage()
        self.moment = 0
        """Number of commits that touched a counted file."""
        self.pairs: defaultdict[int, dict[int, PairCount]] = defaultdict(dict)
        self.files: dict[int, FileCount] = {}
        self.folder_pairs: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self.by_folder: defaultdict[str, set[int]] = defaultdict(set)
        self.by_subject: defaultdict[str, set[int]] = defaultdict(set)
        self.recent: deque[tuple[int, ...]] = deque(maxlen=self.settings.recent)
        self.times: list[int] = [0]
        """Time of each of those commits, in seconds since 1970."""
        self._counts = counts
        self._paths: dict[int, str] = {}

    def add(self, commit: Commit) -> None:
        touched, left = self.lineage.apply(commit.touches)
        for number in left:
            self._put(number, None)
        for number in touched:
            path = self.lineage.paths[number]
            self._put(number, path if self._counts(path) else None)
        files = sorted(number for number in touched if number in self._paths)
        if not files:
            return
        self.moment += 1
        self.times.append(commit.at)
        few = len(files) <= self.settings.most_files
        for number in files:
            self._touch(number, 1.0 if few else 1.0 / len(files))
        if few:
            self._count_together(files)

    def number(self, path: str) -> int | None:
        return self.lineage.number(path)

    def path(self, number: int) -> str:
        return self.lineage.paths[number]

    def exists(self, number: int) -> bool:
        return number in self._paths

    def index_paths(self) -> None:
        """Index the paths of a lineage that was set from outside."""
        for number in self.lineage.alive:
            path = self.lineage.paths[number]
            if self._counts(path):
                self._put(number, path)

    def _put(self, number: int, path: str | None) -> None:
        """Set or remove the path of a file, in the folder and subject indexes as well."""
        before = self._paths.get(number)
        if before == path:
            return
        if before is not None:
            del self._paths[number]
            name = name_of(before)
            self.by_folder[name.folder].discard(number)
            self.by_subject[name.subject].discard(number)
        if path is not None:
            self._paths[number] = path
            name = name_of(path)
            self.by_folder[name.folder].add(number)
            self.by_subject[name.subject].add(number)

    def _touch(self, number: int, amount: float) -> None:
        count = self.files.get(number)
        if count is None:
            count = self.files[number] = FileCount(DecayingSum())
        count.busy.add(amount, self.moment, self.settings.busy_half_life)
        count.last = self.moment

    def _count_together(self, files: list[int]) -> None:
        self.recent.append(tuple(files))
        amount, half_life = 1.0 / max(1, len(files) - 1), self.settings.habit_half_life
        for first in files:
            own = self.files[first]
            own.touched += 1
            near = self.pairs[first]
            for second in files:
                if second != first:
                    habit = near.get(second)
                    if habit is None:
                        habit = near[second] = PairCount()
                    habit.add(amount, own.touched, half_life)
                    habit.count += 1
                    habit.moment = self.moment
        folders = {name_of(self._paths[number]).folder for number in files}
        for one in folders:
            beside = self.folder_pairs[one]
            for other in folders:
                beside[other] = beside.get(other, 0) + 1
