"""Which files belong to one file: a sum of terms, each of which can be shown.

Every term has a value of its own and a weight; the score is the sum of the products, comparable only among the
relatives of one file at one moment. See `terms_of` for what each value is.
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
    from treering.code.history.counts import CoChange, Habit

Imports = Mapping[str, Collection[str]] | Callable[[str], Collection[str]]
"""The files that a file imports or that import it."""

DEFAULTS = RankSettings()


@dataclass(frozen=True, slots=True)
class Term:
    """One reason: its name, what was measured, and what that adds to the score."""

    name: str
    value: float
    gain: float


@dataclass(frozen=True, slots=True)
class Related:
    """A file that belongs to the one asked about; `score` is the sum of the gains."""

    path: str
    score: float
    why: tuple[Term, ...]
    together: int = 0
    """Commits that changed both."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The file asked about."""

    number: int | None
    name: Name
    touched: int
    """Commits of it that are counted."""
    rest: int | None
    """Commits since it was touched last; None where it never was."""
    near: Mapping[int, Habit]
    imports: frozenset[int]

    @property
    def newness(self) -> float:
        """1 of a file that no commit counted yet, falling as commits do."""
        return 1.0 / (1 + self.touched)


def related(
    counts: CoChange, path: str, limit: int = 10, imports: Imports | None = None, settings: RankSettings = DEFAULTS
) -> list[Related]:
    """The relatives of `path` among the files that are there, the likeliest first; it may be a file not yet seen."""
    asked = _asked(counts, path, imports)
    weights = asdict(settings.weights)
    found = (
        _judged(counts, number, terms_of(counts, asked, number, settings), weights, asked.near.get(number))
        for number in candidates(counts, asked, settings)
    )
    return nsmallest(limit, found, key=lambda each: (-each.score, each.path))


def candidates(counts: CoChange, asked: _Asked, settings: RankSettings = DEFAULTS) -> set[int]:
    """Files with any tie: changed together, of one folder, of one subject, imported, or touched just now."""
    near: set[int] = {*asked.imports, *asked.near}
    siblings = counts.by_folder.get(asked.name.folder, set())
    near |= siblings if len(siblings) <= settings.most_siblings else set()
    near |= counts.by_subject.get(asked.name.subject, set())
    near.update(number for files in counts.recent for number in files)
    return {number for number in near if number != asked.number and counts.is_there(number)}


def terms_of(counts: CoChange, asked: _Asked, number: int, settings: RankSettings = DEFAULTS) -> dict[str, float]:
    """What is measured of one candidate; the keys are those of `Weights`."""
    name = name_of(counts.path(number))
    habit = asked.near.get(number)
    count = counts.files[number]
    together = habit.now(asked.touched, counts.settings.habit_half_life) if habit is not None else 0.0
    alike = 1.0 if name.subject == asked.name.subject else likeness(name.own_words, asked.name.own_words)
    same_folder = float(name.folder == asked.name.folder)
    busy = count.busy.now(counts.moment, counts.settings.busy_half_life)
    rest = counts.moment - count.last
    return {
        "together": log1p(together / settings.together_floor),
        "lately": 1.0 / (1 + asked.touched - habit.at) if habit is not None else 0.0,
        "at_once": 1.0 / (1 + rest) / (1 + asked.rest) if asked.rest is not None else 0.0,
        "folders": log1p(_folder_share(counts, asked.name.folder, name.folder) / settings.folder_floor),
        "fresh": log(max(1.0, settings.horizon / (1 + rest))),
        "busy": log1p(busy / settings.busy_floor),
        "words": likeness(name.words, asked.name.words),
        "same_folder": same_folder,
        "test_and_code": float(name.is_test != asked.name.is_test),
        "new_name": asked.newness * alike,
        "new_folder": asked.newness * same_folder,
        "imports": float(number in asked.imports),
    }


def ask(counts: CoChange, path: str, imports: Iterable[str] = ()) -> _Asked:
    """What is known of the file that is asked about."""
    number = counts.number(path)
    count = counts.files.get(number) if number is not None else None
    imported = (counts.number(each) for each in imports)
    return _Asked(
        number=number,
        name=name_of(path),
        touched=count.touched if count else 0,
        rest=counts.moment - count.last if count else None,
        near=counts.pairs.get(number, {}) if number is not None else {},
        imports=frozenset(each for each in imported if each is not None and counts.is_there(each)),
    )


def _asked(counts: CoChange, path: str, imports: Imports | None) -> _Asked:
    if imports is None:
        return ask(counts, path)
    return ask(counts, path, imports(path) if callable(imports) else imports.get(path, ()))


def _folder_share(counts: CoChange, one: str, other: str) -> float:
    """How often a commit in one folder touches the other, for each of its files."""
    beside = counts.folder_pairs.get(one)
    if beside is None or other not in beside:
        return 0.0
    return beside[other] / (beside.get(one, 0) + 2) / max(1, len(counts.by_folder[other]))


def _judged(
    counts: CoChange, number: int, values: Mapping[str, float], weights: Mapping[str, float], habit: Habit | None
) -> Related:
    gains = tuple(Term(name, value, weights[name] * value) for name, value in values.items() if value)
    return Related(counts.path(number), sum(term.gain for term in gains), gains, habit.count if habit else 0)
