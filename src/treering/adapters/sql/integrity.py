"""Maintenance of derived data: compares it with the records, rebuilds it, removes leftovers of a crash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, RowMapping, and_, delete, false, func, select

from treering.adapters.sql.codec import Encoded, codec_of
from treering.adapters.sql.derived import Derivation
from treering.adapters.sql.ids import retake_ids
from treering.adapters.sql.kinds import ADDRESSED, AUDIT, JOBS, KINDS, RecordKind
from treering.adapters.sql.owners import SHARED, register
from treering.adapters.sql.records import batches
from treering.adapters.sql.tables import documents, facets
from treering.core.errors import BlobMissing, StoreError, Unreadable
from treering.core.jobs import JobState
from treering.core.scope import EVERY_VISIBILITY, Visibility
from treering.ports.store import Check

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext

ORPHAN_BLOB_HOURS = 24.0  # repair keeps younger unreferenced blobs: their transaction may still be open

# Kinds with facets or searchable text to rebuild.
_DERIVED = tuple(kind for kind in KINDS if not kind.computed and kind not in (AUDIT, JOBS))
_SEARCHED = tuple(kind for kind in KINDS if kind.searched is not None)
# Records per kind that a check recomputes, of the newest and at random.
_SAMPLE = 200
# Unreadable records that are listed; the rest is counted.
_NAMED = 20
# More unreadable records than one statement can list mean a lost blob store: derived data is left unchanged.
_MAX_UNREADABLE = 10_000
_REPAIR = "run `treering doctor --repair`"


def check(context: TransactionContext) -> Sequence[Check]:
    """Check that derived tables, blobs and the queue match the records."""
    return (*soundness(context), _check_jobs(context))


def soundness(context: TransactionContext) -> Sequence[Check]:
    """Check that derived data and blobs match the records."""
    return (_check_derived(context), _check_facets(context), _check_blobs(context))


def rebuild(context: TransactionContext) -> Sequence[str]:
    """Rebuild the derived tables from the records; rows derived from unreadable records stay."""
    totals, unreadable = Counter[str](), list[str]()

    def rederive(view: TransactionContext) -> tuple[str, ...]:
        for kind in ADDRESSED:
            _retake_ids(view, kind)
        for kind in _DERIVED:
            done = _rederive(view, kind)
            totals[kind.name] += done.total
            unreadable.extend(map(str, done.unreadable.values()))
        view.dialect.restore_index(view.connection, view.scope)
        return ()

    context.for_every_principal(rederive)
    counted = ", ".join(f"{total:,} {name}" for name, total in totals.items() if total) or "no records"
    return (f"rebuilt the indexes of {counted}", *_left_alone(unreadable))


def sweep_orphans(context: TransactionContext) -> int:
    """Delete every blob that no record refers to, except recently put ones."""
    before = context.now - timedelta(hours=ORPHAN_BLOB_HOURS)
    return sweep_blobs(context, [b.digest for b in context.blobs.stream(context.scope) if b.modified < before])


def sweep_blobs(context: TransactionContext, digests: Sequence[str]) -> int:
    """Delete those of `digests` that no record refers to; writers of blobs wait meanwhile."""
    context.dialect.guard_blobs(context.connection, context.scope, sweeping=True)
    kept = {digest for batch in batches(digests, 500) for digest in _referred(context, batch)}
    unused = [digest for digest in dict.fromkeys(digests) if digest not in kept]
    for digest in unused:
        context.blobs.delete(context.scope, digest)
    return len(unused)


def _referred(context: TransactionContext, digests: Sequence[str] | None = None) -> list[str]:
    """Digests of blobs that a record of any principal refers to."""
    in_project = (facets.c.tenant == context.scope.tenant, facets.c.project == context.scope.project)
    statement = select(facets.c.value).where(*in_project, facets.c.facet == "blob").distinct()
    if digests is not None:
        statement = statement.where(facets.c.value.in_(digests))
    return [digest for (digest,) in context.execute_for_all(statement)]


def _left_alone(unreadable: Sequence[str]) -> Iterator[str]:
    if unreadable:
        yield f"left {len(unreadable):,} unreadable records unchanged"
        yield from unreadable[:_NAMED]


@dataclass(frozen=True, slots=True)
class _Rederived:
    """Number of records read, and the errors of unreadable ones by id."""

    total: int
    unreadable: Mapping[str, StoreError]


def _rederive(context: TransactionContext, kind: RecordKind[Any]) -> _Rederived:
    """Unreadable records are known only at the end; then this starts over and leaves theirs unchanged."""
    with context.connection.begin_nested() as attempt:
        done = _rederive_but(context, kind, ())
        if not done.unreadable:
            return done
        attempt.rollback()
    if len(done.unreadable) > _MAX_UNREADABLE:
        return _Rederived(0, done.unreadable)
    done = _rederive_but(context, kind, tuple(done.unreadable))
    _keep_blobs_of(context, kind, tuple(done.unreadable))
    return done


def _keep_blobs_of(context: TransactionContext, kind: RecordKind[Any], unreadable: Sequence[str]) -> None:
    """An unreadable record may become readable again: the blobs that its row refers to must not be swept."""
    scope, columns = context.scope, kind.table.c
    codec = codec_of(kind, context.settings.store.text_bytes)
    for batch in batches(unreadable, 500):
        found = select(kind.table).where(*_here(context, kind.table), columns.id.in_(batch))
        for row in context.connection.execute(found).mappings():
            personal = row.get("visibility") == Visibility.PERSONAL.value
            named = {"tenant": scope.tenant, "project": scope.project, "kind": kind.name, "facet": "blob"}
            named["owner"] = row["owner"] if personal else SHARED
            with suppress(ValueError):
                for digest in codec.stored(row).blobs:
                    facet = {**named, "value": digest, "at": row[kind.born], "id": row["id"]}
                    context.connection.execute(context.dialect.insert(facets).values(facet).on_conflict_do_nothing())


def _rederive_but(context: TransactionContext, kind: RecordKind[Any], kept: Sequence[str]) -> _Rederived:
    of_kind = (*_here(context, documents), documents.c.kind == kind.name)
    recorded = select(kind.table.c.id).where(*_here(context, kind.table), kind.table.c.id == documents.c.id).exists()
    context.dialect.clear_text(context, and_(*of_kind, ~recorded))
    here = (*_here(context, facets), facets.c.kind == kind.name)
    context.connection.execute(delete(facets).where(*here, facets.c.id.not_in(kept)))
    derivation, total, unreadable = Derivation(kind, context), 0, dict[str, StoreError]()
    for batch in batches(_readable(context, kind, _rows(context, kind), unreadable), 500):
        register(context, map(derivation.owner_of, (value for value, _ in batch)))
        derivation.renew(batch)
        total += len(batch)
    return _Rederived(total, unreadable)


def _readable(
    context: TransactionContext, kind: RecordKind[Any], rows: Iterable[RowMapping], unreadable: dict[str, StoreError]
) -> Iterator[tuple[Any, Encoded]]:
    """Readable records with their rows; unreadable ones are added to `unreadable`, with the error."""
    codec = codec_of(kind, context.settings.store.text_bytes)
    for row in rows:
        try:
            yield codec.decode(context.scope, row, context.blobs), codec.stored(row)
        except (BlobMissing, Unreadable) as exc:
            unreadable[row["id"]] = exc


def _retake_ids(context: TransactionContext, kind: RecordKind[Any]) -> None:
    stored = select(kind.table.c.id).where(*_here(context, kind.table))
    for batch in batches(context.connection.execute(stored).scalars().all(), 1_000):
        retake_ids(context, batch)


def _rows(context: TransactionContext, kind: RecordKind[Any]) -> Iterator[RowMapping]:
    """Every row of a kind in this view."""
    columns = kind.table.c
    last = ""
    while True:
        statement = select(kind.table).where(*_here(context, kind.table), columns.id > last)
        rows = context.connection.execute(statement.order_by(columns.id).limit(1_000)).mappings().all()
        yield from rows
        if not rows:
            return
        last = rows[-1]["id"]


def _here(context: TransactionContext, table: Any) -> list[ColumnElement[bool]]:
    """Rows of this view: for another principal only the personal ones."""
    columns = table.c
    here = [columns.tenant == context.scope.tenant, columns.project == context.scope.project]
    if context.scope.visible == EVERY_VISIBILITY:
        return here
    if "visibility" in columns:
        return [*here, columns.visibility == Visibility.PERSONAL.value]
    return [*here, columns.owner != SHARED if "owner" in columns else false()]


def _check_derived(context: TransactionContext) -> Check:
    stored, indexed = Counter[str](), Counter[str]()

    def count(view: TransactionContext) -> tuple[str, ...]:
        for kind in _SEARCHED:
            records = select(func.count()).select_from(kind.table).where(*_here(view, kind.table))
            found = select(func.count()).where(*_here(view, documents), documents.c.kind == kind.name)
            stored[kind.name] += view.connection.execute(records).scalar_one()
            indexed[kind.name] += view.connection.execute(found).scalar_one()
        return ()

    context.for_every_principal(count)
    wrong = [
        f"{count:,} {name} records but {indexed[name]:,} indexed"
        for name, count in stored.items()
        if count != indexed[name]
    ]
    return Check("derived tables", not wrong, "; ".join(wrong) or "agree with the records", _REPAIR if wrong else "")


def _check_facets(context: TransactionContext) -> Check:
    def differences(view: TransactionContext) -> Iterator[str]:
        for kind in _DERIVED:
            unreadable: dict[str, StoreError] = {}
            sample = list(_readable(view, kind, _sample(view, kind), unreadable))
            missing = Derivation(kind, view).missing(sample)
            yield from (str(why) for why in unreadable.values() if isinstance(why, Unreadable))
            if missing:
                looked = f"{len(missing):,} of {len(sample):,} {kind.name} records checked"
                yield f"{looked} are not indexed correctly"

    wrong = context.for_every_principal(differences)
    return Check("facets", not wrong, "; ".join(wrong[:_NAMED]) or "agree with the records", _REPAIR if wrong else "")


def _sample(context: TransactionContext, kind: RecordKind[Any]) -> Sequence[RowMapping]:
    """The newest rows, and a random sample."""
    columns = kind.table.c
    here = _here(context, kind.table)
    of_each = [
        context.connection.execute(select(columns.id).where(*here).order_by(order).limit(_SAMPLE)).scalars().all()
        for order in (columns[kind.born].desc(), func.random())
    ]
    chosen = sorted({id for ids in of_each for id in ids})
    return context.connection.execute(select(kind.table).where(*here, columns.id.in_(chosen))).mappings().all()


def _check_blobs(context: TransactionContext) -> Check:
    referred = _referred(context)
    missing = [digest for digest in referred if not context.blobs.has(context.scope, digest)]
    if missing:
        whose = ", ".join(_referring(context, missing[:_NAMED]))
        detail = f"{len(missing):,} of {len(referred):,} are missing, the first is {missing[0]}; needed by {whose}"
        return Check("blobs", False, detail, f"restore {context.blobs.location} from a backup")
    return Check("blobs", True, f"{len(referred):,} in {context.blobs.location}")


def _referring(context: TransactionContext, digests: Sequence[str]) -> Sequence[str]:
    """The records that need these blobs; of another principal's personal records only the kind."""
    columns = facets.c.kind, facets.c.id, facets.c.owner
    in_project = (facets.c.tenant == context.scope.tenant, facets.c.project == context.scope.project)
    statement = select(*columns).where(*in_project, facets.c.facet == "blob", facets.c.value.in_(digests))
    found = context.execute_for_all(statement.order_by(facets.c.id).limit(_NAMED))
    own = (SHARED, context.scope.principal)
    named = [f"{kind} {id!r}" if owner in own else f"another principal's {kind}" for kind, id, owner in found]
    return list(dict.fromkeys(named))[:_NAMED]


def _check_jobs(context: TransactionContext) -> Check:
    columns = JOBS.table.c
    here = (columns.tenant == context.scope.tenant, columns.project == context.scope.project)
    statement = select(columns.state, func.count()).where(*here).group_by(columns.state)
    found = {str(state): int(count) for state, count in context.connection.execute(statement)}
    dead = found.get(JobState.DEAD.value, 0)
    detail = ", ".join(f"{count:,} {state}" for state, count in sorted(found.items())) or "none"
    pending = "`treering settle` runs the queued ones" if found.get(JobState.QUEUED.value) else ""
    return Check("jobs", dead == 0, detail, "`treering doctor --repair` tries the dead ones again" if dead else pending)
