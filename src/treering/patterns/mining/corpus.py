"""Episodes as mining reads them: steps as numbers, sorted, so that neither the order nor the size of texts matters."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from sys import intern
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treering.core.episodes import Episode, OutcomeStatus
from treering.core.failures import normalised_failure
from treering.core.values import LABEL_BYTES, fitting
from treering.patterns.mining.limits import MiningLimits
from treering.patterns.mining.steps import levels_of, step_of, tool_name, words_of

Numbers = NDArray[np.int64]
FeaturesOf = Callable[[Episode], Mapping[str, Any]]
FEATURES = ("task_type", "domain", "languages")
"""Features that tool choice and advice look at."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A step that failed: where it stands and the words that tell how."""

    place: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """One episode: names of its steps, which of them failed, what came of it."""

    id: str
    session: str
    succeeded: bool
    task_type: str | None
    features: tuple[str, ...]
    steps: tuple[str, ...]
    tools: frozenset[str]
    """Every tool and step by all its names, also tools that no step names."""
    failures: tuple[Failed, ...]
    plan: tuple[str, ...]
    duration_ms: float | None


@dataclass(frozen=True)
class Corpus:
    """All episodes, in the order of time."""

    told: Sequence[Told]
    settings: MiningLimits

    @cached_property
    def sessions(self) -> Numbers:
        """The number of each episode's session."""
        known = {name: place for place, name in enumerate(sorted({each.session for each in self.told}))}
        return np.array([known[each.session] for each in self.told], dtype=np.int64)

    @cached_property
    def succeeded(self) -> NDArray[np.bool_]:
        return np.array([each.succeeded for each in self.told], dtype=bool)

    @cached_property
    def base_rates(self) -> NDArray[np.float64]:
        """For each episode, how often its task type goes well; where there are few of it, all types stand in."""
        overall = float(self.succeeded.mean()) if self.told else 0.0
        counts, good = Counter[str | None](), Counter[str | None]()
        for each in self.told:
            counts[each.task_type] += 1
            good[each.task_type] += each.succeeded
        prior = self.settings.base_prior
        rates = {kind: (good[kind] + prior * overall) / (counts[kind] + prior) for kind in counts}
        return np.array([rates[each.task_type] for each in self.told], dtype=np.float64)

    @property
    def least_support(self) -> int:
        return max(self.settings.least_episodes, int(np.ceil(self.settings.least_share * len(self.told))))


def corpus_of(episodes: Iterable[Episode], settings: MiningLimits, features_of: FeaturesOf) -> Corpus:
    """Read once; an episode that stands for others counts only where they are not there themselves."""
    told, standing = dict[str, tuple[Any, Told]](), dict[str, tuple[str, ...]]()
    for episode in episodes:
        if episode.deleted_at is None:
            told[episode.id] = (episode.at, told_of(episode, settings, features_of))
            if episode.consolidation is not None:
                standing[episode.id] = episode.consolidation.members
    doubled = {id for id, members in standing.items() if any(member in told and member != id for member in members)}
    ordered = sorted((at, id) for id, (at, _) in told.items() if id not in doubled)
    return Corpus([told[id][1] for _, id in ordered], settings)


def feature_names(features: Mapping[str, Any]) -> tuple[str, ...]:
    """Each value as "field=value", sorted."""
    found = set[str]()
    for name in FEATURES:
        value = features.get(name)
        values = value if isinstance(value, list | tuple | set | frozenset) else (value,)
        found |= {f"{name}={each}" for each in values if isinstance(each, str) and each}
    return tuple(sorted(found))


def failure_words(message: str, most: int) -> tuple[str, ...]:
    """What stays the same of a failure, as words, each once."""
    return tuple(dict.fromkeys(words_of(normalised_failure(message))[:most]))


def subtask_of(text: str) -> str:
    """A step of a plan without what is special about this one: paths, numbers and names of files."""
    return fitting(" ".join(words_of(normalised_failure(text))[:6]), LABEL_BYTES)


def told_of(episode: Episode, settings: MiningLimits, features_of: FeaturesOf) -> Told:
    """One episode as mining reads it."""
    trace, features = episode.execution.trace, features_of(episode)
    kind = features.get("task_type")
    failures = tuple(
        Failed(place, failure_words(entry.output or entry.action, settings.failure_words))
        for place, entry in enumerate(trace)
        if entry.is_error
    )
    # Few names, many steps: each name is held once.
    steps = tuple(intern(step_of(entry)) for entry in trace)
    return Told(
        id=episode.id,
        session=episode.session or f"\x1f{episode.id}",
        succeeded=episode.outcome.status is OutcomeStatus.SUCCESS,
        task_type=kind if isinstance(kind, str) else None,
        features=feature_names(features),
        steps=steps,
        tools=_tools(episode, steps),
        failures=failures,
        plan=tuple(filter(None, map(subtask_of, episode.execution.plan))),
        duration_ms=episode.execution.duration_ms,
    )


def _tools(episode: Episode, steps: Iterable[str]) -> frozenset[str]:
    named = (*episode.metadata.tools, *(entry.tool for entry in episode.execution.trace if entry.tool))
    names = {intern(name) for tool in set(named) if (name := tool_name(tool))}
    return frozenset(names.union(*map(levels_of, set(steps))))


def sessions_for(corpus: Corpus, places: Sequence[int], good: Sequence[bool]) -> tuple[int, int]:
    """Sessions among some episodes, and those in which more than half of them went well."""
    counted = defaultdict[int, list[int]](lambda: [0, 0])
    for place, well in zip(places, good, strict=True):
        both = counted[int(corpus.sessions[place])]
        both[0] += 1
        both[1] += well
    return len(counted), sum(2 * well > all_ for all_, well in counted.values())
