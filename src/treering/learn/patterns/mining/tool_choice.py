"""Tools that do better than others for some kind of task."""

from collections import defaultdict
from collections.abc import Iterator

from treering.core.conditions import Operator, Test
from treering.core.patterns import Applicability, Heuristic, PatternCategory
from treering.learn.patterns.mining.corpus import Corpus, sessions_for
from treering.learn.patterns.mining.evidence import best_supported, candidate, times
from treering.learn.patterns.mining.mined import Mined
from treering.learn.patterns.mining.steps import levels_of

_MANY_VALUED = frozenset({"languages"})


def tool_choices(corpus: Corpus) -> list[Mined]:
    """For each value of a feature, the tools with which it went clearly better than without them."""
    with_feature = defaultdict[str, list[int]](list)
    for place, told in enumerate(corpus.told):
        for feature in told.features:
            with_feature[feature].append(place)
    tools = [frozenset(level for step in set(told.steps) for level in levels_of(step)) for told in corpus.told]
    found = [
        each for feature in sorted(with_feature) for each in _of_feature(corpus, feature, with_feature[feature], tools)
    ]
    return best_supported(found, corpus.settings.most_candidates)


def _of_feature(corpus: Corpus, feature: str, places: list[int], tools: list[frozenset[str]]) -> Iterator[Mined]:
    users = defaultdict[str, list[int]](list)
    for place in places:
        for tool in tools[place]:
            users[tool].append(place)
    telling = {tool: used for tool, used in users.items() if _is_choice(corpus, places, used)}
    for tool, used in sorted(telling.items()):
        # The finer name says it better where it is used in the same episodes.
        if any(tool in levels_of(other)[1:] and len(telling[other]) == len(used) for other in telling):
            continue
        without = sorted(set(places) - set(used))
        yield _choice(corpus, feature, tool, used, without)


def _is_choice(corpus: Corpus, places: list[int], used: list[int]) -> bool:
    """Whether there is something to compare, and it is clearly better."""
    least, without = corpus.settings.least_sessions, sorted(set(places) - set(used))
    enough = min(len(used), len(without)) >= corpus.settings.least_episodes and all(
        len({int(corpus.sessions[place]) for place in some}) >= least for some in (used, without)
    )
    return enough and _rate(corpus, used) >= _rate(corpus, without) + corpus.settings.least_gain


def _rate(corpus: Corpus, places: list[int]) -> float:
    """Share of sessions that went well."""
    sessions, well = sessions_for(corpus, places, [bool(corpus.succeeded[place]) for place in places])
    return well / max(1, sessions)


def _choice(corpus: Corpus, feature: str, tool: str, used: list[int], others: list[int]) -> Mined:
    field, _, value = feature.partition("=")
    good = [place for place in used if corpus.succeeded[place]]
    bad = [place for place in used if not corpus.succeeded[place]]
    without = _rate(corpus, others)
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
        lift=_rate(corpus, used) / max(without, 0.5 / len(others)),
        steps=(tool,),
    )
