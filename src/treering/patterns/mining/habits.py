"""What usually comes next: after the last steps, somewhere after one step, for a feature of the task, after a failure.

Counted over places, not episodes, since the question is how often; a context must have been seen in several sessions.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from treering.patterns.mining.corpus import Corpus, Numbers
from treering.patterns.mining.findings import FailureHabit, Habit
from treering.patterns.mining.recoveries import attempts_of
from treering.patterns.mining.steps import FAILED, levels_of

BEGINNING = "^"
"""Stands before the first step of an episode."""
AFTER, WIDER, NEAR, FEATURE = "after", "wider", "near", "feature"


@dataclass(frozen=True)
class _Places:
    """Every step of every episode, behind a mark for its beginning."""

    names: tuple[str, ...]
    marked: Numbers
    """Steps, those that failed apart."""
    plain: Numbers
    """Steps; the mark of a beginning is -1."""
    start: Numbers
    """Of each place, where its episode begins."""
    line: Numbers
    session: Numbers


def habits(corpus: Corpus) -> tuple[Habit, ...]:
    """The most frequent contexts, with what followed each."""
    places = _places(corpus)
    next_ = np.flatnonzero(places.plain >= 0)
    found = list[Habit]()
    for order in range(1, corpus.settings.habit_order + 1):
        found += _directly(corpus, places, next_, order)
    found += _wider(corpus, places, next_)
    found += _near(corpus, places, next_)
    found += _by_feature(corpus, places, next_)
    found.sort(key=lambda habit: (-habit.times, habit.kind, habit.after))
    return tuple(found[: corpus.settings.most_habits])


def _places(corpus: Corpus) -> _Places:
    failed = [{each.place for each in told.failures} for told in corpus.told]
    marked = [
        (BEGINNING, *(step + FAILED if place in failed[row] else step for place, step in enumerate(told.steps)))
        for row, told in enumerate(corpus.told)
    ]
    names = tuple(sorted({name for each in marked for name in each} | {s for told in corpus.told for s in told.steps}))
    number = {name: place for place, name in enumerate(names)}
    lengths = np.array([len(each) for each in marked], dtype=np.int64)
    size = int(lengths.sum())
    plain = (place for told in corpus.told for place in (-1, *(number[step] for step in told.steps)))
    line = np.repeat(np.arange(len(marked), dtype=np.int64), lengths)
    return _Places(
        names,
        np.fromiter((number[name] for each in marked for name in each), dtype=np.int64, count=size),
        np.fromiter(plain, dtype=np.int64, count=size),
        np.repeat(np.cumsum(lengths) - lengths, lengths),
        line,
        corpus.sessions[line] if size else line,
    )


def _directly(corpus: Corpus, places: _Places, next_: Numbers, order: int) -> Iterator[Habit]:
    """The steps right before, as many as `order`."""
    there = next_[next_ - order >= places.start[next_]]
    context = np.zeros(len(there), dtype=np.int64)
    known = list[Numbers]()
    for back in range(order, 0, -1):
        # Numbers of contexts so far, made small again: a product of vocabularies would not fit.
        pairs, context = np.unique(context * len(places.names) + places.marked[there - back], return_inverse=True)
        known.append(pairs)
    for number, habit in _counted(corpus, places, context, there):
        yield habit(AFTER, _names(places, known, number))


def _names(places: _Places, known: list[Numbers], number: int) -> tuple[str, ...]:
    found = list[str]()
    for pairs in reversed(known):
        number, step = divmod(int(pairs[number]), len(places.names))
        found.append(places.names[step])
    return tuple(reversed(found))


def _wider(corpus: Corpus, places: _Places, next_: Numbers) -> Iterator[Habit]:
    """The step right before by its wider names, for steps that nobody did before."""
    wider = [levels_of(name)[1:] for name in places.names]
    names = tuple(sorted({name for each in wider for name in each}))
    number = {name: place for place, name in enumerate(names)}
    contexts, theres = list[Numbers](), list[Numbers]()
    for level in range(max(map(len, wider), default=0)):
        called = np.array([number[each[level]] if level < len(each) else -1 for each in wider], dtype=np.int64)
        context = called[places.marked[next_ - 1]]
        contexts.append(context[context >= 0])
        theres.append(next_[context >= 0])
    if contexts:
        for which, habit in _counted(corpus, places, np.concatenate(contexts), np.concatenate(theres)):
            yield habit(WIDER, (names[which],))


def _near(corpus: Corpus, places: _Places, next_: Numbers) -> Iterator[Habit]:
    """Each earlier step by itself, wherever it stood within the window; several times counts once."""
    room, both = len(places.marked), list[Numbers]()
    for back in range(2, corpus.settings.habit_window + 1):
        there = next_[next_ - back > places.start[next_]]
        both.append(places.marked[there - back] * room + there)
    if not both:
        return
    context, there = np.divmod(np.unique(np.concatenate(both)), room)
    for number, habit in _counted(corpus, places, context, there):
        yield habit(NEAR, (places.names[number],))


def _by_feature(corpus: Corpus, places: _Places, next_: Numbers) -> Iterator[Habit]:
    features = sorted({feature for told in corpus.told for feature in told.features})
    for feature in features:
        having = np.array([feature in told.features for told in corpus.told], dtype=bool)
        there = next_[having[places.line[next_]]]
        for _, habit in _counted(corpus, places, np.zeros(len(there), dtype=np.int64), there):
            yield habit(FEATURE, (feature,))


@dataclass(frozen=True, slots=True)
class _Counted:
    times: int
    sessions: int
    then: tuple[tuple[str, int], ...]

    def __call__(self, kind: str, after: tuple[str, ...]) -> Habit:
        return Habit(kind=kind, after=after, times=self.times, sessions=self.sessions, then=self.then)


def _counted(corpus: Corpus, places: _Places, context: Numbers, there: Numbers) -> Iterator[tuple[int, _Counted]]:
    """Of each context seen in enough sessions, what followed."""
    if not len(context):
        return
    followed, counts = np.unique(context * len(places.names) + places.plain[there], return_counts=True)
    sessions = np.unique(context * (int(places.session.max()) + 1) + places.session[there])
    in_sessions = np.bincount(sessions // (int(places.session.max()) + 1))
    which, then = np.divmod(followed, len(places.names))
    bounds = np.r_[np.flatnonzero(np.r_[True, which[1:] != which[:-1]]), len(which)]
    for low, high in pairwise(bounds.tolist()):
        number = int(which[low])
        if in_sessions[number] < corpus.settings.habit_sessions:
            continue
        ranked = sorted((-int(counts[place]), places.names[then[place]]) for place in range(low, high))
        best = tuple((name, -count) for count, name in ranked[: corpus.settings.most_followers])
        yield number, _Counted(int(counts[low:high].sum()), int(in_sessions[number]), best)


def failure_habits(corpus: Corpus) -> tuple[FailureHabit, ...]:
    """For each different failure, what was done next and what got out of it."""
    seen, then = Counter[tuple[str, tuple[str, ...]]](), dict[tuple[str, tuple[str, ...]], Counter[str]]()
    worked = dict[tuple[str, tuple[str, ...]], Counter[str]]()
    for place, told in enumerate(corpus.told):
        for failure in told.failures:
            if failure.place + 1 < len(told.steps):
                key = (told.steps[failure.place], failure.words)
                seen[key] += 1
                then.setdefault(key, Counter())[told.steps[failure.place + 1]] += 1
        for attempt in attempts_of(place, told, corpus.settings.recovery_within):
            if attempt.worked:
                worked.setdefault((attempt.step, attempt.words), Counter()).update(attempt.tried or (attempt.step,))
    best = sorted(seen, key=lambda key: (-seen[key], key))[: corpus.settings.most_failures]
    return tuple(
        FailureHabit(
            step=key[0],
            words=key[1],
            times=seen[key],
            then=_ranked(then[key]),
            worked=_ranked(worked.get(key, Counter())),
        )
        for key in best
    )


def _ranked(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0])))
