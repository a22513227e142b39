"""Finds the patterns that apply to a task: labels by an inverted index, conditions by a decision tree.

The result equals `applies` called for every pattern, but faster. An index is immutable: a changed pattern makes a new
index that shares everything built with the old one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from heapq import merge
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treering.core.applicability import DOMAIN, TASK_TYPE, applies, capabilities_at, folded, labels_at
from treering.core.patterns import Pattern, PatternCategory, PatternStatus
from treering.patterns.matching.condition_table import ConditionTable, TaskAnswers
from treering.patterns.matching.decision_tree import build_tree
from treering.patterns.matching.ranking import RankedPattern, ScoreBounds, TopPatterns

if TYPE_CHECKING:
    from treering.core.settings.patterns import PatternSettings

IN_USE = frozenset({PatternStatus.VALIDATED})

_Flags = NDArray[np.bool_]


class PatternIndex:
    """Patterns indexed by their applicability, without deleted ones."""

    def __init__(self, patterns: Iterable[Pattern] = (), *, tree: bool = True) -> None:
        """Without `tree` every pattern whose labels fit is checked, which benchmarks compare with."""
        self._built = _BuiltIndex(patterns, tree=tree)
        self._changed: Mapping[str, Pattern | None] = {}

    def __len__(self) -> int:
        return len(self._built.patterns) + sum(
            (pattern is not None) - (id in self._built.ids) for id, pattern in self._changed.items()
        )

    def applicable(
        self,
        features: Mapping[str, Any],
        *,
        statuses: Collection[PatternStatus] = IN_USE,
        categories: Collection[PatternCategory] | None = None,
    ) -> list[Pattern]:
        """Patterns that apply to a task with these features, in the order of their ids.

        Only validated ones unless `statuses` names others; all categories unless `categories` names some.
        """
        answers = self._built.answers(features)
        places = self._built.candidates(features, statuses, categories, answers)
        found = (self._built.patterns[place] for place in places.tolist() if self._built.meets(place, answers))
        if not self._changed:
            return list(found)
        unchanged = (each for each in found if each.id not in self._changed)
        return list(merge(unchanged, self._newer(features, statuses, categories), key=attrgetter("id")))

    def best(
        self,
        features: Mapping[str, Any],
        now: datetime,
        settings: PatternSettings,
        *,
        limit: int | None = None,
        statuses: Collection[PatternStatus] = IN_USE,
        categories: Collection[PatternCategory] | None = None,
    ) -> list[RankedPattern]:
        """`ranked` of `applicable`, but faster: patterns are checked by descending upper bound, most of them never."""
        built, answers = self._built, self._built.answers(features)
        best = TopPatterns(features, now, settings, settings.most_suggested if limit is None else limit)
        for pattern in self._newer(features, statuses, categories):
            best.offer(pattern)
        places = built.candidates(features, statuses, categories, answers)
        scores = built.score_bounds.highest(places, now, settings)
        order = np.argsort(-scores, kind="stable")
        for place, highest in zip(places[order].tolist(), scores[order].tolist(), strict=True):
            if best.is_out_of_reach(highest):
                break
            pattern = built.patterns[place]
            if pattern.id not in self._changed and built.meets(place, answers):
                best.offer(pattern)
        return best.rows()

    def checked_count(self, features: Mapping[str, Any], *, statuses: Collection[PatternStatus] = IN_USE) -> int:
        """Number of patterns whose conditions are checked for a task."""
        built = self._built
        return len(self._changed) + len(built.candidates(features, statuses, None, built.answers(features)))

    def with_changes(self, changes: Mapping[str, Pattern | None]) -> PatternIndex:
        """The index with these patterns replaced, or removed if None; they are checked one by one until a rebuild."""
        index = PatternIndex.__new__(PatternIndex)
        index._built = self._built
        index._changed = {**self._changed, **{id: _living(each) for id, each in changes.items()}}
        return index

    def _newer(
        self,
        features: Mapping[str, Any],
        statuses: Collection[PatternStatus],
        categories: Collection[PatternCategory] | None,
    ) -> Iterator[Pattern]:
        """Patterns changed since the index was built that apply, in the order of their ids."""
        newer = (pattern for _, pattern in sorted(self._changed.items()) if pattern is not None)
        wanted = (each for each in newer if _is_wanted(each, statuses, categories))
        return (each for each in wanted if applies(each.applicability, features))


class _BuiltIndex:
    """The parts built once for many tasks. Patterns are ordered by id and identified by their position."""

    def __init__(self, patterns: Iterable[Pattern], *, tree: bool) -> None:
        by_id = {each.id: each for each in patterns if each.deleted_at is None}
        self.ids: Collection[str] = by_id.keys()
        self.patterns: Sequence[Pattern] = [by_id[id] for id in sorted(by_id)]
        where = [each.applicability for each in self.patterns]
        self._types = _AnyLabel([folded(each.problem_types) for each in where])
        self._domains = _AnyLabel([folded(each.domains) for each in where])
        self._capabilities = _AllLabels([folded(each.capabilities) for each in where])
        self._statuses = _AnyLabel([frozenset({each.status}) for each in self.patterns])
        self._categories = _AnyLabel([frozenset({each.category}) for each in self.patterns])
        self._conditions = ConditionTable()
        self._requirements = [self._conditions.requirements_of(each) for each in where]
        self.score_bounds = ScoreBounds(self.patterns)
        self.tree = build_tree(self._requirements, self._conditions) if tree else None

    def meets(self, place: int, answers: TaskAnswers) -> bool:
        """Whether a candidate applies."""
        return answers.meets(self._requirements[place])

    def answers(self, features: Mapping[str, Any]) -> TaskAnswers:
        return TaskAnswers(self._conditions, features)

    def candidates(
        self,
        features: Mapping[str, Any],
        statuses: Collection[PatternStatus],
        categories: Collection[PatternCategory] | None,
        answers: TaskAnswers,
    ) -> NDArray[np.intp]:
        """Positions of the patterns that may apply, in order: their labels fit and the tree reaches them."""
        fitting = self._types.fitting(labels_at(features, TASK_TYPE))
        fitting &= self._domains.fitting(labels_at(features, DOMAIN))
        fitting &= self._capabilities.fitting(capabilities_at(features))
        fitting &= self._statuses.fitting(statuses)
        if categories is not None:
            fitting &= self._categories.fitting(categories)
        if self.tree is None:
            return np.flatnonzero(fitting)
        reached = np.zeros(len(fitting), np.bool_)
        reached[np.concatenate(self.tree.reached(answers))] = True
        return np.flatnonzero(reached & fitting)


class _AnyLabel:
    """Patterns by labels of which a task needs one; patterns without labels fit every task."""

    def __init__(self, labels: Sequence[Collection[str]]) -> None:
        self._any = np.array([not each for each in labels], np.bool_)
        self._places = _places(labels)

    def fitting(self, labels: Collection[str]) -> _Flags:
        found = self._any.copy()
        for label in labels:
            found[self._places.get(label, _NO_POSITIONS)] = True
        return found


class _AllLabels:
    """Patterns by labels of which a task needs all."""

    def __init__(self, labels: Sequence[Collection[str]]) -> None:
        self._needed = np.array([len(each) for each in labels], np.int32)
        self._places = _places(labels)

    def fitting(self, labels: Collection[str]) -> _Flags:
        left = self._needed.copy()
        for label in labels:
            left[self._places.get(label, _NO_POSITIONS)] -= 1
        return np.equal(left, 0)


_NO_POSITIONS = np.array([], np.intp)


def _places(labels: Sequence[Collection[str]]) -> Mapping[str, NDArray[np.intp]]:
    places = defaultdict[str, list[int]](list)
    for place, each in enumerate(labels):
        for label in each:
            places[label].append(place)
    return {label: np.array(found, np.intp) for label, found in places.items()}


def _is_wanted(
    pattern: Pattern, statuses: Collection[PatternStatus], categories: Collection[PatternCategory] | None
) -> bool:
    return pattern.status in statuses and (categories is None or pattern.category in categories)


def _living(pattern: Pattern | None) -> Pattern | None:
    return None if pattern is None or pattern.deleted_at is not None else pattern
