"""Turns and episodes: appended, never rewritten. Sessions hold the turns."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import case, select

from treering.adapters.sql.codec import primitive
from treering.adapters.sql.context import Context
from treering.adapters.sql.kinds import EPISODES, SESSIONS, TURNS
from treering.adapters.sql.learned import Removals
from treering.adapters.sql.records import LogRecords, Writes
from treering.core.episodes import Episode, EpisodeLifecycle
from treering.core.errors import Conflict
from treering.core.history import Action
from treering.core.turns import Session, Turn
from treering.core.values import EMPTY, is_storable
from treering.ports.store import Detail, Pulse


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

    def pulse(self, id: str) -> Pulse | None:
        if not is_storable(id):
            return None
        stored = self._table.c
        statement = select(stored.version, stored.turns).where(self._visible(), stored.id == id)
        found = self._context.connection.execute(statement).first()
        return None if found is None else Pulse(*found)

    def forget_words_of(self, row: Mapping[Any, Any]) -> None:
        """A turn is taken away: make a new version of its session, which quotes it nowhere."""
        stored = self._row(row["session"], lock=True)
        if stored is not None:
            session = self._decode(stored)
            self.update(session.without_words_of(row["id"], row["seq"]))

    def create_many(self, values: Iterable[Session], action: Action = Action.CREATE) -> int:
        return LogRecords(SESSIONS, self._context).create_many(values, action)

    def update(self, value: Session) -> Session:
        before = self._existing(value.id)
        counted = {"turns": before.value.turns, "last_at": before.value.last_at}
        revised = self._clean(value.replace(version=value.version + 1, **counted))
        self._replace_row(revised, before, version=value.version)
        return revised

    def reserve(self, turns: Sequence[Turn]) -> dict[str, int]:
        """Make room for `turns` in their sessions, opening new ones; the first free place in each is returned."""
        by_session: dict[str, list[Turn]] = defaultdict(list)
        for turn in turns:
            by_session[turn.session].append(turn)
        free: dict[str, int] = {}
        for id, mine in by_session.items():
            session = Session(
                id=id,
                owner=mine[0].owner,
                visibility=mine[0].visibility,
                started_at=min(turn.at for turn in mine),
                last_at=max(turn.at for turn in mine),
                turns=len(mine),
            )
            free[id] = self._grow(session) - len(mine)
        return free

    def _grow(self, session: Session) -> int:
        """Open the session where it is new, then lengthen it; one that this scope does not see stays as it is."""
        stored, last_at = self._table.c, primitive(session.last_at)
        row = self._encode(self._clean(session.replace(turns=0))).row
        opening = self._context.dialect.insert(self._table).values(row)
        self._context.connection.execute(opening.on_conflict_do_nothing(index_elements=["tenant", "project", "id"]))
        lengthening = (
            self._table.update()
            .where(self._visible(), stored.id == session.id)
            .values(
                turns=stored.turns + session.turns,
                last_at=case((stored.last_at < last_at, last_at), else_=stored.last_at),
            )
            .returning(stored.turns)
        )
        total = self._context.connection.execute(lengthening).scalar_one_or_none()
        if total is None:
            raise Conflict(f"the session id {session.id!r} is taken; choose another id")
        return int(total)


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
        for batch in self._bulk(values):
            self._insert(self._place([self._clean(turn) for turn in batch]), action)
            total += len(batch)
        return total

    def purge(self, id: str) -> None:
        """A model that reads in context has heard it in the turns before and after: their vectors are made anew."""
        row = self._locked(id)
        super().purge(id)
        self._derivation.refresh_beside(row["session"], row["seq"])
        self._sessions.forget_words_of(row)

    def _mark(self, row: Mapping[Any, Any], deleted_at: datetime | None, action: Action) -> None:
        super()._mark(row, deleted_at, action)
        self._sessions.forget_words_of(row)

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

    def set_lifecycle(self, id: str, lifecycle: EpisodeLifecycle, *, version: int | None = None) -> Episode:
        before = self._existing(id).value
        if version not in (None, before.version):
            raise Conflict(f"episode {id!r} changed meanwhile; read it again and repeat the change")
        moved = self._clean(before.replace(lifecycle=lifecycle, version=before.version + 1))
        columns: dict[str, Any] = {name: primitive(derive(moved)) for name, derive in EPISODES.derived.items()}
        statement = (
            self._table.update()
            .where(self._visible(), self._table.c.id == id)
            .values(**columns, lifecycle=moved.lifecycle.to_json(), version=moved.version)
        )
        self._context.connection.execute(statement)
        self._log(Action.UPDATE, [moved])
        return moved
