"""Selected documents of the server engine as columns, fetched in one row, which is faster than value by value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from treering.adapters.sql.document_cache import StoredDocument
from treering.adapters.sql.posting_blocks import read_array
from treering.adapters.sql.server_words import kind_number
from treering.adapters.vectors.signs import STORED
from treering.adapters.words.segments import NEIGHBOURS, ConversationOrder
from treering.ports.index import DOCUMENT_KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.core.ranking import BM25

_KIND = {name: place for place, name in enumerate(DOCUMENT_KINDS)}
# A lateral subquery with a limit is looked up for each document. For a join the planner would read the whole project
# or, with statistics of many small projects, compare each of its documents with each of the numbers.
_LOOKED_UP = """
    SELECT found.* FROM {numbers} AS wanted (number) CROSS JOIN LATERAL (
        SELECT * FROM documents
        WHERE tenant = %(tenant)s AND project = %(project)s AND number = wanted.number
        AND (owner = '' OR owner = %(principal)s) LIMIT 1
    ) AS found
"""
_CHOSEN = _LOOKED_UP.format(numbers="unnest(%(numbers)s::bigint[])")
_WITH_NEIGHBOURS = f"""
    WITH chosen AS MATERIALIZED ({_CHOSEN}), beside AS MATERIALIZED (
        SELECT near.number FROM chosen CROSS JOIN LATERAL (
            SELECT number FROM documents
            WHERE tenant = %(tenant)s AND project = %(project)s AND thread = chosen.thread AND thread <> ''
            AND place BETWEEN chosen.place + {NEIGHBOURS[0]} AND chosen.place + {NEIGHBOURS[-1]}
            ORDER BY place LIMIT {len(NEIGHBOURS) + 1}
        ) AS near WHERE chosen.thread <> '' EXCEPT SELECT number FROM chosen
    )
    SELECT * FROM chosen UNION ALL {_LOOKED_UP.format(numbers="beside")}
"""
_READ = """
    SELECT array_agg(kind), array_agg(thread), string_agg(codes, ''), string_agg(counts, ''),
        {vector} array_send(array_agg(number)), array_send(array_agg(at)), array_send(array_agg(speaker)),
        array_send(array_agg(marks)), array_send(array_agg(length)), array_send(array_agg(place)),
        array_send(array_agg(length(counts)::bigint))
    FROM ({looked_up}) AS found {vectors}
"""
_VECTOR = "string_agg(own.vector, ''), array_send(array_agg(coalesce(length(own.vector), 0)::bigint)),"
# The order, which only the key has, rules out the index by model.
_VECTORS = """
    LEFT JOIN LATERAL (
        SELECT vector FROM vectors WHERE tenant = %(tenant)s AND project = %(project)s AND model = %(model)s
        AND vectors.number BETWEEN found.number AND found.number ORDER BY vectors.number LIMIT 1
    ) AS own ON true
"""


@dataclass(frozen=True)
class ServerDocuments:
    """Documents ordered by number; `codes` and `counts` are concatenated, `distinct` is the number per document."""

    model: str
    vectors: Sequence[bytes]
    """Vector of each document in the space of `model`; empty without one."""
    kinds: Sequence[str]
    threads: Sequence[str]
    codes: NDArray[np.uint32]
    counts: NDArray[np.uint8]
    number: NDArray[np.int64]
    at: NDArray[np.int64]
    speaker: NDArray[np.int64]
    marks: NDArray[np.int64]
    length: NDArray[np.int64]
    place: NDArray[np.int64]
    distinct: NDArray[np.int64]

    @property
    def kind(self) -> NDArray[np.int8]:
        return np.array([_KIND[name] for name in self.kinds], np.int8)

    @property
    def kind_number(self) -> NDArray[np.int64]:
        return np.array([kind_number(name) for name in self.kinds], np.int64)

    def scores(self, words: Sequence[Sequence[int]], weights: Sequence[float], ranking: BM25) -> NDArray[np.float64]:
        """BM25 of each document for weighted words."""
        scores = np.zeros(len(self.number))
        forms = [np.array(word, np.uint32) for word in words]
        if not forms:
            return scores
        met = np.flatnonzero(np.isin(self.codes, np.concatenate(forms)))
        codes, counts = self.codes[met], self.counts[met]
        rows = np.repeat(np.arange(len(self.number)), self.distinct)[met]
        for word, weight in zip(forms, weights, strict=True):
            held = np.isin(codes, word)
            summed = np.bincount(rows[held], counts[held], len(scores))
            holding = np.flatnonzero(summed)
            scores[holding] += weight * ranking.saturation(summed[holding], self.length[holding])
        return scores

    def rows_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Rows of the documents; None if one of them was not read."""
        rows = np.searchsorted(self.number, numbers)
        there = rows < len(self.number)
        return rows if there.all() and bool((self.number[rows] == numbers).all()) else None

    def words(self, rows: NDArray[np.int64]) -> Mapping[int, tuple[NDArray[np.uint32], NDArray[np.uint8]]]:
        """Codes and counts of the documents in these rows, by number."""
        ends = np.cumsum(self.distinct)
        places = {int(self.number[row]): slice(ends[row] - self.distinct[row], ends[row]) for row in rows.tolist()}
        return {number: (self.codes[place], self.counts[place]) for number, place in places.items()}

    def neighbours(self) -> NDArray[np.int64]:
        """For each document, the rows of those before and after it in its conversation; −1 for none."""
        known: dict[str, int] = {}
        thread = np.array([known.setdefault(name, len(known)) if name else -1 for name in self.threads], np.int64)
        spoken = np.flatnonzero(thread >= 0)
        keys = thread << 32 | self.place
        order = spoken[np.argsort(keys[spoken], kind="stable")]
        line = ConversationOrder(keys[order], order)
        found = np.stack([line.at(thread << 32 | self.place + step) for step in NEIGHBOURS], axis=1)
        found[thread < 0] = -1
        return found

    @cached_property
    def embedded(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rows of the documents with a vector, and these vectors."""
        rows = [row for row, vector in enumerate(self.vectors) if vector]
        stored = np.frombuffer(b"".join(self.vectors), STORED).astype(np.float32)
        return np.array(rows, np.int64), stored.reshape(len(rows), len(stored) // max(len(rows), 1))


def documents_statement(*, neighbours: bool, model: str) -> str:
    """Selects visible documents, optionally with their neighbours in conversations, and their vectors of a model."""
    return _READ.format(
        looked_up=_WITH_NEIGHBOURS if neighbours else _CHOSEN,
        vector=_VECTOR if model else "",
        vectors=_VECTORS if model else "",
    )


def read_documents(row: Sequence[Any], *, model: str) -> list[StoredDocument]:
    """The documents of a row of `documents_statement`."""
    kinds, threads, codes, counts = row[:4]
    integers = np.array(list(map(read_array, row[-7:]))).T
    if not len(integers):
        return []
    sizes = read_array(row[5]) if model else np.zeros(len(integers), np.int64)
    parts = (
        _split(codes, 4 * integers[:, -1]),
        _split(counts, integers[:, -1]),
        _split(row[4] if model else b"", sizes),
    )
    return list(map(StoredDocument, map(tuple, integers.tolist()), kinds, threads, *parts))


def joined_documents(found: Iterable[StoredDocument], *, model: str) -> ServerDocuments:
    """The documents as columns; their vectors are those of `model`."""
    ordered = sorted(found)
    _, kinds, threads, codes, counts, stored = zip(*ordered, strict=True) if ordered else ((),) * 6
    return ServerDocuments(
        model,
        stored,
        kinds,
        threads,
        np.frombuffer(b"".join(codes), "<u4"),
        np.frombuffer(b"".join(counts), np.uint8),
        *np.array([each.integers for each in ordered], np.int64).reshape(-1, 7).T,
    )


def _split(joined: bytes | None, sizes: NDArray[np.int64]) -> list[bytes]:
    ends = np.cumsum(sizes)
    parts = zip((ends - sizes).tolist(), ends.tolist(), strict=True)
    return [(joined or b"")[start:end] for start, end in parts]
