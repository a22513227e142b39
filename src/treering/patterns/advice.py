"""Every way to a pattern: for a task that begins, and for one that met a failure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from treering.core.episodes import TraceEntry, trace_of
from treering.core.errors import InvalidInput
from treering.core.failures import significant_lines
from treering.core.patterns import PatternCategory, PatternStatus
from treering.core.queries import EpisodeFilter, KnowledgeFilter, SearchedKind
from treering.core.task_features import given_features
from treering.core.values import FrozenDict
from treering.episodes.search import EpisodeQuery, search_episodes
from treering.episodes.similar_failures import similar_failures
from treering.patterns.matching.index import IN_USE
from treering.patterns.matching.index_cache import PatternShelf
from treering.patterns.recommendations import AfterFailure, Step, TaskContext
from treering.search.pipeline import search
from treering.search.request import ALL_KNOWLEDGE, SearchRequest, current

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.patterns.matching.ranking import Ranked
    from treering.ports.clock import Clock
    from treering.ports.models import Models
    from treering.ports.store import Store
    from treering.search.answer import Hit

ALL_EPISODES = EpisodeFilter()
Done = Sequence[TraceEntry | Mapping[str, Any]]
E = TypeVar("E", bound=StrEnum)
_RECOVERY = frozenset({PatternCategory.RECOVERY})
_ABOUT_ERRORS = KnowledgeFilter(types=("error_pattern", "dead_end", "gotcha"))


class Advice(Protocol):
    """What was learned about steps; it lies in another room."""

    def next_steps(
        self, history: Done, *, features: Mapping[str, Any], message: str | None, limit: int
    ) -> Sequence[Step]: ...

    def failure_features(self, message: str, failed: TraceEntry | None) -> Mapping[str, Any]: ...


@dataclass(frozen=True, kw_only=True)
class PatternSearch:
    """One project's patterns, found by the task at hand. Safe to share between threads."""

    scope: Scope
    store: Store
    clock: Clock
    settings: Settings
    models: Models
    shelf: PatternShelf = field(default_factory=PatternShelf)

    def find_applicable(
        self,
        task: str,
        *,
        limit: int | None = None,
        statuses: Collection[PatternStatus | str] = IN_USE,
        categories: Collection[PatternCategory | str] | None = None,
        **features: Any,
    ) -> tuple[Ranked, ...]:
        """The patterns that apply to a task, the best first, each with the terms of its score and why.

        Only validated ones unless other statuses are asked for. `features` are what is known of the task besides its
        words (task_type, domain, complexity, tools, files, languages, context); they go before what the words say.
        """
        return self._ranked(given_features(task, features), limit, statuses, categories)

    def context(
        self,
        task: str,
        *,
        patterns: int | None = None,
        episodes: int | None = None,
        known: int | None = None,
        statuses: Collection[PatternStatus | str] = IN_USE,
        tainted: bool = False,
        **features: Any,
    ) -> TaskContext:
        """What memory has for a task that begins: its best patterns, the most similar episodes, what is known of it."""
        seen = None if tainted else False
        told, wanted = given_features(task, features), self.settings.patterns
        most = wanted.context_known if known is None else known
        found = self._ranked(told, wanted.context_patterns if patterns is None else patterns, statuses, None)
        now = self.clock()
        query = EpisodeQuery(
            task,
            ALL_EPISODES.replace(tainted=seen),
            wanted.context_episodes if episodes is None else episodes,
            told.get("domain"),
            words=True,
            cold=False,
        )
        similar = search_episodes(self.scope, self.store, now, query, settings=self.settings, models=self.models)
        where = current({SearchedKind.KNOWLEDGE: ALL_KNOWLEDGE.replace(tainted=seen)})
        asked = SearchRequest(task, where, limit=most, thorough=False)
        facts = search(self.scope, self.store, now, asked, settings=self.settings, models=self.models)
        return TaskContext(task, told, found, similar, facts, {**facts.missing, **similar.missing})

    def failed(
        self,
        error: str,
        advice: Advice,
        *,
        history: Done = (),
        task: str = "",
        limit: int | None = None,
        statuses: Collection[PatternStatus | str] = IN_USE,
        tainted: bool = False,
        **features: Any,
    ) -> AfterFailure:
        """What helps after a failure; `history` is what was done so far, `error` what the last step came to."""
        _refuse_nothing(error)
        now, most = self.clock(), self.settings.patterns.context_patterns if limit is None else limit
        done = _with_failure(trace_of(history, now), error)
        failed = done[-1] if done else None
        told = FrozenDict({**given_features(task, features), **advice.failure_features(error, failed)})
        recoveries = self._ranked(told, most, statuses, _RECOVERY)
        with self.store.reading(self.scope, now) as tx:
            similar = similar_failures(tx, error, most, self.settings, tainted=tainted)
        steps = advice.next_steps(done, features=told, message=None if done else error, limit=most)
        return AfterFailure(
            error, told, recoveries, similar, tuple(steps), self._known_of(error, most, tainted=tainted)
        )

    def _known_of(self, error: str, most: int, *, tainted: bool) -> tuple[Hit, ...]:
        """What was remembered about it: by the lines that say what it was, without what varies in them."""
        found: dict[str, Hit] = {}
        for line in significant_lines(error):
            where = current({SearchedKind.KNOWLEDGE: _ABOUT_ERRORS.replace(tainted=None if tainted else False)})
            wanted = SearchRequest(line, where, limit=most, thorough=False, precise=True)
            answer = search(self.scope, self.store, self.clock(), wanted, settings=self.settings, models=self.models)
            found |= {hit.id: hit for hit in answer if hit.id not in found}
        return tuple(found.values())[:most]

    def _ranked(
        self,
        features: Mapping[str, Any],
        limit: int | None,
        statuses: Collection[PatternStatus | str],
        categories: Collection[PatternCategory | str] | None,
    ) -> tuple[Ranked, ...]:
        most = self.settings.patterns.most_suggested if limit is None else limit
        if most < 1:
            raise InvalidInput(f"limit is {most}; ask for at least one pattern")
        wanted = _named(PatternStatus, statuses)
        among = None if categories is None else _named(PatternCategory, categories)
        now = self.clock()
        with self.store.reading(self.scope, now) as tx:
            index = self.shelf.index(tx)
        return tuple(index.best(features, now, self.settings.patterns, most=most, statuses=wanted, categories=among))


def _refuse_nothing(error: object) -> None:
    if not isinstance(error, str) or not error.strip():
        raise InvalidInput("there is no error message to look for; give what the tool or the test printed")


def _with_failure(done: tuple[TraceEntry, ...], error: str) -> tuple[TraceEntry, ...]:
    """The last step is the one that failed, whether or not it says so."""
    if not done:
        return ()
    *before, last = done
    return (*before, last.replace(is_error=True, output=last.output if last.is_error and last.output else error))


def _named(kind: type[E], names: Collection[E | str]) -> frozenset[E]:
    try:
        return frozenset(map(kind, names))
    except ValueError as exc:
        raise InvalidInput(f"{exc}; use {', '.join(each.value for each in kind)}") from exc
