"""Order and cursors: a page starts strictly after the last row of the one before it, whatever was written between."""

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, or_

from treering.adapters.sql.kinds import Kind
from treering.core.errors import InvalidInput
from treering.core.queries import Order


@dataclass(frozen=True, slots=True)
class Sort:
    """A checked order."""

    column: ColumnElement[Any]
    id: ColumnElement[str]
    order: Order

    def clauses(self) -> tuple[ColumnElement[Any], ...]:
        if self.order.descending:
            return self.column.desc(), self.id.desc()
        return self.column.asc(), self.id.asc()

    def past(self, cursor: str) -> ColumnElement[bool]:
        """Everything that comes after `cursor`."""
        value, last = _decode(cursor, self.order)
        if self.order.descending:
            return and_(self.column <= value, or_(self.column < value, self.id < last))
        return and_(self.column >= value, or_(self.column > value, self.id > last))

    def cursor(self, row: Any) -> str:
        """Where the page that ends with `row` stops."""
        stop = [self.order.by, self.order.descending, row[self.order.by], row["id"]]
        return base64.urlsafe_b64encode(json.dumps(stop).encode()).decode()


def sort(kind: Kind[Any], order: Order | None) -> Sort:
    """By default the newest first."""
    chosen = order or Order(by=kind.born)
    if chosen.by not in kind.orders:
        raise InvalidInput(f"a {kind.name} cannot be ordered by {chosen.by!r}; use one of {', '.join(kind.orders)}")
    return Sort(kind.table.c[chosen.by], kind.table.c.id, chosen)


def _decode(cursor: str, order: Order) -> tuple[Any, str]:
    try:
        by, descending, value, last = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, binascii.Error, UnicodeError):
        raise InvalidInput("that is not a cursor; pass `next` of the page before, unchanged") from None
    expected = str if order.by == "name" else (int, float)
    if not isinstance(last, str) or not isinstance(value, expected):
        raise InvalidInput("that is not a cursor; pass `next` of the page before, unchanged")
    if (by, descending) != (order.by, order.descending):
        raise InvalidInput("that cursor belongs to another order; start again without it")
    return value, last
