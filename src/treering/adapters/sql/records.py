"""Collections: the operations of the store, shared by all kinds of records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    Update,
    and_,
    bindparam,
    delete,
    func,
    select,
    true,
    tuple_,
    update,
)
from sqlalchemy.exc import IntegrityError

from treering.adapters.sql.codec import Encoded, Row, codec_of, primitive
from treering.adapters.sql.conditions import in_scope, matching
from treering.adapters.sql.derived import Derivation
from treering.adapters.sql.ids import take_ids
from treering.adapters.sql.kinds import ADDRESSED, AUDIT, RecordKind
from treering.adapters.sql.owners import SHARED, register
from treering.adapters.sql.pages import Sort, sort
from treering.adapters.sql.query_driver import IdentityLookup, choose, only_candidate
from treering.adapters.sql.rows import insert_later, insert_new, insert_rows
from treering.core.errors import BlobMissing, Conflict, InvalidInput, NotFound, SecretRefused, Unreadable, id_taken
from treering.core.history import Action, AuditDetail
from treering.core.queries import Filter, Order, Page
from treering.core.redaction import without_secrets
from treering.core.scope import Visibility
from treering.core.values import EMPTY, Record, Value, is_storable
from treering.ports.collections import Detail, RecordMatch, RecordMatches

if TYPE_CHECKING:
    from treering.adapters.sql.context import ListParameters, TransactionContext

V = TypeVar("V", bound=Record)
W = TypeVar("W", bound=Value)
T = TypeVar("T")

# Large enough for cheap statements, small enough for flat memory in a bulk load.
BATCH = 10_000

_AUDIT = ("tenant", "project", "id", "at", "actor", "action", "kind", "subject", "owner", "visibility", "rest")


def batches(items: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


@dataclass(frozen=True, slots=True)
class StoredRecord(Generic[V]):
    """A record and its stored row."""

    value: V
    encoded: Encoded


class Records(Generic[V]):
    """Reads records of one kind."""

    def __init__(self, kind: RecordKind[V], context: TransactionContext) -> None:
        self._kind = kind
        self._context = context
        self._table = kind.table
        self._codec = codec_of(kind, None if kind.computed else context.settings.store.text_bytes)

    def get(self, id: str) -> V | None:
        row = self._row(id)
        return None if row is None else self._decode(row)

    def get_many(self, ids: Iterable[str]) -> dict[str, V]:
        found: dict[str, V] = {}
        for batch in batches(filter(is_storable, dict.fromkeys(ids)), 500):
            found |= {row["id"]: self._decode(row) for row in self._rows(batch)}
        return found

    def find(
        self, where: Filter | None = None, *, order: Order | None = None, limit: int = 50, after: str | None = None
    ) -> Page[V]:
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; it must be at least 1")
        sorting = sort(self._kind, order)
        rows = self._sorted(where, sorting, limit + 1, after)
        items = tuple(self._decode(row) for row in rows[:limit])
        return Page(items=items, next=sorting.cursor(rows[limit - 1]) if len(rows) > limit else None)

    def readable(self, ids: Iterable[str]) -> RecordMatches[V]:
        rows = [row for batch in batches(filter(is_storable, dict.fromkeys(ids)), 500) for row in self._rows(batch)]
        return self._found([(row, 0.0) for row in rows])

    def newest(self, where: Filter | None = None, *, limit: int = 10) -> RecordMatches[V]:
        rows = self._sorted(where, sort(self._kind, Order(by=self._kind.born)), limit)
        return self._found([(row, row[self._kind.born] / 1_000_000) for row in rows])

    def count(self, where: Filter | None = None) -> int:
        if where is None:
            return int(self._context.connection.execute(_count(self._kind, self._visible())).scalar_one())
        driver = choose(self._context.connection, self._context.scope, self._kind, where)
        conditions = self._conditions(where, driver.field if driver else None)
        statement = select(func.count()).select_from(self._table).where(*conditions)
        if driver:
            statement = driver.narrowed(self._kind, statement)
        return int(self._context.connection.execute(statement).scalar_one())

    def count_by(self, column: str, filters: Sequence[Filter]) -> Mapping[str, Sequence[int]]:
        statement = _count_by(self._kind, self._visible(), column, tuple(filters))
        return {value: counts for value, *counts in self._context.connection.execute(statement)}

    def stream(self, where: Filter | None = None) -> Iterator[V]:
        """All records in constant memory, in the kind's own order."""
        key = [self._table.c[name] for name in self._kind.streamed]
        conditions = self._conditions(where)
        last: list[ColumnElement[bool]] = []
        while True:
            statement = select(self._table).where(*conditions, *last).order_by(*key).limit(BATCH)
            rows = self._context.connection.execute(statement).mappings().all()
            yield from (self._decode(row) for row in rows)
            if len(rows) < BATCH:
                return
            last = [tuple_(*key) > tuple_(*(rows[-1][column] for column in key))]

    def _rows(self, ids: Sequence[str]) -> Sequence[Mapping[Any, Any]]:
        read, name = self._context.ahead.records, self._kind.name
        known = [_parsed(read[name, id]) for id in ids if (name, id) in read]
        missing = [id for id in ids if (name, id) not in read]
        if not missing:
            return known
        lists = self._context.dialect.lists
        statement = _several(self._table, self._visible(), lists)
        return [*known, *self._fetched(statement, {"wanted": lists.bound(missing)})]

    def _sorted(
        self, where: Filter | None, sorting: Sort, limit: int, after: str | None = None
    ) -> Sequence[Mapping[Any, Any]]:
        if self._table.name in self._context.ahead.empty:
            return ()
        lookup, lists = IdentityLookup.of(where) if after is None else None, self._context.dialect.lists
        if lookup is not None:
            statement = lookup.statement(self._kind, self._context.scope, lists, sorting)
            return self._fetched(statement, {"values": lists.bound(lookup.values), "most": limit})
        driver = only_candidate(self._context.scope, self._kind, where)
        if driver is not None and after is None and self._context.dialect.name == "postgresql":
            counting = driver.counted_with_rows(self._kind, self._conditions(where, driver.field), sorting)
            counted = self._context.connection.execute(counting.limit(limit)).mappings().all()
            driver = replace(driver, count=counted[0]["total"])
            if driver.is_rare:
                return [row for row in counted if row["id"] is not None]
        else:
            driver = choose(self._context.connection, self._context.scope, self._kind, where)
        if driver is not None and driver.count == 0 and after is None:
            return ()
        if driver is None and after is None:
            return self._fetched(_first(self._kind, self._visible(), where, sorting.order, limit))
        conditions = self._conditions(where, driver.answers(self._kind, sorting) if driver else None)
        if after is not None:
            conditions.append(sorting.past(after))
        statement = select(self._table).where(*conditions)
        ordered = driver.started(self._kind, statement, sorting) if driver else statement.order_by(*sorting.clauses())
        return self._fetched(ordered.limit(limit))

    def _fetched(self, statement: Select[Any], values: dict[str, Any] | None = None) -> list[Row]:
        """Whole rows as dictionaries, whose look-ups cost a fraction of those of the driver's rows."""
        names = self._table.c.keys()
        rows = self._context.connection.execute(statement, values).all()
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _found(self, rows: Sequence[tuple[Mapping[Any, Any], float]]) -> RecordMatches[V]:
        """Report unreadable records instead of failing."""
        matches, unreadable = list[RecordMatch[V]](), list[str]()
        for row, score in rows:
            try:
                matches.append(RecordMatch(self._decode(row), score))
            except BlobMissing:
                unreadable.append(f"blob of {self._kind.name} {row['id']}")
            except Unreadable:
                unreadable.append(f"{self._kind.name} {row['id']}")
        return RecordMatches(tuple(matches), tuple(unreadable))

    def _visible(self) -> ColumnElement[bool]:
        return in_scope(self._kind, self._context.scope)

    def _conditions(self, where: Filter | None, answered: str | None = None) -> list[ColumnElement[bool]]:
        return _conditions(self._kind, self._visible(), where, answered)

    def _row(self, id: str, *, lock: bool = False) -> Mapping[Any, Any] | None:
        if not is_storable(id):
            return None
        statement = _one(self._table, self._visible(), lock)
        return self._context.connection.execute(statement, {"wanted": id}).mappings().first()

    def _existing(self, id: str) -> StoredRecord[V]:
        row = self._row(id, lock=True)
        if row is None:
            raise NotFound(f"no {self._kind.name} {id!r} in project {self._context.scope.project!r}")
        return StoredRecord(self._decode(row), self._codec.stored(row))

    def _decode(self, row: Mapping[Any, Any]) -> V:
        return self._codec.decode(self._context.scope, row, self._context.blobs)


def _parsed(row: Any) -> Mapping[Any, Any]:
    parsed: Mapping[Any, Any] = json.loads(row) if isinstance(row, str) else row
    return parsed


def _conditions(
    kind: RecordKind[Any], seen: ColumnElement[bool], where: Filter | None, answered: str | None = None
) -> list[ColumnElement[bool]]:
    if where is not None:
        return [seen, *matching(kind, where, answered)]
    return [seen, kind.table.c.deleted_at.is_(None)] if kind.deletable else [seen]


# Conditions of a scope are cached objects, so that they can be a cache key here.
@lru_cache(maxsize=1_000)
def _one(table: Table, seen: ColumnElement[bool], lock: bool) -> Select[Any]:
    """Cached: building a statement costs as much as running it."""
    statement = select(table).where(seen, table.c.id == bindparam("wanted"))
    return statement.with_for_update() if lock else statement


@lru_cache(maxsize=1_000)
def _several(table: Table, seen: ColumnElement[bool], lists: ListParameters) -> Select[Any]:
    return select(table).where(seen, lists.among(table.c.id, "wanted"))


@lru_cache(maxsize=1_000)
def _count(kind: RecordKind[Any], seen: ColumnElement[bool]) -> Select[Any]:
    return select(func.count()).select_from(kind.table).where(*_conditions(kind, seen, None))


# Fewer, because most filters name a session or a time and are not used again; those of rules are used in every context.
@lru_cache(maxsize=100)
def _first(
    kind: RecordKind[Any], seen: ColumnElement[bool], where: Filter | None, order: Order, limit: int
) -> Select[Any]:
    clauses = sort(kind, order).clauses()
    return select(kind.table).where(*_conditions(kind, seen, where)).order_by(*clauses).limit(limit)


@lru_cache(maxsize=100)
def _count_by(
    kind: RecordKind[Any], seen: ColumnElement[bool], column: str, filters: tuple[Filter, ...]
) -> Select[Any]:
    counts = (func.count().filter(and_(true(), *matching(kind, where, every_row=True))) for where in filters)
    return select(kind.table.c[column], *counts).where(seen).group_by(kind.table.c[column])


@lru_cache(maxsize=1_000)
def change_of(table: Table, seen: ColumnElement[bool], versioned: bool) -> Update:
    """Update of the row with id `wanted`; if `versioned`, only of version `read_at`."""
    statement = update(table).where(seen, table.c.id == bindparam("wanted"))
    return statement.where(table.c.version == bindparam("read_at")) if versioned else statement


class Writes(Records[V]):
    """Common part of writing collections: redacts secrets first, and writes derived rows in the same transaction."""

    def __init__(self, kind: RecordKind[V], context: TransactionContext) -> None:
        super().__init__(kind, context)
        self._derivation = Derivation(kind, context)

    def _clean(self, value: V) -> V:
        redacted = self._redacted(value)
        register(self._context, (self._owner(redacted),))
        return redacted

    def _redacted(self, value: W) -> W:
        """A record or a part of one, without secrets."""
        redacted = without_secrets(value)
        if redacted.kinds and self._context.settings.secrets.on_secret == "refuse":
            raise SecretRefused(f"the text contains a secret ({', '.join(redacted.kinds)}); remove it and try again")
        return redacted.value

    def _owner(self, value: Any) -> str:
        """Check that a personal record's owner is its writer, who could not see it otherwise."""
        if not self._kind.personal or value.visibility is not Visibility.PERSONAL:
            return SHARED
        if value.owner != self._context.scope.principal:
            raise InvalidInput(
                f"a personal {self._kind.name} belongs to its writer: the owner is {value.owner!r}, "
                f"but this is {self._context.scope.principal!r}; choose another visibility or owner"
            )
        return str(value.owner)

    def _bulk(self, values: Iterable[V]) -> Iterator[list[V]]:
        """Insert in batches; with more than one, prepare the engine and update its statistics."""
        dialect, connection = self._context.dialect, self._context.connection
        number = 0
        for number, batch in enumerate(batches(values), start=1):
            if number == 2:
                dialect.before_bulk(connection)
            yield batch
        if number > 1:
            dialect.after_bulk(connection)

    def _encode(self, value: V) -> Encoded:
        return self._codec.encode(self._context.scope, value, self._context.blobs)

    def _insert(self, values: Sequence[V], action: Action, detail: Detail = EMPTY) -> None:
        encoded = [self._encode(value) for value in values]
        if not self._inserted([each.row for each in encoded]):
            raise id_taken(*(value.id for value in values))
        self._derivation.add(list(zip(values, encoded, strict=True)))
        self._log(action, values, detail)

    def _new(self, values: Iterable[V]) -> list[V]:
        """Reserve the ids and return the records with their secrets redacted."""
        cleaned = [self._clean(value) for value in values]
        ids = [value.id for value in cleaned]
        if self._kind in ADDRESSED and not take_ids(self._context, ids):
            raise id_taken(*ids)
        return cleaned

    def _inserted(self, rows: Sequence[Row]) -> bool:
        """Roll back partial work, so that the caller can continue after a conflict."""
        connection = self._context.connection
        if len(rows) == 1 and self._kind in ADDRESSED:
            # Its id is taken already, so that its key is new.
            insert_later(connection, self._table, tuple(rows[0]), [tuple(rows[0].values())])
            return True
        if len(rows) == 1:
            return insert_new(connection, self._table, rows[0])
        try:
            with connection.begin_nested():
                insert_rows(connection, self._table, rows)
        except IntegrityError:
            return False
        return True

    def _replace_row(self, value: V, before: StoredRecord[V], *, version: int | None = None) -> None:
        encoded = self._encode(value)
        statement = change_of(self._table, self._visible(), version is not None)
        values = {"wanted": value.id, "read_at": version, **encoded.row}
        changed = self._context.connection.execute(statement, values)
        if changed.rowcount != 1:
            raise Conflict(
                f"{self._kind.name} {value.id!r} was changed concurrently; read it again and repeat the change"
            )
        self._derivation.replace((before.value, before.encoded), (value, encoded))

    def _log(self, action: Action, values: Sequence[Any], detail: Detail = EMPTY) -> None:
        """Audit entries are visible to exactly those who can see the record."""
        if self._kind.computed or not self._kind.audited:
            return
        context, scope = self._context, self._context.scope
        rest = without_secrets(AuditDetail.make(detail=detail)).value.to_json() if detail else "{}"
        shared = (primitive(context.now), scope.principal, action.value, self._kind.name)
        rows = [
            (scope.tenant, scope.project, context.new_id(), *shared, value.id, *self._audience(value), rest)
            for value in values
        ]
        insert_later(context.connection, AUDIT.table, _AUDIT, rows)

    def _audience(self, value: Any) -> tuple[str, str]:
        if self._kind.personal:
            return value.owner, value.visibility.value
        return self._context.scope.principal, Visibility.PROJECT.value


class LogRecords(Writes[V]):
    """Appends records."""

    def create(self, value: V, action: Action = Action.CREATE, detail: Detail = EMPTY) -> V:
        stored = self._new([value])
        self._insert(stored, action, detail)
        return stored[0]

    def create_many(self, values: Iterable[V], action: Action = Action.CREATE) -> int:
        total = 0
        for batch in self._bulk(values):
            self._insert(self._new(batch), action)
            total += len(batch)
        return total


class DerivedRecords(Writes[V]):
    """Replaces recomputed records."""

    def put_many(self, values: Iterable[V]) -> int:
        total = 0
        for batch in batches(values):
            rows = [self._encode(self._clean(value)).row for value in batch]
            statement = self._context.dialect.insert(self._table)
            update = {
                column.name: statement.excluded[column.name] for column in self._table.c if not column.primary_key
            }
            self._context.connection.execute(
                statement.on_conflict_do_update(index_elements=["tenant", "project", "id"], set_=update), rows
            )
            total += len(batch)
        return total

    def remove(self, where: Filter) -> int:
        if where == type(where)():
            raise InvalidInput("an empty filter would remove everything; set at least one condition")
        return int(self._context.connection.execute(delete(self._table).where(*self._conditions(where))).rowcount)
