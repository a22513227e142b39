"""Turns and episodes: appended, never rewritten. Sessions hold the turns."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import case, func, select

from treering.adapters.sql.codec import primitive
from treering.adapters.sql.context import Context
from treering.adapters.sql.kinds import EPISODES, SESSIONS, TURNS
from treering.adapters.sql.learned import Removals
from treering.adapters.sql.records import BATCH, LogRecords, Writes, batches
from treering.core.episodes import Episode, EpisodeLifecycle
from treering.core.errors import Conflict
from treering.core.history import Action
from treering.core.turns import Session, Turn
from treering.core.values import EMPTY
from treering.ports.store import Detail


class SessionRecords(Writes[Session]):
    """Sessions of one project."""

    def __init__(self, context: Context) -> None:
        super().__init__(SESSIONS, context)

    def open(self, session: Session) -> Session:
        existing = self.get(session.id)
        if existing is not None:
            return existing
        stored = self._clean(session)
        self._insert([stored], Action.CREATE)
        return stored

    def create_many(self, values: Iterable[Session], action: Action = Action.CREATE) -> int:
        return LogRecords(SESSIONS, self._context).create_many(values, action)

    def update(self, value: Session) -> Session:
        before = self._existing(value.id)
        revised = self._clean(value.replace(version=value.version + 1, turns=before.turns, last_at=before.last_at))
        self._replace_row(revised, before, version=value.version)
        return revised

    def reserve(self, turns: Sequence[Turn]) -> dict[str, int]:
        """Make room for `turns` in their sessions, opening new ones; the first free place in each is returned."""
        free: dict[str, int] = {}
        for id, count in Counter(turn.session for turn in turns).items():
            mine = [turn for turn in turns if turn.session == id]
            session = Session(
                id=id,
                owner=mine[0].owner,
                visibility=mine[0].visibility,
                started_at=min(turn.at for turn in mine),
                last_at=max(turn.at for turn in mine),
                turns=count,
            )
            free[id] = self._grow(session) - count
        return free

    def _grow(self, session: Session) -> int:
        self._refuse_foreign(session)
        stored = self._table.c
        statement = self._context.dialect.insert(self._table).values(self._encode(self._clean(session)).row)
        new = statement.excluded
        statement = statement.on_conflict_do_update(
            index_elements=["tenant", "project", "id"],
            set_={
                "turns": stored.turns + new.turns,
                "last_at": case((new.last_at > stored.last_at, new.last_at), else_=stored.last_at),
            },
        ).returning(stored.turns)
        return int(self._context.connection.execute(statement).scalar_one())

    def _refuse_foreign(self, session: Session) -> None:
        stored = self._table.c
        scope = self._context.scope
        statement = select(func.count()).where(
            stored.tenant == scope.tenant, stored.project == scope.project, stored.id == session.id, ~self._visible()
        )
        if self._context.connection.execute(statement).scalar_one():
            raise Conflict(f"the session id {session.id!r} is taken; choose another id")


class TurnRecords(LogRecords[Turn], Removals[Turn]):
    """Turns of one project, each at its place in its session."""

    def __init__(self, context: Context) -> None:
        super().__init__(TURNS, context)
        self._sessions = SessionRecords(context)

    def create(self, value: Turn, action: Action = Action.CREATE, detail: Detail = EMPTY) -> Turn:
        stored = self._place([self._clean(value)])
        self._insert(stored, action, detail)
        return stored[0]

    def create_many(self, values: Iterable[Turn], action: Action = Action.CREATE) -> int:
        total = 0
        for batch in batches(values):
            self._insert(self._place([self._clean(turn) for turn in batch]), action)
            total += len(batch)
        if total >= BATCH:
            self._context.dialect.after_bulk(self._context.connection)
        return total

    def _place(self, turns: Sequence[Turn]) -> list[Turn]:
        free = self._sessions.reserve(turns)
        placed = []
        for turn in turns:
            placed.append(turn.replace(seq=free[turn.session]))
            free[turn.session] += 1
        return placed


class EpisodeRecords(LogRecords[Episode], Removals[Episode]):
    """Episodes of one project: their content stays, their lifecycle moves on."""

    def __init__(self, context: Context) -> None:
        super().__init__(EPISODES, context)

    def set_lifecycle(self, id: str, lifecycle: EpisodeLifecycle) -> Episode:
        before = self._existing(id)
        moved = before.replace(lifecycle=lifecycle, version=before.version + 1)
        columns: dict[str, Any] = {name: primitive(derive(moved)) for name, derive in EPISODES.derived.items()}
        statement = (
            self._table.update()
            .where(self._visible(), self._table.c.id == id)
            .values(**columns, lifecycle=lifecycle.to_json(), version=moved.version)
        )
        self._context.connection.execute(statement)
        self._log(Action.UPDATE, [id])
        return moved
