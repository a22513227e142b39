"""Used ids: an id identifies one record of a project, regardless of kind, owner and visibility."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError

from treering.adapters.sql.rows import insert_new, insert_tuples
from treering.adapters.sql.tables import ids

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext

_COLUMNS = ("tenant", "project", "digest")
_DIGEST_BYTES = 16


def digest_of_id(id: str) -> bytes:
    """Digest that is stored instead of the id, which may contain words of a personal record."""
    return sha256(id.encode()).digest()[:_DIGEST_BYTES]


def take_ids(context: TransactionContext, wanted: Sequence[str]) -> bool:
    """Reserve ids for new records; False, without any change, if one of them is used.

    A transaction that is about to take the same id is waited for.
    """
    rows = _rows(context, wanted)
    if len(rows) == 1 == len(wanted):
        return insert_new(context.connection, ids, id_row(context, wanted[0]))
    if len(rows) < len(wanted):
        return False
    try:
        with context.connection.begin_nested():
            insert_tuples(context.connection, ids, _COLUMNS, rows)
    except IntegrityError:
        return False
    return True


def id_row(context: TransactionContext, id: str) -> dict[str, object]:
    """The row that reserves an id."""
    return dict(zip(_COLUMNS, _rows(context, (id,))[0], strict=True))


def retake_ids(context: TransactionContext, found: Sequence[str]) -> None:
    """Reserve the ids of stored records."""
    values = [dict(zip(_COLUMNS, row, strict=True)) for row in _rows(context, found)]
    if values:
        context.connection.execute(context.dialect.insert(ids).on_conflict_do_nothing(), values)


def free_id(context: TransactionContext, id: str) -> None:
    """Release the id of a purged record."""
    tenant, project, digest = _rows(context, (id,))[0]
    here = (ids.c.tenant == tenant, ids.c.project == project)
    context.connection.execute(delete(ids).where(*here, ids.c.digest == digest))


def _rows(context: TransactionContext, names: Iterable[str]) -> list[tuple[str, str, bytes]]:
    """Sorted, so that two transactions reserving the same ids cannot deadlock."""
    scope = context.scope
    return sorted({(scope.tenant, scope.project, digest_of_id(name)) for name in names})
