"""Episodes for tests: rich ones, a clock to let them age by, and what is looked at of them."""

from datetime import datetime
from typing import Any

from tests.samples import NOW
from treering.core.episodes import Episode
from treering.memory import Memory


class Clock:
    """A clock that a test moves."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def rich(memory: Memory, id: str = "e", **fields: Any) -> Episode:
    """An episode with something in every part."""
    told: dict[str, Any] = {
        "outcome": "SUCCESS",
        "output": "the index is in place",
        "session": "s1",
        "goals": ["queries under 10 ms"],
        "constraints": ["no downtime"],
        "plan": ["measure", "add the index", "measure again"],
        "trace": [
            {"action": "explain the query", "tool": "psql", "output": "Seq Scan on orders"},
            {"action": "create index", "tool": "psql", "output": "ERROR: relation 17 is locked", "is_error": True},
            {"action": "create index concurrently", "tool": "psql", "output": "CREATE INDEX"},
        ],
        "insights": ["concurrent index builds do not lock"],
        "domain": "database",
        "task_type": "optimisation",
        "tags": ["orders"],
        "duration_ms": 1200.0,
    }
    return memory.episode("Add an index to the orders table", id=id, **told | fields)


def content(episode: object) -> dict[str, Any]:
    moving = {"version", "lifecycle", "cold"}
    return {name: value for name, value in episode.__dict__.items() if name not in moving}


def at_hand(memory: Memory, id: str) -> Episode:
    with memory.store.reading(memory.scope, NOW) as tx:
        found = tx.episodes.get(id)
    assert found is not None
    return found


def ids(found: Any) -> list[str]:
    return [hit.id for hit in found]
