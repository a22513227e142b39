"""Records with revisions: every change keeps the previous state, so that it can be undone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import ColumnElement, Update, and_, bindparam, delete, or_, select, update

from treering.adapters.sql.codec import codec_of, primitive
from treering.adapters.sql.context import RemovedRow
from treering.adapters.sql.derived import Derivation
from treering.adapters.sql.ids import free_id
from treering.adapters.sql.jobs import queue_blob_sweep
from treering.adapters.sql.kinds import ADDRESSED, ENTITIES, KNOWLEDGE, PATTERNS, REVISIONS, RecordKind
from treering.adapters.sql.observed_copies import forget_observed_record
from treering.adapters.sql.quotations import forget_remarks
from treering.adapters.sql.records import LogRecords, StoredRecord, Writes, batches
from treering.adapters.sql.rows import insert_rows
from treering.adapters.sql.tables import facets
from treering.core.errors import BlobMissing, Conflict, InvalidInput, NotFound, NothingToUndo, Unreadable
from treering.core.history import Action, Revision
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge
from treering.core.scope import Visibility
from treering.core.values import EMPTY, KEY_BYTES, Record, is_storable
from treering.ports.collections import RecordMatches

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext
    from treering.ports.collections import Detail

V = TypeVar("V", bound=Record)

# Stored as the previous state of a new record, or of one whose text is lost.
_NO_STATE = ""
_BATCH = 500
# Creations that belong to a larger action and are undone with it.
_COMPOUND = frozenset({Action.SUPERSEDE})
_LEARNED: Mapping[str, RecordKind[Any]] = {kind.name: kind for kind in (KNOWLEDGE, PATTERNS, ENTITIES)}


@dataclass(frozen=True, slots=True)
class RevisedSubject:
    """A record as audit log and revisions describe it; its text may be lost."""

    id: str
    owner: str
    visibility: Visibility

    @classmethod
    def of(cls, row: Mapping[Any, Any]) -> RevisedSubject:
        return cls(
            id=row["id"],
            owner=row.get("owner", ""),
            visibility=Visibility(row.get("visibility", Visibility.PROJECT)),
        )


class Removals(Writes[V]):
    """Deletes records softly, or purges them."""

    def holds(self, id: str, *, deleted: bool = False) -> bool:
        if not is_storable(id):
            return False
        statement = select(self._table.c.id).where(self._visible(), self._table.c.id == id)
        if not deleted:
            statement = statement.where(self._table.c.deleted_at.is_(None))
        return self._context.connection.execute(statement).first() is not None

    def ids_like(self, part: str, *, limit: int) -> Sequence[str]:
        # No id is longer, and SQLite refuses a long pattern.
        if not is_storable(part) or len(part) > KEY_BYTES:
            return ()
        id = self._table.c.id
        like = or_(id.startswith(part, autoescape=True), id.endswith(part, autoescape=True))
        statement = select(id).where(self._visible(), self._table.c.deleted_at.is_(None), like)
        return self._context.connection.execute(statement.order_by(id).limit(limit)).scalars().all()

    def delete(self, id: str, detail: Detail = EMPTY) -> None:
        row = self._locked(id)
        self._mark(row, self._context.now, Action.DELETE, detail)
        self._forget_quotations(row)

    def restore(self, id: str) -> None:
        row = self._locked(id)
        self._mark(row, None, Action.UNDO, {"undone": Action.DELETE.value})
        self._forget_quotations(row)

    def purge(self, id: str, detail: Detail = EMPTY) -> None:
        row = self._locked(id)
        subject, said = RevisedSubject.of(row), self._said(row)
        self._context.connection.execute(delete(self._table).where(self._visible(), self._table.c.id == id))
        if self._kind in ADDRESSED:
            free_id(self._context, id)
        self._context.purged.append(id)
        digests = (*self._derivation.forget(id), *Revisions(self._context).purge(self._kind.name, id))
        queue_blob_sweep(self._context, digests)
        self._forget_quotations(row)
        forget_remarks(self._context, id, said)
        self._forget_observed(row, said)
        self._log(Action.PURGE, [subject], detail)

    def _said(self, row: Mapping[Any, Any]) -> tuple[str, ...]:
        """Its text, as far as it can be read."""
        try:
            value = self._decode(row)
        except (BlobMissing, Unreadable):
            return ()
        return () if self._kind.searched is None else (self._kind.searched(value).text,)

    def _forget_observed(self, row: Mapping[Any, Any], said: Sequence[str]) -> None:
        """Its copies in observed sessions, for kinds that come from them."""

    def _forget_quotations(self, row: Mapping[Any, Any]) -> None:
        """Its copies in sessions: passages retrieved by a task, summaries."""
        self._context.removed.append(RemovedRow(row["id"]))

    def _locked(self, id: str) -> Mapping[Any, Any]:
        """The row, for a change that does not need the record's text."""
        row = self._row(id, lock=True)
        if row is None:
            raise NotFound(f"no {self._kind.name} {id!r} in project {self._context.scope.project!r}")
        return row

    def _mark(
        self, row: Mapping[Any, Any], deleted_at: datetime | None, action: Action, detail: Detail = EMPTY
    ) -> None:
        self._change(row, deleted_at=deleted_at)
        self._log(action, [RevisedSubject.of(row)], detail)

    def _change(self, row: Mapping[Any, Any], **columns: Any) -> None:
        """Set columns that no derived data depends on."""
        statement = update(self._table).where(self._visible(), self._table.c.id == row["id"])
        self._context.connection.execute(statement.values({name: primitive(each) for name, each in columns.items()}))


class RevisedRecords(LogRecords[V], Removals[V]):
    """Creates, revises, removes and undoes."""

    @cached_property
    def _revisions(self) -> Revisions:
        return Revisions(self._context)

    def create(self, value: V, action: Action = Action.CREATE, detail: Detail = EMPTY) -> V:
        stored = super().create(value, action, detail)
        if action in _COMPOUND:
            self._revisions.add(self._kind, stored, action, _NO_STATE, version=0)
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
            raise InvalidInput(f"{self._kind.born} of a {self._kind.name} cannot change; create a new record instead")
        return self._revise(proposed, before, action, detail)

    def undo(self, id: str) -> tuple[Record, ...]:
        self._locked(id)
        last = self._revisions.last(self._kind.name, id)
        if last is None:
            raise NothingToUndo(f"{self._kind.name} {id!r} has no change left to undo; use forget to remove it")
        group = self._revisions.of_group(last.group)
        for revision in group:
            if revision.visibility is Visibility.PERSONAL and revision.owner != self._context.scope.principal:
                raise NothingToUndo(f"the last change of {self._kind.name} {id!r} is {revision.owner!r}'s to undo")
            newest = self._revisions.last(revision.kind, revision.subject)
            if newest is not None and newest.group != last.group:
                raise Conflict(f"{revision.kind} {revision.subject!r} was changed after this; undo that change first")
        of_kind = {kind: RevisedRecords(_LEARNED[kind], self._context) for kind in {each.kind for each in group}}
        for revision in group:
            of_kind[revision.kind]._take_back(revision)
        self._revisions.mark_undone(last.group)
        changed = dict.fromkeys((revision.kind, revision.subject) for revision in group)
        undone = (of_kind[kind]._readable(subject) for kind, subject in changed)
        return tuple(record for record in undone if record is not None)

    def _said(self, row: Mapping[Any, Any]) -> tuple[str, ...]:
        """Its text, including earlier versions."""
        said, searched = super()._said(row), self._kind.searched
        if searched is None:
            return said
        try:
            before = [each.before for each in self._revisions.of_subject(self._kind.name, row["id"]) if each.before]
            earlier = (searched(self._kind.value.from_json(each)).text for each in before)
            return tuple(dict.fromkeys((*said, *earlier)))
        except (BlobMissing, Unreadable, InvalidInput):
            return said

    def _mark(
        self, row: Mapping[Any, Any], deleted_at: datetime | None, action: Action, detail: Detail = EMPTY
    ) -> None:
        if action is not Action.UNDO:
            before = self._readable(row["id"])
            state = before.to_json() if before else _NO_STATE
            self._revisions.add(self._kind, RevisedSubject.of(row), action, state, version=row["version"])
        self._change(row, deleted_at=deleted_at, version=row["version"] + 1, updated_at=self._context.now)
        self._log(action, [RevisedSubject.of(row)], detail)

    def _take_back(self, revision: Revision) -> None:
        earlier: Any = self._kind.value.from_json(revision.before) if revision.before != _NO_STATE else None
        detail = {"undone": revision.action.value}
        if revision.action is Action.DELETE:
            self._mark(self._locked(revision.subject), earlier.deleted_at if earlier else None, Action.UNDO, detail)
        elif earlier is None:
            self._mark(self._locked(revision.subject), self._context.now, Action.UNDO, detail)
        else:
            before = self._existing(revision.subject)
            self._revise(_with_uses(earlier, before.value), before, Action.UNDO, detail)

    def _readable(self, id: str) -> V | None:
        try:
            return self.get(id)
        except (BlobMissing, Unreadable):
            return None

    def _revise(self, value: Any, before: StoredRecord[Any], action: Action, detail: Detail = EMPTY) -> V:
        version = before.value.version
        revised: V = self._clean(value.replace(version=version + 1, updated_at=self._context.now))
        self._replace_row(revised, before, version=version)
        if action is not Action.UNDO:
            self._revisions.add(self._kind, before.value, action, before.value.to_json(), version=version)
        queue_blob_sweep(self._context, before.encoded.blobs)
        self._log(action, [revised], detail)
        return revised


@lru_cache(maxsize=1_000)
def _access(seen: ColumnElement[bool]) -> Update:
    """The later of two access times."""
    columns = KNOWLEDGE.table.c
    at = bindparam("returned_at", type_=columns.last_accessed_at.type)
    earlier = (columns.id.in_(bindparam("wanted", expanding=True)), columns.last_accessed_at < at)
    return update(KNOWLEDGE.table).where(seen, *earlier).values(last_accessed_at=at)


class KnowledgeTable(RevisedRecords[Knowledge]):
    """Knowledge records, with counts of their uses."""

    def __init__(self, context: TransactionContext) -> None:
        super().__init__(KNOWLEDGE, context)

    def _forget_observed(self, row: Mapping[Any, Any], said: Sequence[str]) -> None:
        try:
            known = self._decode(row)
            sessions = (known.session, *known.provenance_sessions)
        except (BlobMissing, Unreadable):
            sessions = (row["session"],)
        forget_observed_record(self._context, row["id"], said, filter(None, sessions))

    def count_use(self, ids: Iterable[str]) -> int:
        here = [id for id in dict.fromkeys(ids) if is_storable(id)]
        counted = 0
        for batch in batches(here, _BATCH):
            live = (self._visible(), self._table.c.id.in_(batch), self._table.c.deleted_at.is_(None))
            locked = select(self._table).where(*live).order_by(self._table.c.id).with_for_update()
            for row in self._context.connection.execute(locked).mappings().all():
                self._count_one(row)
                counted += 1
        return counted

    def related_to(self, ids: Sequence[str], *, limit: int) -> RecordMatches[Knowledge]:
        known = self._context.ahead.related
        if not any(known.get(id, True) for id in ids):
            return RecordMatches((), ())
        return self.newest(KnowledgeFilter(related_to=tuple(ids)), limit=limit)

    def superseded_sources(self, ids: Iterable[str]) -> frozenset[str]:
        known, wanted = self._context.ahead.superseded_sources, [id for id in ids if is_storable(id)]
        if missing := [id for id in wanted if id not in known]:
            learned = and_(facets.c.id == self._table.c.id, self._visible(), self._table.c.deprecated_at.is_not(None))
            scope = self._context.scope
            statement = (
                select(facets.c.value)
                .select_from(facets.join(self._table, learned))
                .where(
                    facets.c.tenant == scope.tenant,
                    facets.c.project == scope.project,
                    facets.c.kind == self._kind.name,
                    facets.c.facet == "source",
                    facets.c.value.in_(missing),
                )
            )
            known = {**known, **dict.fromkeys(self._context.connection.execute(statement).scalars(), True)}
        return frozenset(id for id in wanted if known.get(id))

    def mark_returned(self, returned: Mapping[str, datetime]) -> None:
        for at in sorted(set(returned.values())):
            ids = [id for id in returned if returned[id] == at]
            self._context.connection.execute(_access(self._visible()), {"wanted": ids, "returned_at": primitive(at)})

    def _count_one(self, row: Mapping[Any, Any]) -> None:
        """A use also clears staleness. For an unreadable record, only its columns are updated."""
        now, uses = primitive(self._context.now), row["access_count"] + 1
        try:
            before = StoredRecord(self._decode(row), self._codec.stored(row))
        except (BlobMissing, Unreadable):
            self._change(row, access_count=uses, last_accessed_at=max(row["last_accessed_at"], now))
            return
        known = before.value
        last = max(known.last_accessed_at, self._context.now)
        self._replace_row(
            known.replace(access_count=uses, uses=known.uses + 1, last_accessed_at=last, stale_at=None), before
        )
        queue_blob_sweep(self._context, before.encoded.blobs)


def _with_uses(earlier: Any, now: Any) -> Any:
    """The earlier state with the present counts: a use is not a change, and undo keeps it."""
    if not isinstance(earlier, Knowledge):
        return earlier
    # Fewer than before: the change being undone had reset the count.
    since = now.uses - earlier.uses if now.uses >= earlier.uses else now.uses
    return earlier.replace(
        access_count=earlier.access_count + since,
        uses=earlier.uses + since,
        last_accessed_at=now.last_accessed_at if since else earlier.last_accessed_at,
    )


class Revisions:
    """Earlier states, by record and action."""

    def __init__(self, context: TransactionContext) -> None:
        self._context = context
        self._codec = codec_of(REVISIONS, context.settings.store.text_bytes)
        self._derivation = Derivation(REVISIONS, context)
        self._table = REVISIONS.table
        # Ordered by version, which always grows, unlike ids, which follow the clock.
        self._newest_first = (self._table.c.version.desc(), self._table.c.id.desc())

    def add(self, kind: RecordKind[Any], value: Any, action: Action, before: str, *, version: int) -> None:
        """An earlier state is visible to those who could see it then."""
        context = self._context
        revision = Revision(
            id=context.new_id(),
            kind=kind.name,
            subject=value.id,
            version=version,
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

    def of_subject(self, kind: str, subject: str) -> Sequence[Revision]:
        return self._find(self._table.c.kind == kind, self._table.c.subject == subject)

    def of_group(self, group: str) -> Sequence[Revision]:
        return self._find(self._table.c.group == group)

    def mark_undone(self, group: str) -> None:
        statement = update(self._table).where(*self._scope(), self._table.c.group == group).values(undone=True)
        self._context.connection.execute(statement)

    def purge(self, kind: str, subject: str) -> tuple[str, ...]:
        """Remove every earlier state of a record; return the digests of their blobs."""
        of_record = (*self._scope(), self._table.c.kind == kind, self._table.c.subject == subject)

        def forget(context: TransactionContext) -> Iterator[str]:
            for row in context.connection.execute(select(self._table).where(*of_record)).mappings().all():
                if self._codec.stored(row).blobs:
                    yield from Derivation(REVISIONS, context).forget(row["id"])

        digests = self._context.for_every_principal(forget)
        self._context.execute_for_all(delete(self._table).where(*of_record))
        return tuple(digests)

    def _find(self, *conditions: Any, limit: int | None = None) -> list[Revision]:
        statement = select(self._table).where(*self._scope(), *conditions).order_by(*self._newest_first).limit(limit)
        found = [row._mapping for row in self._context.execute_for_all(statement)]
        newest = sorted(found, key=lambda row: (row["version"], row["id"]), reverse=True)
        return [self._codec.decode(self._context.scope, row, self._context.blobs) for row in newest[:limit]]

    def _scope(self) -> tuple[Any, ...]:
        scope = self._context.scope
        return self._table.c.tenant == scope.tenant, self._table.c.project == scope.project
