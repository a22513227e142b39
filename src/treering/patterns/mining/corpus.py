"""Episodes in the form that mining reads: named steps, failures and outcome, in the order of time."""

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
from treering.core.settings.mining import MiningSettings
from treering.core.values import LABEL_BYTES, fitting
from treering.patterns.mining.steps import levels_of, step_of, tool_name, words_of

Numbers = NDArray[np.int64]
FeaturesOf = Callable[[Episode], Mapping[str, Any]]
FEATURES = ("task_type", "domain", "languages")
"""Features used by tool choice and advice."""


@dataclass(frozen=True, slots=True)
class FailedStep:
    """The position of a failed step, and the words of its error message."""

    place: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MinedEpisode:
    """One episode: the names of its steps, which of them failed, and the outcome."""

    id: str
    session: str
    succeeded: bool
    task_type: str | None
    features: tuple[str, ...]
    steps: tuple[str, ...]
    tools: frozenset[str]
    """All names of every tool and step, including tools that no step names."""
    failures: tuple[FailedStep, ...]
    plan: tuple[str, ...]
    duration_ms: float | None


@dataclass(frozen=True)
class Corpus:
    """All episodes in the order of time."""

    episodes: Sequence[MinedEpisode]
    settings: MiningSettings

    @cached_property
    def sessions(self) -> Numbers:
        """The session number of each episode."""
        known = {name: place for place, name in enumerate(sorted({each.session for each in self.episodes}))}
        return np.array([known[each.session] for each in self.episodes], dtype=np.int64)

    @cached_property
    def succeeded(self) -> NDArray[np.bool_]:
        return np.array([each.succeeded for each in self.episodes], dtype=bool)

    @cached_property
    def base_rates(self) -> NDArray[np.float64]:
        """For each episode, the success rate of its task type, smoothed with the overall rate."""
        overall = float(self.succeeded.mean()) if self.episodes else 0.0
        counts, good = Counter[str | None](), Counter[str | None]()
        for each in self.episodes:
            counts[each.task_type] += 1
            good[each.task_type] += each.succeeded
        prior = self.settings.base_prior
        rates = {kind: (good[kind] + prior * overall) / (counts[kind] + prior) for kind in counts}
        return np.array([rates[each.task_type] for each in self.episodes], dtype=np.float64)

    @property
    def min_support(self) -> int:
        return max(self.settings.least_episodes, int(np.ceil(self.settings.least_share * len(self.episodes))))


def corpus_of(episodes: Iterable[Episode], settings: MiningSettings, features_of: FeaturesOf) -> Corpus:
    """Read all episodes; a consolidated episode is left out if one of its members is present."""
    read, members_of = dict[str, tuple[Any, MinedEpisode]](), dict[str, tuple[str, ...]]()
    for episode in episodes:
        if episode.deleted_at is None:
            read[episode.id] = (episode.at, read_episode(episode, settings, features_of))
            if episode.consolidation is not None:
                members_of[episode.id] = episode.consolidation.members
    repeated = {id for id, members in members_of.items() if any(each in read and each != id for each in members)}
    ordered = sorted((at, id) for id, (at, _) in read.items() if id not in repeated)
    return Corpus([read[id][1] for _, id in ordered], settings)


def feature_names(features: Mapping[str, Any]) -> tuple[str, ...]:
    """Each value as "field=value", sorted."""
    found = set[str]()
    for name in FEATURES:
        value = features.get(name)
        values = value if isinstance(value, list | tuple | set | frozenset) else (value,)
        found |= {f"{name}={each}" for each in values if isinstance(each, str) and each}
    return tuple(sorted(found))


def failure_words(message: str, limit: int) -> tuple[str, ...]:
    """The distinct words of an error message without its variable parts."""
    return tuple(dict.fromkeys(words_of(normalised_failure(message))[:limit]))


def subtask_of(text: str) -> str:
    """A step of a plan without paths, numbers and file names."""
    return fitting(" ".join(words_of(normalised_failure(text))[:6]), LABEL_BYTES)


def read_episode(episode: Episode, settings: MiningSettings, features_of: FeaturesOf) -> MinedEpisode:
    """One episode in the form that mining reads."""
    trace, features = episode.execution.trace, features_of(episode)
    kind = features.get("task_type")
    failures = tuple(
        FailedStep(place, failure_words(entry.output or entry.action, settings.failure_words))
        for place, entry in enumerate(trace)
        if entry.is_error
    )
    # Few distinct names, many steps: interning saves memory.
    steps = tuple(intern(step_of(entry)) for entry in trace)
    return MinedEpisode(
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
    """Number of sessions of these episodes, and of those in which more than half succeeded."""
    counted = defaultdict[int, list[int]](lambda: [0, 0])
    for place, well in zip(places, good, strict=True):
        both = counted[int(corpus.sessions[place])]
        both[0] += 1
        both[1] += well
    return len(counted), sum(2 * well > all_ for all_, well in counted.values())
