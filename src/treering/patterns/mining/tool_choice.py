"""Tools that do better than others for some kind of task."""

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


# Tools are compared so many at once: each needs a row of all sessions.
_TOGETHER = 256


@dataclass(frozen=True, slots=True)
class _Compared:
    """Episodes with a tool, and how many there are without it; of both, the share of sessions that went well."""

    used: Numbers
    others: int
    rate: float
    without: float


def tool_choices(corpus: Corpus) -> list[MinedPattern]:
    """For each value of a feature, the tools with which it went clearly better than without them."""
    with_feature = defaultdict[str, list[int]](list)
    for place, told in enumerate(corpus.told):
        for feature in told.features:
            with_feature[feature].append(place)
    tools = [told.tools for told in corpus.told]
    found = [
        each for feature in sorted(with_feature) for each in _of_feature(corpus, feature, with_feature[feature], tools)
    ]
    return best_supported(found, corpus.settings.most_candidates)


def _of_feature(corpus: Corpus, feature: str, places: list[int], tools: list[frozenset[str]]) -> Iterator[MinedPattern]:
    users = defaultdict[str, list[int]](list)
    for place in places:
        for tool in tools[place]:
            users[tool].append(place)
    least = corpus.settings.least_episodes
    seen_enough = {tool: used for tool, used in sorted(users.items()) if least <= len(used) <= len(places) - least}
    telling = dict(_clearly_better(corpus, np.array(places, np.int64), seen_enough))
    finer = {(wider, len(telling[tool].used)) for tool in telling for wider in levels_of(tool)[1:]}
    for tool, compared in telling.items():
        # The finer name says it better where it is used in the same episodes.
        if (tool, len(compared.used)) not in finer:
            yield _choice(corpus, feature, tool, compared)


def _clearly_better(corpus: Corpus, places: Numbers, users: Mapping[str, list[int]]) -> Iterator[tuple[str, _Compared]]:
    """The tools with which sessions went well clearly more often than without them."""
    known, session_of = np.unique(corpus.sessions[places], return_inverse=True)
    everything = _counted(session_of, corpus.succeeded[places], len(known))
    session_at = dict(zip(places.tolist(), session_of.tolist(), strict=True))
    told = list(users.items())
    for start in range(0, len(told), _TOGETHER):
        some = told[start : start + _TOGETHER]
        row = np.repeat(np.arange(len(some)), [len(used) for _, used in some])
        used = np.array([place for _, each in some for place in each], np.int64)
        session = row * len(known) + np.array([session_at[place] for place in used.tolist()], np.int64)
        with_it = _counted(session, corpus.succeeded[used], len(some) * len(known)).reshape(2, len(some), len(known))
        sessions, well = _went_well(with_it)
        sessions_without, well_without = _went_well(everything[:, None] - with_it)
        for place, (tool, each) in enumerate(some):
            enough = min(sessions[place], sessions_without[place]) >= corpus.settings.least_sessions
            rate, without = well[place] / sessions[place], well_without[place] / max(1, sessions_without[place])
            if enough and rate >= without + corpus.settings.least_gain:
                yield tool, _Compared(np.array(each, np.int64), len(places) - len(each), float(rate), float(without))


def _counted(session: Numbers, succeeded: NDArray[np.bool_], sessions: int) -> Numbers:
    """Episodes a session, and those of them that succeeded."""
    return np.stack((np.bincount(session, minlength=sessions), np.bincount(session[succeeded], minlength=sessions)))


def _went_well(counted: Numbers) -> tuple[Numbers, Numbers]:
    """For each tool, how many sessions there are, and in how many more than half went well."""
    all_, good = counted
    return np.count_nonzero(all_, axis=1), np.count_nonzero(2 * good > all_, axis=1)


def _choice(corpus: Corpus, feature: str, tool: str, compared: _Compared) -> MinedPattern:
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
        # Where nobody succeeded without it, half a success is assumed: no lift is endless.
        lift=compared.rate / max(without, 0.5 / compared.others),
        steps=(tool,),
    )
