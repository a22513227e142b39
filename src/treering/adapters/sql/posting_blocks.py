"""Words of the server engine's documents: blocks of up to 180 documents per code, and single rows of new documents.

`postings` has a row for each word of a new document, so that writers do not wait for each other. A background step
moves these rows to `posting_blocks`, which take a fraction of the space. If the words of a removed document are in
blocks, a row with a count of 0 cancels each of them until the next such step; a purge does not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

BULK = 500
"""Documents stored at once whose words go to blocks immediately."""
DUE = 10_000
"""Rows of `postings` in a project from which on they are moved."""
CHECKED_EVERY = 64
"""Documents after which a background step counts the rows again."""
# Five rows with this many documents fill a page, and none is large enough for TOAST.
BLOCK = 180
# Newest blocks of a code that are filled up if they have room.
_REOPENED = 8

# A posting in a block: the lower bits of a document's number, its length, its kind, and how often it has the word. The
# upper bits of the number are those of the first document of the block.
_NUMBER_BITS, _DETAIL_BITS, LENGTH_SHIFT, KIND_SHIFT = 22, 41, 23, 8
_DETAIL = (1 << _DETAIL_BITS) - 1
_LOW_BITS = (1 << _NUMBER_BITS) - 1

# A binary array starts with its dimensions; each element follows its size.
ARRAY_HEADER = 20
_WHOLE = np.dtype([("size", ">i4"), ("value", ">i8")])

_HERE = "tenant = %(tenant)s AND project = %(project)s"
DETAIL = f"((length::bigint << {LENGTH_SHIFT}) | (kind::bigint << {KIND_SHIFT}) | count)"
"""Length, kind and count of a row of `postings` as one number."""
_NUMBER = f"(first >> {_NUMBER_BITS} << {_NUMBER_BITS}) + (posting >> {_DETAIL_BITS})"

HELD = f"""(
    (SELECT coalesce(sum(held), 0) FROM posting_blocks WHERE {_HERE} AND posting_blocks.code = {{code}})
    + (SELECT coalesce(sum(CASE count WHEN 0 THEN -1 ELSE 1 END), 0) FROM postings
        WHERE {_HERE} AND postings.code = {{code}})
)"""
"""Number of documents with a code."""
DISTINCT = f"""(
    SELECT count(DISTINCT number) FROM (
        SELECT {_NUMBER} AS number FROM posting_blocks CROSS JOIN unnest(postings) AS posting
        WHERE {_HERE} AND code = ANY({{codes}})
        UNION ALL SELECT number FROM postings WHERE {_HERE} AND code = ANY({{codes}}) AND count > 0
    ) AS every WHERE number NOT IN (SELECT number FROM postings WHERE {_HERE} AND code = ANY({{codes}}) AND count = 0)
)"""
"""Number of documents with any of several codes."""
# Of a code with more than `most` documents, the newest blocks with that many.
READ = f"""
    (
        SELECT array_send(array_agg(read.code)), array_send(array_agg(first)), array_send(array_agg(held::bigint)),
            string_agg(array_send(postings), '')
        FROM {{codes}} AS read CROSS JOIN LATERAL (
            SELECT first, held, postings, sum(held) OVER (ORDER BY first DESC) - held AS newer FROM posting_blocks
            WHERE {_HERE} AND posting_blocks.code = read.code
        ) AS latest WHERE newer < %(most)s
    ) AS blocks, (
        SELECT array_send(array_agg(read.code)), array_send(array_agg(number)), array_send(array_agg(detail))
        FROM {{codes}} AS read CROSS JOIN LATERAL (
            SELECT number, {DETAIL} AS detail FROM postings
            WHERE {_HERE} AND postings.code = read.code ORDER BY number DESC LIMIT %(most)s
        ) AS latest
    ) AS new_words
"""
"""Postings of codes, for `read_postings`."""
_IN_BLOCKS = f"""
    INSERT INTO posting_blocks (tenant, project, code, first, last, held, postings)
    SELECT %(tenant)s, %(project)s, code, min(number), max(number), count(*),
        array_agg(((number & {_LOW_BITS}) << {_DETAIL_BITS}) | detail ORDER BY number)
    FROM (
        SELECT code, number, detail,
            (row_number() OVER (PARTITION BY code, number >> {_NUMBER_BITS} ORDER BY number) - 1) / {BLOCK} AS place
        FROM {{every}}
    ) AS placed GROUP BY code, number >> {_NUMBER_BITS}, place
"""
_ADDED = _IN_BLOCKS.format(
    every="unnest(%(codes)s::bigint[], %(numbers)s::bigint[], %(details)s::bigint[]) AS added (code, number, detail)"
)
_REMOVED = f"""
    WITH removed AS MATERIALIZED (
        SELECT * FROM unnest(%(codes)s::bigint[], %(numbers)s::bigint[]) AS removed (code, number)
    ), found AS (
        DELETE FROM postings USING removed
        WHERE {_HERE} AND postings.code = removed.code AND postings.number = removed.number
        RETURNING postings.code, postings.number
    )
    INSERT INTO postings (tenant, project, code, number, count, kind, length)
    SELECT %(tenant)s, %(project)s, code, number, 0, 0, 0 FROM (
        SELECT code, number FROM removed EXCEPT SELECT code, number FROM found
    ) AS in_blocks
"""
_LOCK = "hashtextextended(%(lock)s, 0)"
_LOCKED_IF_DUE = f"""
    SELECT CASE WHEN (SELECT count(*) FROM (SELECT FROM postings WHERE {_HERE} LIMIT {{due}}) AS held) >= {{due}}
        THEN pg_try_advisory_xact_lock({_LOCK}) ELSE false END
"""


def _moved(chosen: str) -> str:
    """Rows that another transaction is removing are skipped. Blocks change only under the lock, so that this statement
    waits for nothing."""
    every = f"""(
        SELECT code, number, detail FROM taken WHERE count > 0
        UNION ALL SELECT code, {_NUMBER}, posting & {_DETAIL} FROM opened CROSS JOIN unnest(postings) AS posting
        WHERE {_NUMBER} <> ALL(removed)
    ) AS every"""
    return f"""
        WITH taken AS (
            DELETE FROM postings WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM postings WHERE {_HERE} AND {chosen} FOR UPDATE SKIP LOCKED
            )) RETURNING code, number, count, {DETAIL} AS detail
        ), touched AS MATERIALIZED (
            SELECT code, coalesce(array_agg(number) FILTER (WHERE count = 0), ARRAY[]::bigint[]) AS removed
            FROM taken GROUP BY code
        ), reopened AS MATERIALIZED (
            SELECT touched.code, removed, found.first FROM touched CROSS JOIN LATERAL (
                SELECT first FROM (
                    SELECT first, held FROM posting_blocks WHERE {_HERE} AND posting_blocks.code = touched.code
                    ORDER BY first DESC LIMIT {_REOPENED}
                ) AS newest WHERE held < {BLOCK}
                UNION SELECT first FROM unnest(removed) AS gone (number) JOIN posting_blocks
                    ON {_HERE} AND posting_blocks.code = touched.code AND gone.number BETWEEN first AND last
            ) AS found
        ), opened AS (
            DELETE FROM posting_blocks USING reopened
            WHERE {_HERE} AND posting_blocks.code = reopened.code AND posting_blocks.first = reopened.first
            RETURNING posting_blocks.code, posting_blocks.first, posting_blocks.postings, reopened.removed
        )
        {_IN_BLOCKS.format(every=every)}
    """


_EVERY_ROW, _CANCELLING = _moved("true"), _moved("count = 0")
_EMPTIED = (
    f"DELETE FROM postings WHERE {_HERE} AND code >= %(from)s AND code < %(to)s",
    f"DELETE FROM posting_blocks WHERE {_HERE} AND code >= %(from)s AND code < %(to)s",
)


def add_blocks(
    connection: Connection,
    here: tuple[str, str],
    codes: NDArray[np.int64],
    numbers: NDArray[np.int64],
    details: NDArray[np.int64],
) -> None:
    """Store the words of new documents of one project."""
    columns = {"codes": codes, "numbers": numbers, "details": details}
    named = {name: sent_array(values.tolist()) for name, values in columns.items()}
    connection.exec_driver_sql(_ADDED, {**_named(here), **named})


def remove_postings(
    connection: Connection, here: tuple[str, str], codes: NDArray[np.int64], numbers: NDArray[np.int64]
) -> bool:
    """Remove words of documents; returns whether some are in blocks, where they are only cancelled.

    Waits for a transaction that is moving them, and then finds them in blocks.
    """
    named = {"codes": sent_array(codes.tolist()), "numbers": sent_array(numbers.tolist())}
    return connection.exec_driver_sql(_REMOVED, {**_named(here), **named}).rowcount > 0


def move_to_blocks(connection: Connection, here: tuple[str, str], numbers: Sequence[int]) -> None:
    """Move the rows that this principal sees to blocks, if they are many and no other transaction is doing so.

    `numbers` are documents that the caller has just embedded: most calls do not even count the rows.
    """
    if any(number % CHECKED_EVERY == 0 for number in numbers):
        named = _named(here)
        if connection.exec_driver_sql(_LOCKED_IF_DUE.format(due=DUE), named).scalar_one():
            connection.exec_driver_sql(_EVERY_ROW, named)


def lock_blocks(connection: Connection, here: tuple[str, str]) -> None:
    """Be the only transaction that changes blocks of the project until it ends."""
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})", _named(here))


def erase_cancelled(connection: Connection, here: tuple[str, str]) -> None:
    """Remove from the blocks what this principal sees cancelled. The caller holds the lock."""
    connection.exec_driver_sql(_CANCELLING, _named(here))


def empty_postings(connection: Connection, here: tuple[str, str], codes: range) -> None:
    """Remove all words with these codes. The caller holds the lock."""
    for statement in _EMPTIED:
        connection.exec_driver_sql(statement, {**_named(here), "from": codes.start, "to": codes.stop})


def read_postings(row: Sequence[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Code, number and detail of every posting, from the columns of `READ`."""
    code, first, held = map(read_array, row[:3])
    new = np.array(list(map(read_array, row[4:7])))
    starts = np.cumsum(ARRAY_HEADER + _WHOLE.itemsize * held) - _WHOLE.itemsize * held
    parts = [
        np.frombuffer(row[3], _WHOLE, count, offset)["value"]
        for count, offset in zip(held.tolist(), starts.tolist(), strict=True)
    ]
    packed = np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64)
    number = np.repeat(first & ~_LOW_BITS, held) + (packed >> _DETAIL_BITS)
    old, live = np.array([np.repeat(code, held), number, packed & _DETAIL]), new[2] != 0
    found = np.concatenate((old[:, ~np.isin(number, new[1, ~live])], new[:, live]), axis=1)
    return found[0], found[1], found[2]


def sent_array(numbers: Sequence[int]) -> str:
    """Integers as the text of an array, which the driver takes as it is: ten times as fast as a list."""
    return f"{{{str(list(numbers))[1:-1]}}}"


def read_array(sent: bytes | None) -> NDArray[np.int64]:
    """Decode `array_send` output of BIGINT."""
    return np.frombuffer(sent or bytes(ARRAY_HEADER), _WHOLE, offset=ARRAY_HEADER)["value"].astype(np.int64)


def _named(here: tuple[str, str]) -> dict[str, Any]:
    return {"tenant": here[0], "project": here[1], "lock": "\x1f".join((*here, "posting blocks"))}
