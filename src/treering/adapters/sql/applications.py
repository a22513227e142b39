"""Patterns, when they were applied and what came of it, counted by session."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import Integer, case, cast, delete, func, select, update
from sqlalchemy.sql import ColumnElement

from treering.adapters.sql.codec import instant
from treering.adapters.sql.conditions import in_scope
from treering.adapters.sql.context import Context
from treering.adapters.sql.jobs import queue_blob_sweep
from treering.adapters.sql.kinds import APPLICATIONS, EPISODES, PATTERNS
from treering.adapters.sql.learned import LearnedRecords
from treering.adapters.sql.records import LogRecords
from treering.core.episodes import OutcomeStatus
from treering.core.errors import Conflict
from treering.core.history import Action
from treering.core.patterns import Application, Pattern
from treering.core.values import EMPTY
from treering.ports.collections import Detail
from treering.ports.patterns import STAMP_ROOM, Applied, Lately, PatternStamp, Used

_APPLICATIONS, _EPISODES, _PATTERNS = APPLICATIONS.table.c, EPISODES.table.c, PATTERNS.table.c


class PatternRecords(LearnedRecords[Pattern]):
    """Patterns of one project."""

    def __init__(self, context: Context) -> None:
        super().__init__(PATTERNS, context)

    def stamp(self) -> PatternStamp:
        changed = _PATTERNS.updated_at
        columns = func.count(), func.sum(_PATTERNS.version), func.sum(changed % STAMP_ROOM), func.max(changed)
        statement = select(*columns).where(self._visible(), _PATTERNS.deleted_at.is_(None))
        count, versions, moments, newest = self._context.connection.execute(statement).one()
        return PatternStamp(count, int(versions or 0), int(moments or 0), None if newest is None else instant(newest))

    def note(self, value: Pattern) -> Pattern:
        before = self._existing(value.id)
        noted = self._clean(value.replace(updated_at=self._context.now))
        self._replace_row(noted, before, version=value.version)
        queue_blob_sweep(self._context, before.encoded.blobs)
        return noted

    def purge(self, id: str, detail: Detail = EMPTY) -> None:
        super().purge(id, detail)
        ApplicationRecords(self._context).purge_of(id)


class ApplicationRecords(LogRecords[Application]):
    """Applications of one project."""

    def __init__(self, context: Context) -> None:
        super().__init__(APPLICATIONS, context)

    def add(self, application: Application) -> bool:
        if self.get(application.id) is not None:
            return False
        try:
            self._insert([self._clean(application)], Action.CREATE)
        except Conflict:
            # Somebody told of it at the same time.
            return False
        return True

    def applied(self, patterns: Sequence[str] | None = None) -> Iterator[Applied]:
        alone = _APPLICATIONS.session.is_(None)
        # One episode may have followed two patterns that were merged since.
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
        found = self._context.connection.execute(statement)
        for pattern, evidence, is_alone, session, task_type, last, *counts in found:
            yield Applied(pattern, evidence, f"{is_alone} {session}", task_type, instant(last), *counts)

    def used(self, patterns: Sequence[str] | None = None) -> Mapping[str, Used]:
        statement = select(_APPLICATIONS.pattern, func.count(), func.max(_APPLICATIONS.at))
        statement = statement.where(self._visible()).group_by(_APPLICATIONS.pattern)
        if patterns is not None:
            statement = statement.where(_APPLICATIONS.pattern.in_(patterns))
        found = self._context.connection.execute(statement)
        return {pattern: Used(times, instant(last)) for pattern, times, last in found}

    def lately(self, pattern: str, evidence: int, limit: int) -> Lately:
        columns = _APPLICATIONS.episode, _APPLICATIONS.outcome, _APPLICATIONS.time_saved_ms, _APPLICATIONS.cost_saved
        statement = (
            select(*columns)
            .where(self._visible(), _APPLICATIONS.pattern == pattern, _APPLICATIONS.evidence == evidence)
            .order_by(_APPLICATIONS.at.desc(), _APPLICATIONS.id.desc())
            .limit(limit)
        )
        rows = self._context.connection.execute(statement).all()
        known = [(row.episode, row.outcome == OutcomeStatus.SUCCESS.value) for row in rows if row.episode is not None]
        return Lately(
            supporting=tuple(dict.fromkeys(id for id, good in known if good)),
            counter=tuple(dict.fromkeys(id for id, good in known if not good)),
            mean_time_saved_ms=_mean(row.time_saved_ms for row in rows),
            mean_cost_saved=_mean(row.cost_saved for row in rows),
        )

    def outcomes_by_session(self) -> Mapping[str | None, tuple[float, int]]:
        """Of all episodes by task type: the shares that succeeded, added up over sessions, and how many these are.

        What stands for several is left out: they are counted themselves.
        """
        unit = func.coalesce(_EPISODES.session, _EPISODES.id)
        share = func.avg(case((_EPISODES.outcome_status == OutcomeStatus.SUCCESS.value, 1.0), else_=0.0)).label("share")
        ours = in_scope(EPISODES, self._context.scope)
        standing_for_others = select(_EPISODES.consolidated_into).where(ours, _EPISODES.consolidated_into.is_not(None))
        sessions = (
            select(_EPISODES.task_type, share)
            .where(ours, _EPISODES.deleted_at.is_(None), _EPISODES.id.not_in(standing_for_others))
            .group_by(_EPISODES.task_type, unit)
            .subquery()
        )
        by_type = sessions.c.task_type
        statement = select(by_type, func.sum(sessions.c.share), func.count()).group_by(by_type)
        return {type_: (float(shares), int(n)) for type_, shares, n in self._context.connection.execute(statement)}

    def forget_words_of(self, episode: str) -> None:
        """The episode is removed for good: that a pattern was applied stays known, what the task was does not."""
        self._sweep_blobs(_APPLICATIONS.episode == episode)
        # What has no column of its own are the features.
        silent = update(APPLICATIONS.table).where(*self._here(), _APPLICATIONS.episode == episode)
        with self._context.seeing_all():
            self._context.connection.execute(silent.values(episode=None, rest="{}"))

    def purge_of(self, pattern: str) -> None:
        """The pattern is removed for good, and what is known of its applications with it."""
        self._sweep_blobs(_APPLICATIONS.pattern == pattern)
        gone = delete(APPLICATIONS.table).where(*self._here(), _APPLICATIONS.pattern == pattern)
        with self._context.seeing_all():
            self._context.connection.execute(gone)

    def _sweep_blobs(self, condition: ColumnElement[bool]) -> None:
        """Of everybody's: what belongs to somebody else leaves as well."""
        found = select(APPLICATIONS.table).where(*self._here(), condition)
        with self._context.seeing_all():
            rows = self._context.connection.execute(found).mappings().all()
        for row in rows:
            if self._codec.stored(row).blobs:
                queue_blob_sweep(self._context, self._derivation.forget(row["id"]))

    def _here(self) -> tuple[ColumnElement[bool], ...]:
        scope = self._context.scope
        return _APPLICATIONS.tenant == scope.tenant, _APPLICATIONS.project == scope.project


def _mean(values: Iterable[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return sum(known) / len(known) if known else None


def _counted(column: ColumnElement[str], outcome: OutcomeStatus) -> ColumnElement[int]:
    return func.sum(case((column == outcome.value, 1), else_=0))
