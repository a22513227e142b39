"""Observed sessions, and their files and words without the remainder of their rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, bindparam, select

from treering.adapters.sql.codec import instant
from treering.adapters.sql.kinds import OBSERVED_SESSIONS
from treering.adapters.sql.records import DerivedRecords
from treering.core.events import SessionType
from treering.core.observations import ObservedSession
from treering.core.past_sessions import PastFile, PastSession, SessionWords

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext

_SESSIONS = OBSERVED_SESSIONS.table.c


class ObservedSessionRecords(DerivedRecords[ObservedSession]):
    def __init__(self, context: TransactionContext) -> None:
        super().__init__(OBSERVED_SESSIONS, context)

    def newest_finished(self, *, limit: int) -> tuple[PastSession, ...]:
        """Reads 400 sessions in a tenth of the time that `find` takes, which checks every value."""
        rows = self._context.connection.execute(_newest(self._visible()), {"most": limit}).all()
        return tuple(_readable(rows[::-1], self._context.scope.principal))


@lru_cache(maxsize=1_000)
def _newest(seen: ColumnElement[bool]) -> Select[Any]:
    finished = select(_SESSIONS.id, _SESSIONS.started_at, _SESSIONS.type, _SESSIONS.owner, _SESSIONS.rest).where(
        seen, _SESSIONS.finished_at.is_not(None)
    )
    return finished.order_by(_SESSIONS.started_at.desc(), _SESSIONS.id.desc()).limit(bindparam("most"))


def _readable(rows: Any, principal: str) -> Iterator[PastSession]:
    """The sessions of the rows, without damaged ones, which `doctor` reports."""
    for id, started_at, type, owner, rest in rows:
        try:
            found = json.loads(rest)
            root = found.get("root", "") if owner == principal else ""
            yield _past_session(id, started_at, type, root, found)
        except (ValueError, TypeError, KeyError, AttributeError):
            continue


def _past_session(id: str, started_at: int, type: str, root: str, rest: Mapping[str, Any]) -> PastSession:
    words = SessionWords.unpacked(rest.get("words", ""))
    files = tuple(
        [PastFile(file["path"], file["reads"], file["edits"], file["first_step"]) for file in rest.get("files", ())]
    )
    prompts = () if words else tuple(rest.get("prompts", ()))
    return PastSession(id, instant(started_at), SessionType(type), prompts, files, words, root)
