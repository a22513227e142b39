"""Looks after what is derived: compares it with the records, rebuilds it, collects what a crash left behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import RowMapping, and_, delete, func, select

from treering.adapters.sql.codec import Encoded, codec_of
from treering.adapters.sql.derived import Derivation
from treering.adapters.sql.kinds import AUDIT, JOBS, KINDS, Kind
from treering.adapters.sql.records import batches
from treering.adapters.sql.tables import documents, facets
from treering.core.errors import BlobMissing, StoreError, Unreadable
from treering.core.jobs import JobState
from treering.ports.store import Check

if TYPE_CHECKING:
    from treering.adapters.sql.context import Context

# Kinds that have facets or searchable text to make anew.
_DERIVED = tuple(kind for kind in KINDS if not kind.computed and kind not in (AUDIT, JOBS))
# Records of each kind that a check recomputes, from each choice.
_SAMPLE = 200
# Unreadable records that are named; the rest is counted.
_NAMED = 20
# Where more cannot be read than one statement can list, the blob store is gone: what is derived is best left alone.
_MOST_UNREADABLE = 10_000
_REPAIR = "run `treering doctor --repair`"


def check(context: Context) -> Sequence[Check]:
    """Whether the derived tables, the blobs and the queue are as the records want them."""
    return (*soundness(context), _check_jobs(context))


def soundness(context: Context) -> Sequence[Check]:
    """Whether what is derived and the blobs are as the records want them."""
    return (_check_derived(context), _check_facets(context), _check_blobs(context))


def rebuild(context: Context) -> Sequence[str]:
    """Make the derived tables anew from the records; those of a record that cannot be read stay as they are."""
    rebuilt = {kind.name: _rederive(context, kind) for kind in _DERIVED}
    context.dialect.restore_index(context.connection, context.scope)
    counted = ", ".join(f"{each.total:,} {name}" for name, each in rebuilt.items() if each.total) or "no records"
    unreadable = [str(why) for each in rebuilt.values() for why in each.unreadable.values()]
    return (f"rebuilt the indexes of {counted}", *_left_alone(unreadable))


def sweep_orphans(context: Context) -> int:
    """Delete every blob that no record refers to, but for those put lately."""
    before = context.now - timedelta(hours=context.settings.store.orphan_blob_hours)
    return sweep_blobs(context, [b.digest for b in context.blobs.stream(context.scope) if b.modified < before])


def sweep_blobs(context: Context, digests: Sequence[str]) -> int:
    """Delete those of `digests` that no record refers to; writers of blobs wait meanwhile."""
    context.dialect.guard_blobs(context.connection, context.scope, sweeping=True)
    kept = {digest for batch in batches(digests, 500) for digest in _referred(context, batch)}
    unused = [digest for digest in dict.fromkeys(digests) if digest not in kept]
    for digest in unused:
        context.blobs.delete(context.scope, digest)
    return len(unused)


def _referred(context: Context, digests: Sequence[str] | None = None) -> Iterator[str]:
    statement = select(facets.c.value).where(*_facets_here(context), facets.c.facet == "blob").distinct()
    if digests is not None:
        statement = statement.where(facets.c.value.in_(digests))
    return iter(context.connection.execute(statement).scalars().all())


def _left_alone(unreadable: Sequence[str]) -> Iterator[str]:
    if unreadable:
        yield f"left {len(unreadable):,} records alone that cannot be read"
        yield from unreadable[:_NAMED]


@dataclass(frozen=True, slots=True)
class _Rederived:
    """How many records were read, and by id why others were not."""

    total: int
    unreadable: Mapping[str, StoreError]


def _rederive(context: Context, kind: Kind[Any]) -> _Rederived:
    """Which records cannot be read is known only at the end; then it is done over without touching theirs."""
    with context.connection.begin_nested() as attempt:
        done = _rederive_but(context, kind, ())
        if not done.unreadable:
            return done
        attempt.rollback()
    if len(done.unreadable) > _MOST_UNREADABLE:
        return _Rederived(0, done.unreadable)
    done = _rederive_but(context, kind, tuple(done.unreadable))
    _keep_blobs_of(context, kind, tuple(done.unreadable))
    return done


def _keep_blobs_of(context: Context, kind: Kind[Any], unreadable: Sequence[str]) -> None:
    """A record that cannot be read now may be later: what it refers to is in its row, and must not be swept."""
    scope, columns = context.scope, kind.table.c
    codec = codec_of(kind, context.settings.store.text_bytes)
    here = (columns.tenant == scope.tenant, columns.project == scope.project)
    for batch in batches(unreadable, 500):
        for row in context.connection.execute(select(kind.table).where(*here, columns.id.in_(batch))).mappings():
            named = {"tenant": scope.tenant, "project": scope.project, "kind": kind.name, "facet": "blob"}
            with suppress(ValueError):
                for digest in codec.stored(row).blobs:
                    facet = {**named, "value": digest, "at": row[kind.born], "id": row["id"]}
                    context.connection.execute(context.dialect.insert(facets).values(facet).on_conflict_do_nothing())


def _rederive_but(context: Context, kind: Kind[Any], kept: Sequence[str]) -> _Rederived:
    scope = context.scope
    of_kind = (documents.c.tenant == scope.tenant, documents.c.project == scope.project, documents.c.kind == kind.name)
    same = (kind.table.c.tenant == scope.tenant, kind.table.c.project == scope.project)
    recorded = select(kind.table.c.id).where(*same, kind.table.c.id == documents.c.id).exists()
    context.dialect.clear_text(context.connection, and_(*of_kind, ~recorded))
    here = (*_facets_here(context), facets.c.kind == kind.name)
    context.connection.execute(delete(facets).where(*here, facets.c.id.not_in(kept)))
    derivation, total, unreadable = Derivation(kind, context), 0, dict[str, StoreError]()
    for batch in batches(_readable(context, kind, _rows(context, kind), unreadable), 500):
        derivation.renew(batch)
        total += len(batch)
    return _Rederived(total, unreadable)


def _readable(
    context: Context, kind: Kind[Any], rows: Iterable[RowMapping], unreadable: dict[str, StoreError]
) -> Iterator[tuple[Any, Encoded]]:
    """Records with their rows; those that cannot be read are put down in `unreadable`, with the reason."""
    codec = codec_of(kind, context.settings.store.text_bytes)
    for row in rows:
        try:
            yield codec.decode(context.scope, row, context.blobs), codec.stored(row)
        except (BlobMissing, Unreadable) as exc:
            unreadable[row["id"]] = exc


def _rows(context: Context, kind: Kind[Any]) -> Iterator[RowMapping]:
    """Every row of a kind whoever owns it: repair works for all of a project."""
    columns = kind.table.c
    last = ""
    while True:
        statement = select(kind.table).where(
            columns.tenant == context.scope.tenant, columns.project == context.scope.project, columns.id > last
        )
        rows = context.connection.execute(statement.order_by(columns.id).limit(1_000)).mappings().all()
        yield from rows
        if not rows:
            return
        last = rows[-1]["id"]


def _facets_here(context: Context) -> tuple[Any, ...]:
    return facets.c.tenant == context.scope.tenant, facets.c.project == context.scope.project


def _check_derived(context: Context) -> Check:
    scope, wrong = context.scope, []
    for kind in KINDS:
        if kind.searched is None:
            continue
        here = (kind.table.c.tenant == scope.tenant, kind.table.c.project == scope.project)
        records = context.connection.execute(select(func.count()).select_from(kind.table).where(*here)).scalar_one()
        indexed = context.connection.execute(
            select(func.count()).where(
                documents.c.tenant == scope.tenant, documents.c.project == scope.project, documents.c.kind == kind.name
            )
        ).scalar_one()
        if records != indexed:
            wrong.append(f"{records:,} {kind.name} records but {indexed:,} indexed")
    return Check("derived tables", not wrong, "; ".join(wrong) or "agree with the records", _REPAIR if wrong else "")


def _check_facets(context: Context) -> Check:
    wrong: list[str] = []
    for kind in _DERIVED:
        unreadable: dict[str, StoreError] = {}
        sample = list(_readable(context, kind, _sample(context, kind), unreadable))
        missing = Derivation(kind, context).missing(sample)
        wrong += [str(why) for why in unreadable.values() if isinstance(why, Unreadable)]
        if missing:
            wrong.append(
                f"{len(missing):,} of {len(sample):,} {kind.name} records looked at are not indexed as they should be"
            )
    return Check("facets", not wrong, "; ".join(wrong[:_NAMED]) or "agree with the records", _REPAIR if wrong else "")


def _sample(context: Context, kind: Kind[Any]) -> Sequence[RowMapping]:
    """The newest rows, and some at random."""
    columns = kind.table.c
    here = (columns.tenant == context.scope.tenant, columns.project == context.scope.project)
    of_each = [
        context.connection.execute(select(columns.id).where(*here).order_by(order).limit(_SAMPLE)).scalars().all()
        for order in (columns[kind.born].desc(), func.random())
    ]
    chosen = sorted({id for ids in of_each for id in ids})
    return context.connection.execute(select(kind.table).where(*here, columns.id.in_(chosen))).mappings().all()


def _check_blobs(context: Context) -> Check:
    referred = list(_referred(context))
    missing = [digest for digest in referred if not context.blobs.has(context.scope, digest)]
    if missing:
        whose = ", ".join(f"{kind} {id!r}" for kind, id in _referring(context, missing[:_NAMED]))
        detail = f"{len(missing):,} of {len(referred):,} are missing, the first is {missing[0]}; needed by {whose}"
        return Check("blobs", False, detail, f"restore {context.blobs.location} from a backup")
    return Check("blobs", True, f"{len(referred):,} in {context.blobs.location}")


def _referring(context: Context, digests: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Kind and id of the records that need these blobs."""
    statement = select(facets.c.kind, facets.c.id).where(
        *_facets_here(context), facets.c.facet == "blob", facets.c.value.in_(digests)
    )
    return [(kind, id) for kind, id in context.connection.execute(statement.order_by(facets.c.id).limit(_NAMED))]


def _check_jobs(context: Context) -> Check:
    columns = JOBS.table.c
    here = (columns.tenant == context.scope.tenant, columns.project == context.scope.project)
    statement = select(columns.state, func.count()).where(*here).group_by(columns.state)
    found = {str(state): int(count) for state, count in context.connection.execute(statement)}
    dead = found.get(JobState.DEAD.value, 0)
    detail = ", ".join(f"{count:,} {state}" for state, count in sorted(found.items())) or "none"
    pending = "`treering settle` runs the queued ones" if found.get(JobState.QUEUED.value) else ""
    return Check("jobs", dead == 0, detail, "`treering doctor --repair` tries the dead ones again" if dead else pending)
