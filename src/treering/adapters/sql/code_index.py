"""The stored code graph of one project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Table, bindparam, case, delete, func, or_, select, update

from treering.adapters.sql.code_chunks import StoredChunks
from treering.adapters.sql.code_tables import code_facts, code_files, code_state, code_ties, code_uses
from treering.adapters.sql.codec import instant, micros
from treering.adapters.sql.records import batches
from treering.adapters.sql.rows import insert_tuples
from treering.core.errors import Conflict
from treering.ports.code import (
    CodeState,
    CodeTotals,
    FileContents,
    FileDependency,
    FileFacts,
    FileKeys,
    IndexLease,
    ListedFile,
    ReadFile,
    ResolvedFile,
)

if TYPE_CHECKING:
    from sqlalchemy.sql import ColumnElement

    from treering.adapters.sql.context import TransactionContext

_BATCH = 500
_AT_ONCE = 100
_NOTHING = b""
# Cooperating clocks never differ by this much: a longer lease was taken by a wrong clock.
_AHEAD = timedelta(days=1)
_PUT = (
    *("tenant", "project", "path", "language", "digest", "stamp", "read_at", "resolved", "skipped", "generation"),
    *("defined", "used", "unknown", "problems", "definitions", "edges", "further"),
)
_LISTED = (
    *("path", "language", "digest", "stamp", "read_at", "resolved", "skipped", "generation"),
    *("defined", "used", "unknown", "problems"),
)
_STATE = ("root", "version", "complete", "generation", "told", "lease_owner", "lease_until")
_CONTENTS = ("path", "resolved", "definitions", "edges", "further")


class StoredCode:
    """See `treering.ports.code.CodeIndex`."""

    def __init__(self, context: TransactionContext) -> None:
        self._context = context
        self._connection = context.connection
        self._project = (context.scope.tenant, context.scope.project)
        self._chunks = StoredChunks(context)

    # Status and lease

    def state(self) -> CodeState | None:
        columns = (code_state.c[name] for name in _STATE)
        row = self._connection.execute(select(*columns).where(self._here(code_state))).first()
        if row is None:
            return None
        held = row.lease_owner is not None and self._holds(row.lease_until)
        lease = IndexLease(row.lease_owner, instant(row.lease_until)) if held else None
        return CodeState(row.root, row.version, bool(row.complete), row.generation, row.told, lease)

    def lock_state(self) -> CodeState | None:
        self._connection.execute(select(code_state.c.root).where(self._here(code_state)).with_for_update(read=True))
        return self.state()

    def take_lease(self, owner: str, duration: timedelta) -> bool:
        self._context.dialect.lock(self._connection, self._context.scope, "claim code index")
        columns, now = code_state.c, self._context.now
        until = micros(now + duration)
        found = self._connection.execute(
            select(columns.lease_owner, columns.lease_until).where(self._here(code_state))
        ).first()
        if found is None:
            names = ("tenant", "project", "root", "version", "complete", "generation", "told", "lease_owner")
            row = (*self._project, "", "", False, 0, "{}", owner, until)
            insert_tuples(self._connection, code_state, (*names, "lease_until"), [row])
            return True
        free = found.lease_owner in (None, owner) or not self._holds(found.lease_until)
        if free:
            held = update(code_state).where(self._here(code_state)).values(lease_owner=owner, lease_until=until)
            self._connection.execute(held)
        return free

    def _holds(self, until: int) -> bool:
        return micros(self._context.now) < until <= micros(self._context.now + _AHEAD)

    def release_lease(self, owner: str) -> None:
        mine = (self._here(code_state), code_state.c.lease_owner == owner)
        self._connection.execute(update(code_state).where(*mine).values(lease_owner=None, lease_until=None))

    def describe(
        self, owner: str, *, seen: int, root: str, version: str, complete: bool, report: str | None = None
    ) -> int:
        columns = code_state.c
        new = {"root": root, "version": version, "complete": complete, "generation": columns.generation + 1}
        changed = (
            update(code_state)
            .where(self._here(code_state), columns.lease_owner == owner, columns.generation == seen)
            .values(new if report is None else {**new, "told": report})
            .returning(columns.generation)
        )
        generation = self._connection.execute(changed).scalar()
        if generation is None:
            raise Conflict("another process is indexing this project or has changed its index; try again")
        return int(generation)

    # Writes

    def clear(self) -> None:
        for table in (code_files, code_facts, code_uses, code_ties):
            self._connection.execute(delete(table).where(self._here(table)))
        self._chunks.clear()

    def drop_unused(self) -> None:
        self._chunks.drop_unused_vectors()

    def put(self, files: Sequence[ReadFile], generation: int) -> None:
        self._take_away([file.path for file in files])
        self._chunks.put({file.path: file.chunks for file in files})
        insert_tuples(self._connection, code_files, _PUT, [self._row(file, generation) for file in files])
        facts = [(*self._project, file.path, file.given, file.facts) for file in files if not file.skipped]
        insert_tuples(self._connection, code_facts, ("tenant", "project", "path", "given", "facts"), facts)

    def _row(self, file: ReadFile, generation: int) -> tuple[Any, ...]:
        # A skipped file has nothing to resolve.
        resolved = bool(file.skipped)
        about = (file.path, file.language, file.digest, file.stamp, file.read_at, resolved, file.skipped, generation)
        return (*self._project, *about, file.defined, 0, 0, file.problems, file.definitions, _NOTHING, _NOTHING)

    def resolve(self, files: Sequence[ResolvedFile], generation: int) -> None:
        if not files:
            return
        paths = [file.path for file in files]
        self._remove(code_uses, code_uses.c.path, paths)
        self._remove(code_ties, code_ties.c.origin, paths)
        uses = [(*self._project, file.path, file.asked, file.unresolved) for file in files]
        insert_tuples(self._connection, code_uses, ("tenant", "project", "path", "asked", "unresolved"), uses)
        ties = [(*self._project, file.path, target, weight) for file in files for target, weight in file.ties.items()]
        insert_tuples(self._connection, code_ties, ("tenant", "project", "origin", "target", "weight"), ties)
        columns = ("edges", "used", "unknown")
        self._update(
            {name: bindparam(f"new_{name}") for name in columns} | {"resolved": True, "generation": generation},
            [{"at": file.path, **{f"new_{name}": getattr(file, name) for name in columns}} for file in files],
        )

    def unresolve(self, paths: Sequence[str], generation: int) -> None:
        self._remove(code_ties, code_ties.c.origin, paths)
        gone = {"edges": _NOTHING, "used": 0, "unknown": 0, "resolved": False, "generation": generation}
        self._update(gone, [{"at": path} for path in paths])

    def add_further(self, edges: Mapping[str, bytes], generation: int) -> None:
        rows = [{"at": path, "new_further": packed} for path, packed in edges.items()]
        self._update({"further": bindparam("new_further"), "generation": generation}, rows)

    def touch(self, stamps: Sequence[tuple[str, str, int]]) -> None:
        rows = [{"at": path, "new_stamp": stamp, "new_read_at": read_at} for path, stamp, read_at in stamps]
        self._update({"stamp": bindparam("new_stamp"), "read_at": bindparam("new_read_at")}, rows)

    def remove(self, paths: Sequence[str]) -> None:
        self._take_away(paths)
        self._chunks.put(dict.fromkeys(paths, ()))

    def _take_away(self, paths: Sequence[str]) -> None:
        for column in (code_files.c.path, code_facts.c.path, code_uses.c.path, code_ties.c.origin):
            self._remove(column.table, column, paths)

    def _update(self, values: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            statement = update(code_files).where(self._here(code_files), code_files.c.path == bindparam("at"))
            self._connection.execute(statement.values(values), rows)

    def _remove(self, table: Any, column: ColumnElement[str], paths: Sequence[str]) -> None:
        for batch in batches(paths, _BATCH):
            self._connection.execute(delete(table).where(self._here(table), column.in_(batch)))

    # Reads

    def listed(self) -> Sequence[ListedFile]:
        rows = self._rows(select(*(code_files.c[name] for name in _LISTED)).where(self._here(code_files)))
        return [ListedFile(**{**row._mapping, "resolved": bool(row.resolved)}) for row in rows]

    def skipped_languages(self, reason: str) -> Mapping[str, int]:
        language = code_files.c.language
        skipped = (self._here(code_files), code_files.c.skipped == reason)
        statement = select(language, func.count()).where(*skipped).group_by(language).order_by(language)
        return {name: int(count) for name, count in self._rows(statement)}

    def count(self) -> int:
        statement = select(func.count()).select_from(code_files).where(self._here(code_files))
        return int(self._connection.execute(statement).scalar_one())

    def generations(self, *, after: int = 0) -> Mapping[str, int]:
        columns = code_files.c
        statement = select(columns.path, columns.generation).where(self._here(code_files), columns.generation > after)
        return dict(map(tuple, self._rows(statement)))

    def keys(self) -> Iterator[FileKeys]:
        facts, uses = code_facts.c, code_uses.c
        same = (uses.tenant == facts.tenant) & (uses.project == facts.project) & (uses.path == facts.path)
        found = select(facts.path, facts.given, uses.asked).select_from(code_facts.outerjoin(code_uses, same))
        for path, given, asked in self._few_at_once(found.where(self._here(code_facts))):
            yield FileKeys(path, bytes(given), bytes(asked or _NOTHING))

    def facts(self, paths: Sequence[str]) -> Mapping[str, FileFacts]:
        rows = self._of(code_facts, ("given", "facts"), paths)
        return {path: FileFacts(bytes(given), bytes(facts)) for path, given, facts in rows}

    def unresolved(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        return {path: bytes(packed) for path, packed in self._of(code_uses, ("unresolved",), paths)}

    def contents(self, paths: Sequence[str] | None = None) -> Iterator[FileContents]:
        statement = select(*(code_files.c[name] for name in _CONTENTS)).where(
            self._here(code_files), code_files.c.skipped == ""
        )
        chosen = (
            [statement]
            if paths is None
            else [statement.where(code_files.c.path.in_(batch)) for batch in batches(paths, _BATCH)]
        )
        for each in chosen:
            for path, resolved, *packed in self._few_at_once(each):
                yield FileContents(path, bool(resolved), *map(bytes, packed))

    def further(self) -> Iterator[bytes]:
        packed = code_files.c.further
        some = select(packed).where(self._here(code_files), func.length(packed) > 0)
        return (bytes(each) for (each,) in self._few_at_once(some))

    def ties(self, files: Sequence[str], *, limit: int) -> Sequence[FileDependency]:
        if code_ties.name in self._context.ahead.empty:
            return ()
        columns = code_ties.c
        touching = or_(columns.origin.in_(files), columns.target.in_(files))
        statement = select(columns.origin, columns.target, columns.weight).where(self._here(code_ties), touching)
        ordered = statement.order_by(columns.weight.desc(), columns.origin, columns.target).limit(limit)
        return [FileDependency(*row) for row in self._rows(ordered)]

    def totals(self) -> CodeTotals:
        columns = code_files.c
        counted = (columns.defined, columns.used, columns.unknown, columns.problems)
        waiting = func.sum(case((columns.resolved, 0), else_=1))
        statement = select(columns.language, func.count(), *map(func.sum, counted), waiting)
        read = (self._here(code_files), columns.skipped == "")
        rows = self._rows(statement.where(*read).group_by(columns.language).order_by(columns.language))
        files, definitions, edges, unresolved, problems, left = (
            sum(int(row[place]) for row in rows) for place in range(1, 7)
        )
        languages = {row[0]: int(row[1]) for row in rows}
        return CodeTotals(files, definitions, edges, unresolved, problems, languages, left)

    def _of(self, table: Table, names: Sequence[str], paths: Sequence[str]) -> Iterator[Any]:
        for batch in batches(paths, _BATCH):
            columns = (table.c[name] for name in ("path", *names))
            yield from self._rows(select(*columns).where(self._here(table), table.c.path.in_(batch)))

    def _few_at_once(self, statement: Any) -> Iterator[Any]:
        """Stream the rows, so that a whole project is never in memory at once."""
        with self._connection.execute(statement, execution_options={"yield_per": _AT_ONCE}) as rows:
            yield from rows

    def _rows(self, statement: Any) -> Sequence[Any]:
        return self._connection.execute(statement).all()

    def _here(self, table: Any) -> ColumnElement[bool]:
        condition: ColumnElement[bool] = (table.c.tenant == self._project[0]) & (table.c.project == self._project[1])
        return condition
