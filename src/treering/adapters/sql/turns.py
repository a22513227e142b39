"""Turns and episodes: appended, never rewritten."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from treering.adapters.sql.applications import ApplicationRecords, PatternRecords
from treering.adapters.sql.codec import primitive
from treering.adapters.sql.context import RemovedRow
from treering.adapters.sql.jobs import queue_blob_sweep
from treering.adapters.sql.kinds import EPISODES, TURNS
from treering.adapters.sql.observed_copies import forget_observed_turn
from treering.adapters.sql.records import LogRecords, change_of
from treering.adapters.sql.revised_records import Removals
from treering.adapters.sql.sessions import SessionRecords
from treering.core.episodes import Episode, EpisodeLifecycle
from treering.core.errors import BlobMissing, Conflict, NothingToUndo, Unreadable
from treering.core.history import Action
from treering.core.turns import Turn
from treering.core.values import EMPTY

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext
    from treering.ports.collections import Detail


class TurnRecords(LogRecords[Turn], Removals[Turn]):
    """Turns of one project, each at its position in its session."""

    def __init__(self, context: TransactionContext) -> None:
        super().__init__(TURNS, context)
        self._sessions = SessionRecords(context)

    def create(self, value: Turn, action: Action = Action.CREATE, detail: Detail = EMPTY) -> Turn:
        cleaned = self._clean(value)
        stored = cleaned.replace(seq=self._sessions.place(cleaned, reopening=action is not Action.IMPORT))
        self._insert([stored], action, detail)
        return stored

    def create_many(self, values: Iterable[Turn], action: Action = Action.CREATE) -> int:
        total = 0
        for batch in self._bulk(values):
            self._insert(self._place(self._new(batch), action), action)
            total += len(batch)
        return total

    def purge(self, id: str, detail: Detail = EMPTY) -> None:
        """Recompute the vectors of the neighbours: a contextual model has included this turn's text in them."""
        row = self._locked(id)
        super().purge(id, detail)
        self._derivation.refresh_beside(row["session"], row["seq"])

    def _forget_observed(self, row: Mapping[Any, Any], said: Sequence[str]) -> None:
        forget_observed_turn(self._context, row["id"], said, row["session"])

    def _forget_quotations(self, row: Mapping[Any, Any]) -> None:
        self._context.removed.append(RemovedRow(row["id"], row["session"], row["seq"]))

    def _place(self, turns: Sequence[Turn], action: Action) -> list[Turn]:
        free = self._sessions.reserve(turns, reopening=action is not Action.IMPORT)
        placed = []
        for turn in turns:
            placed.append(turn.replace(seq=free[turn.session]))
            free[turn.session] += 1
        return placed


class EpisodeRecords(LogRecords[Episode], Removals[Episode]):
    """Episodes of one project: their content is fixed, their lifecycle changes."""

    def __init__(self, context: TransactionContext) -> None:
        super().__init__(EPISODES, context)

    def set_lifecycle(self, id: str, lifecycle: EpisodeLifecycle, *, version: int | None = None) -> Episode:
        before = self._existing(id).value
        if version not in (None, before.version):
            raise Conflict(f"episode {id!r} was changed concurrently; read it again and repeat the change")
        moved = before.replace(lifecycle=self._redacted(lifecycle), version=before.version + 1)
        columns: dict[str, Any] = {name: primitive(derive(moved)) for name, derive in EPISODES.derived.items()}
        values = {**columns, "lifecycle": moved.lifecycle.to_json(), "version": moved.version}
        change = change_of(self._table, self._visible(), versioned=False)
        self._context.connection.execute(change, {"wanted": id, **values})
        self._log(Action.UPDATE, [moved])
        return moved

    def move_to_blobs(self, slim: Episode) -> Episode:
        """The blob is written before the row refers to it; after a failure nothing refers to the blob."""
        before = self._existing(slim.id)
        if slim.version != before.value.version:
            raise Conflict(f"episode {slim.id!r} was changed concurrently; read it again and repeat the change")
        # Packed again if it is already cold: the content of a row changes only together with its digest.
        everything = self.get_complete(slim.id) or before.value
        cold = self._context.blobs.put(self._context.scope, _packed(everything.replace(cold=None)))
        chilled = self._clean(slim.replace(cold=cold, version=slim.version + 1))
        self._replace_row(chilled, before)
        queue_blob_sweep(self._context, tuple(filter(None, (*before.encoded.blobs, before.value.cold))))
        self._log(Action.UPDATE, [chilled])
        return chilled

    def get_complete(self, id: str) -> Episode | None:
        found = self.get(id)
        if found is None or found.cold is None:
            return found
        kept = json.loads(gzip.decompress(self._context.blobs.get(self._context.scope, found.cold)))
        present = {name: getattr(found, name) for name in ("version", "lifecycle", "cold", "deleted_at")}
        return Episode.from_stored(kept).replace(**present)

    def purge(self, id: str, detail: Detail = EMPTY) -> None:
        row = self._locked(id)
        for said in self._said(row):
            self._context.removed.append(RemovedRow(id, row["session"], text=said))
        ApplicationRecords(self._context).forget_words_of(id)
        PatternRecords(self._context).forget_episode(id)
        super().purge(id, detail)

    def stamp(self, id: str) -> str | None:
        """Stamp of the stored row: other content is in blobs, which the row names by digest."""
        row = self._row(id)
        if row is None or row["deleted_at"] is not None:
            return None
        return blake2b(repr(tuple(row.values())).encode("utf-8", "replace")).hexdigest()

    def restore(self, id: str) -> None:
        if self._was_taken_apart(self._locked(id)):
            raise NothingToUndo(f"episode {id!r} was split up; the episodes that it represented are restored")
        super().restore(id)

    def _was_taken_apart(self, row: Mapping[Any, Any]) -> bool:
        """Whether it represented others, none of which refer to it any more, and is itself part of no other."""
        try:
            consolidation = self._decode(row).consolidation
        except (BlobMissing, Unreadable):
            # An unreadable episode may be restored, for a backup to repair it.
            return False
        into, stored = row["consolidated_into"], self._table.c
        if consolidation is None or (into is not None and self.holds(into)):
            return False
        members = (stored.id.in_(consolidation.members), stored.consolidated_into == row["id"])
        return self._context.connection.execute(select(stored.id).where(self._visible(), *members)).first() is None


def _packed(episode: Episode) -> bytes:
    """Equal bytes for equal content, so that the blob store holds it once."""
    return gzip.compress(episode.to_json().encode(), mtime=0)
