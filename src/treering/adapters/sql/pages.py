"""Order and cursors: a page starts strictly after the last row of the previous one, despite concurrent writes."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, and_, or_

from treering.core.errors import InvalidInput
from treering.core.queries import Order
from treering.core.values import is_storable

if TYPE_CHECKING:
    from treering.adapters.sql.kinds import RecordKind

_NO_CURSOR = "that is not a cursor; pass `next` of the page before, unchanged"


@dataclass(frozen=True, slots=True)
class Sort:
    """A validated order."""

    kind: str
    column: ColumnElement[Any]
    id: ColumnElement[str]
    order: Order

    def clauses(self) -> tuple[ColumnElement[Any], ...]:
        if self.order.descending:
            return self.column.desc(), self.id.desc()
        return self.column.asc(), self.id.asc()

    def past(self, cursor: str) -> ColumnElement[bool]:
        """Condition for the rows after `cursor`."""
        value, last = self._read(cursor)
        if self.order.descending:
            return and_(self.column <= value, or_(self.column < value, self.id < last))
        return and_(self.column >= value, or_(self.column > value, self.id > last))

    def cursor(self, row: Any) -> str:
        """Cursor of the page that ends with `row`."""
        return _pack([self.kind, self.order.by, self.order.descending, row[self.order.by], row["id"]])

    def _read(self, cursor: str) -> tuple[Any, str]:
        kind, by, descending, value, last = _unpack(cursor)
        if (kind, by, descending) != (self.kind, self.order.by, self.order.descending):
            raise InvalidInput("the cursor belongs to another query; start again without it")
        if not isinstance(last, str) or not is_storable(last) or not _is_like(value, self.column):
            raise InvalidInput(_NO_CURSOR)
        return value, last


def sort(kind: RecordKind[Any], order: Order | None) -> Sort:
    """Newest first by default."""
    chosen = order or Order(by=kind.born)
    if chosen.by not in kind.orders:
        raise InvalidInput(f"a {kind.name} cannot be ordered by {chosen.by!r}; use one of {', '.join(kind.orders)}")
    return Sort(kind.name, kind.table.c[chosen.by], kind.table.c.id, chosen)


def _pack(stop: list[Any]) -> str:
    text = json.dumps(stop).encode()
    return base64.urlsafe_b64encode(zlib.crc32(text).to_bytes(4, "big") + text).decode()


def _unpack(cursor: str) -> list[Any]:
    try:
        packed = base64.urlsafe_b64decode(cursor.encode())
        stop = json.loads(packed[4:])
    except (ValueError, RecursionError):
        raise InvalidInput(_NO_CURSOR) from None
    if not isinstance(stop, list) or len(stop) != 5 or _pack(stop) != cursor:
        raise InvalidInput(_NO_CURSOR)
    return stop


def _is_like(value: Any, column: ColumnElement[Any]) -> bool:
    """Whether `value` fits `column`, so that a forged cursor cannot make a statement fail."""
    python = column.type.python_type
    if python is int:
        return type(value) is int and -(2**63) <= value < 2**63
    if python is float:
        return type(value) is float and isfinite(value)
    return isinstance(value, str) and is_storable(value)
