"""Fits the weights of `related` on the older 80 % of histories: the likelihood of the files that a commit changed.

Queries of `bench/cochange.py` are drawn from the second half of that part; each is a choice among its candidates. The
weights are those of a conditional logit, every repository weighing as the root of its queries. Prints them; nothing is
written.
"""

import argparse
import random
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from bench.cochange import FITTED, MIRROR, OLDER, Query, is_source, newest, queries_of, read
from treering.code.history.counts import CoChange
from treering.code.history.ranking import ask, candidates, terms_of
from treering.code.history.weights import Weights

TERMS = tuple(field.name for field in fields(Weights) if field.name != "imports")
Array = np.ndarray[Any, np.dtype[np.float64]]
Starts = np.ndarray[Any, np.dtype[np.int64]]
BEGUN = 0.5
MOST_OTHERS, MOST_QUERIES = 400, 600
SHARE_ASKED = 0.5
STEPS, PACE, KEPT = 200, 0.05, 1e-3


def choices(repository: Path, draw: random.Random) -> tuple[Array, Array, Starts]:
    """Values of the candidates of all queries below each other, whether each was changed, where each query begins."""
    commits = read(repository)
    last = newest(commits)
    counts = CoChange(is_source)
    kept: list[tuple[list[list[float]], list[bool]]] = []
    for place, commit in enumerate(commits[:last]):
        if place >= last * BEGUN:
            asked = [query for query in queries_of(commit, counts) if draw.random() < SHARE_ASKED]
            kept.extend(choice for query in asked if (choice := _choice(counts, query, draw)))
        counts.add(commit)
    kept = draw.sample(kept, min(MOST_QUERIES, len(kept)))
    starts = np.cumsum([0, *(len(changed) for _, changed in kept[:-1])])
    values = np.array([row for rows, _ in kept for row in rows])
    chosen = np.concatenate([np.array(changed) / sum(changed) for _, changed in kept])
    return values, chosen, starts


def _choice(counts: CoChange, query: Query, draw: random.Random) -> tuple[list[list[float]], list[bool]] | None:
    asked = ask(counts, query.path)
    near = sorted(candidates(counts, asked))
    changed = [number for number in near if counts.path(number) in query.others]
    others = [number for number in near if counts.path(number) not in query.others]
    others = draw.sample(others, min(MOST_OTHERS, len(others)))
    if not changed or not others:
        return None
    both = [*changed, *others]
    rows = [[terms_of(counts, asked, number)[name] for name in TERMS] for number in both]
    return rows, [True] * len(changed) + [False] * len(others)


def fitted(sets: list[tuple[Array, Array, Starts]]) -> tuple[Array, float]:
    """Weights and the mean loss, by Adam on standardised values."""
    spread = np.sqrt(np.mean([values.var(0) for values, _, _ in sets], 0)) + 1e-9
    whole = sum(len(starts) ** 0.5 for _, _, starts in sets)
    weights, mean, square, loss = np.zeros(len(TERMS)), np.zeros(len(TERMS)), np.zeros(len(TERMS)), 0.0
    for step in range(1, STEPS + 1):
        slope, loss = KEPT * weights, 0.0
        for values, chosen, starts in sets:
            scaled = values / spread
            groups = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(values))))
            score = scaled @ weights
            odds = np.exp(score - np.maximum.reduceat(score, starts)[groups])
            share = odds / np.add.reduceat(odds, starts)[groups]
            part = len(starts) ** -0.5 / whole
            slope = slope + part * (scaled.T @ (share - chosen))
            loss -= part * float(chosen @ np.log(share + 1e-12))
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope * slope
        weights = weights - PACE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights / spread, loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", type=Path, default=MIRROR)
    options = parser.parse_args()
    draw = random.Random(7)
    sets = [choices(options.mirror / name / "repo", draw) for name in FITTED]
    weights, loss = fitted(sets)
    print(f"loss {loss:.4f} on the older {OLDER:.0%} of {len(sets)} histories")
    for name, weight in zip(TERMS, weights, strict=True):
        print(f"    {name}: float = {weight:.2f}")


if __name__ == "__main__":
    main()
