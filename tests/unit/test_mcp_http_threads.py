"""How many calls work at once."""

from treering.core.settings import Settings
from treering.interfaces.servers.threads import CONCURRENCY, CallQueue


def test_every_row_has_its_places_and_a_connection_for_each() -> None:
    assert set(CONCURRENCY) == set(CallQueue)
    assert sum(CONCURRENCY.values()) < Settings().store.pool_size
