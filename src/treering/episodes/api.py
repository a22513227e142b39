"""`memory.episodes`: every way to an episode, and what is done with it."""

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
        from treering.episodes.storage import keep_episode

        return keep_episode(
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
        """All of an episode, also where most of it lies in the blob store. The access is counted."""
        return self.operations.get(id)

    def artifact(self, id: str, name: str) -> bytes:
        """What an episode produced, byte for byte."""
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
        """By meaning, words and attributes. `domain` is what the work is about: a match counts, no match excludes.

        The query is compared with the task, the outcome and the whole of each episode, and the nearest counts;
        `compare` chooses one of them.

        Aged and archived episodes come where they are highly relevant, where `where` names their status, or `cold`.
        What holds less than the share `least` of the query's words, and does not say nearly the same, stays out.
        """
        return self._searched(query, where, domain, limit, cold=cold, words=True, least=least, compare=compare)

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
        """By meaning alone, compared as in `search`; by words only where there are no vectors: `missing` says so."""
        return self._searched(query, where, domain, limit, cold=cold, words=False, compare=compare)

    def search_structured(
        self, where: EpisodeFilter = ALL_EPISODES, *, limit: int | None = None, cold: bool = False
    ) -> EpisodeAnswer:
        """By attributes alone, the newest first."""
        most = self._limit(limit)
        now = self.clock()
        return list_episodes(self.scope, self.store, now, where, most, settings=self.settings, cold=cold)

    def recent(
        self, n: int | None = None, *, sessions: int | None = None, where: EpisodeFilter = ALL_EPISODES
    ) -> EpisodeAnswer:
        """The newest `n`, or those of the last so many sessions."""
        most = self._limit(n)
        with self.store.reading(self.scope, self.clock()) as tx:
            return recent(tx, where, most, sessions)

    def around(self, event: Moment, *, sessions: int = 3, limit: int | None = None) -> EpisodeAnswer:
        """What was done some sessions before and after: of a moment, or of what is kept under an id."""
        most = self.settings.recall.limit_max if limit is None else self._limit(limit)
        with self.store.reading(self.scope, self.clock()) as tx:
            return around(tx, event, sessions, most)

    def during(
        self,
        since: Moment | None = None,
        before: Moment | None = None,
        *,
        where: EpisodeFilter = ALL_EPISODES,
        limit: int | None = None,
    ) -> EpisodeAnswer:
        """Between two moments, in the order in which they happened; the latest where there are more than the limit."""
        now = self.clock()
        span = TimeRange(
            since=None if since is None else timestamp_of(since, now),
            before=None if before is None else timestamp_of(before, now),
        )
        most = self.settings.recall.limit_max if limit is None else self._limit(limit)
        with self.store.reading(self.scope, now) as tx:
            return during(tx, where.replace(happened=span), most)

    def trend(
        self, days: int = 30, *, by: str = "domain", every: int = 7, where: EpisodeFilter = ALL_EPISODES
    ) -> tuple[Trend, ...]:
        """How many, and how many with success, in each period of `every` days: by domain, task_type or tool."""
        with self.store.reading(self.scope, self.clock()) as tx:
            return trend(tx, days=days, by=by, every=every, where=where)

    def similar_failures(self, error: str, *, limit: int | None = None) -> FailureAnswer:
        """Episodes that met this failure, or one like it, and how they got out."""
        most = self._limit(limit)
        check(error, most, self.settings)
        with self.store.reading(self.scope, self.clock()) as tx:
            return similar_failures(tx, error, most, self.settings)

    def touch(self, id: str) -> Episode:
        """Count an access, at once."""
        return self.operations.touch(id)

    def archive_old(
        self, at: datetime | date | str | None = None, *, older_than_days: float | None = None, dry_run: bool = False
    ) -> Mapping[str, int]:
        """Move every episode on to the phase of its age; how many reached which is returned.

        `older_than_days` is the age at which one is archived, in the place of the setting.
        """
        return self.operations.archive_old(at, older_than_days=older_than_days, dry_run=dry_run)

    def consolidate_similar(
        self, at: datetime | date | str | None = None, *, likeness: float | None = None, dry_run: bool = False
    ) -> Mapping[str, int]:
        """Make one episode of several alike; what was done is counted.

        `likeness` is the cosine above which two are alike, in the place of the setting.
        """
        return self.operations.consolidate_similar(at, likeness=likeness, dry_run=dry_run)

    def dissolve(self, id: str) -> tuple[str, ...]:
        """Take apart what stands for several episodes; their ids are returned."""
        return self.operations.dissolve(id)

    def purge_deleted(self, retention_days: float | None = None) -> int:
        """Remove for good what was forgotten longer ago than this, or than the grace; how many is returned."""
        return self.operations.purge_deleted(retention_days)

    def _searched(
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
