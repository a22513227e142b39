"""Vectors of the server engine: the nearest to a query, and cosines of given documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from treering.adapters.sql.context import Companion
from treering.adapters.sql.document_cache import DocumentView
from treering.adapters.sql.nearby import IN_VIEW, Narrowed, Nearby, Query, make_nearby
from treering.adapters.sql.posting_blocks import read_array, sent_array
from treering.adapters.sql.server_documents import (
    ServerDocuments,
    documents_statement,
    joined_documents,
    read_documents,
)
from treering.adapters.sql.server_statistics import (
    EXACT,
    Remembered,
    Statement,
    Statistics,
    read_vectors,
    run_together,
)
from treering.adapters.vectors.signs import centred
from treering.ports.index import DOCUMENT_KINDS, IndexQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.adapters.sql.context import TransactionContext
    from treering.adapters.sql.document_cache import StoredDocument
    from treering.adapters.sql.unstored_vectors import MadeVector

_SEARCHED = set(DOCUMENT_KINDS)
_AT_ONCE = 5_000
# If a filter leaves less than one in this many, the remaining vectors are compared one by one.
_EXACT_BELOW_ONE_IN = 10

_SEEN = """
    SELECT array_send(array_agg(number ORDER BY number)) FROM documents
    WHERE tenant = %(tenant)s AND project = %(project)s AND number = ANY(%(unstored)s::bigint[])
    AND kind = ANY(%(unstored_kinds)s::text[]) AND (owner = '' OR owner = %(principal)s)
"""
_OF_KINDS = """
    SELECT number FROM documents
    WHERE tenant = %(tenant)s AND project = %(project)s AND kind = ANY(%(kinds)s::text[]) LIMIT %(limit)s
"""
_ALL_VECTORS = """
    SELECT array_send(array_agg(number)), string_agg(vector, '') FROM (
        SELECT number, vector FROM vectors JOIN documents USING (tenant, project, number, owner)
        WHERE tenant = %(tenant)s AND project = %(project)s AND model = %(model)s AND number > %(last)s
        AND {conditions} ORDER BY number LIMIT %(limit)s
    ) AS found
"""


@dataclass(frozen=True, slots=True)
class VectorFilter:
    """The best `limit` documents of these kinds, only those in `among` if given."""

    kinds: Sequence[str]
    among: NDArray[np.int64] | None
    limit: int

    def best(self, number: NDArray[np.int64], score: NDArray[np.float64]) -> NDArray[np.int64]:
        return number if len(number) <= self.limit else number[np.argpartition(-score, self.limit)[: self.limit]]


class ServerVectors:
    """The vectors of one project, as one transaction sees them, with those held in memory."""

    def __init__(
        self, context: TransactionContext, remembered: Remembered, statistics: Statistics, nearby: Nearby | None
    ) -> None:
        self._context = context
        self._here = (context.scope.tenant, context.scope.project)
        self._named = {"tenant": self._here[0], "project": self._here[1], "principal": context.scope.principal}
        self._gathered = remembered.gathered
        self._unstored = remembered.unstored
        self._documents = remembered.documents
        self._statistics = statistics
        self._nearby = nearby

    def best(
        self, wanted: IndexQuery, within: VectorFilter, run: Callable[[Statement], Sequence[Any]]
    ) -> NDArray[np.int64]:
        """The nearest stored vectors; `run` may look up something else at the same time."""
        query = self._query(wanted)
        if query is None:
            return np.empty(0, np.int64)
        among = self._spelled_out(wanted.model, within)
        if among is not None and not len(among):
            return np.empty(0, np.int64)
        narrowed = Narrowed(
            self._context.scope.principal,
            None if set(within.kinds) >= _SEARCHED else tuple(within.kinds),
            None if among is None else among.tolist(),
        )
        nearby = self._whole_nearby(wanted.model)
        if nearby is None:
            return self._nearest_of_all(query, wanted.model, narrowed, within)
        total, enough = self._statistics.vectors(wanted.model), max(within.limit, IN_VIEW)

        def find(narrowed: Narrowed, limit: int, *, exact: bool) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
            statement = nearby.nearest(self._here, wanted.model, query, narrowed, limit=limit, exact=exact)
            return query.compared(run(statement))

        few = total <= EXACT
        if few or among is None:
            return within.best(*find(narrowed, enough, exact=few))
        if len(among) > EXACT and len(among) * _EXACT_BELOW_ONE_IN >= total:
            # Half as many again as expected at random.
            looked_at = enough * 3 * total // (2 * len(among))
            number, likeness = find(replace(narrowed, numbers=None), looked_at, exact=False)
            allowed = np.isin(number, among)
            if allowed.sum() >= within.limit:
                return within.best(number[allowed], likeness[allowed])
        return within.best(*find(narrowed, enough, exact=True))

    def best_unstored(self, wanted: IndexQuery, within: VectorFilter) -> Callable[[], NDArray[np.int64]]:
        """The best among vectors held only in memory, once the next statement has run."""
        query, kept = self._query(wanted), self._unstored.of(wanted.model)
        seen: list[NDArray[np.int64]] = []
        if query is None or not kept:
            return lambda: np.empty(0, np.int64)
        named = {**self._named, "unstored": sent_array(list(kept)), "unstored_kinds": list(within.kinds)}
        self._context.companions.append(Companion(_SEEN, named, lambda sent: seen.append(read_array(sent))))

        def choose() -> NDArray[np.int64]:
            if not seen:
                seen.append(read_array(run_together(self._context, [(_SEEN, named)])[0]))
            number = seen[0] if within.among is None else np.intersect1d(seen[0], within.among)
            if not len(number):
                return number
            return within.best(number, query.likeness(np.array([kept[each][2] for each in number.tolist()])))

        return choose

    def documents(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> tuple[ServerDocuments, NDArray[np.float64]]:
        """Documents with their neighbours, and their cosines to the query; NaN for a missing or zero vector."""
        query = self._query(wanted)
        found = self.read("" if query is None else wanted.model, numbers)
        if query is None:
            return found, np.full(len(found.number), np.nan)
        return found, self.likeness(found, query, found.number)

    def read(self, model: str, numbers: NDArray[np.int64], *, neighbours: bool = True) -> ServerDocuments:
        """Documents with their vectors of a model, and with their neighbours in conversations.

        Those outside conversations are cached with their vector: `numbers` come from this transaction, so that they
        still exist. Those in conversations are not, because neighbours may be added later.
        """
        view = DocumentView(*self._here, self._context.scope.principal, model)
        cached = None if self._context.writing else self._documents.of(view, self._context.now)
        found = {} if cached is None else cached.chosen(numbers.tolist())
        more: Sequence[StoredDocument] = ()
        if missing := [number for number in numbers.tolist() if number not in found]:
            statement = documents_statement(neighbours=neighbours, model=model)
            named = {**self._named, "numbers": sent_array(missing), **({"model": model} if model else {})}
            more = read_documents(self._run(statement, named).one(), model=model)
        if cached is not None:
            lasting = (each for each in more if not each.thread and bool(each.vector) == bool(model))
            self._documents.add(view, cached, lasting)
        return joined_documents([*found.values(), *more], model=model)

    def centre(self, model: str, known: Sequence[NDArray[np.float32]]) -> Query | None:
        """The middle of the given vectors; None without one."""
        space = self._statistics.space(model) if known else None
        if space is None:
            return None
        middle = centred(np.array(known), space.mean).mean(axis=0)
        return Query(middle / (float(np.linalg.norm(middle)) or 1.0), space.mean)

    def likeness(self, found: ServerDocuments, query: Query, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Cosines of `numbers` among the documents to a centred vector; NaN for a missing or zero vector."""
        rows, stored = found.embedded
        return self._with_unstored(found.model, query, numbers, found.number[rows], query.likeness(stored))

    def add(self, model: str, found: Sequence[MadeVector]) -> None:
        """Add vectors to pgvector, if it can be used, after those that are older than its table."""
        connection = self._context.connection
        self._nearby = self._nearby or make_nearby(connection)
        if self._nearby is not None:
            self._gather(self._nearby, model)
            self._nearby.add(connection, self._here, model, [(number, vector) for number, _, vector in found])

    def make_graph(self, model: str, dimensions: int) -> None:
        """Create the graph index of a model, if it is due."""
        if self._nearby is not None:
            self._nearby.make_graph(self._context.connection, self._here, model, dimensions, above=EXACT)

    def drop(self, *, but: Sequence[str]) -> None:
        if self._nearby is not None:
            self._nearby.drop(self._context.connection, self._here, but=but)

    def _query(self, wanted: IndexQuery) -> Query | None:
        """The query relative to the mean of its space; None without vectors."""
        space = self._statistics.space(wanted.model) if wanted.vector is not None else None
        if space is None or wanted.vector is None:
            return None
        return Query(centred(wanted.vector, space.mean)[0], space.mean)

    def _spelled_out(self, model: str, within: VectorFilter) -> NDArray[np.int64] | None:
        """Kinds with few documents, as their numbers: a graph search would skip all others to find them."""
        among = within.among
        few = self._statistics.vectors(model) <= EXACT or (among is not None and len(among) <= EXACT)
        if few or set(within.kinds) >= _SEARCHED:
            return among
        found = self._run(_OF_KINDS, {**self._named, "kinds": list(within.kinds), "limit": EXACT + 1}).scalars().all()
        if len(found) > EXACT:
            return among
        numbers = np.array(found, np.int64)
        return numbers if among is None else np.intersect1d(numbers, among)

    def _whole_nearby(self, model: str) -> Nearby | None:
        """pgvector, if it has every vector."""
        return self._nearby if self._nearby is not None and self._has_all(self._nearby, model) else None

    def _gather(self, nearby: Nearby, model: str) -> None:
        """Copy vectors that are older than the pgvector table into it."""
        if self._has_all(nearby, model):
            return
        while missing := nearby.missing(self._context.connection, self._here, model, _AT_ONCE):
            brought = [(number, read_vectors(stored, 1)[0]) for number, stored in missing]
            nearby.add(self._context.connection, self._here, model, brought)

    def _has_all(self, nearby: Nearby, model: str) -> bool:
        if model not in self._gathered:
            if not nearby.has_all(self._context.connection, self._here, model):
                return False
            self._gathered.add(model)
        return True

    def _nearest_of_all(self, query: Query, model: str, narrowed: Narrowed, within: VectorFilter) -> NDArray[np.int64]:
        """Without pgvector, each vector is read and compared."""
        conditions, values = narrowed.conditions()
        statement, limit = _ALL_VECTORS.format(conditions=conditions), within.limit
        best, likeness, last = np.empty(0, np.int64), np.empty(0), 0
        while True:
            named = {**self._named, **values, "model": model, "last": last, "limit": _AT_ONCE}
            row = self._run(statement, named).one()
            numbers = read_array(row[0])
            if not len(numbers):
                return best
            last = int(numbers[-1])
            found = query.likeness(read_vectors(row[1], len(numbers)))
            best, likeness = np.concatenate((best, numbers)), np.concatenate((likeness, found))
            if len(best) > limit:
                kept = np.argpartition(-likeness, limit)[:limit]
                best, likeness = best[kept], likeness[kept]

    def _with_unstored(
        self,
        model: str,
        query: Query,
        numbers: NDArray[np.int64],
        there: NDArray[np.int64],
        found: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Cosines of `numbers`, from those of `there` that have a stored vector, else from vectors in memory."""
        kept, known = self._unstored.of(model), frozenset(there[~np.isnan(found)].tolist())
        if more := [number for number in numbers.tolist() if number in kept and number not in known] if kept else []:
            unstored, left = query.likeness(np.array([kept[number][2] for number in more])), ~np.isin(there, more)
            there, found = np.append(there[left], more), np.append(found[left], unstored)
        if not len(there):
            return np.full(len(numbers), np.nan)
        order = np.argsort(there)
        place = order[np.minimum(np.searchsorted(there, numbers, sorter=order), len(there) - 1)]
        return np.where(there[place] == numbers, found[place], np.nan)

    def _run(self, statement: str, values: Any) -> Any:
        return self._context.connection.exec_driver_sql(statement, values)
