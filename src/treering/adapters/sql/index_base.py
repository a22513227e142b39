"""Common part of both engines' indexes: mapping between documents and records, and stored vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Executable,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    func,
    select,
    true,
    tuple_,
)

from treering.adapters.sql.codec import codec_of
from treering.adapters.sql.conditions import in_scope, matching
from treering.adapters.sql.kinds import KINDS, TURNS, RecordKind
from treering.adapters.sql.matching_documents import matching_among, rows_among
from treering.adapters.sql.query_driver import choose
from treering.adapters.sql.tables import documents, vectors
from treering.adapters.sql.unstored_vectors import MadeVector, PendingVectors
from treering.adapters.vectors.signs import STORED
from treering.core.embedded_text import model_of, part_of, spaces_of
from treering.core.errors import BlobMissing, ModelUnavailable, Unreadable
from treering.core.values import Record
from treering.ports.index import Candidates, Coverage, IndexQuery, Unembedded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.adapters.sql.context import ListParameters, TransactionContext
    from treering.core.queries import Filter

MIN_LANGUAGE_SHARE = 0.02  # a language used by a smaller share of the project's texts does not widen queries

_KINDS = {kind.name: kind for kind in KINDS}


class SqlIndex(ABC):
    """The documents of one project, as one transaction sees them."""

    def __init__(self, context: TransactionContext, unstored: PendingVectors) -> None:
        self._context = context
        self._unstored = unstored
        self._here = (context.scope.tenant, context.scope.project)

    @abstractmethod
    def load(self, model: str) -> None: ...

    @abstractmethod
    def languages(self) -> Sequence[str]: ...

    @abstractmethod
    def speakers(self) -> Collection[int]: ...

    @abstractmethod
    def candidates(
        self, wanted: IndexQuery, kinds: Sequence[str], *, limit: int, among: NDArray[np.int64] | None = None
    ) -> Candidates: ...

    @abstractmethod
    def columns_of(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> Candidates: ...

    @abstractmethod
    def word_scores(self, wanted: IndexQuery, numbers: NDArray[np.int64]) -> NDArray[np.float64]: ...

    @abstractmethod
    def rarity(self, codes: NDArray[np.uint32]) -> NDArray[np.float64]: ...

    @abstractmethod
    def similarity(self, model: str, numbers: NDArray[np.int64], best: NDArray[np.int64]) -> NDArray[np.float64]: ...

    def feedback(
        self, codes: NDArray[np.uint32], model: str, numbers: NDArray[np.int64], best: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.rarity(codes), self.similarity(model, numbers, best)

    @abstractmethod
    def coverage(self, model: str) -> Coverage: ...

    def dimension(self, model: str) -> int | None:
        statement = select(vectors.c.vector).where(*self._in_project(vectors), vectors.c.model == model).limit(1)
        stored = self._execute(statement).scalar()
        if stored is not None:
            return len(stored) // STORED.itemsize
        return next((len(vector) for *_, vector in self._unstored.of(model).values()), None)

    @abstractmethod
    def _hide_removed(self, numbers: NDArray[np.int64]) -> None:
        """Hide documents that no longer exist."""

    def matching_numbers(self, filters: Mapping[str, Filter]) -> NDArray[np.int64]:
        found = [number for kind, where in filters.items() for number in self._matching(kind, where)]
        return np.array(sorted(found), np.int64)

    def matching_ids(self, filters: Mapping[str, Filter], numbers: NDArray[np.int64]) -> Mapping[int, tuple[str, str]]:
        if not filters:
            return {}
        statement, values = matching_among(self._context.dialect.lists, self._context.scope, filters)
        found = {number: (kind, id) for kind, number, id in self._execute_among(statement, numbers, **values).all()}
        if len(found) < len(numbers):
            self._hide_missing(np.array([number for number in numbers.tolist() if number not in found], np.int64))
        return found

    def words_of(self, numbers: NDArray[np.int64]) -> Mapping[int, tuple[NDArray[np.uint32], NDArray[np.uint8]]]:
        statement = self._chosen(documents, "number", "codes", "counts")
        return {
            number: (np.frombuffer(codes, "<u4"), np.frombuffer(counts, np.uint8))
            for number, codes, counts in self._execute_among(statement, numbers)
        }

    def containing(self, words: Sequence[Sequence[int]], numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        found = np.zeros((len(numbers), len(words)), np.bool_)
        read = self.words_of(numbers)
        for row, number in enumerate(numbers.tolist()):
            codes = frozenset(read[number][0].tolist()) if number in read else frozenset()
            found[row] = [not codes.isdisjoint(forms) for forms in words]
        return found

    def holding(self, words: Sequence[Sequence[int]], kinds: Sequence[str]) -> NDArray[np.int64] | None:
        return None

    def vectors(self, model: str, numbers: NDArray[np.int64]) -> Mapping[int, NDArray[np.float32]]:
        statement = self._chosen_vectors("number", "vector")
        stored = {
            number: read_vector(stored) for number, stored in self._execute_among(statement, numbers, model=model)
        }
        kept = self._unstored.of(model)
        return {number: kept[number][2] for number in numbers.tolist() if number in kept} | stored

    def models(self) -> Sequence[str]:
        """Pending vectors count only if none is stored: another process may have chosen another model since."""
        return _without_parts(self._stored_models()) or sorted(_without_parts(self._unstored.models()))

    def _stored_models(self) -> Sequence[str]:
        """One look-up per model, independent of the number of vectors."""
        found: list[str] = []
        while True:
            after = vectors.c.model > found[-1] if found else true()
            following = select(func.min(vectors.c.model)).where(*self._in_project(vectors), after)
            name = self._execute(following).scalar()
            if name is None:
                return found
            found.append(name)

    def hold_vectors(self, model: str, vectors: Sequence[MadeVector]) -> None:
        self._unstored.add(model, vectors)

    def unstored_vectors(self, model: str) -> Sequence[MadeVector]:
        """Discard vectors that another process has stored, or of a model that is no longer in use."""
        if self._unstored.models():
            self._unstored.discard_models(but=spaces_of(*self.models(), model_of(model)))
        if kept := self._unstored.of(model):
            numbers = np.array(list(kept), np.int64)
            stored = self._chosen_vectors("number")
            self._unstored.discard(model, self._execute_among(stored, numbers, model=model).scalars().all())
        return list(self._unstored.of(model).values())

    def unembedded(
        self, model: str, *, limit: int, max_words: int | None = None, skip_unstored: bool = False
    ) -> Sequence[Unembedded]:
        """In the order of their numbers, so that the documents with vectors are always the first ones."""
        after = max(self._unstored.of(model), default=0) if skip_unstored else 0
        rows = self._waiting_rows(model, after, limit)
        words = accumulate(length for *_, length in rows)
        fitting = sum(total <= max_words for total in words) if max_words is not None else limit
        waiting = [(number, kind, id) for number, kind, id, _ in rows[: max(1, fitting)]]
        kinds = {kind for _, kind, _ in waiting}
        read = {kind: self._records(kind, [id for _, of, id in waiting if of == kind]) for kind in kinds}
        around = self._around(list(read.get(TURNS.name, {}).values()))
        return [Unembedded(number, read[kind].get(id), *around.get(id, ("", ""))) for number, kind, id in waiting]

    @abstractmethod
    def _waiting_rows(self, model: str, after: int, limit: int) -> Sequence[Any]:
        """Number, kind, id and length of the first documents after a number that lack a vector of the model."""

    def _records(self, name: str, ids: Sequence[str]) -> Mapping[str, Record]:
        kind, found = _KINDS[name], dict[str, Record]()
        codec = codec_of(kind, self._context.settings.store.text_bytes)
        lists = self._context.dialect.lists
        values = {"tenant": self._here[0], "project": self._here[1], "wanted": lists.bound(ids)}
        for row in self._context.connection.execute(_rows_with_ids(lists, kind.table), values).mappings():
            with suppress(BlobMissing, Unreadable):
                found[row["id"]] = codec.decode(self._context.scope, row, self._context.blobs)
        return found

    def _around(self, turns: Sequence[Any]) -> Mapping[str, tuple[str, str]]:
        """Texts of the turns before and after, if untainted and visible to the same principals."""
        places = {(turn.session, turn.seq + step) for turn in turns for step in (-1, 1)}
        if not places:
            return {}
        texts = {tuple(key): text for *key, text in self._untainted_texts(sorted(places))}
        return {
            turn.id: tuple(
                texts.get((turn.session, turn.seq + step, turn.owner, turn.visibility.value), "") for step in (-1, 1)
            )
            for turn in turns
        }

    def _untainted_texts(self, places: Sequence[tuple[str, int]]) -> Iterable[Any]:
        """Session, position, owner, visibility and text of the turns at these places."""
        said = TURNS.table.c
        statement = select(said.session, said.seq, said.owner, said.visibility, said.text).where(
            *self._in_project(TURNS.table), tuple_(said.session, said.seq).in_(places), said.tainted.is_(False)
        )
        return list(self._execute(statement))

    def known_vectors(self, model: str, digests: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        if not digests:
            return {}
        lists = self._context.dialect.lists
        statement = select(vectors.c.digest, vectors.c.vector).where(
            *self._in_project(vectors),
            vectors.c.model == model,
            lists.among(vectors.c.digest, "wanted"),
        )
        found, wanted = {"wanted": lists.bound(digests)}, frozenset(digests)
        kept = {digest: vector for _, digest, vector in self._unstored.of(model).values() if digest in wanted}
        return kept | {
            digest: read_vector(stored) for digest, stored in self._context.connection.execute(statement, found)
        }

    def add_vectors(self, model: str, found: Sequence[MadeVector]) -> int:
        """In the order of their numbers, so that transactions cannot deadlock."""
        if not found:
            return 0
        known = SqlIndex.dimension(self, model)
        if any(len(vector) != (known or len(found[0][2])) for *_, vector in found):
            raise ModelUnavailable(
                f"the stored vectors of {model} have {known} numbers, but the model now returns others; give it "
                "another name, or choose another embedder and run `treering embed`"
            )
        by_number = {each[0]: each for each in sorted(found, key=lambda each: each[0])}
        added = self._addable(model, np.array(list(by_number), np.int64))
        if added:
            self._insert_vectors(model, [each for number, each in by_number.items() if number in added])
        locked = self._locked([number for number in by_number if number not in added])
        settled = by_number.keys() - locked
        self._context.after_commit.append(lambda: self._unstored.discard(model, settled))
        return len(added)

    @abstractmethod
    def _addable(self, model: str, numbers: NDArray[np.int64]) -> Collection[int]:
        """Documents whose vectors can be stored now."""

    def _locked(self, numbers: Sequence[int]) -> Collection[int]:
        """Documents locked by another transaction: their vectors stay in memory until it ends."""
        return ()

    def _insert_vectors(self, model: str, found: Sequence[MadeVector]) -> None:
        numbers = np.array([number for number, *_ in found], np.int64)
        owners = self._chosen(documents, "number", "owner")
        owner_of = dict(self._execute_among(owners, numbers).all())
        rows = [
            {
                "tenant": self._here[0],
                "project": self._here[1],
                "model": model,
                "number": number,
                "digest": digest,
                "vector": vector.astype(STORED).tobytes(),
                "owner": owner_of[number],
            }
            for number, digest, vector in found
        ]
        insert = self._context.dialect.insert(vectors)
        self._context.connection.execute(insert.on_conflict_do_nothing(), rows)

    def drop_vectors(self, *, but: str, beside: str = "") -> int:
        kept = spaces_of(but, beside)
        self._context.after_commit.append(lambda: self._unstored.discard_models(but=kept))
        statement = delete(vectors).where(*self._in_project(vectors), vectors.c.model.not_in(kept))
        return int(self._context.connection.execute(statement).rowcount)

    def _hide_missing(self, numbers: NDArray[np.int64]) -> None:
        statement = self._chosen(documents, "number")
        there = np.fromiter(self._execute_among(statement, numbers).scalars(), np.int64)
        missing = np.setdiff1d(numbers, there, assume_unique=True)
        if len(missing):
            self._hide_removed(missing)

    def _matching(self, name: str, where: Filter) -> Sequence[int]:
        kind, scope = _KINDS[name], self._context.scope
        driver = choose(self._context.connection, scope, kind, where)
        rare = driver is not None and driver.is_rare
        statement = (
            select(documents.c.number)
            .select_from(documents.join(kind.table, _same_record(kind, documents.c)))
            .where(
                *self._in_project(documents),
                documents.c.kind == name,
                in_scope(kind, scope),
                *matching(kind, where, driver.field if driver and rare else None),
            )
        )
        if driver is not None and rare:
            statement = driver.narrowed(kind, statement)
        return list(self._execute(statement).scalars())

    def _in_project(self, table: Any) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        return table.c.tenant == self._here[0], table.c.project == self._here[1]

    def _execute(self, statement: Select[Any]) -> Any:
        return self._context.connection.execute(statement)

    def _chosen(self, table: Table, *columns: str) -> Select[Any]:
        """For `_execute_among`."""
        return rows_among(self._context.dialect.lists, table, *columns)

    def _chosen_vectors(self, *columns: str) -> Select[Any]:
        return _vectors_among(self._context.dialect.lists, *columns)

    def _execute_among(self, statement: Executable, numbers: NDArray[np.int64], **values: str | int) -> Any:
        tenant, project = self._here
        listed = self._context.dialect.lists.bound(numbers.tolist())
        values |= {"tenant": tenant, "project": project, "numbers": listed}
        return self._context.connection.execute(statement, values)


@lru_cache(maxsize=100)
def _vectors_among(lists: ListParameters, *columns: str) -> Select[Any]:
    """The same of the vectors of the bound `model`."""
    return rows_among(lists, vectors, *columns).where(vectors.c.model == bindparam("model"))


@lru_cache(maxsize=100)
def _rows_with_ids(lists: ListParameters, table: Table) -> Select[Any]:
    """All columns of the rows whose ids are bound as `wanted`."""
    return select(table).where(
        table.c.tenant == bindparam("tenant"),
        table.c.project == bindparam("project"),
        lists.among(table.c.id, "wanted"),
    )


def _same_record(kind: RecordKind[Any], document: Any) -> ColumnElement[bool]:
    record = kind.table.c
    return and_(record.tenant == document.tenant, record.project == document.project, record.id == document.id)


def _without_parts(spaces: Iterable[str]) -> list[str]:
    return [space for space in spaces if not part_of(space)]


def read_vector(stored: bytes) -> NDArray[np.float32]:
    return np.frombuffer(stored, STORED).astype(np.float32)
