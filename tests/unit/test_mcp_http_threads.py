"""How many calls work at once."""

from treering.core.settings import Settings
from treering.interfaces.mcp.threads import AT_ONCE, Row


def test_every_row_has_its_places_and_a_connection_for_each() -> None:
    assert set(AT_ONCE) == set(Row)
    assert sum(AT_ONCE.values()) < Settings().store.pool_size
