"""Records that are revised: every change keeps the state before it, so that every change can be undone."""

from collections.abc import Sequence
from typing import Any, TypeVar

from sqlalchemy import RowMapping, Select, delete, select, update

from treering.adapters.sql.codec import Codec
from treering.adapters.sql.context import Context
from treering.adapters.sql.derived import Derivation
from treering.adapters.sql.jobs import queue_blob_sweep
from treering.adapters.sql.kinds import REVISIONS, Kind
from treering.adapters.sql.records import LogRecords, Stored, Writes
from treering.adapters.sql.rows import insert_rows
from treering.adapters.sql.tables import entity_links
from treering.core.errors import Conflict, InvalidInput, NothingToUndo
from treering.core.history import Action, Revision
from treering.core.scope import Visibility
from treering.core.values import EMPTY, Record
from treering.ports.store import Detail

V = TypeVar("V", bound=Record)

# A record that this change brought into being has no state before it.
_NOT_THERE = ""
# Creations that belong to a larger action and leave with it.
_COMPOUND = frozenset({Action.SUPERSEDE})


class Removals(Writes[V]):
    """Takes records away: softly, or for good."""

    def delete(self, id: str) -> None:
        self._mark(id, self._context.now, Action.DELETE)

    def restore(self, id: str) -> None:
        self._mark(id, None, Action.UNDO)

    def purge(self, id: str) -> None:
        stored = self._existing(id)
        self._context.connection.execute(delete(self._table).where(self._visible(), self._table.c.id == id))
        self._derivation.remove([(stored.value, stored.encoded)])
        self._forget_links(id)
        digests = (*stored.encoded.blobs, *Revisions(self._context).purge(self._kind.name, id))
        queue_blob_sweep(self._context, digests)
        self._log(Action.PURGE, [stored.value])

    def _mark(self, id: str, deleted_at: Any, action: Action) -> None:
        stored = self._existing(id)
        self._replace_row(stored.value.replace(deleted_at=deleted_at), stored)
        self._log(action, [stored.value])

    def _forget_links(self, id: str) -> None:
        scope = self._context.scope
        self._context.connection.execute(
            delete(entity_links).where(
                entity_links.c.tenant == scope.tenant,
                entity_links.c.project == scope.project,
                entity_links.c.record == id,
            )
        )


class LearnedRecords(LogRecords[V], Removals[V]):
    """Creates, revises, removes and undoes."""

    def __init__(self, kind: Kind[V], context: Context) -> None:
        super().__init__(kind, context)
        self._revisions = Revisions(context)

    def create(self, value: V, action: Action = Action.CREATE, detail: Detail = EMPTY) -> V:
        stored = super().create(value, action, detail)
        if action in _COMPOUND:
            self._revisions.add(self._kind, stored, action, _NOT_THERE)
        return stored

    def update(self, value: V, action: Action = Action.UPDATE, detail: Detail = EMPTY) -> V:
        before = self._existing(value.id)
        current: Any = before.value
        proposed: Any = value
        if current.version != proposed.version:
            raise Conflict(
                f"{self._kind.name} {value.id!r} is at version {current.version}, not {proposed.version}; "
                "read it again and repeat the change"
            )
        if getattr(proposed, self._kind.born) != getattr(current, self._kind.born):
            raise InvalidInput(f"{self._kind.born} of a {self._kind.name} never changes; make a new record instead")
        return self._revise(proposed, before, action, detail)

    def undo(self, id: str) -> tuple[V, ...]:
        self._existing(id)
        last = self._revisions.last(self._kind.name, id)
        if last is None:
            raise NothingToUndo(f"{self._kind.name} {id!r} has no change left to undo; forget it to take it away")
        group = self._revisions.of_group(last.group)
        for revision in group:
            if revision.visibility is Visibility.PERSONAL and revision.owner != self._context.scope.principal:
                raise NothingToUndo(f"the last change of {self._kind.name} {id!r} is {revision.owner!r}'s to undo")
            newest = self._revisions.last(revision.kind, revision.subject)
            if newest is not None and newest.group != last.group:
                raise Conflict(f"{revision.kind} {revision.subject!r} was changed after this; undo that change first")
        undone = tuple(self._take_back(revision) for revision in group)
        self._revisions.mark_undone(last.group)
        return undone

    def _mark(self, id: str, deleted_at: Any, action: Action) -> None:
        before = self._existing(id)
        self._revise(before.value.replace(deleted_at=deleted_at), before, action)

    def _take_back(self, revision: Revision) -> V:
        before = self._existing(revision.subject)
        if revision.before == _NOT_THERE:
            earlier = before.value.replace(deleted_at=self._context.now)
        else:
            earlier = self._kind.value.from_json(revision.before)
        return self._revise(earlier, before, Action.UNDO)

    def _revise(self, value: Any, before: Stored[Any], action: Action, detail: Detail = EMPTY) -> V:
        version = before.value.version
        revised: V = self._clean(value.replace(version=version + 1, updated_at=self._context.now))
        self._replace_row(revised, before, version=version)
        if action is not Action.UNDO:
            self._revisions.add(self._kind, before.value, action, before.value.to_json())
        queue_blob_sweep(self._context, before.encoded.blobs)
        self._log(action, [revised], detail)
        return revised


class Revisions:
    """Earlier states, by record and by the action that changed them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._codec = Codec(REVISIONS, context.settings.store.blob_bytes)
        self._derivation = Derivation(REVISIONS, context)
        self._table = REVISIONS.table

    def add(self, kind: Kind[Any], value: Any, action: Action, before: str) -> None:
        """An earlier state is seen by whoever could see it then."""
        context = self._context
        revision = Revision(
            id=context.new_id(),
            kind=kind.name,
            subject=value.id,
            version=value.version if before else 0,
            action=action,
            at=context.now,
            actor=context.scope.principal,
            before=before,
            group=context.group,
            owner=value.owner if kind.personal else context.scope.principal,
            visibility=value.visibility if kind.personal else Visibility.PROJECT,
        )
        encoded = self._codec.encode(context.scope, revision, context.blobs)
        insert_rows(context.connection, self._table, [encoded.row])
        self._derivation.add([(revision, encoded)])

    def last(self, kind: str, subject: str) -> Revision | None:
        found = self._find(
            self._table.c.kind == kind, self._table.c.subject == subject, self._table.c.undone.is_(False), limit=1
        )
        return found[0] if found else None

    def of_group(self, group: str) -> Sequence[Revision]:
        return self._find(self._table.c.group == group)

    def mark_undone(self, group: str) -> None:
        statement = update(self._table).where(*self._scope(), self._table.c.group == group).values(undone=True)
        self._context.connection.execute(statement)

    def purge(self, kind: str, subject: str) -> tuple[str, ...]:
        """Remove every earlier state of a record; the digests of their blobs are returned."""
        of_record = (*self._scope(), self._table.c.kind == kind, self._table.c.subject == subject)
        rows = self._rows(select(self._table).where(*of_record))
        digests: list[str] = []
        for row in rows:
            encoded = self._codec.stored(row)
            self._derivation.remove([(self._decode(row), encoded)])
            digests += encoded.blobs
        with self._context.seeing_all():
            self._context.connection.execute(delete(self._table).where(*of_record))
        return tuple(digests)

    def _find(self, *conditions: Any, limit: int | None = None) -> list[Revision]:
        statement = select(self._table).where(*self._scope(), *conditions).order_by(self._table.c.id.desc())
        return [self._decode(row) for row in self._rows(statement.limit(limit))]

    def _rows(self, statement: Select[Any]) -> Sequence[RowMapping]:
        with self._context.seeing_all():
            return self._context.connection.execute(statement).mappings().all()

    def _decode(self, row: RowMapping) -> Revision:
        return self._codec.decode(self._context.scope, row, self._context.blobs)

    def _scope(self) -> tuple[Any, ...]:
        scope = self._context.scope
        return self._table.c.tenant == scope.tenant, self._table.c.project == scope.project
