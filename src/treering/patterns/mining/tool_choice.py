"""Mines tool choices: tools with which some tasks succeed more often."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treering.core.conditions import Operator, Test
from treering.core.patterns import Applicability, Heuristic, PatternCategory
from treering.patterns.mining.corpus import Corpus, Numbers
from treering.patterns.mining.evidence import best_supported, candidate, times
from treering.patterns.mining.findings import MinedPattern
from treering.patterns.mining.steps import levels_of

_MANY_VALUED = frozenset({"languages"})

# Tools compared at once: each needs a row of all sessions.
_BATCH = 256


@dataclass(frozen=True, slots=True)
class _ToolComparison:
    """Episodes with a tool, the number without it, and the success rates of sessions with and without it."""

    used: Numbers
    others: int
    rate: float
    without: float


def tool_choices(corpus: Corpus) -> list[MinedPattern]:
    """For each feature value, the tools with which sessions succeed clearly more often."""
    with_feature = defaultdict[str, list[int]](list)
    for place, episode in enumerate(corpus.episodes):
        for feature in episode.features:
            with_feature[feature].append(place)
    tools = [episode.tools for episode in corpus.episodes]
    found = [
        each for feature in sorted(with_feature) for each in _choices_for(corpus, feature, with_feature[feature], tools)
    ]
    return best_supported(found, corpus.settings.most_candidates)


def _choices_for(
    corpus: Corpus, feature: str, places: list[int], tools: list[frozenset[str]]
) -> Iterator[MinedPattern]:
    users = defaultdict[str, list[int]](list)
    for place in places:
        for tool in tools[place]:
            users[tool].append(place)
    least = corpus.settings.least_episodes
    seen_enough = {tool: used for tool, used in sorted(users.items()) if least <= len(used) <= len(places) - least}
    better = dict(_clearly_better(corpus, np.array(places, np.int64), seen_enough))
    finer = {(wider, len(better[tool].used)) for tool in better for wider in levels_of(tool)[1:]}
    for tool, compared in better.items():
        # Prefer the more specific name if it covers the same episodes.
        if (tool, len(compared.used)) not in finer:
            yield _choice(corpus, feature, tool, compared)


def _clearly_better(
    corpus: Corpus, places: Numbers, users: Mapping[str, list[int]]
) -> Iterator[tuple[str, _ToolComparison]]:
    """Tools with which sessions succeed clearly more often than without them."""
    known, session_of = np.unique(corpus.sessions[places], return_inverse=True)
    everything = _count_by_session(session_of, corpus.succeeded[places], len(known))
    session_at = dict(zip(places.tolist(), session_of.tolist(), strict=True))
    pairs = list(users.items())
    for start in range(0, len(pairs), _BATCH):
        some = pairs[start : start + _BATCH]
        row = np.repeat(np.arange(len(some)), [len(used) for _, used in some])
        used = np.array([place for _, each in some for place in each], np.int64)
        session = row * len(known) + np.array([session_at[place] for place in used.tolist()], np.int64)
        with_it = _count_by_session(session, corpus.succeeded[used], len(some) * len(known)).reshape(
            2, len(some), len(known)
        )
        sessions, well = _session_results(with_it)
        sessions_without, well_without = _session_results(everything[:, None] - with_it)
        for place, (tool, each) in enumerate(some):
            enough = min(sessions[place], sessions_without[place]) >= corpus.settings.least_sessions
            rate, without = well[place] / sessions[place], well_without[place] / max(1, sessions_without[place])
            if enough and rate >= without + corpus.settings.least_gain:
                yield (
                    tool,
                    _ToolComparison(np.array(each, np.int64), len(places) - len(each), float(rate), float(without)),
                )


def _count_by_session(session: Numbers, succeeded: NDArray[np.bool_], sessions: int) -> Numbers:
    """Number of episodes and of successes by session."""
    return np.stack((np.bincount(session, minlength=sessions), np.bincount(session[succeeded], minlength=sessions)))


def _session_results(counted: Numbers) -> tuple[Numbers, Numbers]:
    """For each tool, the number of sessions and of those in which more than half of the episodes succeeded."""
    all_, good = counted
    return np.count_nonzero(all_, axis=1), np.count_nonzero(2 * good > all_, axis=1)


def _choice(corpus: Corpus, feature: str, tool: str, compared: _ToolComparison) -> MinedPattern:
    field, _, value = feature.partition("=")
    used, without = compared.used, compared.without
    good, bad = used[corpus.succeeded[used]].tolist(), used[~corpus.succeeded[used]].tolist()
    operator = Operator.CONTAINS if field in _MANY_VALUED else Operator.EQ
    test = Test(field=field, operator=operator, value=value)
    about = {"task_type": {"problem_types": (value,)}, "domain": {"domains": (value,)}}.get(
        field, {"conditions": (test,)}
    )
    return candidate(
        corpus,
        PatternCategory.TOOL_SELECTION,
        (feature, tool),
        name=f"{value}: use {tool}",
        summary=f"Where {field} is {value}, {tool} helps: {len(good):,} of {times(len(used), 'episode')} with it "
        f"succeeded; without it, {without:.0%} of sessions did.",
        content=Heuristic(condition=test, action=f"use {tool}"),
        applicability=Applicability.model_validate(about),
        good=good,
        bad=bad,
        base_rate=without,
        # Without any success, half a success is assumed, so that the lift is finite.
        lift=compared.rate / max(without, 0.5 / compared.others),
        steps=(tool,),
    )
