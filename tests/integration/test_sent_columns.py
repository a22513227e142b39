"""Columns sent to a server as the text of an array arrive as they are."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

from tests.examples import examples
from treering.adapters.sql.rows import sent_column

TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"))
COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXTS | st.sampled_from(["NULL", "{}", '"', "\\", "\\x41", " a ", "", "a,b"]),
    "bytea": st.binary(),
    "bigint": st.integers(-(2**63), 2**63 - 1),
    "double precision": st.floats(allow_nan=False),
    "boolean": st.booleans(),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_arrives_as_it_is(postgres_url: str, kind: str) -> None:
    engine = create_engine(make_url(postgres_url).set(drivername="postgresql+psycopg"))

    with engine.connect() as connection:

        @examples(20)
        @given(st.lists(COLUMNS[kind] | st.none()))
        def arrives(values: list[Any]) -> None:
            sent = connection.exec_driver_sql(f"SELECT unnest(%s::{kind}[])", (sent_column(values),))
            assert list(sent.scalars()) == values

        arrives()
    engine.dispose()
