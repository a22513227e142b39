"""Ranking of the files related to one file, as an explainable sum of terms.

Every term has a value and a weight; the score is the sum of the products, comparable only among the results of one
query. See `terms_of` for the values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from heapq import nsmallest
from math import log, log1p
from typing import TYPE_CHECKING

from treering.code.history.names import Name, likeness, name_of
from treering.code.history.weights import RankSettings

if TYPE_CHECKING:
    from treering.code.history.counts import CoChange, PairCount

Imports = Mapping[str, Collection[str]] | Callable[[str], Collection[str]]
"""The files that a file imports or that import it."""

DEFAULTS = RankSettings()
_MAX_REASONS = 3
_IMPORTS = "imports"
SESSIONS = "sessions"
_REASONS = {
    SESSIONS: "used together in sessions",
    "imports": "imports",
    "lately": "changed together lately",
    "at_once": "both just changed",
    "new_name": "named alike",
    "words": "path alike",
    "new_folder": "same folder",
    "test_and_code": "test and code",
    "folders": "folders change together",
    "busy": "much changed lately",
}
"""Terms without an entry are not shown."""


@dataclass(frozen=True, slots=True)
class RankTerm:
    """One term of a score: its name, its value, and its contribution."""

    name: str
    value: float
    gain: float


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A file related to the queried one; `score` is the sum of the contributions."""

    path: str
    score: float
    why: tuple[RankTerm, ...]
    together: int = 0
    """Number of commits that changed both."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """The strongest reasons in words; commits and imports are always included, because they are facts."""
        commits = "1 commit" if self.together == 1 else f"{self.together:,} commits"
        facts = [f"{commits} together"] if self.together else []
        facts += [_REASONS[term.name] for term in self.why if term.name == _IMPORTS and term.value]
        strongest = sorted(self.why, key=lambda term: -term.gain)
        others = dict.fromkeys(_REASONS[term.name] for term in strongest if term.gain > 0 and term.name in _REASONS)
        return (*facts, *[each for each in others if each not in facts][: _MAX_REASONS - len(facts)])


@dataclass(frozen=True, slots=True)
class _QueriedFile:
    """What is known about the queried file."""

    number: int | None
    name: Name
    touched: int
    """Number of counted commits of the file."""
    rest: int | None
    """Commits since it was last touched, or None if it never was."""
    near: Mapping[int, PairCount]
    imports: frozenset[int]

    @property
    def newness(self) -> float:
        """1.0 for a file without counted commits, falling with each commit."""
        return 1.0 / (1 + self.touched)


def related(
    counts: CoChange, path: str, limit: int = 10, imports: Imports | None = None, settings: RankSettings = DEFAULTS
) -> list[RankedFile]:
    """Existing files related to `path`, best first; `path` itself need not exist yet."""
    queried = _query(counts, path, imports)
    weights = asdict(settings.weights)
    found = (
        _explained(counts.path(number), terms_of(counts, queried, number, settings), weights, queried.near.get(number))
        for number in candidates(counts, queried, settings)
    )
    return nsmallest(limit, found, key=lambda each: (-each.score, each.path))


def related_without_history(
    paths: Iterable[str],
    path: str,
    limit: int,
    imports: Mapping[str, Collection[str]],
    settings: RankSettings = DEFAULTS,
) -> list[RankedFile]:
    """Those of `paths` related to `path` by name, folder or imports, best first; scored like a file without commits."""
    name, imported = name_of(path), imports.get(path, ())
    weights = asdict(settings.weights)
    names = {other: name_of(other) for other in paths if other != path}
    siblings = sum(other.folder == name.folder for other in names.values())
    found = (
        _explained(other, _path_terms(name, names[other], 1.0, imports=other in imported), weights)
        for other in names
        if other in imported
        or names[other].subject == name.subject
        or (names[other].folder == name.folder and siblings <= settings.max_siblings)
    )
    return nsmallest(limit, found, key=lambda each: (-each.score, each.path))


def candidates(counts: CoChange, queried: _QueriedFile, settings: RankSettings = DEFAULTS) -> set[int]:
    """Files related in any way: changed together, in the same folder, same subject, imported, or touched recently."""
    near: set[int] = {*queried.imports, *queried.near}
    siblings = counts.by_folder.get(queried.name.folder, set())
    near |= siblings if len(siblings) <= settings.max_siblings else set()
    near |= counts.by_subject.get(queried.name.subject, set())
    near.update(number for files in counts.recent for number in files)
    return {number for number in near if number != queried.number and counts.exists(number)}


def terms_of(
    counts: CoChange, queried: _QueriedFile, number: int, settings: RankSettings = DEFAULTS
) -> dict[str, float]:
    """Values of one candidate; the keys are those of `Weights`."""
    name = name_of(counts.path(number))
    habit = queried.near.get(number)
    count = counts.files[number]
    together = habit.now(queried.touched, counts.settings.habit_half_life) if habit is not None else 0.0
    busy = count.busy.now(counts.moment, counts.settings.busy_half_life)
    rest = counts.moment - count.last
    return {
        "together": log1p(together / settings.together_floor),
        "lately": 1.0 / (1 + queried.touched - habit.at) if habit is not None else 0.0,
        "at_once": 1.0 / (1 + rest) / (1 + queried.rest) if queried.rest is not None else 0.0,
        "folders": log1p(_folder_share(counts, queried.name.folder, name.folder) / settings.folder_floor),
        "fresh": log(max(1.0, settings.horizon / (1 + rest))),
        "busy": log1p(busy / settings.busy_floor),
        **_path_terms(queried.name, name, queried.newness, imports=number in queried.imports),
    }


def _path_terms(queried: Name, other: Name, newness: float, *, imports: bool) -> dict[str, float]:
    """The values that need no history."""
    alike = 1.0 if other.subject == queried.subject else likeness(other.own_words, queried.own_words)
    same_folder = float(other.folder == queried.folder)
    return {
        "words": likeness(other.words, queried.words),
        "same_folder": same_folder,
        "test_and_code": float(other.is_test != queried.is_test),
        "new_name": newness * alike,
        "new_folder": newness * same_folder,
        "imports": float(imports),
    }


def ask(counts: CoChange, path: str, imports: Iterable[str] = ()) -> _QueriedFile:
    """What is known about the queried file."""
    number = counts.number(path)
    count = counts.files.get(number) if number is not None else None
    imported = (counts.number(each) for each in imports)
    return _QueriedFile(
        number=number,
        name=name_of(path),
        touched=count.touched if count else 0,
        rest=counts.moment - count.last if count else None,
        near=counts.pairs.get(number, {}) if number is not None else {},
        imports=frozenset(each for each in imported if each is not None and counts.exists(each)),
    )


def _query(counts: CoChange, path: str, imports: Imports | None) -> _QueriedFile:
    if imports is None:
        return ask(counts, path)
    return ask(counts, path, imports(path) if callable(imports) else imports.get(path, ()))


def _folder_share(counts: CoChange, one: str, other: str) -> float:
    """How often a commit in one folder touches the other, per file of the other."""
    beside = counts.folder_pairs.get(one)
    if beside is None or other not in beside:
        return 0.0
    return beside[other] / (beside.get(one, 0) + 2) / max(1, len(counts.by_folder[other]))


def _explained(
    path: str, values: Mapping[str, float], weights: Mapping[str, float], habit: PairCount | None = None
) -> RankedFile:
    gains = tuple(RankTerm(name, value, weights[name] * value) for name, value in values.items() if value)
    return RankedFile(path, sum(term.gain for term in gains), gains, habit.count if habit else 0)
