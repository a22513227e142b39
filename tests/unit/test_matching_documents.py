"""Statements that check documents against filters are built once."""

from datetime import UTC, datetime

from treering.adapters.sql.codec import micros
from treering.adapters.sql.matching_documents import matching_among
from treering.adapters.sql.sqlite import JsonLists
from treering.core.queries import Filter, KnowledgeFilter, TurnFilter
from treering.core.scope import Scope

LISTS, SCOPE = JsonLists(), Scope(tenant="t", project="p")


def _filters(moment: datetime | None) -> dict[str, Filter]:
    return {"knowledge": KnowledgeFilter.make(valid_at=moment, flagged=False), "turn": TurnFilter.make()}


def test_a_statement_is_built_once_for_all_times() -> None:
    first, later = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    one, at_first = matching_among(LISTS, SCOPE, _filters(first))
    other, at_later = matching_among(LISTS, SCOPE, _filters(later))
    assert one is other
    assert (at_first, at_later) == ({"valid_at": micros(first)}, {"valid_at": micros(later)})


def test_a_filter_without_a_time_has_another_statement_without_a_parameter_for_it() -> None:
    timed, _ = matching_among(LISTS, SCOPE, _filters(datetime(2026, 1, 1, tzinfo=UTC)))
    untimed, values = matching_among(LISTS, SCOPE, _filters(None))
    assert untimed is not timed
    assert values == {}
    assert "valid_at" in timed.compile().params
    assert "valid_at" not in untimed.compile().params
