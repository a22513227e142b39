"""Habits: which steps follow the last steps, come near one step, belong to a feature of the task, or follow a failure.

Occurrences are counted, not episodes; a context must occur in several sessions.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from treering.patterns.mining.corpus import Corpus, Numbers
from treering.patterns.mining.findings import FailureHabit, StepHabit
from treering.patterns.mining.recoveries import attempts_of
from treering.patterns.mining.steps import FAILED, levels_of

BEGINNING = "^"
"""Pseudo-step before the first step of an episode."""
AFTER, WIDER, NEAR, FEATURE = "after", "wider", "near", "feature"


@dataclass(frozen=True)
class _StepPositions:
    """The steps of all episodes in one array, each episode preceded by `BEGINNING`."""

    names: tuple[str, ...]
    marked: Numbers
    """Steps; failed ones have names of their own."""
    plain: Numbers
    """Steps; -1 for a beginning."""
    start: Numbers
    """For each position, the start of its episode."""
    line: Numbers
    session: Numbers


def habits(corpus: Corpus) -> tuple[StepHabit, ...]:
    """The most frequent contexts with the steps that followed."""
    places = _places(corpus)
    next_ = np.flatnonzero(places.plain >= 0)
    found = list[StepHabit]()
    for order in range(1, corpus.settings.habit_order + 1):
        found += _directly(corpus, places, next_, order)
    found += _wider(corpus, places, next_)
    found += _near(corpus, places, next_)
    found += _by_feature(corpus, places, next_)
    found.sort(key=lambda habit: (-habit.times, habit.kind, habit.after))
    return tuple(found[: corpus.settings.most_habits])


def _places(corpus: Corpus) -> _StepPositions:
    failed = [{each.place for each in episode.failures} for episode in corpus.episodes]
    marked = [
        (BEGINNING, *(step + FAILED if place in failed[row] else step for place, step in enumerate(episode.steps)))
        for row, episode in enumerate(corpus.episodes)
    ]
    names = tuple(
        sorted({name for each in marked for name in each} | {s for episode in corpus.episodes for s in episode.steps})
    )
    number = {name: place for place, name in enumerate(names)}
    lengths = np.array([len(each) for each in marked], dtype=np.int64)
    size = int(lengths.sum())
    plain = (place for episode in corpus.episodes for place in (-1, *(number[step] for step in episode.steps)))
    line = np.repeat(np.arange(len(marked), dtype=np.int64), lengths)
    return _StepPositions(
        names,
        np.fromiter((number[name] for each in marked for name in each), dtype=np.int64, count=size),
        np.fromiter(plain, dtype=np.int64, count=size),
        np.repeat(np.cumsum(lengths) - lengths, lengths),
        line,
        corpus.sessions[line] if size else line,
    )


def _directly(corpus: Corpus, places: _StepPositions, next_: Numbers, order: int) -> Iterator[StepHabit]:
    """Contexts of the last `order` steps."""
    there = next_[next_ - order >= places.start[next_]]
    context = np.zeros(len(there), dtype=np.int64)
    known = list[Numbers]()
    for back in range(order, 0, -1):
        # Contexts are renumbered each time: a product of vocabularies would overflow.
        pairs, context = np.unique(context * len(places.names) + places.marked[there - back], return_inverse=True)
        known.append(pairs)
    for number, habit in _count_followers(corpus, places, context, there):
        yield habit(AFTER, _names(places, known, number))


def _names(places: _StepPositions, known: list[Numbers], number: int) -> tuple[str, ...]:
    found = list[str]()
    for pairs in reversed(known):
        number, step = divmod(int(pairs[number]), len(places.names))
        found.append(places.names[step])
    return tuple(reversed(found))


def _wider(corpus: Corpus, places: _StepPositions, next_: Numbers) -> Iterator[StepHabit]:
    """Contexts of the last step by its wider names, for steps never seen before."""
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
        for which, habit in _count_followers(corpus, places, np.concatenate(contexts), np.concatenate(theres)):
            yield habit(WIDER, (names[which],))


def _near(corpus: Corpus, places: _StepPositions, next_: Numbers) -> Iterator[StepHabit]:
    """Contexts of one earlier step anywhere within the window, counted once."""
    room, both = len(places.marked), list[Numbers]()
    for back in range(2, corpus.settings.habit_window + 1):
        there = next_[next_ - back > places.start[next_]]
        both.append(places.marked[there - back] * room + there)
    if not both:
        return
    context, there = np.divmod(np.unique(np.concatenate(both)), room)
    for number, habit in _count_followers(corpus, places, context, there):
        yield habit(NEAR, (places.names[number],))


def _by_feature(corpus: Corpus, places: _StepPositions, next_: Numbers) -> Iterator[StepHabit]:
    features = sorted({feature for episode in corpus.episodes for feature in episode.features})
    for feature in features:
        having = np.array([feature in episode.features for episode in corpus.episodes], dtype=bool)
        there = next_[having[places.line[next_]]]
        for _, habit in _count_followers(corpus, places, np.zeros(len(there), dtype=np.int64), there):
            yield habit(FEATURE, (feature,))


@dataclass(frozen=True, slots=True)
class _HabitCounts:
    times: int
    sessions: int
    then: tuple[tuple[str, int], ...]

    def __call__(self, kind: str, after: tuple[str, ...]) -> StepHabit:
        return StepHabit(kind=kind, after=after, times=self.times, sessions=self.sessions, then=self.then)


def _count_followers(
    corpus: Corpus, places: _StepPositions, context: Numbers, there: Numbers
) -> Iterator[tuple[int, _HabitCounts]]:
    """The steps that followed each context that occurs in enough sessions."""
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
        yield number, _HabitCounts(int(counts[low:high].sum()), int(in_sessions[number]), best)


def failure_habits(corpus: Corpus) -> tuple[FailureHabit, ...]:
    """For each distinct failure, the steps that followed and those that recovered from it."""
    seen, then = Counter[tuple[str, tuple[str, ...]]](), dict[tuple[str, tuple[str, ...]], Counter[str]]()
    worked = dict[tuple[str, tuple[str, ...]], Counter[str]]()
    for place, episode in enumerate(corpus.episodes):
        for failure in episode.failures:
            if failure.place + 1 < len(episode.steps):
                key = (episode.steps[failure.place], failure.words)
                seen[key] += 1
                then.setdefault(key, Counter())[episode.steps[failure.place + 1]] += 1
        for attempt in attempts_of(place, episode, corpus.settings.recovery_within):
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
