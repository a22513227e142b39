"""Words of the server engine's documents, and the documents that contain the words of a query.

Personal documents have codes of their own, so that queries of other principals neither find nor count them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy.dialects import postgresql

from treering.adapters.sql.pending_rows import pending_rows
from treering.adapters.sql.posting_blocks import (
    ARRAY_HEADER,
    BULK,
    DISTINCT,
    HELD,
    KIND_SHIFT,
    LENGTH_SHIFT,
    READ,
    add_blocks,
    empty_postings,
    lock_blocks,
    read_array,
    read_postings,
    remove_postings,
    sent_array,
)
from treering.adapters.sql.rows import json_rows, json_statement, sent_column
from treering.adapters.sql.tables import documents
from treering.core.language.terms import code_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from treering.core.ranking import BM25

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
# Words are read from the rarest to the most common until `most` postings. The number of documents with any form of a
# word is counted only if the postings do not show it.
FOUND_BY_WORDS = f"""
    WITH asked AS MATERIALIZED (
        SELECT word, code, coalesce(known, {HELD.format(code="given.code")}) AS held
        FROM unnest(%(words)s::integer[], %(codes)s::bigint[], %(known)s::bigint[]) AS given (word, code, known)
    ), summed AS MATERIALIZED (
        SELECT word, sum(held)::bigint AS held, array_agg(code) AS codes FROM asked GROUP BY word
    ), rarest AS MATERIALIZED (
        SELECT word, codes, held, sum(held) OVER (ORDER BY held, word) <= %(most)s
            OR row_number() OVER (ORDER BY held, word) = 1 AS chosen
        FROM summed
    ), read AS MATERIALIZED (
        SELECT DISTINCT code FROM asked JOIN rarest USING (word) WHERE chosen AND asked.held > 0
    )
    SELECT (SELECT array_send(array_agg(held ORDER BY word, code)) FROM asked),
        (SELECT array_send(array_agg(chosen::integer::bigint ORDER BY word)) FROM rarest),
        (SELECT array_send(array_agg(CASE WHEN chosen AND held <= %(most)s OR NOT several THEN 0
            ELSE {DISTINCT.format(codes="rarest.codes")} END ORDER BY word))
        FROM rarest JOIN unnest(%(several)s::boolean[]) WITH ORDINALITY AS forms (several, place) ON word + 1 = place),
        blocks.*, new_words.*
    FROM {READ.format(codes="read")}
"""
FOUND_COLUMNS = 10
COUNTED = f"""
    SELECT array_send(array_agg({HELD.format(code="wanted.code")} + CASE WHEN %(owner)s = 0 THEN 0
        ELSE {HELD.format(code="(wanted.code | %(owner)s)")} END ORDER BY place))
    FROM unnest(%(codes)s::bigint[]) WITH ORDINALITY AS wanted (code, place)
"""
"""Document frequency of each code, in shared documents and in those of one owner."""
_REAL = np.dtype([("size", ">i4"), ("value", ">f8")])


def code_in(owner: str, code: int) -> int:
    """Code of a word in the documents of one owner, or in shared ones."""
    return owner_code(owner) | code


@lru_cache(maxsize=1_000)
def owner_code(owner: str) -> int:
    """The owner's part of a code; 0 for shared documents."""
    whose = int.from_bytes(sha256(owner.encode()).digest()[:4], "big") & 0x7FFF_FFFF
    return max(whose, 1) << 32 if owner else 0


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
    columns = tuple(sent_column(row[name] for row in rows) for name in _COLUMNS)
    given = connection.exec_driver_sql(_DOCUMENTS, columns)
    numbers = {(tenant, project, kind, id): number for tenant, project, kind, id, number in given}
    numbered = [(numbers[row["tenant"], row["project"], row["kind"], row["id"]], row) for row in rows]
    _add_words(connection, numbered)


def restore_words(connection: Connection, here: tuple[str, str], owner: str) -> None:
    """Rebuild the words of the project's shared documents, or of those of one owner."""
    first = code_in(owner, 0)
    lock_blocks(connection, here)
    empty_postings(connection, here, range(first, first + 2**32))
    last = 0
    while rows := connection.exec_driver_sql(_AFTER, (*here, owner, last)).mappings().all():
        _add_words(connection, [(row["number"], row) for row in rows])
        last = rows[-1]["number"]


def _add_words(connection: Connection, numbered: Sequence[tuple[int, Any]]) -> None:
    if len(numbered) >= BULK:
        for here in {(row["tenant"], row["project"]) for _, row in numbered}:
            of_project = [each for each in numbered if (each[1]["tenant"], each[1]["project"]) == here]
            _add_to_blocks(connection, here, of_project)
        return
    codes, holding, counts = _held(numbered)
    listed = [
        (number, row["tenant"], row["project"], kind_number(row["kind"]), row["length"]) for number, row in numbered
    ]
    held = (codes.tolist(), holding.tolist(), counts.tolist())
    connection.exec_driver_sql(_POSTINGS, tuple(map(sent_column, (*held, *zip(*listed, strict=True)))))


def _add_to_blocks(connection: Connection, here: tuple[str, str], numbered: Sequence[tuple[int, Any]]) -> None:
    codes, holding, counts = _held(numbered)
    ordered = sorted(numbered, key=lambda each: each[0])
    numbers = np.array([number for number, _ in ordered], np.int64)
    about = [row["length"] << LENGTH_SHIFT | kind_number(row["kind"]) << KIND_SHIFT for _, row in ordered]
    details = np.array(about, np.int64)[np.searchsorted(numbers, holding)] + counts.astype(np.int64)
    add_blocks(connection, here, codes, holding, details)


def remove_words(connection: Connection, here: tuple[str, str], removed: Sequence[tuple[int, Any]]) -> bool:
    """Remove the words of documents, given by number, owner, codes and counts; see `remove_postings`."""
    codes, numbers, _ = _held(removed)
    return remove_postings(connection, here, codes, numbers)


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


class WordPostings:
    """Documents that contain a code, newest first: numbers, kinds, lengths and counts."""

    def __init__(self, number: NDArray[np.int64], detail: NDArray[np.int64]) -> None:
        self.number = number
        self.detail = detail
        self.length = detail >> LENGTH_SHIFT
        self.kind = detail >> KIND_SHIFT & 0x7FFF
        self.count = detail & 0xFF


@dataclass(frozen=True, slots=True)
class ServerQuery:
    """Documents found by the words of a query, with their scores, and the weight of each word."""

    ranking: BM25
    weights: Sequence[float]
    number: NDArray[np.int64]
    kind: NDArray[np.int64]
    score: NDArray[np.float64]
    complete: bool
    """False if words were too common to examine every document that contains them."""


@dataclass(frozen=True, slots=True)
class ServerQueryWords:
    """The words of a query, each as the codes of its forms in shared documents and in those of the principal."""

    words: Sequence[tuple[int, ...]]

    def named(self, frequency: Callable[[tuple[int, ...]], int | None], most: int) -> dict[str, Any]:
        """Parameters of `FOUND_BY_WORDS`; `frequency` gives cached counts of a code or a word."""
        pairs = [(place, code) for place, word in enumerate(self.words) for code in word]
        return {
            "words": sent_array([place for place, _ in pairs]),
            "codes": sent_array([code for _, code in pairs]),
            "known": [frequency((code,)) for _, code in pairs],
            "several": [_has_several_forms(word) and frequency(word) is None for word in self.words],
            "most": most,
        }

    def found(self, row: Sequence[Any], frequency: Callable[[tuple[int, ...]], int | None], most: int) -> WordsFound:
        held, chosen, distinct = map(read_array, row[:3])
        code, number, detail = read_postings(row[3:])
        pairs = [(place, each) for place, word in enumerate(self.words) for each in word]
        by_code = {each: int(count) for (_, each), count in zip(pairs, held.tolist(), strict=True)}
        order = np.lexsort((-number, code))
        codes, first = np.unique(code[order], return_index=True)
        newest = [rows[:most] for rows in np.split(order, first[1:]) if len(codes)]
        parts = [WordPostings(number[rows], detail[rows]) for rows in newest]
        counts = [
            frequency(word) or int(counted) or sum(by_code[each] for each in word)
            for word, counted in zip(self.words, distinct.tolist(), strict=True)
        ]
        return WordsFound(by_code, chosen.astype(np.bool_), counts, dict(zip(codes.tolist(), parts, strict=True)))


@dataclass(frozen=True, slots=True)
class WordsFound:
    """Document frequency by code, which words were read, how many documents have each word, postings by code."""

    held: Mapping[int, int]
    chosen: NDArray[np.bool_]
    documents: Sequence[int]
    postings: Mapping[int, WordPostings]

    def scored(
        self, words: Sequence[tuple[int, ...]], shares: Sequence[float], ranking: BM25, most: int
    ) -> ServerQuery:
        """Scores of the documents that contain the words that were read."""
        every = _together(list(self.postings.values()))
        scores, weights = np.zeros(len(every.number)), [0.0] * len(words)
        for place, word in enumerate(words):
            read = bool(self.chosen[place])
            parts = [self.postings[code] for code in word if code in self.postings] if read else []
            rows, counts = _rows(every.number, parts)
            whole = read and sum(self.held[code] for code in word) <= most
            weights[place] = shares[place] * ranking.weight(len(rows) if whole else self.documents[place])
            scores[rows] += weights[place] * ranking.saturation(counts, every.length[rows])
        complete = bool(self.chosen.all()) and sum(self.held[code] for word in words for code in word) <= most
        return ServerQuery(ranking, weights, every.number, every.kind, scores, complete)


def _has_several_forms(word: Sequence[int]) -> bool:
    """Whether two codes may be in one document; no document has codes of two owners."""
    return len({code >> 32 for code in word}) < len(word)


def _together(parts: Sequence[WordPostings]) -> WordPostings:
    """Distinct documents, ordered by number."""
    if not parts:
        return WordPostings(np.empty(0, np.int64), np.empty(0, np.int64))
    number, first = np.unique(np.concatenate([part.number for part in parts]), return_index=True)
    return WordPostings(number, np.concatenate([part.detail for part in parts])[first])


def _rows(number: NDArray[np.int64], parts: Sequence[WordPostings]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions in `number` of the documents that contain a word, and its counts over all forms."""
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if len(parts) == 1:
        return np.searchsorted(number, parts[0].number), parts[0].count
    places = np.searchsorted(number, np.concatenate([part.number for part in parts]))
    summed = np.bincount(places, np.concatenate([part.count for part in parts]))
    rows = np.flatnonzero(summed)
    return rows, summed[rows].astype(np.int64)


def read_reals(sent: bytes | None) -> NDArray[np.float64]:
    """Decode `array_send` output of DOUBLE PRECISION."""
    return np.frombuffer(sent or bytes(ARRAY_HEADER), _REAL, offset=ARRAY_HEADER)["value"].astype(np.float64)
