"""Words of the server engine's documents: one row per document and code.

Personal documents have codes of their own, so that queries of other principals neither find nor count them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy.dialects import postgresql

from treering.adapters.sql.pending_rows import pending_rows
from treering.adapters.sql.rows import json_rows, json_statement
from treering.adapters.sql.tables import documents
from treering.core.language.terms import code_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

_COLUMNS = tuple(column.name for column in documents.c if column.name != "number")
_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]
_ARRAYS = ", ".join(f"%s::{documents.c[name].type.compile(_DIALECT).split(' COLLATE')[0]}[]" for name in _COLUMNS)
_DOCUMENTS = (
    f"INSERT INTO documents ({', '.join(_COLUMNS)}) SELECT * FROM unnest({_ARRAYS}) "
    "RETURNING tenant, project, kind, id, number"
)
_POSTINGS = """
    INSERT INTO postings (tenant, project, code, number, count, kind, length)
    SELECT tenant, project, code, number, count, of_kind, length
    FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[]) AS held (code, number, count)
    JOIN unnest(%s::bigint[], %s::text[], %s::text[], %s::smallint[], %s::integer[])
        AS holding (number, tenant, project, of_kind, length) USING (number)
"""
_NEW_DOCUMENT = f"{json_statement(documents, _COLUMNS)} RETURNING tenant, project, number, length"
# The words of a single new document, in the statement that inserts the document.
_NEW_WORDS = """
    INSERT INTO postings (tenant, project, code, number, count, kind, length)
    SELECT tenant, project, code, number, count, %s::smallint, length
    FROM new_document_{0}, unnest(%s::bigint[], %s::smallint[]) AS held (code, count)
"""
_AFTER = """
    SELECT * FROM documents WHERE tenant = %s AND project = %s AND owner = %s AND number > %s ORDER BY number LIMIT 2000
"""
_EMPTIED = "DELETE FROM postings WHERE tenant = %s AND project = %s AND code >= %s AND code < %s"
_REMOVED = """
    DELETE FROM postings USING unnest(%s::bigint[], %s::bigint[]) AS gone (code, number)
    WHERE tenant = %s AND project = %s AND postings.code = gone.code AND postings.number = gone.number
"""
_COUNTED = """
    SELECT code, (
        SELECT count(*) FROM (
            SELECT FROM postings WHERE tenant = %s AND project = %s AND postings.code = wanted.code LIMIT %s
        ) AS met
    ) FROM unnest(%s::bigint[]) AS wanted (code)
"""
_HOLDING = """
    SELECT wanted.code, array_send(array_agg(number)), array_send(array_agg(detail))
    FROM unnest(%s::bigint[]) AS wanted (code) CROSS JOIN LATERAL (
        SELECT number, (length::bigint << 24) | (kind::bigint << 8) | count AS detail FROM postings
        WHERE tenant = %s AND project = %s AND postings.code = wanted.code ORDER BY number DESC LIMIT %s
    ) AS held GROUP BY wanted.code
"""
_DISTINCT = """
    SELECT count(DISTINCT number) FROM postings WHERE tenant = %s AND project = %s AND code = ANY(%s::bigint[])
"""
# A binary array starts with its dimensions; each element follows its size.
_HEADER = 20
_WHOLE, _REAL = (np.dtype([("size", ">i4"), ("value", kind)]) for kind in (">i8", ">f8"))


def code_in(owner: str, code: int) -> int:
    """Code of a word in the documents of one owner, or in shared ones."""
    if not owner:
        return code
    whose = int.from_bytes(sha256(owner.encode()).digest()[:4], "big") & 0x7FFF_FFFF
    return max(whose, 1) << 32 | code


def owner_in(code: int) -> int:
    """The owner's part of a code; 0 for shared documents."""
    return code >> 32


def kind_number(kind: str) -> int:
    """Stable across versions."""
    return code_of(kind) & 0x7FFF


def add_documents(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert missing documents, and their words."""
    if not rows:
        return
    if len(rows) == 1:
        codes, _, counts = _held([(0, rows[0])])
        document = json_rows(_COLUMNS, [tuple(rows[0][name] for name in _COLUMNS)])
        inserts = (("new_document_{0}", _NEW_DOCUMENT), ("new_words_{0}", _NEW_WORDS))
        words = (kind_number(rows[0]["kind"]), codes.tolist(), counts.tolist())
        pending_rows(connection).add(*inserts, values=(document, *words))
        return
    columns = tuple([row[name] for row in rows] for name in _COLUMNS)
    given = connection.exec_driver_sql(_DOCUMENTS, columns)
    numbers = {(tenant, project, kind, id): number for tenant, project, kind, id, number in given}
    numbered = [(numbers[row["tenant"], row["project"], row["kind"], row["id"]], row) for row in rows]
    _add_words(connection, numbered)


def restore_words(connection: Connection, here: tuple[str, str], owner: str) -> None:
    """Rebuild the words of the project's shared documents, or of those of one owner."""
    first = code_in(owner, 0)
    codes = (first, first + 2**32)
    connection.exec_driver_sql(_EMPTIED, (*here, *codes))
    last = 0
    while rows := connection.exec_driver_sql(_AFTER, (*here, owner, last)).mappings().all():
        _add_words(connection, [(row["number"], row) for row in rows])
        last = rows[-1]["number"]


def _add_words(connection: Connection, numbered: Sequence[tuple[int, Any]]) -> None:
    codes, holding, counts = _held(numbered)
    listed = [
        (number, row["tenant"], row["project"], kind_number(row["kind"]), row["length"]) for number, row in numbered
    ]
    held = (codes.tolist(), holding.tolist(), counts.tolist())
    connection.exec_driver_sql(_POSTINGS, (*held, *map(list, zip(*listed, strict=True))))


def remove_words(connection: Connection, here: tuple[str, str], removed: Sequence[tuple[int, Any]]) -> None:
    """Remove the words of documents, given by number, owner, codes and counts."""
    codes, numbers, _ = _held(removed)
    connection.exec_driver_sql(_REMOVED, (codes.tolist(), numbers.tolist(), *here))


def _held(
    numbered: Sequence[tuple[int, Any]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """Codes, numbers and counts in index order, so that a batch touches each page once."""
    codes = [np.frombuffer(row["codes"], "<u4").astype(np.int64) | code_in(row["owner"], 0) for _, row in numbered]
    numbers = np.repeat([number for number, _ in numbered], [len(each) for each in codes]).astype(np.int64)
    counts = np.frombuffer(b"".join(row["counts"] for _, row in numbered), np.uint8)
    together = np.concatenate(codes or [np.empty(0, np.int64)])
    order = np.lexsort((numbers, together))
    return together[order], numbers[order], counts[order]


def counted(connection: Connection, here: tuple[str, str], codes: Sequence[int], limit: int) -> Mapping[int, int]:
    """Document frequency of each code, counted up to `limit`."""
    if not codes:
        return {}
    found = connection.exec_driver_sql(_COUNTED, (*here, limit, list(codes)))
    return {int(code): int(count) for code, count in found}


def holding_any(connection: Connection, here: tuple[str, str], codes: Sequence[int]) -> int:
    return int(connection.exec_driver_sql(_DISTINCT, (*here, list(codes))).scalar_one())


class WordPostings:
    """Documents that contain a code, newest first: numbers, kinds, lengths and counts."""

    def __init__(self, number: NDArray[np.int64], detail: NDArray[np.int64]) -> None:
        self.number = number
        self.detail = detail
        self.length = detail >> 24
        self.kind = detail >> 8 & 0x7FFF
        self.count = detail & 0xFF


def holding(
    connection: Connection, here: tuple[str, str], codes: Sequence[int], limit: int
) -> Mapping[int, WordPostings]:
    """The newest `limit` documents for each code."""
    if not codes:
        return {}
    found = connection.exec_driver_sql(_HOLDING, (list(codes), *here, limit))
    return {code: WordPostings(read_array(numbers), read_array(details)) for code, numbers, details in found}


def read_array(sent: bytes | None) -> NDArray[np.int64]:
    """Decode `array_send` output of BIGINT."""
    return np.frombuffer(sent or bytes(_HEADER), _WHOLE, offset=_HEADER)["value"].astype(np.int64)


def read_reals(sent: bytes | None) -> NDArray[np.float64]:
    """Decode `array_send` output of DOUBLE PRECISION."""
    return np.frombuffer(sent or bytes(_HEADER), _REAL, offset=_HEADER)["value"].astype(np.float64)
