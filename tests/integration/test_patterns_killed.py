"""SIGKILL while patterns are judged: each has its old verdict or its new one. What two tell at once counts once."""

import random
import time
from typing import Any

from tests.integration.crew import Crew
from tests.integration.crew_members import open_place
from tests.integration.judging_member import NOW, apply_all, judge
from tests.integration.written import assert_healthy
from tests.lengths import at_length
from tests.samples import sample
from treering.core.patterns import Application, Pattern, PatternStatus
from treering.core.queries import PatternFilter
from treering.memory import Memory

KILLS = at_length(4, full=8)
PATTERNS = 60
EPISODES = 40


def fill(memory: Memory) -> None:
    """Half of them succeed always, the others never."""
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.patterns.create_many(sample(Pattern, f"p{number:02}") for number in range(PATTERNS))
        tx.applications.create_many(
            sample(
                Application,
                f"a{number:02}-{session}",
                pattern=f"p{number:02}",
                session=f"s{session}",
                outcome="SUCCESS" if number % 2 else "FAILURE",
            )
            for number in range(PATTERNS)
            for session in range(25)
        )


def patterns(memory: Memory) -> dict[str, Pattern]:
    with memory.store.reading(memory.scope, NOW) as tx:
        return {each.id: each for each in tx.patterns.stream(PatternFilter())}


def assert_old_or_new(memory: Memory, before: dict[str, Pattern], after: dict[str, PatternStatus]) -> int:
    """How many have their new verdict is returned."""
    judged = 0
    for id, each in patterns(memory).items():
        if each == before[id]:
            continue
        judged += 1
        assert (each.status, each.evidence.sessions, each.version) == (after[id], 25, 2)
        log = [entry.detail for entry in memory.patterns.history(id) if entry.detail.get("cause") == "validation"]
        assert [entry["to"] for entry in log] == [after[id].value]
    return judged


def test_a_kill_leaves_old_or_new_verdicts_only(place: dict[str, Any], crew: Crew) -> None:
    moments = random.Random(5)
    with open_place(**place, clock=lambda: NOW) as memory:
        fill(memory)
        before = patterns(memory)
        after = {each.pattern: each.judged.status for each in memory.patterns.validate(dry_run=True)}
        assert set(after.values()) == {PatternStatus.VALIDATED, PatternStatus.UNDER_REVIEW}
        judged = list[int]()
        for kill in range(KILLS):
            if kill % 2:
                pid = crew.start(judge, commits=moments.randint(1, 2), **place)
                crew.await_end(pid)
            else:
                news = len(crew.news)
                pid = crew.start(judge, **place)
                crew.hear_of(news, writing=moments.randint(2, 9))
                time.sleep(moments.uniform(0, 0.01))
            crew.kill(pid)
            judged.append(assert_old_or_new(memory, before, after))
        assert 0 < judged[0] < PATTERNS or len(set(judged)) > 1, f"the kills came before or after the work: {judged}"
        crew.join(crew.start(judge, **place))
        assert {id: each.status for id, each in patterns(memory).items()} == after
        assert_healthy(memory)


def test_what_two_processes_tell_at_once_counts_once(place: dict[str, Any], crew: Crew) -> None:
    with open_place(**place, clock=lambda: NOW) as memory:
        memory.patterns.add(id="p", name="p", category="strategy", content={"form": "strategy", "approach": "x"})
        for number in range(EPISODES):
            memory.episode("fix it", id=f"e{number}", session=f"s{number}")
        members = [crew.start(apply_all, episodes=EPISODES, **place) for _ in range(2)]
        for member in members:
            crew.join(member)
        assert len(crew.told("application")) == 2 * EPISODES
        assert memory.patterns.get("p").usage_count == EPISODES
        assert {each.id for each in memory.patterns.applications("p", limit=500)} == set(crew.told("application"))
        assert len(memory.patterns.sessions("p")) == EPISODES
        assert_healthy(memory)
