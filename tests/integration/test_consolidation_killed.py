"""SIGKILL while episodes are merged: each is as it was, or archived with the one that stands for it; never between."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from tests.integration.consolidating_member import NOW, consolidate
from tests.integration.crew import Crew
from tests.integration.crew_members import open_place
from tests.integration.written import assert_healthy
from tests.lengths import at_length
from tests.samples import sample
from treering.core.episodes import Episode, EpisodeStatus
from treering.core.queries import EpisodeFilter
from treering.memory import Memory

KILLS = at_length(4, full=25)
BANDS = 3
TASKS = at_length(20, full=50)
REPEATED = 3
SUBJECTS = ("login", "payment", "search", "upload", "backup", "invoice", "parser", "cache", "queue", "report")
VERBS = ("repair", "rename", "document", "accelerate", "remove")


def episodes() -> Iterator[Episode]:
    """Each task is done three times in each band."""
    for band in range(BANDS):
        for task in range(TASKS):
            text = f"{VERBS[task // 10]} {SUBJECTS[task % 10]}"
            for time_ in range(REPEATED):
                yield sample(
                    Episode,
                    f"b{band}-t{task}-{time_}",
                    at=NOW - timedelta(days=60 - time_),
                    task={"input": text},
                    outcome={"status": "SUCCESS", "output": ""},
                    metadata={"task_type": f"kind {band}"},
                    lifecycle={"status": "mature"},
                )


def assert_nothing_lost_or_doubled(memory: Memory, before: dict[str, Episode]) -> int:
    """How many were merged so far is returned."""
    with memory.store.reading(memory.scope, NOW) as tx:
        found = {each.id: each for each in tx.episodes.stream(EpisodeFilter(deleted=None))}
    standing = {id: each.consolidation for id, each in found.items() if each.consolidation}
    named = Counter(member for told in standing.values() if told for member in told.members)
    assert set(found) == set(before) | set(standing)
    for id, each in before.items():
        now, into = found[id], found[id].lifecycle.consolidated_into
        assert now.replace(lifecycle=each.lifecycle, version=each.version) == each
        assert named[id] == (into is not None)
        assert now.lifecycle.status is (EpisodeStatus.ARCHIVED if into else EpisodeStatus.MATURE)
        if into:
            told = standing[into]
            assert told is not None
            assert id in told.members
    return named.total()


def test_no_original_is_lost_or_doubled_however_often_it_is_killed(place: dict[str, Any], crew: Crew) -> None:
    moments = random.Random(3)
    before = {each.id: each for each in episodes()}
    with open_place(**place) as memory:
        with memory.store.transaction(memory.scope, NOW) as tx:
            tx.episodes.create_many(before.values())
        merged = list[int]()
        for kill in range(KILLS):
            # Half of them fall between two transactions, most others while clusters are written, the rest anywhere.
            if kill % 2:
                pid = crew.start(consolidate, commits=moments.randint(1, 6), **place)
                crew.await_end(pid)
            else:
                news = len(crew.news)
                pid = crew.start(consolidate, **place)
                crew.hear_of(news, began=1, merging=moments.randint(1, 8) if kill % 4 else 0)
                time.sleep(moments.uniform(0, 0.02 if kill % 4 else 0.1))
            crew.kill(pid)
            merged.append(assert_nothing_lost_or_doubled(memory, before))
        assert len(set(merged)) > KILLS // 2, f"the kills came before or after the work: {merged}"
        crew.join(crew.start(consolidate, **place))
        assert assert_nothing_lost_or_doubled(memory, before) == len(before)
        assert_healthy(memory)
