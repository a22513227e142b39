"""The table from filters to SQL forgets no field, and the kinds forget no table."""

from typing import Any

import pytest

from tests.property.strategies import FILTERS, RECORDS
from treering.adapters.sql.conditions import CONDITIONS
from treering.adapters.sql.kinds import KINDS, RecordKind
from treering.adapters.sql.schema import metadata
from treering.adapters.sql.tables import documents, facets, ids, principals, vectors
from treering.core.queries import Filter

by_name = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@pytest.mark.parametrize("where", FILTERS, ids=lambda cls: cls.__name__)
def test_every_field_of_a_filter_has_its_condition(where: type[Filter]) -> None:
    assert set(CONDITIONS[where]) == set(where.model_fields)


def test_no_condition_is_left_over() -> None:
    assert set(CONDITIONS) == set(FILTERS)


def test_every_record_has_one_kind_and_every_table_that_is_not_derived_is_of_one() -> None:
    assert [kind.value for kind in KINDS].count(KINDS[0].value) == 1
    assert {kind.value for kind in KINDS} == set(RECORDS)
    code = {table for table in metadata.sorted_tables if table.name.startswith("code_")}
    derived = {facets, documents, vectors, principals, ids}
    assert {kind.table for kind in KINDS} == set(metadata.sorted_tables) - derived - code
    assert len({kind.name for kind in KINDS}) == len(KINDS)


@by_name
def test_a_kind_is_ordered_by_columns_that_are_never_empty(kind: RecordKind[Any]) -> None:
    for name in (kind.born, *kind.orders, *kind.streamed):
        assert not kind.table.c[name].nullable
    assert kind.born in kind.orders


@by_name
def test_every_field_that_may_hold_a_person_apart_is_a_column(kind: RecordKind[Any]) -> None:
    for name in ("visibility", "owner", "deleted_at"):
        assert (name in kind.value.model_fields) == (name in kind.table.c)
