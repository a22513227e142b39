"""Turns and episodes: appended, never rewritten."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from treering.adapters.sql.codec import primitive
from treering.adapters.sql.context import Context
from treering.adapters.sql.kinds import EPISODES, TURNS
from treering.adapters.sql.learned import Removals
from treering.adapters.sql.records import LogRecords
from treering.adapters.sql.sessions import SessionRecords
from treering.core.episodes import Episode, EpisodeLifecycle
from treering.core.errors import Conflict
from treering.core.history import Action
from treering.core.turns import Turn
from treering.core.values import EMPTY
from treering.ports.store import Detail


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

    def _forget_quotations(self, row: Mapping[Any, Any]) -> None:
        self._sessions.forget_words_of(row["id"], row["session"], row["seq"])

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
