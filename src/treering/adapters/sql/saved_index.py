"""Restores the index of a project from its files as far as the database agrees, and saves what is new."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from treering.adapters.sql.identity import IDENTITY_TABLE
from treering.adapters.sql.index_files import IndexFiles, Watermark
from treering.adapters.sql.index_state import IndexState
from treering.adapters.sql.migrate import VERSION_TABLE

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from treering.adapters.vectors.space import VectorSpace

MIN_SAVED = 2_000  # documents that are worth a file: reading them from the database takes about 40 ms

_WITNESSES = 16
_SOURCE = f"SELECT (SELECT id FROM {IDENTITY_TABLE}), (SELECT version_num FROM {VERSION_TABLE})"
_HIGHEST = "SELECT seq FROM sqlite_sequence WHERE name = 'documents'"
_COUNT = "SELECT count(*) FROM documents WHERE tenant = ? AND project = ? AND number <= ?"
_NUMBERS = "SELECT number FROM documents WHERE tenant = ? AND project = ? AND number <= ?"
_IDS = "SELECT number, id FROM documents WHERE number IN (SELECT value FROM json_each(?))"
_DIGESTS = (
    "SELECT number, digest FROM vectors WHERE tenant = ? AND project = ? AND model = ? "
    "AND number IN (SELECT value FROM json_each(?))"
)
_NEWEST_VECTOR = "SELECT coalesce(max(number), 0) FROM vectors WHERE tenant = ? AND project = ? AND model = ?"


class SavedIndex:
    """The files of one project, as one transaction of the database may use them."""

    def __init__(self, connection: Connection, project: tuple[str, str], files: IndexFiles) -> None:
        self._connection = connection
        self._project = project
        self._files = files

    def restore(self) -> IndexState:
        """The saved index without documents and vectors that the database no longer has; empty if it does not fit."""
        found = self._files.load(self._source())
        if found is None:
            return IndexState()
        state, watermark = found
        if state.segments.newest > self._newest() or not _agree(watermark.ids, self._ids(list(watermark.ids))):
            return IndexState()
        spaces = {
            model: space
            for model, space in state.spaces.items()
            if _agree(watermark.vectors[model], self._digests(model, list(watermark.vectors[model])))
        }
        return self._without_removed(replace(state, spaces=spaces))

    def prepare(self, state: IndexState) -> Callable[[], IndexState] | None:
        """A function that saves what is in no file yet, without words and vectors of removed documents.

        It needs no transaction, but the lock of the files, as does this call. None if there is nothing to save.
        """
        state = self._without_removed(state)
        spaces = {model: self._stored_vectors(model, space) for model, space in state.spaces.items()}
        state = _erased(replace(state, spaces={model: space for model, space in spaces.items() if len(space)}))
        segments = state.segments
        live = segments.columns.number[~segments.gone]
        newest = {model: space.numbers[-_WITNESSES:].tolist() for model, space in state.spaces.items()}
        digests = {model: self._digests(model, numbers) for model, numbers in newest.items()}
        watermark = Watermark(self._ids(live[-_WITNESSES:].tolist()), digests)
        return partial(self._files.save, state, self._source(), watermark) if len(live) else None

    def _newest(self) -> int:
        """The highest number that a document ever had. A lower one than in the files means an older database."""
        return int(self._connection.exec_driver_sql(_HIGHEST).scalar() or 0)

    def _source(self) -> dict[str, str]:
        identity, version = self._connection.exec_driver_sql(_SOURCE).one()
        return {"database": identity, "schema": version, "tenant": self._project[0], "project": self._project[1]}

    def _ids(self, numbers: list[int]) -> dict[int, str]:
        return _pairs(self._connection.exec_driver_sql(_IDS, (json.dumps(numbers),)))

    def _digests(self, model: str, numbers: list[int]) -> dict[int, str]:
        return _pairs(self._connection.exec_driver_sql(_DIGESTS, (*self._project, model, json.dumps(numbers))))

    def _without_removed(self, state: IndexState) -> IndexState:
        """Hide documents that the database no longer has: numbers up to the newest only ever disappear."""
        segments = state.segments
        known = (*self._project, segments.newest)
        expected = len(segments) - int(np.count_nonzero(segments.gone))
        if self._connection.exec_driver_sql(_COUNT, known).scalar_one() == expected:
            return state
        there = np.fromiter(self._connection.exec_driver_sql(_NUMBERS, known).scalars(), np.int64)
        missing = np.flatnonzero(~np.isin(segments.columns.number, there))
        return replace(state, segments=segments.without(missing))

    def _stored_vectors(self, model: str, space: VectorSpace) -> VectorSpace:
        """Without vectors that are held in memory only."""
        newest = self._connection.exec_driver_sql(_NEWEST_VECTOR, (*self._project, model)).scalar_one()
        return space.first(int(np.searchsorted(space.numbers, newest, side="right")))


def _agree(saved: Mapping[int, str], stored: Mapping[int, str]) -> bool:
    """Whether those that are left are the same, and some are left."""
    return bool(stored) and all(saved[number] == value for number, value in stored.items())


def _erased(state: IndexState) -> IndexState:
    """Without the words and vectors of removed documents, in parts that are rewritten for it."""
    segments = state.segments
    gone = segments.gone
    if not gone.any():
        return state
    parts = tuple(part.without(gone) if part.holds_words_of(gone) else part for part in segments.parts)
    removed = segments.columns.number[gone]
    spaces = {model: space.without(removed) for model, space in state.spaces.items()}
    return replace(state, segments=replace(segments, parts=parts), spaces=spaces)


def _pairs(rows: Iterable[Any]) -> dict[int, str]:
    return {row[0]: row[1] for row in rows}
