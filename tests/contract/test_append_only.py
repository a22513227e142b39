"""What was said and done stays as it was written: the database itself refuses to change it."""

import pytest
from sqlalchemy import text as sql

from tests.conftest import OpenMemory
from tests.samples import NOW, put, sample
from treering.adapters.sql.schema import metadata
from treering.core.episodes import Episode
from treering.core.errors import TreeringError
from treering.core.history import AuditEntry
from treering.core.turns import Turn
from treering.memory import Memory

_FROM_LIFECYCLE = ("status", "access_count", "last_accessed_at")
CHANGEABLE = {
    "turns": {"visibility", "tainted", "deleted_at"},
    "episodes": {
        "version",
        "visibility",
        "tainted",
        "deleted_at",
        "lifecycle",
        "consolidated_into",
        "cold",
        *_FROM_LIFECYCLE,
    },
    "audit": set(),
}
FIXED = [
    (table, column.name)
    for table, changeable in CHANGEABLE.items()
    for column in metadata.tables[table].c
    if column.name not in {"tenant", "project", *changeable}
]


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory()
    with memory.store.transaction(memory.scope, NOW) as tx:
        put(tx, [sample(cls, cls.__name__) for cls in (Turn, Episode, AuditEntry)])
    return memory


@pytest.mark.parametrize(("table", "column"), FIXED)
def test_the_database_refuses_to_rewrite(memory: Memory, table: str, column: str) -> None:
    kind = metadata.tables[table].c[column].type.python_type
    new = {str: "'rewritten'", int: "12345", bool: "true", float: "0.5"}[kind]
    statement = sql(f'UPDATE {table} SET "{column}" = {new} WHERE tenant = :tenant')
    with pytest.raises(TreeringError, match="append-only"), memory.store.transaction(memory.scope, NOW) as tx:
        tx._context.connection.execute(statement, {"tenant": memory.scope.tenant})  # type: ignore[attr-defined]


def test_what_may_change_of_them_does(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        for statement in (
            "UPDATE turns SET deleted_at = 1",
            "UPDATE episodes SET status = 'aged', lifecycle = '{}'",
        ):
            changed = tx._context.connection.execute(  # type: ignore[attr-defined]
                sql(f"{statement} WHERE tenant = :tenant"), {"tenant": memory.scope.tenant}
            )
            assert changed.rowcount == 1
