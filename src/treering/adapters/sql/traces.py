"""Searches everything stored for texts: the bytes of the files, the blobs, every column of every table."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, LargeBinary, MetaData, Table, Text, func, literal, or_, select
from sqlalchemy import text as sql

from treering.adapters.sql.owners import SHARED
from treering.core.errors import BlobMissing, StoreError
from treering.core.scope import Visibility
from treering.ports.store import Trace, Traces

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext

_GZIP = b"\x1f\x8b"
# Rows listed per column; more add nothing.
_MAX_ROWS = 10
_SECONDS = 600.0
_BINARY = ("blob", "bytea")
_COLUMNS = {
    "sqlite": "SELECT tables.name, columns.name, columns.type FROM sqlite_master AS tables, "
    "pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' "
    "AND upper(columns.type) NOT IN ('INTEGER', 'BIGINT', 'SMALLINT', 'REAL', 'FLOAT', 'BOOLEAN')",
    "postgresql": "SELECT table_name, column_name, data_type FROM information_schema.columns "
    "JOIN information_schema.tables USING (table_schema, table_name) WHERE table_schema = current_schema() "
    "AND table_type = 'BASE TABLE' AND data_type IN ('text', 'bytea', 'character varying', 'character')",
}
# In another process: closing a handle on a SQLite file releases every lock that its process has on it.
_READER = """
import json, sys
paths, needles = json.load(sys.stdin)
wanted = [bytes.fromhex(each) for each in needles]
overlap, found, size, files = max(map(len, wanted), default=1), [], 0, 0
for place, path in enumerate(paths):
    try:
        file = open(path, "rb")
    except FileNotFoundError:
        continue
    with file:
        files, tail, left = files + 1, b"", set(range(len(wanted)))
        while data := file.read(1 << 22):
            size, window = size + len(data), tail + data
            hits = {number for number in left if wanted[number] in window}
            found += [(number, place) for number in sorted(hits)]
            left, tail = left - hits, window[-overlap:]
print(json.dumps([files, size, found]))
"""


def traces_of(context: TransactionContext, files: Sequence[Path], needles: Sequence[str]) -> Traces:
    """Search a file's bytes; on a match, or without files, search the rows."""
    forms = {form: needle for needle in needles for form in _forms(needle)}
    if not forms:
        return Traces(0, 0, ())
    opened, size, in_files = _in_files(files, forms) if files else _tables_size(context)
    blobs, blob_size, in_blobs = _in_blobs(context, forms)
    in_tables = _in_tables(context, forms) if in_files or not files else ()
    named = {trace.needle for trace in in_tables}
    raw = tuple(trace for trace in in_files if trace.needle not in named)
    return Traces(opened + blobs, size + blob_size, (*in_tables, *raw, *in_blobs))


def _forms(needle: str) -> set[str]:
    """The plain text, and its forms inside JSON and nested JSON."""
    inside = {json.dumps(needle, ensure_ascii=plain)[1:-1] for plain in (False, True)}
    return {needle, *inside, *(json.dumps(each, ensure_ascii=False)[1:-1] for each in inside)}


def _in_files(files: Sequence[Path], forms: Mapping[str, str]) -> tuple[int, int, tuple[Trace, ...]]:
    wanted = list(forms)
    question = json.dumps([[str(file) for file in files], [form.encode().hex() for form in wanted]])
    command = [sys.executable, "-I", "-S", "-c", _READER]
    done = subprocess.run(command, input=question, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise StoreError(f"{files[0]} could not be searched ({last}); check its permissions, then try again")
    opened, size, found = json.loads(done.stdout)
    held = dict.fromkeys((forms[wanted[number]], files[place].name) for number, place in found)
    return opened, size, tuple(Trace(needle, place) for needle, place in held)


def _tables_size(context: TransactionContext) -> tuple[int, int, tuple[Trace, ...]]:
    names = [table.name for table in _tables(context)]
    sizes = [context.connection.execute(select(func.pg_total_relation_size(name))).scalar_one() for name in names]
    return len(names), sum(map(int, sizes)), ()


def _in_blobs(context: TransactionContext, forms: Mapping[str, str]) -> tuple[int, int, tuple[Trace, ...]]:
    files, size, found = 0, 0, dict[tuple[str, str], None]()
    for blob in context.blobs.stream(context.scope):
        try:
            data = context.blobs.get(context.scope, blob.digest)
        except BlobMissing:
            continue
        files, size = files + 1, size + len(data)
        shown = gzip.decompress(data) if data.startswith(_GZIP) else data
        found |= {(needle, f"blob {blob.digest}"): None for form, needle in forms.items() if form.encode() in shown}
    return files, size, tuple(Trace(needle, place) for needle, place in found)


def _in_tables(context: TransactionContext, forms: Mapping[str, str]) -> Sequence[Trace]:
    """Rows of all principals; rows visible only to others are not named."""

    def find(view: TransactionContext) -> Iterator[Trace]:
        for table in tables:
            for held in table.c:
                for row in view.connection.execute(_holding(view, table, held, forms)).mappings():
                    yield from _traces(context, table, held, row, forms)

    tables = _tables(context)
    return context.for_every_principal(find)


def _tables(context: TransactionContext) -> Sequence[Table]:
    """Every table with its text and binary columns, including tables unknown to this program."""
    columns: dict[str, list[Column[Any]]] = defaultdict(list)
    for table, name, kind in context.connection.execute(sql(_COLUMNS[context.dialect.name])):
        binary = kind.lower() in _BINARY
        columns[table].append(Column(name, LargeBinary() if binary else Text()))
    metadata = MetaData()
    return [Table(table, metadata, *each) for table, each in columns.items()]


def _holding(context: TransactionContext, table: Table, held: Column[Any], forms: Mapping[str, str]) -> Any:
    binary, embedded = isinstance(held.type, LargeBinary), bool(context.dialect.raw_files)

    def place(form: str) -> Any:
        """Each engine's function for bytewise, case-sensitive comparison."""
        wanted = literal(form.encode() if binary else form)
        if embedded:
            return func.instr(held, wanted)
        return func.position(wanted.op("IN")(held)) if binary else func.strpos(held, wanted)

    return select(*table.c).where(or_(*(place(form) > 0 for form in forms))).limit(_MAX_ROWS)


def _traces(
    context: TransactionContext, table: Table, held: Column[Any], row: Mapping[Any, Any], forms: Mapping[str, str]
) -> Iterator[Trace]:
    value = row[held.name]
    data = value.encode() if isinstance(value, str) else bytes(value or b"")
    scope = context.scope
    here = (row.get("tenant", scope.tenant), row.get("project", scope.project)) == (scope.tenant, scope.project)
    # Derived tables name an owner only for personal records.
    personal = row.get("visibility", Visibility.PERSONAL) == Visibility.PERSONAL
    theirs = personal and row.get("owner", row.get("principal", SHARED)) not in (SHARED, scope.principal)
    hidden = "a record of another project" if not here else "another principal's personal record" if theirs else ""
    record = hidden or str(row.get("id", ""))
    for form, needle in forms.items():
        if form.encode() in data:
            yield Trace(needle, f"{table.name}.{held.name}", record)
