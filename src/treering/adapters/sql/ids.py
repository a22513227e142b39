"""Ids that are taken: one names one record of a project, whatever its kind, its owner and who sees it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError

from treering.adapters.sql.rows import insert_new, insert_tuples
from treering.adapters.sql.tables import ids

if TYPE_CHECKING:
    from treering.adapters.sql.context import Context

_COLUMNS = ("tenant", "project", "digest")
_DIGEST_BYTES = 16


def digest_of_id(id: str) -> bytes:
    """Stored instead of the id, which may hold words of a personal record."""
    return sha256(id.encode()).digest()[:_DIGEST_BYTES]


def take_ids(context: Context, wanted: Sequence[str]) -> bool:
    """Take ids for new records; False if one of them is taken, and then nothing has changed.

    A transaction that is about to take the same id is waited for.
    """
    rows = _rows(context, wanted)
    if len(rows) == 1 == len(wanted):
        return insert_new(context.connection, ids, dict(zip(_COLUMNS, rows[0], strict=True)))
    if len(rows) < len(wanted):
        return False
    try:
        with context.connection.begin_nested():
            insert_tuples(context.connection, ids, _COLUMNS, rows)
    except IntegrityError:
        return False
    return True


def retake_ids(context: Context, found: Sequence[str]) -> None:
    """Take the ids of records that are stored already."""
    values = [dict(zip(_COLUMNS, row, strict=True)) for row in _rows(context, found)]
    if values:
        context.connection.execute(context.dialect.insert(ids).on_conflict_do_nothing(), values)


def free_id(context: Context, id: str) -> None:
    """Let an id be used again, once its record is removed for good."""
    tenant, project, digest = _rows(context, (id,))[0]
    here = (ids.c.tenant == tenant, ids.c.project == project)
    context.connection.execute(delete(ids).where(*here, ids.c.digest == digest))


def _rows(context: Context, names: Iterable[str]) -> list[tuple[str, str, bytes]]:
    """In order, so that two transactions which take the same ids do not wait for each other."""
    scope = context.scope
    return sorted({(scope.tenant, scope.project, digest_of_id(name)) for name in names})
