"""Counts of what changes together, kept up from commit to commit."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.code.history.lineage import Lineage
from treering.code.history.names import name_of
from treering.code.limits import HistoryLimits

if TYPE_CHECKING:
    from treering.ports.commits import Commit


@dataclass(slots=True)
class Fading:
    """A sum whose parts count less with every commit since; `at` is when it was last added to."""

    value: float = 0.0
    at: int = 0

    def now(self, moment: int, half_life: float) -> float:
        return self.value * 0.5 ** ((moment - self.at) / half_life) if self.value else 0.0

    def add(self, amount: float, moment: int, half_life: float) -> None:
        self.value = self.now(moment, half_life) + amount
        self.at = moment


@dataclass(slots=True)
class Habit(Fading):
    """What the commits of one file say of another: the sum of 1 / (other files of the commit).

    It fades with the commits of the file itself: what belongs to a file that rests is not forgotten meanwhile.
    """

    count: int = 0
    """Commits that changed both."""
    moment: int = 0
    """The last of them."""


@dataclass(slots=True)
class FileCount:
    """One file: how much it is touched lately, in how many commits that are counted, and when last."""

    busy: Fading
    touched: int = 0
    last: int = 0


class CoChange:
    """What the commits so far say. `counts` says which paths take part; the rest is only followed."""

    def __init__(self, counts: Callable[[str], bool], settings: HistoryLimits | None = None) -> None:
        self.settings = settings or HistoryLimits()
        self.lineage = Lineage()
        self.moment = 0
        """Commits that touched something that takes part."""
        self.pairs: defaultdict[int, dict[int, Habit]] = defaultdict(dict)
        self.files: dict[int, FileCount] = {}
        self.folder_pairs: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self.by_folder: defaultdict[str, set[int]] = defaultdict(set)
        self.by_subject: defaultdict[str, set[int]] = defaultdict(set)
        self.recent: deque[tuple[int, ...]] = deque(maxlen=self.settings.recent)
        self.times: list[int] = [0]
        """When each of those commits was made, in seconds since 1970."""
        self._counts = counts
        self._places: dict[int, str] = {}

    def add_all(self, commits: Iterable[Commit]) -> None:
        for commit in commits:
            self.add(commit)

    def add(self, commit: Commit) -> None:
        touched, left = self.lineage.apply(commit.touches)
        for number in left:
            self._put(number, None)
        for number in touched:
            path = self.lineage.paths[number]
            self._put(number, path if self._counts(path) else None)
        files = sorted(number for number in touched if number in self._places)
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

    def is_there(self, number: int) -> bool:
        return number in self._places

    def find_places(self) -> None:
        """Where files are, of a lineage that was put here from outside."""
        for number in self.lineage.alive:
            path = self.lineage.paths[number]
            if self._counts(path):
                self._put(number, path)

    def _put(self, number: int, place: str | None) -> None:
        """Keep the indexes of folders and subjects with where files are."""
        before = self._places.get(number)
        if before == place:
            return
        if before is not None:
            del self._places[number]
            name = name_of(before)
            self.by_folder[name.folder].discard(number)
            self.by_subject[name.subject].discard(number)
        if place is not None:
            self._places[number] = place
            name = name_of(place)
            self.by_folder[name.folder].add(number)
            self.by_subject[name.subject].add(number)

    def _touch(self, number: int, amount: float) -> None:
        count = self.files.get(number)
        if count is None:
            count = self.files[number] = FileCount(Fading())
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
                        habit = near[second] = Habit()
                    habit.add(amount, own.touched, half_life)
                    habit.count += 1
                    habit.moment = self.moment
        folders = {name_of(self._places[number]).folder for number in files}
        for one in folders:
            beside = self.folder_pairs[one]
            for other in folders:
                beside[other] = beside.get(other, 0) + 1
