"""Which of thousands of patterns apply to a task: the labels by an inverted index, the conditions by a decision tree.

The answer is that of `applies` asked of every pattern; the index only finds it sooner. It is never changed: a pattern
that comes or goes makes a new index, which shares all that the old one has built.
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
from treering.patterns.matching.decision_tree import grown
from treering.patterns.matching.questions import Answers, Questions
from treering.patterns.matching.ranking import MAX_SUGGESTED, Best, Ranked, Standings

if TYPE_CHECKING:
    pass

IN_USE = frozenset({PatternStatus.VALIDATED})

_Flags = NDArray[np.bool_]


class PatternIndex:
    """Patterns, found by what they apply to. Deleted ones are left out."""

    def __init__(self, patterns: Iterable[Pattern] = (), *, tree: bool = True) -> None:
        """Without its tree the index asks every pattern whose labels fit; it is there to show what the tree saves."""
        self._built = _Built(patterns, tree=tree)
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
        """The patterns that apply to a task with these features, in the order of their ids.

        Only validated ones unless other statuses are asked for; of all categories unless some are named.
        """
        answers = self._built.answers(features)
        places = self._built.candidates(features, statuses, categories, answers)
        found = (self._built.patterns[place] for place in places.tolist() if self._built.meets(place, answers))
        if not self._changed:
            return list(found)
        kept = (each for each in found if each.id not in self._changed)
        return list(merge(kept, self._newer(features, statuses, categories), key=attrgetter("id")))

    def best(
        self,
        features: Mapping[str, Any],
        now: datetime,
        *,
        most: int | None = None,
        statuses: Collection[PatternStatus] = IN_USE,
        categories: Collection[PatternCategory] | None = None,
    ) -> list[Ranked]:
        """What `ranked` makes of `applicable`, sooner: what can score highest is asked first, and most never."""
        built, answers = self._built, self._built.answers(features)
        best = Best(features, now, MAX_SUGGESTED if most is None else most)
        for pattern in self._newer(features, statuses, categories):
            best.offer(pattern)
        places = built.candidates(features, statuses, categories, answers)
        scores = built.standings.highest(places, now)
        order = np.argsort(-scores, kind="stable")
        for place, highest in zip(places[order].tolist(), scores[order].tolist(), strict=True):
            if best.is_out_of_reach(highest):
                break
            pattern = built.patterns[place]
            if pattern.id not in self._changed and built.meets(place, answers):
                best.offer(pattern)
        return best.rows()

    def asked(self, features: Mapping[str, Any], *, statuses: Collection[PatternStatus] = IN_USE) -> int:
        """How many patterns' conditions are looked at for a task: what the index could not rule out."""
        built = self._built
        return len(self._changed) + len(built.candidates(features, statuses, None, built.answers(features)))

    def with_changes(self, changes: Mapping[str, Pattern | None]) -> PatternIndex:
        """An index that has these, too, or lacks those that are gone: asked one by one, until somebody builds anew."""
        made = PatternIndex.__new__(PatternIndex)
        made._built = self._built
        made._changed = {**self._changed, **{id: _living(each) for id, each in changes.items()}}
        return made

    def _newer(
        self,
        features: Mapping[str, Any],
        statuses: Collection[PatternStatus],
        categories: Collection[PatternCategory] | None,
    ) -> Iterator[Pattern]:
        """Of what changed since the index was built, the patterns that apply, in the order of their ids."""
        newer = (pattern for _, pattern in sorted(self._changed.items()) if pattern is not None)
        wanted = (each for each in newer if _is_wanted(each, statuses, categories))
        return (each for each in wanted if applies(each.applicability, features))


class _Built:
    """What is built once for many tasks. Patterns stand in the order of their ids, each known by its place."""

    def __init__(self, patterns: Iterable[Pattern], *, tree: bool) -> None:
        by_id = {each.id: each for each in patterns if each.deleted_at is None}
        self.ids: Collection[str] = by_id.keys()
        self.patterns: Sequence[Pattern] = [by_id[id] for id in sorted(by_id)]
        where = [each.applicability for each in self.patterns]
        self._types = _Either([folded(each.problem_types) for each in where])
        self._domains = _Either([folded(each.domains) for each in where])
        self._capabilities = _Every([folded(each.capabilities) for each in where])
        self._statuses = _Either([frozenset({each.status}) for each in self.patterns])
        self._categories = _Either([frozenset({each.category}) for each in self.patterns])
        self._questions = Questions()
        self._asked = [self._questions.asked_by(each) for each in where]
        self.standings = Standings(self.patterns)
        self.tree = grown(self._asked, self._questions) if tree else None

    def meets(self, place: int, answers: Answers) -> bool:
        """Whether a candidate applies."""
        return answers.meets(self._asked[place])

    def answers(self, features: Mapping[str, Any]) -> Answers:
        return Answers(self._questions, features)

    def candidates(
        self,
        features: Mapping[str, Any],
        statuses: Collection[PatternStatus],
        categories: Collection[PatternCategory] | None,
        answers: Answers,
    ) -> NDArray[np.intp]:
        """The places of all that may apply, each once and in order: their labels fit, and the tree led to them."""
        fitting = self._types.fitting(labels_at(features, TASK_TYPE))
        fitting &= self._domains.fitting(labels_at(features, DOMAIN))
        fitting &= self._capabilities.fitting(capabilities_at(features))
        fitting &= self._statuses.fitting(statuses)
        if categories is not None:
            fitting &= self._categories.fitting(categories)
        if self.tree is None:
            return np.flatnonzero(fitting)
        led_to = np.zeros(len(fitting), np.bool_)
        led_to[np.concatenate(self.tree.reached(answers))] = True
        return np.flatnonzero(led_to & fitting)


class _Either:
    """Patterns by labels of which a task has to have one; those without any fit every task."""

    def __init__(self, labels: Sequence[Collection[str]]) -> None:
        self._any = np.array([not each for each in labels], np.bool_)
        self._places = _places(labels)

    def fitting(self, labels: Collection[str]) -> _Flags:
        found = self._any.copy()
        for label in labels:
            found[self._places.get(label, _NOWHERE)] = True
        return found


class _Every:
    """Patterns by labels of which a task has to have each."""

    def __init__(self, labels: Sequence[Collection[str]]) -> None:
        self._needed = np.array([len(each) for each in labels], np.int32)
        self._places = _places(labels)

    def fitting(self, labels: Collection[str]) -> _Flags:
        left = self._needed.copy()
        for label in labels:
            left[self._places.get(label, _NOWHERE)] -= 1
        return np.equal(left, 0)


_NOWHERE = np.array([], np.intp)


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
