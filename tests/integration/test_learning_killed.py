"""SIGKILL while sessions are learned from and while a night's stages run: nothing lost, nothing doubled."""

import random
import time
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from tests.integration.crew import Crew
from tests.integration.crew_members import maintain, open_place, said_of, say_and_learn
from tests.integration.written import assert_healthy
from tests.lengths import at_length
from treering.compose import now
from treering.core.payloads import Stated
from treering.core.queries import EpisodeFilter, KnowledgeFilter, SessionFilter
from treering.core.runs import RunState
from treering.core.statements import same_name
from treering.memory import Memory

LEARNERS = 2
KILLS = {"sqlite": at_length(6, full=85), "postgresql": at_length(4, full=15)}
NIGHT_KILLS = {"sqlite": at_length(4, full=100), "postgresql": at_length(2, full=33)}
NOTES = at_length(15, full=40)
EPISODES = at_length(12, full=30)
LATER = timedelta(hours=2)
YEAR = 400.0


def test_each_turn_is_learned_once_however_often_learners_are_killed(
    engine: str, place: dict[str, Any], crew: Crew
) -> None:
    moments = random.Random(3)
    pids = [crew.start(say_and_learn, worker=f"w{number}", **place) for number in range(LEARNERS)]
    for kill in range(KILLS[engine]):
        time.sleep(moments.uniform(0.005, 0.15))
        crew.hear(kill)
        which = moments.randrange(LEARNERS)
        crew.kill(pids[which])
        pids[which] = crew.start(say_and_learn, worker=f"w{kill + LEARNERS}", **place)
    for pid in pids:
        crew.kill(pid)
    # Whoever was killed holds leases for a while.
    with open_place(clock=lambda: now() + LATER, **place) as memory:
        memory.settle()
        said = _said(memory)
        assert set(crew.told("said")) <= said
        assert _known(memory) == Counter(said_of(id) for id in said)
        with memory.store.reading(memory.scope, now()) as tx:
            assert tx.sessions.count(SessionFilter(learned=False)) == 0
        assert_healthy(memory)


def test_a_night_that_is_killed_again_and_again_ends_as_one_that_is_not(
    place: dict[str, Any], crew: Crew, engine: str
) -> None:
    moments = random.Random(4)
    undisturbed = {**place, "tenant": f"{place['tenant']}-twin"}
    begun = now()
    for where in (place, undisturbed):
        _fill(where, begun)
    for _ in range(NIGHT_KILLS[engine]):
        pid = crew.start(maintain, days=YEAR, **place)
        time.sleep(moments.uniform(0.05, 0.6))
        crew.kill(pid)
    ends = [_after_a_night(where) for where in (place, undisturbed)]
    assert ends[0] == ends[1]


def _fill(place: dict[str, Any], begun: datetime) -> None:
    """Something to do for every stage: sessions to read, facts that fade, episodes that age and are alike."""
    with open_place(**place) as memory:
        for number in range(NOTES):
            service, port = said_of(f"n{number}")
            at = begun - timedelta(days=number)
            memory.turn(
                session=f"s{number}", id=f"t{number}", role="user", at=at, text=f"The {service} listens on port {port}."
            )
            memory.remember(f"observation {number} of the night", id=f"k{number}", created_at=at, last_accessed_at=at)
        for number in range(EPISODES):
            at = begun - timedelta(days=60 * (number % 8))
            memory.episode(
                f"rebuild the index of shard {number % 3}",
                id=f"e{number}",
                output="rebuilt",
                domain="search",
                task_type="rebuild",
                at=at,
                trace=[{"at": at, "action": f"step {step}", "output": "line " * 50} for step in range(5)],
            )


def _after_a_night(place: dict[str, Any]) -> object:
    """What is there once every stage ran to its end, apart from ids and moments."""
    with open_place(clock=lambda: now() + timedelta(days=YEAR) + LATER, **place) as memory:
        runs = memory.maintenance.run()
        assert {run.state for run in runs} == {RunState.DONE}, runs
        assert_healthy(memory)
        with memory.store.reading(memory.scope, now()) as tx:
            facts = Counter(
                (fact.type, fact.content, fact.deleted_at is None, fact.deprecated_at is None)
                for fact in tx.knowledge.stream(KnowledgeFilter(deleted=None))
                if fact.type != "reflection"
            )
            episodes = Counter(
                (each.task.input, each.lifecycle.status, each.cold is None, each.lifecycle.consolidated_into is None)
                for each in tx.episodes.stream(EpisodeFilter(deleted=None))
            )
            whole = {id: tx.episodes.get_complete(id) for id in (f"e{number}" for number in range(EPISODES))}
            turns = sorted(turn.id for turn in tx.turns.stream())
        traces = {id: each and each.execution.trace for id, each in whole.items()}
        return facts, episodes, {id: len(trace or ()) for id, trace in traces.items()}, turns


def _said(memory: Memory) -> set[str]:
    with memory.store.reading(memory.scope, now()) as tx:
        return {turn.id for turn in tx.turns.stream()}


def _known(memory: Memory) -> Counter[tuple[str, str]]:
    with memory.store.reading(memory.scope, now()) as tx:
        stated = [fact.payload for fact in tx.knowledge.stream(KnowledgeFilter(deleted=None))]
    return Counter((same_name(each.subject or ""), each.value or "") for each in stated if isinstance(each, Stated))
