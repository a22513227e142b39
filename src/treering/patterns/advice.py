"""Advice for an agent: patterns for a task that begins, help after a failure, likely next steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

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
from treering.patterns.matching.index_cache import PatternIndexCache
from treering.patterns.matching.ranking import MAX_SUGGESTED
from treering.patterns.mining.habit_cache import HabitCache
from treering.patterns.mining.limits import MINING_LIMITS
from treering.patterns.recommendations import AfterFailure, TaskContext
from treering.search.pipeline import search
from treering.search.request import ALL_KNOWLEDGE, SearchRequest, current

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.patterns.matching.ranking import RankedPattern
    from treering.patterns.mining.next_steps import Suggestion
    from treering.ports.clock import Clock
    from treering.ports.models import Models
    from treering.ports.store import Store
    from treering.search.answer import Answer, Hit

CONTEXT_PATTERNS = 3  # patterns that a task is given when it begins, by requirement
CONTEXT_EPISODES = 5  # similar episodes that it is given, by requirement
CONTEXT_KNOWLEDGE = 5  # as many records as episodes; a search finds the others

ALL_EPISODES = EpisodeFilter()
Trace = Sequence[TraceEntry | Mapping[str, Any]]
E = TypeVar("E", bound=StrEnum)
_RECOVERY = frozenset({PatternCategory.RECOVERY})
_ABOUT_ERRORS = KnowledgeFilter(types=("error_pattern", "dead_end", "gotcha"))


@dataclass(frozen=True, kw_only=True)
class PatternAdvisor:
    """Finds what one project has learned about a task or a failure; writes nothing. Safe to share between threads."""

    scope: Scope
    store: Store
    clock: Clock
    settings: Settings
    models: Models
    indexes: PatternIndexCache = field(default_factory=PatternIndexCache)
    habits: HabitCache = field(default_factory=HabitCache)

    def find_applicable(
        self,
        features: Mapping[str, Any],
        *,
        limit: int | None = None,
        statuses: Collection[PatternStatus | str] = IN_USE,
        categories: Collection[PatternCategory | str] | None = None,
    ) -> tuple[RankedPattern, ...]:
        """Patterns that apply to a task with these features, best first."""
        limit = MAX_SUGGESTED if limit is None else limit
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; ask for at least one pattern")
        in_statuses = _members(PatternStatus, statuses)
        in_categories = None if categories is None else _members(PatternCategory, categories)
        now = self.clock()
        with self.store.reading(self.scope, now) as tx:
            index = self.indexes.index(tx)
        return tuple(index.best(features, now, limit=limit, statuses=in_statuses, categories=in_categories))

    def for_task(
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
        """Patterns that apply to the task, the most similar episodes, and knowledge about it."""
        now = self.clock()
        task_features = given_features(task, features)
        pattern_limit = CONTEXT_PATTERNS if patterns is None else patterns
        applicable = self.find_applicable(task_features, limit=pattern_limit, statuses=statuses)
        query = EpisodeQuery(
            task,
            ALL_EPISODES.replace(tainted=None if tainted else False),
            CONTEXT_EPISODES if episodes is None else episodes,
            task_features.get("domain"),
            words=True,
            cold=False,
        )
        similar = search_episodes(self.scope, self.store, now, query, settings=self.settings, models=self.models)
        knowledge_limit = CONTEXT_KNOWLEDGE if known is None else known
        knowledge = self._search_knowledge(task, ALL_KNOWLEDGE, knowledge_limit, tainted=tainted)
        missing = {**knowledge.missing, **similar.missing}
        return TaskContext(task, task_features, applicable, similar, knowledge, missing)

    def after_failure(
        self,
        error: str,
        *,
        history: Trace = (),
        task: str = "",
        limit: int | None = None,
        statuses: Collection[PatternStatus | str] = IN_USE,
        tainted: bool = False,
        **features: Any,
    ) -> AfterFailure:
        """Recoveries, knowledge, similar failures and usual next steps for an error.

        The last step of `history` is taken to be the one that failed with `error`.
        """
        _require_message(error)
        now, limit = self.clock(), CONTEXT_PATTERNS if limit is None else limit
        trace = _mark_failed(trace_of(history, now), error)
        task_features = FrozenDict(
            {**given_features(task, features), **self._failure_features(error, trace[-1] if trace else None)}
        )
        recoveries = self.find_applicable(task_features, limit=limit, statuses=statuses, categories=_RECOVERY)
        with self.store.reading(self.scope, now) as tx:
            similar = similar_failures(tx, error, limit, tainted=tainted)
        steps = self.next_steps(trace, features=task_features, message=None if trace else error, limit=limit)
        known = self._known_errors(error, limit, tainted=tainted)
        return AfterFailure(error, task_features, recoveries, similar, steps, known)

    def next_steps(
        self, history: Trace, *, features: Mapping[str, Any], message: str | None, limit: int
    ) -> tuple[Suggestion, ...]:
        """The steps that usually follow `history`, likeliest first."""
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; ask for at least one step")
        now = self.clock()
        with self.store.reading(self.scope, now) as tx:
            trace = trace_of(history, now)
            return self.habits.next_steps(tx, trace, features=features, message=message, limit=limit)

    def _failure_features(self, message: str, failed: TraceEntry | None) -> Mapping[str, Any]:
        from treering.patterns.mining.recoveries import failure_features
        from treering.patterns.mining.steps import step_of

        return failure_features(message, None if failed is None else step_of(failed), MINING_LIMITS)

    def _known_errors(self, error: str, limit: int, *, tainted: bool) -> tuple[Hit, ...]:
        """Knowledge about the error, searched by its most specific lines."""
        hits: dict[str, Hit] = {}
        for line in significant_lines(error):
            answer = self._search_knowledge(line, _ABOUT_ERRORS, limit, tainted=tainted, precise=True)
            hits |= {hit.id: hit for hit in answer if hit.id not in hits}
        return tuple(hits.values())[:limit]

    def _search_knowledge(
        self, query: str, where: KnowledgeFilter, limit: int, *, tainted: bool, precise: bool = False
    ) -> Answer:
        filters = current({SearchedKind.KNOWLEDGE: where.replace(tainted=None if tainted else False)})
        request = SearchRequest(query, filters, limit=limit, thorough=False, precise=precise)
        return search(self.scope, self.store, self.clock(), request, settings=self.settings, models=self.models)


def _require_message(error: object) -> None:
    if not isinstance(error, str) or not error.strip():
        raise InvalidInput("the error message is empty; give what the tool or the test printed")


def _mark_failed(trace: tuple[TraceEntry, ...], error: str) -> tuple[TraceEntry, ...]:
    """The trace with its last step marked as failed; a step that already has an error keeps its output."""
    if not trace:
        return ()
    *before, last = trace
    return (*before, last.replace(is_error=True, output=last.output if last.is_error and last.output else error))


def _members(kind: type[E], names: Collection[E | str]) -> frozenset[E]:
    try:
        return frozenset(map(kind, names))
    except ValueError as exc:
        raise InvalidInput(f"{exc}; use {', '.join(each.value for each in kind)}") from exc
