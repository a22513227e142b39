"""`memory.episodes`: store, search and maintain task executions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Unpack

from treering.core.errors import InvalidInput
from treering.core.queries import EpisodeFilter, TimeRange
from treering.core.timestamps import timestamp_of
from treering.episodes.search import COMPARED, Compared, EpisodeQuery, check, list_episodes, search_episodes
from treering.episodes.similar_failures import similar_failures
from treering.episodes.time_queries import Moment, around, during, recent, trend

if TYPE_CHECKING:
    from treering.core.episodes import Episode
    from treering.core.fields import EpisodeFields
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.episodes.answer import EpisodeAnswer, FailureAnswer, Trend
    from treering.episodes.operations import EpisodeOperations
    from treering.episodes.storage import Content
    from treering.ports.clock import Clock, NewId
    from treering.ports.models import Models
    from treering.ports.store import Store

ALL_EPISODES = EpisodeFilter()


@dataclass(frozen=True)
class Episodes:
    """One project's episodes. Safe to share between threads."""

    scope: Scope
    store: Store
    clock: Clock
    settings: Settings
    models: Models
    new_id: NewId
    operations: EpisodeOperations

    def __repr__(self) -> str:
        return f"Episodes(project={self.scope.project!r})"

    def add(
        self,
        task: str | Mapping[str, Any],
        *,
        outcome: str | Mapping[str, Any] = "SUCCESS",
        output: str | None = None,
        session: str | None = None,
        at: Moment | None = None,
        id: str | None = None,
        artifacts: Mapping[str, Content] | None = None,
        **fields: Unpack[EpisodeFields],
    ) -> Episode:
        """Store a task execution; `Memory.episode` documents the fields."""
        from treering.episodes.storage import store_episode

        return store_episode(
            self.scope,
            self.store,
            self.clock(),
            self.new_id,
            id=id,
            at=at,
            settings=self.settings,
            artifacts=artifacts or {},
            **{"task": task, "outcome": outcome, "output": output, "session": session, **fields},
        )

    def get(self, id: str) -> Episode:
        """The complete episode, including its parts in the blob store. Counts the access."""
        return self.operations.get(id)

    def artifact(self, id: str, name: str) -> bytes:
        """The bytes of an artifact."""
        return self.operations.artifact(id, name)

    def search(
        self,
        query: str,
        *,
        where: EpisodeFilter = ALL_EPISODES,
        domain: str | None = None,
        limit: int | None = None,
        cold: bool = False,
        least: float = 0.0,
        compare: Compared | None = None,
    ) -> EpisodeAnswer:
        """Search by meaning, words and attributes. A match of `domain` raises the score; others are not excluded.

        The query is compared with the task, the outcome and the whole of each episode, and the nearest counts;
        `compare` chooses one of them.

        Aged and archived episodes are included if they are highly relevant, if `where` names their status, or with
        `cold`. Episodes with less than the share `least` of the query's words, which are not nearly equal in meaning,
        are left out.
        """
        return self._search(query, where, domain, limit, cold=cold, words=True, least=least, compare=compare)

    def search_semantic(
        self,
        query: str,
        *,
        where: EpisodeFilter = ALL_EPISODES,
        domain: str | None = None,
        limit: int | None = None,
        cold: bool = False,
        compare: Compared | None = None,
    ) -> EpisodeAnswer:
        """Search by meaning alone; by words if there are no vectors, which `missing` says."""
        return self._search(query, where, domain, limit, cold=cold, words=False, compare=compare)

    def search_structured(
        self, where: EpisodeFilter = ALL_EPISODES, *, limit: int | None = None, cold: bool = False
    ) -> EpisodeAnswer:
        """Search by attributes alone, newest first."""
        now = self.clock()
        return list_episodes(self.scope, self.store, now, where, self._limit(limit), settings=self.settings, cold=cold)

    def recent(
        self, n: int | None = None, *, sessions: int | None = None, where: EpisodeFilter = ALL_EPISODES
    ) -> EpisodeAnswer:
        """The newest `n`, or those of the last `sessions` sessions."""
        limit = self._limit(n)
        with self.store.reading(self.scope, self.clock()) as tx:
            return recent(tx, where, limit, sessions)

    def around(self, event: Moment, *, sessions: int = 3, limit: int | None = None) -> EpisodeAnswer:
        """Episodes of some sessions before and after a time, or after the record with an id."""
        limit = self.settings.search.limit_max if limit is None else self._limit(limit)
        with self.store.reading(self.scope, self.clock()) as tx:
            return around(tx, event, sessions, limit)

    def during(
        self,
        since: Moment | None = None,
        before: Moment | None = None,
        *,
        where: EpisodeFilter = ALL_EPISODES,
        limit: int | None = None,
    ) -> EpisodeAnswer:
        """Episodes between two times, oldest first; the latest ones if there are more than `limit`."""
        now = self.clock()
        span = TimeRange(
            since=None if since is None else timestamp_of(since, now),
            before=None if before is None else timestamp_of(before, now),
        )
        limit = self.settings.search.limit_max if limit is None else self._limit(limit)
        with self.store.reading(self.scope, now) as tx:
            return during(tx, where.replace(happened=span), limit)

    def trend(
        self, days: int = 30, *, by: str = "domain", every: int = 7, where: EpisodeFilter = ALL_EPISODES
    ) -> tuple[Trend, ...]:
        """Number of episodes and of successes in each period of `every` days, by domain, task_type or tool."""
        with self.store.reading(self.scope, self.clock()) as tx:
            return trend(tx, days=days, by=by, every=every, where=where)

    def similar_failures(self, error: str, *, limit: int | None = None) -> FailureAnswer:
        """Episodes with this failure or a similar one, and how they recovered."""
        limit = self._limit(limit)
        check(error, limit, self.settings)
        with self.store.reading(self.scope, self.clock()) as tx:
            return similar_failures(tx, error, limit)

    def touch(self, id: str) -> Episode:
        """Count and store an access."""
        return self.operations.touch(id)

    def archive_old(
        self, at: datetime | date | str | None = None, *, older_than_days: float | None = None, dry_run: bool = False
    ) -> Mapping[str, int]:
        """Move every episode to the phase of its age; returns the number of moved episodes by phase.

        `older_than_days` overrides the age of archiving in the settings.
        """
        return self.operations.archive_old(at, older_than_days=older_than_days, dry_run=dry_run)

    def consolidate_similar(
        self, at: datetime | date | str | None = None, *, likeness: float | None = None, dry_run: bool = False
    ) -> Mapping[str, int]:
        """Consolidate similar episodes; returns counts.

        `likeness` overrides the minimum cosine in the settings.
        """
        return self.operations.consolidate_similar(at, likeness=likeness, dry_run=dry_run)

    def dissolve(self, id: str) -> tuple[str, ...]:
        """Dissolve a consolidated episode; returns the ids of its members."""
        return self.operations.dissolve(id)

    def purge_deleted(self, retention_days: float | None = None) -> int:
        """Purge episodes forgotten longer ago than this, by default the grace period; returns their number."""
        return self.operations.purge_deleted(retention_days)

    def _search(
        self,
        query: str,
        where: EpisodeFilter,
        domain: str | None,
        limit: int | None,
        *,
        cold: bool,
        words: bool,
        least: float = 0.0,
        compare: Compared | None = None,
    ) -> EpisodeAnswer:
        if compare is not None and compare not in COMPARED:
            raise InvalidInput(f"episodes cannot be compared by {compare!r}; use {', '.join(COMPARED)} or none")
        compared = COMPARED if compare is None else (compare,)
        wanted = EpisodeQuery(query, where, self._limit(limit), domain, words, cold, least, compared)
        return search_episodes(self.scope, self.store, self.clock(), wanted, settings=self.settings, models=self.models)

    def _limit(self, limit: int | None) -> int:
        chosen = self.settings.episodes.limit if limit is None else limit
        check("", chosen, self.settings)
        return chosen
