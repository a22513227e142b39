"""SIGKILL while episodes are merged: each is as it was, or archived with the one that stands for it; never between."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from tests.conftest import ENGINES
from tests.integration import crew as crews
from tests.integration.consolidating_member import NOW
from tests.integration.crew import Crew
from tests.integration.crew_members import open_place
from tests.integration.written import assert_healthy
from tests.lengths import at_length
from tests.samples import sample
from treering.core.episodes import Episode, EpisodeStatus
from treering.core.queries import EpisodeFilter
from treering.memory import Memory

KILLS = at_length(8, full=25)
BANDS = 3
TASKS = 50
REPEATED = 3
SUBJECTS = ("login", "payment", "search", "upload", "backup", "invoice", "parser", "cache", "queue", "report")
VERBS = ("repair", "rename", "document", "accelerate", "remove")


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    monkeypatch.setattr(crews, "_MEMBERS", Path(__file__).with_name("consolidating_member.py"))
    with Crew() as crew:
        yield crew
        assert crew.told("failed") == []


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


def hear(crew: Crew, news: int, *, merging: int) -> None:
    """Wait until the member that was started after so much news began, and is at so many clusters or at its end."""
    deadline = time.monotonic() + 120
    while True:
        told = [name for each in crew.news[news:] for name in each]
        assert "failed" not in told, crew.told("failed")
        if "ended" in told or ("began" in told and told.count("merging") >= merging):
            return
        assert time.monotonic() < deadline, told
        time.sleep(0.002)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_original_is_lost_or_doubled_however_often_it_is_killed(
    tmp_path: Path, crew: Crew, engine: str, request: pytest.FixtureRequest
) -> None:
    moments = random.Random(3)
    where = str(tmp_path / "memory.db") if engine == "sqlite" else request.getfixturevalue("postgres_url")
    place = {"place": where, "tenant": f"t-{uuid4().hex[:12]}", "blobs": str(tmp_path / "blobs")}
    before = {each.id: each for each in episodes()}
    with open_place(**place) as memory:
        with memory.store.transaction(memory.scope, NOW) as tx:
            tx.episodes.create_many(before.values())
        merged = list[int]()
        for kill in range(KILLS):
            news = len(crew.news)
            pid = crew.start("consolidate", **place)
            # Most of them fall while clusters are written, the others anywhere.
            hear(crew, news, merging=moments.randint(1, 8) if kill % 4 else 0)
            time.sleep(moments.uniform(0, 0.02 if kill % 4 else 0.1))
            crew.kill(pid)
            merged.append(assert_nothing_lost_or_doubled(memory, before))
        assert len(set(merged)) > KILLS // 2, f"the kills came before or after the work: {merged}"
        crew.join(crew.start("consolidate", **place))
        assert assert_nothing_lost_or_doubled(memory, before) == len(before)
        assert_healthy(memory)
