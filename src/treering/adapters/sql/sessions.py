"""Sessions: turns, the window of a conversation, and the saved state of a task."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, Table, Update, bindparam, case, or_, select, union_all, update

from treering.adapters.sql.codec import BLOBS, Encoded, codec_of, primitive
from treering.adapters.sql.context import RemovedRow
from treering.adapters.sql.ids import id_row, take_ids
from treering.adapters.sql.jobs import queue_blob_sweep
from treering.adapters.sql.kinds import SESSIONS
from treering.adapters.sql.pending_rows import KEEP_PENDING
from treering.adapters.sql.records import LogRecords, StoredRecord, Writes
from treering.adapters.sql.rows import insert_new
from treering.adapters.sql.tables import ids
from treering.core.errors import BlobMissing, Conflict, Unreadable, id_taken
from treering.core.history import Action
from treering.core.turns import Session, Turn
from treering.core.values import is_storable
from treering.ports.collections import SessionVersion

if TYPE_CHECKING:
    from sqlalchemy.sql.dml import ReturningUpdate

    from treering.adapters.sql.context import TransactionContext

_AT_ONCE = 500
"""Removed records searched in one statement."""
_COLUMNS = SESSIONS.table.c


# Statements are cached by scope: building them costs more than running them.
@lru_cache(maxsize=1_000)
def _pulse(seen: ColumnElement[bool]) -> Select[Any]:
    return select(_COLUMNS.version, _COLUMNS.turns).where(seen, _COLUMNS.id == bindparam("wanted"))


@lru_cache(maxsize=1_000)
def _end(seen: ColumnElement[bool]) -> Update:
    is_open = (seen, _COLUMNS.id == bindparam("wanted"), _COLUMNS.ended_at.is_(None))
    # Waiting for an active session could deadlock: its next turn may end the session opened here.
    free = select(_COLUMNS.id).where(*is_open).with_for_update(skip_locked=True).scalar_subquery()
    return update(SESSIONS.table).where(*is_open, _COLUMNS.id == free).values(ended_at=_COLUMNS.last_at)


@lru_cache(maxsize=1_000)
def _end_others(seen: ColumnElement[bool]) -> ReturningUpdate[Any]:
    others = (seen, _COLUMNS.owner == bindparam("whose"), _COLUMNS.id != bindparam("current"))
    newest = select(_COLUMNS.id).where(*others, _COLUMNS.ended_at.is_(None))
    newest = newest.order_by(_COLUMNS.started_at.desc(), _COLUMNS.id.desc()).limit(bindparam("most"))
    free = newest.with_for_update(skip_locked=True)
    ending = update(SESSIONS.table).where(seen, _COLUMNS.id.in_(free)).values(ended_at=_COLUMNS.last_at)
    return ending.returning(SESSIONS.table)


@lru_cache(maxsize=1_000)
def _lengthening(seen: ColumnElement[bool], reopening: bool) -> ReturningUpdate[Any]:
    until = bindparam("until", type_=_COLUMNS.last_at.type)
    changes = {
        "turns": _COLUMNS.turns + bindparam("more", type_=_COLUMNS.turns.type),
        "last_at": case((_COLUMNS.last_at < until, until), else_=_COLUMNS.last_at),
    }
    statement = update(SESSIONS.table).where(seen, _COLUMNS.id == bindparam("wanted"))
    return statement.values(changes | ({"ended_at": None} if reopening else {})).returning(_COLUMNS.turns)


@lru_cache(maxsize=1_000)
def _placing(insert: Callable[[Table], Any], seen: ColumnElement[bool], reopening: bool) -> Select[Any]:
    """Takes an id, then extends or creates a session. The id comes first: sessions are locked after ids."""
    taking = insert(ids).values({column.name: bindparam(f"taken_{column.name}") for column in ids.c})
    taken = taking.on_conflict_do_nothing().returning(ids.c.digest).cte("taken")
    is_taken = select(taken).exists()
    grown = _lengthening(seen, reopening).where(is_taken).cte("grown")
    row = select(*(bindparam(f"new_{column.name}", type_=column.type) for column in SESSIONS.table.c))
    opening = insert(SESSIONS.table).from_select(list(_COLUMNS.keys()), row.where(is_taken, ~select(grown).exists()))
    opened = opening.on_conflict_do_nothing().returning(_COLUMNS.turns).cte("opened")
    total = union_all(select(grown.c.turns), select(opened.c.turns)).scalar_subquery()
    return select(is_taken, total)


class SessionRecords(Writes[Session]):
    """Sessions of one project."""

    def __init__(self, context: TransactionContext) -> None:
        super().__init__(SESSIONS, context)

    def open(self, session: Session) -> Session:
        existing = self.get(session.id)
        if existing is not None:
            return existing
        stored = self._clean(session)
        self._insert([stored], Action.CREATE)
        return stored

    def current_version(self, id: str) -> SessionVersion | None:
        if not is_storable(id):
            return None
        found = self._context.connection.execute(_pulse(self._visible()), {"wanted": id}).first()
        return None if found is None else SessionVersion(*found)

    def forget_words(self, removed: Sequence[RemovedRow]) -> None:
        """Remove quotations of removed records from sessions. A removed turn increments its session's version."""
        done = set[str]()

        def forget(context: TransactionContext) -> Iterator[str]:
            for row in self._quoting(removed):
                if row["id"] not in done:
                    done.add(row["id"])
                    yield from self._forget_words_in(row, removed)

        queue_blob_sweep(self._context, self._context.for_every_principal(forget))

    def _forget_words_in(self, row: Mapping[Any, Any], removed: Sequence[RemovedRow]) -> tuple[str, ...]:
        """Return the digests of blobs that the session no longer needs."""
        try:
            quoting = self._decode(row)
        except (BlobMissing, Unreadable):
            # An unreadable session cannot be rewritten; `doctor` reports it.
            return ()
        silent = quoting
        for id, session, seq, text in removed:
            own = row["id"] == session
            silent = silent.without_words_of(id, seq if own else None)
            if own and seq is not None:
                silent = silent.replace(taken=silent.taken + 1)
            elif own and text:
                silent = silent.without_task(text)
        if silent == quoting:
            return ()
        return self._rewrite(
            silent.replace(version=quoting.version + 1), StoredRecord(quoting, self._codec.stored(row))
        )

    def _quoting(self, removed: Sequence[RemovedRow]) -> Sequence[Mapping[Any, Any]]:
        """Sessions that name one of the records, in their row or possibly in a blob."""
        stored, scope = self._table.c, self._context.scope
        named = {json.dumps(each.id, ensure_ascii=False)[1:-1] for each in removed} | {BLOBS}
        own = {each.session for each in removed if each.session is not None}
        naming = (stored.id.in_(own), *(stored.rest.contains(each, autoescape=True) for each in sorted(named)))
        here = (stored.tenant == scope.tenant, stored.project == scope.project)
        statement = select(self._table).where(*here, or_(*naming)).order_by(stored.id).with_for_update()
        return self._context.connection.execute(statement).mappings().all()

    def _rewrite(self, session: Session, before: StoredRecord[Session]) -> tuple[str, ...]:
        """Of every owner: a removal applies to all."""
        encoded = self._encode(session)
        stored, scope = self._table.c, self._context.scope
        mine = (stored.tenant == scope.tenant, stored.project == scope.project, stored.id == session.id)
        self._context.connection.execute(self._table.update().where(*mine).values(encoded.row))
        self._derivation.replace((before.value, before.encoded), (session, encoded))
        return before.encoded.blobs

    def create_many(self, values: Iterable[Session], action: Action = Action.CREATE) -> int:
        return LogRecords(SESSIONS, self._context).create_many(values, action)

    def update(self, value: Session) -> Session:
        before = self._existing(value.id)
        counted = {name: getattr(before.value, name) for name in ("turns", "last_at", "taken", "ended_at", "learned")}
        revised = self._clean(value.replace(version=value.version + 1, **counted))
        self._replace_row(revised, before, version=value.version)
        queue_blob_sweep(self._context, before.encoded.blobs)
        return revised

    def end(self, id: str) -> bool:
        return self._context.connection.execute(_end(self._visible()), {"wanted": id}).rowcount == 1

    def end_others(self, current: str, owner: str, *, limit: int) -> Sequence[Session]:
        values = {"whose": owner, "current": current, "most": limit}
        ending = _end_others(self._visible()).execution_options(**KEEP_PENDING)
        ended = self._context.connection.execute(ending, values).mappings().all()
        return [self._decode(row) for row in ended]

    def mark_learned(self, id: str, *, known: int, learned: int) -> bool:
        stored = self._table.c
        reading = self._table.update().where(self._visible(), stored.id == id, stored.learned == known)
        return self._context.connection.execute(reading.values(learned=learned)).rowcount == 1

    def place(self, turn: Turn, *, reopening: bool) -> int:
        """Take the id of a new turn and reserve its position, with one statement if the engine is a server.

        Raises `Conflict`, without any change, if the id is used.
        """
        if self._context.dialect.name == "postgresql":
            session = _session_of([turn])
            opened = {f"new_{name}": value for name, value in self._encoded(session).row.items()}
            taken = {f"taken_{name}": value for name, value in id_row(self._context, turn.id).items()}
            placing = _placing(self._context.dialect.insert, self._visible(), reopening)
            values = taken | opened | self._growth(session)
            is_taken, total = self._context.connection.execute(placing, values).one()
            if total is not None:
                return int(total) - 1
        else:
            is_taken = take_ids(self._context, [turn.id])
        if not is_taken:
            raise id_taken(turn.id)
        return self.reserve([turn], reopening=reopening)[turn.session]

    def reserve(self, turns: Sequence[Turn], *, reopening: bool) -> dict[str, int]:
        """Reserve positions for `turns`, creating missing sessions; return the first free position in each.

        With `reopening`, an ended session is reopened.
        """
        by_session: dict[str, list[Turn]] = defaultdict(list)
        for turn in turns:
            by_session[turn.session].append(turn)
        free: dict[str, int] = {}
        for id, mine in sorted(by_session.items()):
            free[id] = self._grow(_session_of(mine), reopening=reopening) - len(mine)
        return free

    def _grow(self, session: Session, *, reopening: bool) -> int:
        """Extend the session, or create it if missing; one that this scope cannot see stays unchanged."""
        total = self._lengthened(session, reopening)
        if total is None and self._opened(session):
            return session.turns
        # Another transaction may have created it meanwhile.
        total = self._lengthened(session, reopening) if total is None else total
        if total is None:
            raise Conflict(f"the session id {session.id!r} is taken; choose another id")
        return total

    def _lengthened(self, session: Session, reopening: bool) -> int | None:
        lengthening = _lengthening(self._visible(), reopening)
        return self._context.connection.execute(lengthening, self._growth(session)).scalar_one_or_none()

    def _opened(self, session: Session) -> bool:
        return insert_new(self._context.connection, self._table, self._encoded(session).row)

    def _growth(self, session: Session) -> dict[str, object]:
        return {"wanted": session.id, "more": session.turns, "until": primitive(session.last_at)}

    def _encoded(self, session: Session) -> Encoded:
        """A new session has no text, so nothing goes to the blob store."""
        return codec_of(SESSIONS, None).encode(self._context.scope, self._clean(session), self._context.blobs)


def _session_of(turns: Sequence[Turn]) -> Session:
    """The session that these turns begin."""
    return Session(
        id=turns[0].session,
        owner=turns[0].owner,
        visibility=turns[0].visibility,
        started_at=min(turn.at for turn in turns),
        last_at=max(turn.at for turn in turns),
        turns=len(turns),
    )


def forget_quotations(context: TransactionContext) -> None:
    """At the end of a transaction, for all records it removed: sessions are locked after records."""
    for start in range(0, len(context.removed), _AT_ONCE):
        SessionRecords(context).forget_words(context.removed[start : start + _AT_ONCE])
    context.removed.clear()
