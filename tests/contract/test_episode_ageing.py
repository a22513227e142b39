"""Episodes age, move to the blob store and come back whole. On both engines."""

import time
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from tests.property.strategies import values
from tests.sample_episodes import Clock, at_hand, content, rich
from tests.samples import NOW, free_of_secrets
from treering.core.episodes import Episode, EpisodeStatus
from treering.core.errors import BlobMissing, InvalidInput, NotFound
from treering.core.failures import failure_signatures
from treering.core.settings import Settings
from treering.episodes.lifecycle import slimmed
from treering.memory import Memory

DAY = timedelta(days=1)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def steady(open_memory: OpenMemory, clock: Clock) -> Memory:
    """A memory whose time stands still until the test moves it."""
    return open_memory(clock=clock)


@pytest.mark.parametrize(
    ("days", "status"), [(1, "active"), (31, "mature"), (181, "aged"), (366, "archived"), (4_000, "archived")]
)
def test_an_episode_ages_and_is_whole_when_it_is_fetched(steady: Memory, clock: Clock, days: int, status: str) -> None:
    kept = rich(steady, artifacts={"a.bin": b"\x00\xff"})
    clock.now += days * DAY

    moved = steady.episodes.archive_old()

    assert moved == ({} if status == "active" else {status: 1})
    assert steady.episodes.archive_old() == {}
    with steady.store.reading(steady.scope, clock.now) as tx:
        at_hand = tx.episodes.get("e")
    assert at_hand.lifecycle.status == status
    assert (at_hand.cold is not None) == (status in ("aged", "archived"))
    fetched = steady.episodes.get("e")
    assert content(fetched) == content(kept) == content(steady.get("e"))
    assert steady.episodes.artifact("e", "a.bin") == b"\x00\xff"


def test_an_aged_episode_keeps_all_but_its_steps_at_hand_and_an_archived_one_what_was_learned(
    steady: Memory, clock: Clock
) -> None:
    kept = rich(steady, artifacts={"a.txt": "x"})
    clock.now += 181 * DAY
    steady.episodes.archive_old()
    aged = at_hand(steady, "e")
    assert [entry.output for entry in aged.execution.trace] == ["ERROR: relation 17 is locked"]
    assert (aged.task, aged.outcome, aged.execution.plan) == (kept.task, kept.outcome, kept.execution.plan)

    clock.now += 200 * DAY
    assert steady.episodes.archive_old() == {"archived": 1}
    archived = at_hand(steady, "e")
    assert (archived.task.goals, archived.execution.plan, archived.outcome.output) == ((), (), "")
    assert (archived.reflection, archived.metadata) == (kept.reflection, kept.metadata)
    assert archived.outcome.artifacts == kept.outcome.artifacts
    assert content(steady.episodes.get("e")) == content(kept)
    steady.settle()
    assert content(steady.episodes.get("e")) == content(kept)
    assert steady.episodes.artifact("e", "a.txt") == b"x"
    assert steady.doctor().healthy


def test_a_dry_run_counts_and_moves_nothing(steady: Memory, clock: Clock) -> None:
    for number in range(3):
        rich(steady, f"e{number}")
    steady.forget("e2")
    clock.now += 200 * DAY
    assert steady.episodes.archive_old(dry_run=True) == {"aged": 2}
    assert at_hand(steady, "e0").lifecycle.status is EpisodeStatus.ACTIVE
    assert steady.episodes.archive_old() == {"aged": 2}


def test_ageing_removes_nothing_whatever_day_it_is_said_to_be(steady: Memory, clock: Clock) -> None:
    kept = rich(steady)
    steady.forget("e")
    assert steady.episodes.archive_old(clock.now + 10_000 * DAY) == {}
    assert content(steady.undo("e")) == content(kept)


def test_what_has_no_steps_is_met_once_too(steady: Memory, clock: Clock) -> None:
    kept = steady.episode("paint", id="e")
    for days, phase in ((200, "aged"), (200, "archived")):
        clock.now += days * DAY
        assert [steady.episodes.archive_old() for _ in range(2)] == [{phase: 1}, {}]
    assert at_hand(steady, "e").cold is not None
    assert content(steady.episodes.get("e")) == content(kept)


@pytest.mark.parametrize("taken_apart", [False, True])
@pytest.mark.parametrize(("days", "phase"), [(200, "aged"), (400, "archived")])
def test_the_originals_of_a_consolidation_reach_the_blob_store(
    steady: Memory, clock: Clock, days: int, phase: str, taken_apart: bool
) -> None:
    kept = [rich(steady, f"e{number}", at=NOW + number * timedelta(hours=1)) for number in range(3)]
    clock.now += 40 * DAY
    steady.episodes.archive_old()
    steady.episodes.consolidate_similar()
    one = at_hand(steady, "e0").lifecycle.consolidated_into or ""
    clock.now = NOW + days * DAY
    if taken_apart:
        steady.episodes.dissolve(one)

    assert steady.episodes.archive_old() == {phase: 3 if taken_apart else 4}

    for each in kept:
        now = at_hand(steady, each.id)
        assert now.cold is not None
        assert len(now.execution.trace) == 1
        assert now.lifecycle.status == (phase if taken_apart else "archived")
        assert now.lifecycle.consolidated_into == (None if taken_apart else one)
        assert content(steady.episodes.get(each.id)) == content(each)
    assert steady.episodes.archive_old() == {}
    assert steady.doctor().healthy


def test_ageing_goes_on_where_a_crash_stopped_it(open_memory: OpenMemory, clock: Clock, monkeypatch: Any) -> None:
    monkeypatch.setattr("treering.episodes.lifecycle.BATCH_EPISODES", 2)
    memory = open_memory(clock=clock)
    kept = [rich(memory, f"e{number}") for number in range(5)]
    clock.now += 200 * DAY
    stop_after(monkeypatch, memory, 3)
    with pytest.raises(RuntimeError, match="crash"):
        memory.episodes.archive_old()
    monkeypatch.undo()

    assert sum(at_hand(memory, each.id).cold is not None for each in kept) == 2
    assert memory.episodes.archive_old() == {"aged": 3}
    assert [content(memory.episodes.get(each.id)) for each in kept] == list(map(content, kept))


def stop_after(monkeypatch: Any, memory: Memory, blobs: int) -> None:
    """The process dies after it has put so many blobs."""
    put, done = type(memory.store.blobs).put, list[int]()

    def failing(self: Any, scope: Any, data: bytes) -> str:
        digest = put(self, scope, data)
        done.append(1)
        if len(done) == blobs:
            raise RuntimeError("crash")
        return digest

    monkeypatch.setattr(type(memory.store.blobs), "put", failing)


def test_a_crash_between_the_blob_and_the_row_leaves_the_episode_as_it_was(
    steady: Memory, clock: Clock, monkeypatch: Any
) -> None:
    rich(steady)
    before = at_hand(steady, "e")
    clock.now += 200 * DAY
    stop_after(monkeypatch, steady, 1)
    with pytest.raises(RuntimeError):
        steady.episodes.archive_old()
    monkeypatch.undo()
    assert at_hand(steady, "e") == before == steady.get("e")


def test_a_lost_blob_is_said_and_keeps_no_other_from_ageing_or_being_found(steady: Memory, clock: Clock) -> None:
    lost, other = rich(steady, "lost"), rich(steady, "other", output="nothing to see")
    clock.now += 200 * DAY
    steady.episodes.archive_old()
    steady.store.blobs.delete(steady.scope, at_hand(steady, "lost").cold or "")

    for read in (steady.get, steady.episodes.get):
        with pytest.raises(BlobMissing, match="restore"):
            read(lost.id)
    assert {hit.id for hit in steady.episodes.search("index orders table", cold=True)} == {"lost", "other"}
    clock.now += 200 * DAY
    assert steady.episodes.archive_old() == {"archived": 1}
    assert content(steady.episodes.get("other")) == content(other)


def test_a_lost_artifact_is_said(memory: Memory) -> None:
    kept = memory.episode("paint", id="e", artifacts={"a.txt": "x"})
    memory.store.blobs.delete(memory.scope, kept.outcome.artifacts[0].digest)
    with pytest.raises(BlobMissing, match=r"artifact 'a\.txt'"):
        memory.episodes.artifact("e", "a.txt")


def test_what_was_forgotten_is_purged_after_its_time_with_all_its_blobs(steady: Memory, clock: Clock) -> None:
    rich(steady, "gone", artifacts={"a.txt": "x"})
    clock.now += 400 * DAY
    steady.episodes.archive_old()
    steady.forget("gone")
    clock.now += 29 * DAY
    assert steady.episodes.purge_deleted() == 0
    clock.now += 2 * DAY
    assert steady.episodes.purge_deleted() == 1
    steady.settle()
    with pytest.raises(NotFound):
        steady.undo("gone")
    assert list(steady.store.blobs.stream(steady.scope)) == []
    with pytest.raises(InvalidInput):
        steady.episodes.purge_deleted(-1)
    with pytest.raises(InvalidInput):
        steady.episodes.purge_deleted(float("nan"))


def test_more_were_forgotten_at_one_moment_than_are_looked_at_once(
    open_memory: OpenMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.episodes.lifecycle.BATCH_EPISODES", 2)
    memory = open_memory(clock=clock)
    for number in range(7):
        rich(memory, f"e{number}")
        memory.forget(f"e{number}")
    assert memory.episodes.purge_deleted(0) == 7


def test_the_grace_of_forgetting_is_that_of_episodes(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(clock=clock, settings=Settings.make(forgetting={"grace_days": 3}))
    rich(memory)
    memory.forget("e")
    clock.now += 2 * DAY
    assert memory.episodes.purge_deleted() == 0
    clock.now += 2 * DAY
    assert memory.episodes.purge_deleted() == 1
    assert memory.history("e")[0].detail["reason"] == "grace passed"


def test_purging_takes_reflections_what_stood_for_it_and_every_trace_once(
    steady: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        rich(steady, f"e{number}", at=NOW + number * timedelta(hours=1), output="the violet index")
    clock.now += 40 * DAY
    steady.episodes.archive_old()
    steady.episodes.consolidate_similar()
    one = at_hand(steady, "e0").lifecycle.consolidated_into or ""
    told = "- violet (#1)\n- the violet one (#2)\n- another (#3)"
    steady.remember(told, type="reflection", id="r", source_ids=("e0", one, "other"))
    for id in ("e0", "e1"):
        steady.forget(id)
    swept = list[int]()
    erase_traces = type(steady.store).erase_traces

    def counted(*given: Any) -> None:
        swept.append(1)
        erase_traces(*given)

    monkeypatch.setattr(type(steady.store), "erase_traces", counted)

    assert steady.episodes.purge_deleted(0) == 2

    assert len(swept) == 1
    for id in ("e0", "e1", one, "r"):
        with pytest.raises(NotFound):
            steady.get(id)
    assert at_hand(steady, "e2").lifecycle.consolidated_into is None
    [left] = steady.search("another").hits
    assert "violet" not in left.text
    assert steady.episodes.purge_deleted(0) == 0
    assert len(swept) == 1


@given(data=st.data())
def test_any_episode_moved_to_the_blob_store_comes_back_equal(open_memory: OpenMemory, data: Any) -> None:
    episode = data.draw(values(Episode, data.draw(st.sampled_from(("narrow", "wide")))).filter(free_of_secrets))
    episode = episode.replace(version=1, cold=None, deleted_at=None, owner="local")
    memory = open_memory(project=f"p{time.perf_counter_ns()}")
    with memory.store.transaction(memory.scope, NOW) as tx:
        stored = tx.episodes.create(episode)
        for phase in (EpisodeStatus.AGED, EpisodeStatus.ARCHIVED):
            now_there = tx.episodes.get(episode.id)
            assert now_there is not None
            slim = slimmed(now_there, phase)
            chilled = tx.episodes.move_to_blobs(slim.replace(lifecycle=now_there.lifecycle.replace(status=phase)))
            whole = tx.episodes.get_complete(episode.id)
            assert content(whole) == content(stored)
            assert (whole.lifecycle.status, whole.version) == (phase, chilled.version)
            assert set(failure_signatures(chilled)) == set(failure_signatures(stored))
    memory.close()


def test_an_age_may_be_given_at_which_episodes_are_archived(steady: Memory, clock: Clock) -> None:
    for id, days in (("old", 20), ("young", 5)):
        steady.episode(f"task {id}", id=id, at=clock.now - days * DAY)
    assert steady.episodes.archive_old(older_than_days=10, dry_run=True) == {"archived": 1}
    assert steady.episodes.archive_old(older_than_days=10) == {"archived": 1}
    assert steady.episodes.get("old").lifecycle.status == "archived"
    assert steady.episodes.get("young").lifecycle.status == "active"
    assert steady.episodes.archive_old() == {}
    with pytest.raises(InvalidInput, match="older_than_days"):
        steady.episodes.archive_old(older_than_days=-1)
