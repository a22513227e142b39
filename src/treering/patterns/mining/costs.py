"""Mines savings: steps and pairs of steps with which tasks of one type took clearly less."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from treering.core.patterns import Applicability, PatternCategory, Strategy
from treering.patterns.mining.corpus import Corpus
from treering.patterns.mining.evidence import best_supported, candidate
from treering.patterns.mining.findings import MinedPattern

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _CostSaving:
    """Median cost with and without the steps."""

    with_it: float
    without: float

    @property
    def share(self) -> float:
        return 1 - self.with_it / self.without if self.without else 0.0


def costs_saved(corpus: Corpus) -> list[MinedPattern]:
    """Savings among successful episodes only, since giving up is quick, too."""
    by_type = defaultdict[str, list[int]](list)
    for place, episode in enumerate(corpus.episodes):
        if episode.succeeded and episode.task_type:
            by_type[episode.task_type].append(place)
    found = [each for kind in sorted(by_type) for each in _savings_of_type(corpus, kind, by_type[kind])]
    return best_supported(found, corpus.settings.most_candidates)


def _savings_of_type(corpus: Corpus, kind: str, places: list[int]) -> Iterator[MinedPattern]:
    users = defaultdict[tuple[str, ...], list[int]](list)
    for row, place in enumerate(places):
        steps = corpus.episodes[place].steps
        for done in {*((step,) for step in steps), *(pair for pair in pairwise(steps) if pair[0] != pair[1])}:
            users[done].append(row)
    time = np.array([_nan_if_none(corpus.episodes[place].duration_ms) for place in places])
    count = np.array([len(corpus.episodes[place].steps) for place in places], dtype=np.float64)
    session = corpus.sessions[places]
    for done, rows in sorted(users.items()):
        chosen = np.zeros(len(places), dtype=bool)
        chosen[rows] = True
        if not _comparable(corpus, chosen, session):
            continue
        faster, shorter = (_clear_saving(each, chosen, corpus) for each in (time, count))
        if faster or shorter:
            yield _candidate(corpus, kind, done, [places[row] for row in rows], faster=faster, shorter=shorter)


def _nan_if_none(value: float | None) -> float:
    return float("nan") if value is None else value


def _comparable(corpus: Corpus, chosen: NDArray[np.bool_], session: NDArray[np.int64]) -> bool:
    settings = corpus.settings
    return all(
        int(side.sum()) >= settings.least_episodes and len(np.unique(session[side])) >= settings.least_sessions
        for side in (chosen, ~chosen)
    )


def _clear_saving(cost: Floats, chosen: NDArray[np.bool_], corpus: Corpus) -> _CostSaving | None:
    known = ~np.isnan(cost)
    one, other = cost[known & chosen], cost[known & ~chosen]
    if min(len(one), len(other)) < corpus.settings.least_episodes:
        return None
    saving = _CostSaving(float(np.median(one)), float(np.median(other)))
    clear = saving.share >= corpus.settings.least_saved and less_by_rank(one, other) >= corpus.settings.saved_z
    return saving if clear else None


def less_by_rank(one: Floats, other: Floats) -> float:
    """Z score of the rank-sum test that the first are smaller; ties share their rank."""
    both = np.concatenate((one, other))
    _, place, counts = np.unique(both, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    n, m = len(one), len(other)
    total = n + m
    ties = float((counts.astype(np.float64) ** 3 - counts).sum()) / (total * (total - 1))
    spread = np.sqrt(n * m / 12 * (total + 1 - ties))
    return float((n * (total + 1) / 2 - ranks[:n].sum()) / spread) if spread > 0 else 0.0


def _candidate(
    corpus: Corpus,
    kind: str,
    done: tuple[str, ...],
    places: list[int],
    *,
    faster: _CostSaving | None,
    shorter: _CostSaving | None,
) -> MinedPattern:
    line = " → ".join(done)
    savings = [f"{each.share:.0%} less {what}" for each, what in ((faster, "time"), (shorter, "steps")) if each]
    best = max((each for each in (faster, shorter) if each), key=lambda each: each.share)
    failed = [
        place
        for place, episode in enumerate(corpus.episodes)
        if episode.task_type == kind and not episode.succeeded and _has(episode.steps, done)
    ]
    return candidate(
        corpus,
        PatternCategory.OPTIMISATION,
        (kind, *done),
        name=f"{kind}: {line} saves {' and '.join(savings)}",
        summary=f"Tasks of type {kind} that succeeded took {' and '.join(savings)} (median) with {line}.",
        content=Strategy(approach=f"For {kind}: {line}"),
        applicability=Applicability(problem_types=(kind,)),
        good=places,
        bad=failed,
        base_rate=float(corpus.base_rates[places].mean()),
        lift=best.without / best.with_it if best.with_it else best.without,
        steps=done,
        saved_ms=faster.without - faster.with_it if faster else None,
        saved_steps=shorter.without - shorter.with_it if shorter else None,
        usual_ms=faster.without if faster else None,
        usual_steps=shorter.without if shorter else None,
    )


def _has(steps: tuple[str, ...], done: tuple[str, ...]) -> bool:
    return done[0] in steps if len(done) == 1 else done in set[tuple[str, ...]](pairwise(steps))
