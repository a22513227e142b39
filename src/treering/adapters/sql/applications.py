"""Patterns and their applications, with outcomes counted by session."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    case,
    cast,
    delete,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)

from treering.adapters.sql.codec import BLOBS, instant, micros
from treering.adapters.sql.conditions import in_scope
from treering.adapters.sql.jobs import queue_blob_sweep
from treering.adapters.sql.kinds import APPLICATIONS, EPISODES, PATTERNS
from treering.adapters.sql.records import LogRecords
from treering.adapters.sql.revised_records import RevisedRecords
from treering.core.episodes import OutcomeStatus
from treering.core.errors import BlobMissing, Conflict, Unreadable
from treering.core.history import Action
from treering.core.patterns import Application, Pattern
from treering.core.values import EMPTY
from treering.ports.patterns import (
    STAMP_ROOM,
    PatternMark,
    PatternStamp,
    PatternUse,
    RecentApplications,
    SessionOutcomes,
    UsedEpisode,
)

if TYPE_CHECKING:
    from sqlalchemy.sql import ColumnElement

    from treering.adapters.sql.context import TransactionContext
    from treering.ports.collections import Detail

_APPLICATIONS, _EPISODES, _PATTERNS = APPLICATIONS.table.c, EPISODES.table.c, PATTERNS.table.c
_SUCCEEDED = case((_EPISODES.outcome_status == OutcomeStatus.SUCCESS.value, 1), else_=0)
# An episode without a session forms a group of its own, with a prefix that no session has.
_SESSION = case(
    (_EPISODES.session.is_(None), literal_column("'1 '", Text) + _EPISODES.id),
    else_=literal_column("'0 '", Text) + _EPISODES.session,
)


class PatternRecords(RevisedRecords[Pattern]):
    """Patterns of one project."""

    def __init__(self, context: TransactionContext) -> None:
        super().__init__(PATTERNS, context)

    def stamp(self) -> PatternStamp:
        changed = _PATTERNS.updated_at
        columns = func.count(), func.sum(_PATTERNS.version), func.sum(changed % STAMP_ROOM), func.max(changed)
        statement = select(*columns).where(self._visible(), _PATTERNS.deleted_at.is_(None))
        count, versions, moments, newest = self._context.connection.execute(statement).one()
        return PatternStamp(count, int(versions or 0), int(moments or 0), newest)

    def marks(self) -> Mapping[str, PatternMark]:
        statement = select(_PATTERNS.id, _PATTERNS.version, _PATTERNS.updated_at)
        statement = statement.where(self._visible(), _PATTERNS.deleted_at.is_(None))
        return {id: (version, at) for id, version, at in self._context.connection.execute(statement)}

    def note(self, value: Pattern) -> Pattern:
        before = self._existing(value.id)
        noted = self._clean(value.replace(updated_at=self._context.now))
        self._replace_row(noted, before, version=value.version)
        queue_blob_sweep(self._context, before.encoded.blobs)
        return noted

    def purge(self, id: str, detail: Detail = EMPTY) -> None:
        super().purge(id, detail)
        ApplicationRecords(self._context).purge_of(id)

    def forget_episode(self, id: str) -> None:
        """Remove a purged episode from every pattern that names it, of any owner."""
        scope = self._context.scope
        here = _PATTERNS.tenant == scope.tenant, _PATTERNS.project == scope.project
        # Content in a blob may name it, too.
        named = (_PATTERNS.rest.contains(each, autoescape=True) for each in (json.dumps(id, ensure_ascii=False), BLOBS))
        found = select(PATTERNS.table).where(*here, or_(*named)).order_by(_PATTERNS.id).with_for_update()

        def forget(context: TransactionContext) -> Iterator[str]:
            for row in context.connection.execute(found).mappings().all():
                try:
                    pattern, before = self._decode(row), self._codec.stored(row)
                except (BlobMissing, Unreadable):
                    continue
                if (silent := pattern.without_episode(id)) == pattern:
                    continue
                encoded = self._encode(silent.replace(updated_at=self._context.now))
                change = update(PATTERNS.table).where(*here, _PATTERNS.id == pattern.id)
                context.connection.execute(change.values(encoded.row))
                self._derivation.replace((pattern, before), (silent, encoded))
                yield from before.blobs

        queue_blob_sweep(self._context, self._context.for_every_principal(forget))


class ApplicationRecords(LogRecords[Application]):
    """Applications of one project."""

    def __init__(self, context: TransactionContext) -> None:
        super().__init__(APPLICATIONS, context)

    def add(self, application: Application) -> bool:
        if self.get(application.id) is not None:
            return False
        try:
            self._insert([self._clean(application)], Action.CREATE)
        except Conflict:
            # Another transaction stored it at the same time.
            return False
        return True

    def applied(
        self, patterns: Sequence[str] | None = None, *, since: datetime | None = None
    ) -> Iterator[SessionOutcomes]:
        alone = _APPLICATIONS.session.is_(None)
        # One episode may have applied two patterns that have since been merged.
        unit = func.coalesce(_APPLICATIONS.session, _APPLICATIONS.episode, _APPLICATIONS.id)
        groups = (_APPLICATIONS.pattern, _APPLICATIONS.evidence, cast(alone, Integer), unit, _APPLICATIONS.task_type)
        statement = (
            select(
                *groups,
                func.max(_APPLICATIONS.at),
                _counted(_APPLICATIONS.outcome, OutcomeStatus.SUCCESS),
                _counted(_APPLICATIONS.outcome, OutcomeStatus.PARTIAL),
                func.count(),
            )
            .where(self._visible())
            .group_by(*groups)
            .order_by(*groups[:4])
        )
        if patterns is not None:
            statement = statement.where(_APPLICATIONS.pattern.in_(patterns))
        if since is not None:
            statement = statement.where(_APPLICATIONS.at > micros(since))
        found = self._context.connection.execute(statement)
        for pattern, evidence, is_alone, session, task_type, last, *counts in found:
            yield SessionOutcomes(pattern, evidence, f"{is_alone} {session}", task_type, instant(last), *counts)

    def used(self, patterns: Sequence[str] | None = None) -> Mapping[str, PatternUse]:
        statement = _used(self._visible(), patterns is not None)
        found = self._context.connection.execute(statement, {} if patterns is None else {"patterns": patterns})
        return {pattern: PatternUse(times, instant(last)) for pattern, times, last in found}

    def lately(self, parts: Iterable[tuple[str, int]], limit: int) -> RecentApplications:
        columns = _APPLICATIONS.episode, _APPLICATIONS.outcome, _APPLICATIONS.time_saved_ms, _APPLICATIONS.cost_saved
        statement = (
            select(*columns)
            .where(self._visible(), tuple_(_APPLICATIONS.pattern, _APPLICATIONS.evidence).in_(sorted(parts)))
            .order_by(_APPLICATIONS.at.desc(), _APPLICATIONS.id.desc())
            .limit(limit)
        )
        rows = self._context.connection.execute(statement).all()
        known = [(row.episode, row.outcome == OutcomeStatus.SUCCESS.value) for row in rows if row.episode is not None]
        return RecentApplications(
            supporting=tuple(dict.fromkeys(id for id, good in known if good)),
            counter=tuple(dict.fromkeys(id for id, good in known if not good)),
            mean_time_saved_ms=_mean(row.time_saved_ms for row in rows),
            mean_cost_saved=_mean(row.cost_saved for row in rows),
        )

    def used_episodes(self, patterns: Sequence[str] | None = None) -> Iterator[UsedEpisode]:
        told = (
            select(_EPISODES.id, _EPISODES.task_type, _SESSION.label("session"), _SUCCEEDED.label("succeeded"))
            .where(*self._countable())
            .cte("told")
        )
        successes, n = func.sum(told.c.succeeded).label("successes"), func.count().label("n")
        groups = told.c.task_type, told.c.session
        whole = select(*groups, successes, n).group_by(*groups).subquery()
        same_session = and_(whole.c.session == told.c.session, whole.c.task_type.is_not_distinct_from(told.c.task_type))
        statement = (
            select(_APPLICATIONS.pattern, told, whole.c.successes, whole.c.n)
            .join_from(APPLICATIONS.table, told, told.c.id == _APPLICATIONS.episode)
            .join(whole, same_session)
            .where(self._visible())
            .order_by(_APPLICATIONS.pattern)
        )
        if patterns is not None:
            statement = statement.where(_APPLICATIONS.pattern.in_(patterns))
        for pattern, episode, task_type, session, succeeded, *of_session in self._context.connection.execute(statement):
            yield UsedEpisode(pattern, episode, task_type, session, bool(succeeded), *map(int, of_session))

    def outcomes_by_session(self) -> Mapping[str | None, tuple[float, int]]:
        """By task type: the sum over sessions of the share of successful episodes, and the number of sessions.

        What stands for several is left out: they are counted themselves.
        """
        sessions = (
            select(_EPISODES.task_type, func.avg(_SUCCEEDED * 1.0).label("share"))
            .where(*self._countable())
            .group_by(_EPISODES.task_type, _SESSION)
            .subquery()
        )
        by_type = sessions.c.task_type
        statement = select(by_type, func.sum(sessions.c.share), func.count()).group_by(by_type)
        return {type_: (float(shares), int(n)) for type_, shares, n in self._context.connection.execute(statement)}

    def _countable(self) -> tuple[ColumnElement[bool], ...]:
        """Conditions of the episodes that base rates are computed from."""
        ours = in_scope(EPISODES, self._context.scope)
        standing_for_others = select(_EPISODES.consolidated_into).where(ours, _EPISODES.consolidated_into.is_not(None))
        return ours, _EPISODES.deleted_at.is_(None), _EPISODES.id.not_in(standing_for_others)

    def forget_words_of(self, episode: str) -> None:
        """Keep the applications of a purged episode, but remove the features of its task."""
        self._sweep_blobs(_APPLICATIONS.episode == episode)
        # Only the features have no column of their own.
        silent = update(APPLICATIONS.table).where(*self._here(), _APPLICATIONS.episode == episode)
        self._context.execute_for_all(silent.values(episode=None, rest="{}"))

    def purge_of(self, pattern: str) -> None:
        """Purge all applications of a purged pattern."""
        self._sweep_blobs(_APPLICATIONS.pattern == pattern)
        gone = delete(APPLICATIONS.table).where(*self._here(), _APPLICATIONS.pattern == pattern)
        self._context.execute_for_all(gone)

    def _sweep_blobs(self, condition: ColumnElement[bool]) -> None:
        """Queue the removal of the blobs, of every owner."""
        found = select(APPLICATIONS.table).where(*self._here(), condition)

        def forget(context: TransactionContext) -> Iterator[str]:
            for row in context.connection.execute(found).mappings().all():
                if self._codec.stored(row).blobs:
                    yield from self._derivation.forget(row["id"])

        queue_blob_sweep(self._context, self._context.for_every_principal(forget))

    def _here(self) -> tuple[ColumnElement[bool], ...]:
        scope = self._context.scope
        return _APPLICATIONS.tenant == scope.tenant, _APPLICATIONS.project == scope.project


def _mean(values: Iterable[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return sum(known) / len(known) if known else None


# Conditions of a scope are cached objects, so that they can be a cache key here.
@lru_cache(maxsize=1_000)
def _used(seen: ColumnElement[bool], some: bool) -> Select[Any]:
    """Cached: building a statement costs as much as running it."""
    statement = select(_APPLICATIONS.pattern, func.count(), func.max(_APPLICATIONS.at)).where(seen)
    if some:
        statement = statement.where(_APPLICATIONS.pattern.in_(bindparam("patterns", expanding=True)))
    return statement.group_by(_APPLICATIONS.pattern)


def _counted(column: ColumnElement[str], outcome: OutcomeStatus) -> ColumnElement[int]:
    return func.sum(case((column == outcome.value, 1), else_=0))
