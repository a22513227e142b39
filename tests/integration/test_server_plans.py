"""Plans of the statements of a search: made once, and good for each project."""

from collections.abc import Callable
from typing import Any, cast

import psycopg
from psycopg._queries import PostgresQuery
from psycopg.adapt import Transformer
from sqlalchemy import event

from treering.memory import Memory


def summary_plan(memory: Memory) -> str:
    """The plan of the first statement of a search, as it is made without its values."""
    engine, plans = cast("Any", memory.store)._engine, list[str]()

    def explain(connection: Any, _cursor: Any, statement: str, values: Any, _context: Any, _many: bool) -> None:
        if plans or "WITH RECURSIVE spaces" not in statement:
            return
        driver = connection.connection.driver_connection
        query = PostgresQuery(Transformer(driver))
        query.convert(statement, values)
        written = psycopg.ClientCursor(driver)
        given = ", ".join(written.mogrify("%s", (values[name],)) for name in query._order or ())
        with driver.cursor() as cursor:
            cursor.execute(b"PREPARE explained AS " + query.query)
            cursor.execute(f"EXPLAIN EXECUTE explained({given})".encode())
            plans.append("\n".join(line for (line,) in cursor.fetchall()))

    event.listen(engine, "before_cursor_execute", explain)
    try:
        memory.search("where are the notes of the meeting?")
    finally:
        event.remove(engine, "before_cursor_execute", explain)
    return plans[0]


def test_a_small_project_does_not_read_the_documents_of_a_large_one(open_engine: Callable[..., Memory]) -> None:
    large = open_engine("postgresql", background=False)
    large.remember_many(f"Note {number} of the meeting is on page {number}" for number in range(3_000))
    small = open_engine("postgresql", background=False, project="small")
    small.remember("The notes of the meeting are in the wiki")
    small.settle()
    with cast("Any", small.store)._engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE documents")
        connection.commit()
    plan = summary_plan(small)
    assert "documents_by_number" in plan
    assert "documents_pkey" not in plan
