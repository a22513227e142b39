"""Observed sessions for tests: ready-made sessions, and what the store keeps of them."""

from typing import Any

from tests.session_events import GO_FAILURE, ROOT, Session
from treering.compose import now
from treering.core.observations import SignalEvidence
from treering.core.queries import KnowledgeFilter, TurnFilter
from treering.core.records import Knowledge
from treering.core.turns import Turn
from treering.memory import Memory
from treering.observe.reports import SessionReport

RULE = "Always use pnpm instead of npm in this repository."
DEAD_END = (
    "I tried to mock the clock. That approach does not work because the timer is global. Let me inject a clock instead."
)


def failing(path: str = "tides/tide.go", *, command: str = "go test ./tides", after: Session | None = None) -> Session:
    """A test that fails until a file is edited."""
    test = GO_FAILURE.replace("tides", path.partition("/")[0])
    return (after or Session()).run(command, test, fails=True).edit(path).run(command)


def observe(
    memory: Memory,
    session: str,
    events: Session,
    *,
    outcome: str = "success",
    validated: bool | None = None,
    **options: Any,
) -> SessionReport:
    watch = memory.observe(session, root=ROOT, **options)
    for event in events.events:
        watch.event(event)
    return watch.finish(outcome, validated=validated)


def records(memory: Memory, *types: str) -> list[Knowledge]:
    """Current records, oldest first."""
    with memory.store.reading(memory.scope, now()) as tx:
        found = list(tx.knowledge.stream(KnowledgeFilter(types=types)))
    return sorted(found, key=lambda each: each.created_at)


def turns(memory: Memory) -> list[Turn]:
    with memory.store.reading(memory.scope, now()) as tx:
        return list(tx.turns.stream(TurnFilter()))


def evidence(memory: Memory) -> dict[tuple[str, str], SignalEvidence]:
    with memory.store.reading(memory.scope, now()) as tx:
        return {(each.signal, each.subject): each for each in tx.evidence.stream()}


def stored_text(memory: Memory) -> str:
    """Everything in the tables of the observer, as text."""
    with memory.store.reading(memory.scope, now()) as tx:
        rows = [*tx.observed_sessions.stream(), *tx.scratchpads.stream(), *tx.evidence.stream()]
    return "\n".join(each.to_json() for each in rows)
