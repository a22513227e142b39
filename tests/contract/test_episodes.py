"""Whole task executions: kept with what they produced, and fetched back. On both engines."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.sample_episodes import Clock, rich
from tests.samples import NOW
from treering.core.episodes import EpisodeStatus, OutcomeStatus
from treering.core.errors import Conflict, InvalidInput, NotFound, SecretRefused
from treering.core.settings import Settings
from treering.memory import Memory

DAY = timedelta(days=1)
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def steady(open_memory: OpenMemory, clock: Clock) -> Memory:
    """A memory whose time stands still until the test moves it."""
    return open_memory(clock=clock)


def test_the_friendly_words_fill_the_whole_record(memory: Memory) -> None:
    episode = rich(memory, strategies=["divide"], failures=["locked at first"], quality={"tests": 12})

    assert memory.get("e") == episode
    assert (episode.task.input, episode.task.goals) == ("Add an index to the orders table", ("queries under 10 ms",))
    assert [entry.tool for entry in episode.execution.trace] == ["psql"] * 3
    assert episode.execution.trace[0].at == episode.at
    assert (episode.outcome.status, episode.outcome.output) == (OutcomeStatus.SUCCESS, "the index is in place")
    assert episode.outcome.quality == {"tests": 12}
    assert tuple(map(str, episode.reflection.failures)) == ("locked at first",)
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
        ({"colour": "red"}, "unknown field 'colour'"),
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
        with pytest.raises(Conflict, match="is taken"):
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
    again: dict[str, Any] = {
        "output": f"pushed with {SECRET}",
        "trace": [{"action": "push", "output": f"using {SECRET}"}],
    }
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


def test_getting_an_episode_counts_the_access_and_writes_it_later(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.episodes.operations.ACCESSES_PER_WRITE", 3)
    memory = open_memory()
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


def test_the_cache_holds_the_last_used(open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treering.episodes.cache.MAX_CACHED_EPISODES", 2)
    memory = open_memory()
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


@pytest.mark.parametrize("days", [1, 400], ids=["at hand", "cold"])
def test_the_cache_never_serves_what_was_removed_for_good_and_stored_anew(
    open_memory: OpenMemory, clock: Clock, days: int
) -> None:
    memory, elsewhere = open_memory(clock=clock), open_memory(clock=clock)
    for output in ("a password", "a passport"):
        rich(elsewhere, output=output, at=NOW)
        clock.now = NOW + days * DAY
        elsewhere.episodes.archive_old()
        assert memory.episodes.get("e").outcome.output == output
        assert memory.episodes.get("e").version == elsewhere.get("e").version
        elsewhere.forget("e", hard=True)
    with pytest.raises(NotFound):
        memory.episodes.get("e")
    assert memory.stats().episode_cache["held"] == 0


def test_the_cache_holds_no_more_bytes_than_the_settings_say(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=Settings.make(episodes={"cache_bytes": 5_000}))
    for id in ("a", "b"):
        rich(memory, id, output="x" * 3_000)
        memory.episodes.get(id)
    assert memory.stats().episode_cache["held"] == 1
    assert memory.stats().episode_cache["bytes"] <= 5_000


def test_the_cache_still_serves_what_only_its_reader_counted(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.episodes.operations.ACCESSES_PER_WRITE", 2)
    memory = open_memory()
    rich(memory)
    assert [memory.episodes.get("e").lifecycle.access_count for _ in range(5)] == [1, 2, 3, 4, 5]
    memory.episodes.touch("e")
    memory.episodes.get("e")
    assert memory.stats().episode_cache["misses"] == 1


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
