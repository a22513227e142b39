"""Looks after what is derived: compares it with the records, rebuilds it, collects what a crash left behind."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Select, and_, delete, func, select

from treering.adapters.sql.codec import Codec, Encoded
from treering.adapters.sql.context import Context
from treering.adapters.sql.derived import Derivation
from treering.adapters.sql.kinds import AUDIT, JOBS, KINDS, Kind
from treering.adapters.sql.records import batches
from treering.adapters.sql.tables import documents, facets
from treering.core.jobs import JobState
from treering.ports.store import Check

_REPAIR = "run `treering doctor --repair`"


def check(context: Context) -> Sequence[Check]:
    """Whether the derived tables, the blobs and the queue are as the records want them."""
    return (_check_derived(context), _check_blobs(context), _check_jobs(context))


def repair(context: Context) -> Sequence[str]:
    """Make the derived tables anew and collect what a crash left, in one transaction: either all of it or nothing."""
    return (*rebuild(context), f"removed {_sweep_orphans(context):,} blobs that nothing refers to")


def rebuild(context: Context) -> Sequence[str]:
    """Make the derived tables anew from the records."""
    kinds = [kind for kind in KINDS if not kind.computed and kind not in (AUDIT, JOBS)]
    totals = {kind.name: _rederive(context, kind) for kind in kinds}
    context.dialect.rebuild_search(context.connection)
    counted = ", ".join(f"{total:,} {name}" for name, total in totals.items() if total) or "no records"
    return (f"rebuilt the indexes of {counted}", "rebuilt the full-text index")


def sweep_blobs(context: Context, digests: Sequence[str]) -> int:
    """Delete those of `digests` that no record refers to; writers of blobs wait meanwhile."""
    context.dialect.guard_blobs(context.connection, context.scope, sweeping=True)
    kept = {digest for batch in batches(digests, 500) for digest in _referred(context, batch)}
    unused = [digest for digest in dict.fromkeys(digests) if digest not in kept]
    for digest in unused:
        context.blobs.delete(context.scope, digest)
    return len(unused)


def blob_owners() -> Select[tuple[str, str]]:
    """Which projects of a database have blobs."""
    return select(facets.c.tenant, facets.c.project).where(facets.c.facet == "blob").distinct()


def _referred(context: Context, digests: Sequence[str] | None = None) -> Iterator[str]:
    statement = select(facets.c.value).where(*_facets_here(context), facets.c.facet == "blob").distinct()
    if digests is not None:
        statement = statement.where(facets.c.value.in_(digests))
    return iter(context.connection.execute(statement).scalars().all())


def _sweep_orphans(context: Context) -> int:
    before = context.now - timedelta(hours=context.settings.store.orphan_blob_hours)
    return sweep_blobs(context, [b.digest for b in context.blobs.stream(context.scope) if b.modified < before])


def _rederive(context: Context, kind: Kind[Any]) -> int:
    scope = context.scope
    of_kind = (documents.c.tenant == scope.tenant, documents.c.project == scope.project, documents.c.kind == kind.name)
    context.dialect.clear_text(context.connection, and_(*of_kind))
    context.connection.execute(delete(facets).where(*_facets_here(context), facets.c.kind == kind.name))
    derivation, total = Derivation(kind, context), 0
    for batch in batches(_whole(context, kind), 2_000):
        derivation.add(batch)
        total += len(batch)
    return total


def _whole(context: Context, kind: Kind[Any]) -> Iterator[tuple[Any, Encoded]]:
    """Every record of a kind whoever owns it: repair works for all of a project."""
    codec = Codec(kind, context.settings.store.blob_bytes)
    columns = kind.table.c
    last = ""
    while True:
        statement = select(kind.table).where(
            columns.tenant == context.scope.tenant, columns.project == context.scope.project, columns.id > last
        )
        rows = context.connection.execute(statement.order_by(columns.id).limit(1_000)).mappings().all()
        for row in rows:
            yield codec.decode(context.scope, row, context.blobs), codec.stored(row)
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


def _check_blobs(context: Context) -> Check:
    referred = list(_referred(context))
    missing = [digest for digest in referred if not context.blobs.has(context.scope, digest)]
    if missing:
        detail = f"{len(missing):,} of {len(referred):,} are missing, the first is {missing[0]}"
        return Check("blobs", False, detail, f"restore {context.blobs.location} from a backup")
    return Check("blobs", True, f"{len(referred):,} in {context.blobs.location}")


def _check_jobs(context: Context) -> Check:
    columns = JOBS.table.c
    here = (columns.tenant == context.scope.tenant, columns.project == context.scope.project)
    statement = select(columns.state, func.count()).where(*here).group_by(columns.state)
    found = {str(state): int(count) for state, count in context.connection.execute(statement)}
    dead = found.get(JobState.DEAD.value, 0)
    detail = ", ".join(f"{count:,} {state}" for state, count in sorted(found.items())) or "none"
    return Check("jobs", dead == 0, detail, "look at the dead ones: `treering doctor --json`" if dead else "")
