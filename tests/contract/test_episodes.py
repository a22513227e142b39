"""Whole task executions: kept, found again in every way, aged, fetched back whole. On both engines."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from math import exp, log1p
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from tests.property.strategies import values
from tests.samples import NOW, free_of_secrets, sample
from treering.core.episodes import Episode, EpisodeStatus, OutcomeStatus
from treering.core.errors import BlobMissing, Conflict, InvalidInput, NotFound, SecretRefused
from treering.core.failures import failure_signatures
from treering.core.queries import EpisodeFilter, TimeRange
from treering.core.settings import EmbedderSettings, EpisodeSettings, Settings
from treering.learn.episodes.lifecycle import slimmed
from treering.memory import Memory

DAY = timedelta(days=1)
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Clock:
    """A clock that a test moves."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def steady(open_memory: OpenMemory, clock: Clock) -> Memory:
    """A memory whose time stands still until the test moves it."""
    return open_memory(clock=clock)


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


# ------------------------------------------------------------------------------------------------------------ keeping


def test_the_friendly_words_fill_the_whole_record(memory: Memory) -> None:
    episode = rich(memory, strategies=["divide"], failures=["locked at first"], quality={"tests": 12})

    assert memory.get("e") == episode
    assert (episode.task.input, episode.task.goals) == ("Add an index to the orders table", ("queries under 10 ms",))
    assert [entry.tool for entry in episode.execution.trace] == ["psql"] * 3
    assert episode.execution.trace[0].at == episode.at
    assert (episode.outcome.status, episode.outcome.output) == (OutcomeStatus.SUCCESS, "the index is in place")
    assert episode.outcome.quality == {"tests": 12}
    assert episode.reflection.failures == ("locked at first",)
    assert (episode.metadata.tools, episode.metadata.strategies) == (("psql",), ("divide",))
    assert episode.lifecycle.status is EpisodeStatus.ACTIVE


def test_the_parts_of_the_record_may_be_given_as_they_are(memory: Memory) -> None:
    whole = rich(memory)
    parts = {name: getattr(whole, name) for name in ("task", "execution", "outcome", "reflection", "metadata")}
    as_values = memory.episode(parts.pop("task"), id="values", at=whole.at, session="s1", **parts)
    as_mappings = memory.episode(
        {"input": "x", "complexity": 0.5}, id="mappings", outcome={"status": "PARTIAL"}, metadata={"domain": "web"}
    )

    assert as_values.replace(id="e") == whole
    assert (as_mappings.task.complexity, as_mappings.metadata.domain) == (0.5, "web")
    assert as_mappings.outcome.status is OutcomeStatus.PARTIAL


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"outcome": "fine"}, "SUCCESS, PARTIAL, FAILURE"),
        ({"colour": "red"}, "has no 'colour'"),
        ({"output": "x", "outcome": {"status": "SUCCESS", "output": "y"}}, "given twice"),
        ({"trace": "step"}, "list of steps"),
        ({"trace": [{"tool": "bash"}]}, "action"),
        ({"execution": ["step"]}, "mapping"),
        ({"goals": "one"}, "goals"),
        ({"at": "yesterdayish"}, "not a date"),
        ({"duration_ms": -1}, "duration_ms"),
        ({"artifacts": ["a.txt"]}, "mapping of names"),
        ({"artifacts": {"a.txt": 7}}, "bytes, text or a path"),
        ({"artifacts": {"a.txt": Path("/nowhere/at/all")}}, "cannot be read"),
        ({"artifacts": {"": b"x"}}, "name"),
        ({"artifacts": {"a.txt": "\ud800"}}, "surrogate"),
        ({"visibility": "secret"}, "visibility"),
    ],
)
def test_what_is_no_episode_is_refused_and_leaves_nothing(memory: Memory, fields: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        memory.episode("task", id="e", **fields)
    assert memory.stats().records["episodes"] == 0


def test_an_episode_delivered_twice_is_stored_once(steady: Memory, clock: Clock) -> None:
    first = rich(steady, artifacts={"a.txt": "text"})
    clock.now += DAY
    again = rich(steady, artifacts={"a.txt": "text"})

    assert again == first
    assert steady.stats().records["episodes"] == 1
    for other in ({"output": "other"}, {"artifacts": {"a.txt": "other"}}, {"at": clock.now}, {"domain": "web"}):
        with pytest.raises(Conflict, match="another content"):
            rich(steady, **{"artifacts": {"a.txt": "text"}} | other)


def test_it_is_the_same_episode_also_once_it_was_used_and_moved_to_the_blob_store(steady: Memory, clock: Clock) -> None:
    rich(steady)
    steady.episodes.touch("e")
    clock.now += 400 * DAY
    steady.episodes.archive_old()
    assert rich(steady).lifecycle.status is EpisodeStatus.ARCHIVED
    with pytest.raises(Conflict):
        rich(steady, output="other")


def test_a_forgotten_episode_delivered_again_is_a_conflict_that_says_how_to_get_it_back(memory: Memory) -> None:
    kept = rich(memory)
    memory.forget("e")
    with pytest.raises(Conflict, match="undo"):
        rich(memory, at=kept.at)
    assert memory.undo("e") == kept


def test_secrets_are_redacted_in_texts_steps_and_artifacts(memory: Memory) -> None:
    kept = rich(
        memory,
        output=f"pushed with {SECRET}",
        trace=[{"action": "push", "output": f"using {SECRET}"}],
        artifacts={"log.txt": f"token {SECRET}\n"},
    )
    assert SECRET not in kept.to_json()
    assert memory.episodes.artifact("e", "log.txt") == b"token [redacted:github_token]\n"
    again = {"output": f"pushed with {SECRET}", "trace": [{"action": "push", "output": f"using {SECRET}"}]}
    assert rich(memory, **again, artifacts={"log.txt": f"token {SECRET}\n"}) == kept


def test_where_secrets_are_refused_an_artifact_that_holds_one_is_too(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=Settings.make(secrets={"on_secret": "refuse"}))
    with pytest.raises(SecretRefused, match=r"log\.txt"):
        memory.episode("task", artifacts={"log.txt": f"token {SECRET}"})


@pytest.mark.parametrize("size", [0, 1, 4_096, 300_000])
def test_artifacts_come_back_byte_for_byte(memory: Memory, tmp_path: Path, size: int) -> None:
    data = bytes(number * 31 % 256 for number in range(size))
    (tmp_path / "result.bin").write_bytes(data)
    kept = memory.episode("paint", id="e", artifacts={"bytes": data, "file": tmp_path / "result.bin", "n.json": "{}"})

    assert memory.episodes.artifact("e", "bytes") == data == memory.episodes.artifact("e", "file")
    assert memory.episodes.artifact("e", "n.json") == b"{}"
    assert [artifact.media_type for artifact in kept.outcome.artifacts][2] == "application/json"
    assert kept.outcome.artifacts[0].size == size


def test_an_artifact_that_is_not_there_says_which_are(memory: Memory) -> None:
    memory.episode("paint", id="e", artifacts={"a.txt": "x"})
    with pytest.raises(NotFound, match=r"'a\.txt'"):
        memory.episodes.artifact("e", "b.txt")
    with pytest.raises(NotFound):
        memory.episodes.artifact("missing", "a.txt")


def test_the_artifacts_of_an_episode_that_could_not_be_stored_are_not_referred_to(memory: Memory) -> None:
    rich(memory)
    with pytest.raises(Conflict):
        rich(memory, artifacts={"a.txt": "x"})
    assert memory.get("e").outcome.artifacts == ()


def test_keeping_an_episode_waits_for_no_model(memory: Memory) -> None:
    rich(memory, artifacts={"log.txt": "line"})
    with memory.store.reading(memory.scope, NOW) as tx:
        assert list(tx.index.models()) == []


# ---------------------------------------------------------------------------------------------------- fetching, cache


def test_getting_an_episode_counts_the_access_and_writes_it_later(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=Settings.make(episodes={"counted_together": 3}))
    rich(memory)

    assert [memory.episodes.get("e").lifecycle.access_count for _ in range(2)] == [1, 2]
    assert memory.get("e").lifecycle.access_count == 0
    assert memory.episodes.get("e").lifecycle.access_count == 3
    assert memory.get("e").lifecycle.access_count == 3
    assert memory.episodes.get("e").lifecycle.access_count == 4
    memory.close()
    assert open_memory().get("e").lifecycle.access_count == 4


def test_touch_counts_at_once(steady: Memory) -> None:
    rich(steady)
    assert steady.episodes.touch("e").lifecycle.access_count == 1
    assert steady.get("e").lifecycle.last_accessed_at == NOW
    assert steady.episodes.get("e").lifecycle.access_count == 2


def test_the_cache_serves_what_did_not_change_and_stats_tell_how_often(memory: Memory) -> None:
    rich(memory)
    for _ in range(50):
        memory.episodes.get("e")
    counted = memory.stats().episode_cache
    assert (counted["hits"], counted["misses"], counted["held"]) == (49, 1, 1)
    assert counted["hit_rate"] == pytest.approx(0.98)


def test_the_cache_holds_the_last_used(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=Settings.make(episodes={"cache": 2}))
    for id in ("a", "b", "c"):
        rich(memory, id)
        memory.episodes.get(id)
    assert memory.stats().episode_cache["held"] == 2
    memory.episodes.get("c")
    memory.episodes.get("a")
    assert memory.stats().episode_cache["hits"] == 1


@pytest.mark.parametrize(
    "removed",
    [
        lambda memory: memory.forget("gone"),
        lambda memory: memory.forget("gone", hard=True),
        lambda memory: (memory.forget("gone"), memory.episodes.purge_deleted(0)),
    ],
)
def test_the_cache_never_serves_what_was_taken_away(
    open_memory: OpenMemory, removed: Callable[[Memory], object]
) -> None:
    memory, elsewhere = open_memory(), open_memory()
    rich(memory, "gone")
    memory.episodes.get("gone")
    removed(elsewhere)
    with pytest.raises(NotFound):
        memory.episodes.get("gone")
    with pytest.raises(NotFound):
        memory.get("gone")


def test_the_cache_never_serves_what_changed_elsewhere(open_memory: OpenMemory) -> None:
    memory, elsewhere = open_memory(), open_memory()
    rich(memory)
    memory.episodes.get("e")
    elsewhere.episodes.touch("e")
    assert memory.episodes.get("e").lifecycle.access_count == 3


def test_the_cache_may_be_used_by_many_threads(memory: Memory) -> None:
    for number in range(5):
        rich(memory, f"e{number}")
    memory.episodes.get("e0")
    failed: list[Exception] = []

    def read() -> None:
        try:
            for number in range(40):
                assert memory.episodes.get(f"e{number % 5}").id == f"e{number % 5}"
        except Exception as exc:  # noqa: BLE001 - told to the test's own thread
            failed.append(exc)

    threads = [Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    memory.close()


@pytest.mark.parametrize("verb", ["get", "touch"])
def test_an_episode_that_is_not_there_is_not_found(memory: Memory, verb: str) -> None:
    for id in ("missing", "nul\x00"):
        with pytest.raises(NotFound, match="no episode"):
            getattr(memory.episodes, verb)(id)


# ---------------------------------------------------------------------------------------------------------- lifecycle


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


def content(episode: Episode) -> dict[str, Any]:
    moving = {"version", "lifecycle", "cold"}
    return {name: value for name, value in episode.__dict__.items() if name not in moving}


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


def at_hand(memory: Memory, id: str) -> Episode:
    with memory.store.reading(memory.scope, NOW) as tx:
        found = tx.episodes.get(id)
    assert found is not None
    return found


def test_a_dry_run_counts_and_moves_nothing(steady: Memory, clock: Clock) -> None:
    for number in range(3):
        rich(steady, f"e{number}")
    steady.forget("e2")
    clock.now += 200 * DAY
    assert steady.episodes.archive_old(dry_run=True) == {"aged": 2, "purged": 1}
    assert at_hand(steady, "e0").lifecycle.status is EpisodeStatus.ACTIVE
    assert steady.episodes.archive_old() == {"aged": 2, "purged": 1}


def test_ageing_goes_on_where_a_crash_stopped_it(open_memory: OpenMemory, clock: Clock, monkeypatch: Any) -> None:
    memory = open_memory(clock=clock, settings=Settings.make(episodes={"batch": 2}))
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


def test_more_were_forgotten_at_one_moment_than_are_looked_at_once(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(clock=clock, settings=Settings.make(episodes={"batch": 2}))
    for number in range(7):
        rich(memory, f"e{number}")
        memory.forget(f"e{number}")
    assert memory.episodes.purge_deleted(0) == 7


@settings(max_examples=40)
@given(data=st.data())
def test_any_episode_moved_to_the_blob_store_comes_back_equal(open_memory: OpenMemory, data: Any) -> None:
    episode = data.draw(values(Episode, data.draw(st.sampled_from(("narrow", "wide")))).filter(free_of_secrets))
    episode = episode.replace(version=1, cold=None, deleted_at=None, owner="local")
    memory = open_memory(project=f"p{time.perf_counter_ns()}")
    with memory.store.transaction(memory.scope, NOW) as tx:
        stored = tx.episodes.create(episode)
        for phase in (EpisodeStatus.AGED, EpisodeStatus.ARCHIVED):
            now_there = tx.episodes.get(episode.id)
            slim = slimmed(now_there, phase, EpisodeSettings())
            chilled = tx.episodes.chill(slim.replace(lifecycle=now_there.lifecycle.replace(status=phase)))
            whole = tx.episodes.whole(episode.id)
            assert content(whole) == content(stored)
            assert (whole.lifecycle.status, whole.version) == (phase, chilled.version)
            assert set(failure_signatures(chilled)) == set(failure_signatures(stored))
    memory.close()


# ----------------------------------------------------------------------------------------------------------- searching


def test_relevance_is_the_formula_and_each_part_is_shown(steady: Memory, clock: Clock) -> None:
    rich(steady)
    steady.episode("Paint the fence green", id="far", outcome="FAILURE")
    for _ in range(4):
        steady.episodes.touch("e")
    clock.now += 15 * DAY

    found = steady.episodes.search_semantic("put an index on the orders table", domain="database")

    best = found[0]
    parts = {part.name: part for part in best.parts}
    assert (best.id, found.missing) == ("e", {})
    assert {name: part.weight for name, part in parts.items()} == {
        "cosine": 0.5,
        "recency": 0.2,
        "success": 0.15,
        "use": 0.1,
        "domain": 0.05,
    }
    assert 0.3 < parts["cosine"].value <= 1
    assert parts["recency"].value == pytest.approx(exp(-15 / 30))
    assert parts["use"].value == pytest.approx(log1p(4) / 10)
    assert (parts["success"].value, parts["domain"].value) == (1.0, 1.0)
    assert best.score == pytest.approx(sum(part.added for part in best.parts))


def test_success_use_and_recency_decide_between_alike(steady: Memory, clock: Clock) -> None:
    rich(steady, "failed", outcome="FAILURE")
    rich(steady, "old", at=NOW - 29 * DAY)
    rich(steady, "new")
    rich(steady, "used")
    for _ in range(10):
        steady.episodes.touch("used")
    assert [hit.id for hit in steady.episodes.search("index orders")] == ["used", "new", "old", "failed"]


def test_hybrid_search_holds_the_filters(steady: Memory) -> None:
    for number in range(30):
        rich(steady, f"e{number:02}", domain="web" if number else "database", tools=["bash"])
    for verb in (steady.episodes.search, steady.episodes.search_semantic):
        found = verb("index on the orders table", where=EpisodeFilter(domains=("database",)), limit=5)
        assert [hit.id for hit in found] == ["e00"]
        assert {part.name: part.value for part in found[0].parts}["domain"] == 1.0


def test_without_a_model_words_are_compared_and_the_answer_says_so(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=Settings(embedder=EmbedderSettings(provider="none")))
    rich(memory)
    for verb in (memory.episodes.search, memory.episodes.search_semantic):
        found = verb("orders index")
        assert [hit.id for hit in found] == ["e"]
        assert "meaning" in found.missing
        assert found[0].parts[0].name == "words"
        assert 0 < found[0].parts[0].value <= 1


def test_words_of_time_in_a_query_narrow_it(steady: Memory) -> None:
    rich(steady, "old", at=NOW - 20 * DAY)
    rich(steady, "new", at=NOW - 1 * DAY)
    assert [hit.id for hit in steady.episodes.search("orders index since the day before yesterday")] == ["new"]
    long_ago = steady.episodes.search("orders index before 2020")
    assert ({hit.id for hit in long_ago}, "time" in long_ago.missing) == ({"old", "new"}, True)


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ({"domains": ["web"]}, ["b"]),
        ({"task_types": ["fix"]}, ["c"]),
        ({"outcomes": ["FAILURE"]}, ["c"]),
        ({"tools": ["psql"]}, ["c", "a"]),
        ({"tags": ["orders"]}, ["c", "b", "a"]),
        ({"sessions": ["s2"]}, ["b"]),
        ({"happened": TimeRange(since=NOW - 2 * DAY)}, ["c"]),
        ({"strategies": ["divide"]}, ["b"]),
        ({}, ["c", "b", "a"]),
    ],
)
def test_structured_search_finds_by_attributes(steady: Memory, where: dict[str, Any], ids: list[str]) -> None:
    rich(steady, "a", at=NOW - 5 * DAY)
    rich(steady, "b", at=NOW - 3 * DAY, domain="web", tools=["bash"], session="s2", strategies=["divide"])
    rich(steady, "c", at=NOW - 1 * DAY, outcome="FAILURE", task_type="fix")
    found = steady.episodes.search_structured(EpisodeFilter.make(**where))
    assert [hit.id for hit in found] == ids


def test_what_is_old_comes_where_it_is_highly_relevant_or_asked_for(steady: Memory, clock: Clock) -> None:
    rich(steady, "old")
    clock.now += 400 * DAY
    steady.episodes.archive_old()
    rich(steady, "new")
    episodes = steady.episodes

    assert {hit.id for hit in episodes.search("Add an index to the orders table")} == {"new", "old"}
    assert {hit.id for hit in episodes.search("slow tables")} <= {"new"}
    archived = EpisodeFilter(statuses=(EpisodeStatus.ARCHIVED,))
    assert [hit.id for hit in episodes.search("slow table", where=archived)] == ["old"]
    assert {hit.id for hit in episodes.search("slow table", cold=True)} == {"new", "old"}
    assert [hit.id for hit in episodes.search_structured()] == ["new"]
    assert [hit.id for hit in episodes.search_structured(archived)] == ["old"]
    assert [hit.id for hit in episodes.search_structured(cold=True)] == ["new", "old"]


def test_episodes_made_into_one_are_shown_as_that_one(steady: Memory) -> None:
    first = rich(steady, "first", at=NOW - 3 * DAY)
    rich(steady, "second", at=NOW - 2 * DAY)
    one = sample(
        Episode,
        "one",
        at=NOW - 2 * DAY,
        session="s1",
        task={"input": "Add indices"},
        metadata=first.metadata,
        consolidation={
            "representative": "first",
            "members": ("first", "second"),
            "instances": 2,
            "first_at": NOW - 3 * DAY,
            "last_at": NOW - 2 * DAY,
            "success_rate": 1.0,
        },
    )
    with steady.store.transaction(steady.scope, NOW) as tx:
        tx.episodes.create(one)
        for id in ("first", "second"):
            lifecycle = {"status": "archived", "consolidated_into": "one"}
            tx.episodes.set_lifecycle(id, first.lifecycle.replace(**lifecycle))
    episodes = steady.episodes

    for found in (
        episodes.search("Add an index to the orders table"),
        episodes.search_semantic("Add an index to the orders table"),
        episodes.search_structured(EpisodeFilter(domains=("database",))),
        episodes.recent(5),
        episodes.recent(5, sessions=1),
        episodes.during(NOW - 4 * DAY),
        episodes.around("first"),
    ):
        assert [hit.id for hit in found] == ["one"]
    assert set(episodes.search("Add an index to the orders table")[0].stands_for) == {"first", "second"}
    assert [hit.id for hit in episodes.similar_failures("ERROR: relation 99 is locked")] == ["one"]
    originals = episodes.search_structured(EpisodeFilter(consolidated=True), cold=True)
    assert [hit.id for hit in originals] == ["second", "first"]
    assert [row.episodes for row in episodes.trend()] == [2]
    steady.forget("one")
    assert {hit.id for hit in episodes.recent(5)} == {"first", "second"}


def test_a_personal_episode_is_found_by_its_owner_only(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    rich(ada, visibility="personal", artifacts={"a.txt": "x"})
    assert ada.episodes.get("e").id == "e"
    assert [hit.id for hit in ada.episodes.search("index")] == ["e"]
    for found in (
        bob.episodes.search("index", cold=True),
        bob.episodes.search_structured(),
        bob.episodes.recent(),
        bob.episodes.during(),
        bob.episodes.trend(),
        bob.episodes.similar_failures("ERROR: relation 17 is locked"),
    ):
        assert len(found) == 0
    for hidden in (bob.episodes.get, bob.episodes.touch, lambda id: bob.episodes.artifact(id, "a.txt")):
        with pytest.raises(NotFound):
            hidden("e")
    with pytest.raises(Conflict):
        rich(bob)
    assert len(open_memory(project="other").episodes.recent()) == 0


@pytest.mark.parametrize("limit", [0, -1, 10_000, True, "5"])
def test_a_limit_that_makes_no_sense_is_refused(memory: Memory, limit: Any) -> None:
    episodes = memory.episodes
    for ask in (episodes.search, episodes.search_semantic, episodes.similar_failures):
        with pytest.raises(InvalidInput, match="limit"):
            ask("x", limit=limit)
    for count in (episodes.recent, lambda n: episodes.search_structured(limit=n)):
        with pytest.raises(InvalidInput, match="limit"):
            count(limit)


def test_a_query_that_is_no_text_is_refused_and_an_empty_one_lists_the_newest(memory: Memory) -> None:
    rich(memory)
    with pytest.raises(InvalidInput):
        memory.episodes.search(7)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        memory.episodes.similar_failures("  ")
    assert [hit.id for hit in memory.episodes.search(" ")] == ["e"]
    assert len(memory.episodes.search("…?!")) == 0


# --------------------------------------------------------------------------------------------------------------- times


@pytest.fixture
def weeks(steady: Memory) -> Memory:
    """Sessions s0 to s8, a day apart, two episodes each; and one that belongs to no session."""
    for number in range(9):
        for part in range(2):
            at = NOW - (9 - number) * DAY + part * timedelta(hours=1)
            outcome = "SUCCESS" if number % 2 else "FAILURE"
            domain = "database" if number < 5 else "web"
            rich(steady, f"e{number}{part}", session=f"s{number}", at=at, outcome=outcome, domain=domain)
    rich(steady, "lone", session=None, at=NOW - 4.5 * DAY)
    return steady


def ids(found: Any) -> list[str]:
    return [hit.id for hit in found]


def test_recent_gives_the_newest_or_the_last_sessions(weeks: Memory) -> None:
    assert ids(weeks.episodes.recent(3)) == ["e81", "e80", "e71"]
    assert ids(weeks.episodes.recent(sessions=2)) == ["e81", "e80", "e71", "e70"]
    web = EpisodeFilter(outcomes=(OutcomeStatus.SUCCESS,))
    assert ids(weeks.episodes.recent(sessions=1, where=web)) == ["e71", "e70"]
    with pytest.raises(InvalidInput):
        weeks.episodes.recent(sessions=0)


def test_during_gives_a_span_in_its_order(weeks: Memory) -> None:
    since, before = NOW - 5 * DAY, NOW - 4 * DAY
    assert ids(weeks.episodes.during(since, before)) == ["e40", "e41", "lone"]
    assert ids(weeks.episodes.during(since.isoformat(), f"{before:%Y-%m-%d %H:%M}")) == ["e40", "e41", "lone"]
    assert len(weeks.episodes.during()) == 19


def test_around_gives_the_sessions_before_and_after(weeks: Memory) -> None:
    near = ["e20", "e21", "e30", "e31", "e40", "e41", "lone", "e50", "e51"]
    assert ids(weeks.episodes.around("e41", sessions=2)) == near
    assert ids(weeks.episodes.around("lone", sessions=1)) == ["e40", "e41", "lone", "e50", "e51"]
    assert ids(weeks.episodes.around(NOW - 8.2 * DAY, sessions=1)) == ["e00", "e01", "e10", "e11"]
    said = weeks.turn(session="s4", role="user", text="hello", at=NOW - 5 * DAY)
    assert ids(weeks.episodes.around(said.id, sessions=2)) == near
    assert len(weeks.episodes.around("e41")) == 13
    with pytest.raises(NotFound, match="neither"):
        weeks.episodes.around("missing thing")


def test_a_trend_counts_by_period_and_group(weeks: Memory) -> None:
    told = [
        ((NOW - row.before) // DAY, row.group, row.episodes, round(row.success_rate, 2))
        for row in weeks.episodes.trend(28)
    ]
    assert told == [(7, "database", 4, 0.5), (0, "database", 7, 0.43), (0, "web", 8, 0.5)]
    assert {row.group for row in weeks.episodes.trend(28, by="tool")} == {"psql"}
    assert [row.episodes for row in weeks.episodes.trend(28, by="task_type", every=28)] == [19]
    for wrong in ({"by": "colour"}, {"days": 0}, {"every": 0}):
        with pytest.raises(InvalidInput):
            weeks.episodes.trend(**wrong)


# ------------------------------------------------------------------------------------------------------------ failures


def test_the_same_failure_is_found_again_with_the_way_out(steady: Memory) -> None:
    rich(steady, "got-out", at=NOW - 10 * DAY)
    rich(
        steady,
        "did-not",
        at=NOW - 5 * DAY,
        outcome="FAILURE",
        output='Traceback (most recent call last):\n  File "/tmp/x/run.py", line 7\nERROR: relation 23 is locked',
        trace=[],
    )
    rich(steady, "later", at=NOW - 1 * DAY, trace=[], insights=[])
    steady.episode("Paint the fence", outcome="FAILURE", output="no paint left")

    found = steady.episodes.similar_failures("ERROR: relation 4711 is locked")

    assert ids(found) == ["did-not", "got-out"]
    ended, recovered = found
    assert (ended.same, ended.recovered, ended.recovery, ended.solved_by) == (True, False, (), ("later",))
    assert recovered.recovery == ("create index concurrently (psql): CREATE INDEX",)
    assert recovered.insights == ("concurrent index builds do not lock",)
    assert recovered.error == "ERROR: relation 17 is locked"


def test_an_alike_failure_is_found_by_its_words(steady: Memory) -> None:
    rich(steady)
    found = steady.episodes.similar_failures("ERROR: relation 17 is locked by session 4")
    assert [(hit.id, hit.same) for hit in found] == [("e", False)]
    assert 0.5 <= found[0].likeness < 1
    assert len(steady.episodes.similar_failures("connection refused")) == 0
    assert len(steady.episodes.similar_failures("42")) == 0


def test_a_failure_is_known_again_after_its_episode_was_archived(steady: Memory, clock: Clock) -> None:
    rich(steady)
    for days in (200, 200):
        clock.now += days * DAY
        steady.episodes.archive_old()
    found = steady.episodes.similar_failures("ERROR: relation 3 is locked")
    assert found[0].recovery == ("create index concurrently (psql): CREATE INDEX",)

    steady.store.blobs.delete(steady.scope, at_hand(steady, "e").cold or "")
    found = steady.episodes.similar_failures("ERROR: relation 3 is locked")
    assert (ids(found), found[0].recovery, found.unreadable) == (["e"], (), ("blob of episode e",))
