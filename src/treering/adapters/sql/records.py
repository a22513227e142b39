"""Collections: the verbs of the store, once for every kind of record."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, delete, func, insert, select, tuple_
from sqlalchemy.exc import IntegrityError

from treering.adapters.sql.codec import Codec, Encoded, primitive
from treering.adapters.sql.conditions import in_scope, matching
from treering.adapters.sql.context import Context
from treering.adapters.sql.derived import Derivation
from treering.adapters.sql.kinds import AUDIT, Kind
from treering.adapters.sql.pages import sort
from treering.adapters.sql.words import words
from treering.core.errors import Conflict, InvalidInput, NotFound, SecretRefused
from treering.core.history import Action, AuditDetail
from treering.core.queries import Filter, Order, Page
from treering.core.redaction import without_secrets
from treering.core.values import EMPTY, Record
from treering.ports.store import Detail, Match

V = TypeVar("V", bound=Record)
T = TypeVar("T")

# Large enough to make statements cheap, small enough to keep a bulk load's memory flat.
BATCH = 2_000


def batches(items: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


class Records(Generic[V]):
    """Reads records of one kind."""

    def __init__(self, kind: Kind[V], context: Context) -> None:
        self._kind = kind
        self._context = context
        self._table = kind.table
        self._codec = Codec(kind, None if kind.computed else context.settings.store.blob_bytes)

    def get(self, id: str) -> V | None:
        row = self._row(id)
        return None if row is None else self._decode(row)

    def get_many(self, ids: Iterable[str]) -> dict[str, V]:
        found: dict[str, V] = {}
        for batch in batches(dict.fromkeys(ids), 500):
            statement = select(self._table).where(self._visible(), self._table.c.id.in_(batch))
            found |= {row["id"]: self._decode(row) for row in self._context.connection.execute(statement).mappings()}
        return found

    def find(
        self, where: Filter | None = None, *, order: Order | None = None, limit: int = 50, after: str | None = None
    ) -> Page[V]:
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; ask for at least one record")
        sorting = sort(self._kind, order)
        conditions = self._conditions(where)
        if after is not None:
            conditions.append(sorting.past(after))
        statement = select(self._table).where(*conditions).order_by(*sorting.clauses()).limit(limit + 1)
        rows = self._context.connection.execute(statement).mappings().all()
        items = tuple(self._decode(row) for row in rows[:limit])
        return Page(items=items, next=sorting.cursor(rows[limit - 1]) if len(rows) > limit else None)

    def count(self, where: Filter | None = None) -> int:
        statement = select(func.count()).select_from(self._table).where(*self._conditions(where))
        return int(self._context.connection.execute(statement).scalar_one())

    def stream(self, where: Filter | None = None) -> Iterator[V]:
        """Everything, in constant memory and in the kind's own order."""
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

    def search(self, query: str, where: Filter | None = None, *, limit: int = 10) -> Sequence[Match[V]]:
        wanted = words(query)
        if not wanted:
            return ()
        found = self._context.dialect.search(
            self._context.connection, self._kind, wanted, self._conditions(where), limit
        )
        return [Match(self._decode(row), score) for row, score in found]

    def _visible(self) -> ColumnElement[bool]:
        return in_scope(self._kind, self._context.scope)

    def _conditions(self, where: Filter | None) -> list[ColumnElement[bool]]:
        conditions = [self._visible()]
        if where is not None:
            conditions += matching(self._kind, where)
        elif self._kind.deletable:
            conditions.append(self._table.c.deleted_at.is_(None))
        return conditions

    def _row(self, id: str, *, lock: bool = False) -> Mapping[Any, Any] | None:
        statement = select(self._table).where(self._visible(), self._table.c.id == id)
        if lock:
            statement = statement.with_for_update()
        return self._context.connection.execute(statement).mappings().first()

    def _existing(self, id: str) -> V:
        row = self._row(id, lock=True)
        if row is None:
            raise NotFound(f"no {self._kind.name} {id!r} in project {self._context.scope.project!r}")
        return self._decode(row)

    def _decode(self, row: Mapping[Any, Any]) -> V:
        return self._codec.decode(self._context.scope, row, self._context.blobs)


class Writes(Records[V]):
    """What all writing collections share: secrets out first, and derived rows in the same transaction."""

    def __init__(self, kind: Kind[V], context: Context) -> None:
        super().__init__(kind, context)
        self._derivation = Derivation(kind, context)

    def _clean(self, value: V) -> V:
        redacted = without_secrets(value)
        if redacted.kinds and self._context.settings.secrets.on_secret == "refuse":
            raise SecretRefused(f"the text holds a secret ({', '.join(redacted.kinds)}); take it out and try again")
        return redacted.value

    def _encode(self, value: V) -> Encoded:
        return self._codec.encode(self._context.scope, value, self._context.blobs)

    def _insert(self, values: Sequence[V], action: Action, detail: Detail = EMPTY) -> None:
        encoded = [self._encode(value) for value in values]
        try:
            self._context.connection.execute(insert(self._table), [each.row for each in encoded])
        except IntegrityError as exc:
            raise Conflict(self._taken(values)) from exc
        self._derivation.add(list(zip(values, encoded, strict=True)))
        self._log(action, [value.id for value in values], detail)

    def _taken(self, values: Sequence[V]) -> str:
        which = repr(values[0].id) if len(values) == 1 else f"of one among {len(values)} records"
        return f"the {self._kind.name} id {which} is taken; choose another id, or get and update the record"

    def _replace_row(self, value: V, before: V, *, version: int | None = None) -> None:
        columns = self._table.c
        encoded = self._encode(value)
        condition = [self._visible(), columns.id == value.id]
        if version is not None:
            condition.append(columns.version == version)
        changed = self._context.connection.execute(self._table.update().where(*condition).values(encoded.row))
        if changed.rowcount != 1:
            raise Conflict(f"{self._kind.name} {value.id!r} changed meanwhile; read it again and repeat the change")
        self._derivation.remove([(before, self._encode(before))])
        self._derivation.add([(value, encoded)])

    def _log(self, action: Action, ids: Sequence[str], detail: Detail = EMPTY) -> None:
        if self._kind.computed or not self._kind.audited:
            return
        context = self._context
        rest = without_secrets(AuditDetail.make(detail=detail)).value.to_json() if detail else "{}"
        rows = [
            {
                "tenant": context.scope.tenant,
                "project": context.scope.project,
                "id": context.new_id(),
                "at": primitive(context.now),
                "actor": context.scope.principal,
                "action": action.value,
                "kind": self._kind.name,
                "subject": id,
                "rest": rest,
            }
            for id in ids
        ]
        context.connection.execute(insert(AUDIT.table), rows)


class LogRecords(Writes[V]):
    """Appends records."""

    def create(self, value: V, action: Action = Action.CREATE, detail: Detail = EMPTY) -> V:
        stored = self._clean(value)
        self._insert([stored], action, detail)
        return stored

    def create_many(self, values: Iterable[V], action: Action = Action.CREATE) -> int:
        total = 0
        for batch in batches(values):
            self._insert([self._clean(value) for value in batch], action)
            total += len(batch)
        if total >= BATCH:
            self._context.dialect.after_bulk(self._context.connection)
        return total


class DerivedRecords(Writes[V]):
    """Replaces records that were computed again."""

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
            raise InvalidInput("an empty filter would remove everything; say what to remove")
        return int(self._context.connection.execute(delete(self._table).where(*self._conditions(where))).rowcount)
