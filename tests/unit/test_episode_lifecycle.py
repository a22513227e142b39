"""When an episode reaches which phase, and what stays at hand of it then."""

from datetime import timedelta

import pytest

from tests.samples import NOW, sample
from treering.core.episodes import Episode, EpisodeStatus
from treering.core.failures import failure_signatures
from treering.core.scope import Scope
from treering.core.settings import EpisodeSettings
from treering.episodes.cache import Accesses, EpisodeCache
from treering.episodes.lifecycle import age_days, phase_at, slimmed

SETTINGS = EpisodeSettings()
SCOPE = Scope(project="p")


@pytest.mark.parametrize(
    ("days", "phase"),
    [
        (-1, "active"),
        (0, "active"),
        (30, "active"),
        (30.01, "mature"),
        (180, "mature"),
        (180.01, "aged"),
        (365, "aged"),
        (365.01, "archived"),
        (10_000, "archived"),
    ],
)
def test_age_decides_the_phase(days: float, phase: str) -> None:
    assert phase_at(days, SETTINGS) is EpisodeStatus(phase)


def test_the_ages_can_be_set() -> None:
    quick = EpisodeSettings(mature_after_days=1, aged_after_days=2, archived_after_days=3)
    assert [phase_at(days, quick).value for days in (1, 2, 3, 4)] == ["active", "mature", "aged", "archived"]
    assert age_days(sample(Episode, at=NOW - timedelta(hours=36)), NOW) == 1.5


LONG = "\n".join(f"line {number} of /tmp/{number}/log" for number in range(1_000)) + "\nKeyError: 'id'"


def an_episode(status: str = "FAILURE") -> Episode:
    steps = [
        {"at": NOW, "action": "look", "input": "x" * 9_000, "output": "y" * 9_000},
        {"at": NOW, "action": "run", "input": "z" * 9_000, "output": LONG, "is_error": True},
    ]
    episode: Episode = sample(
        Episode,
        task={"input": "t" * 5_000, "goals": ("g",), "context": {"a": 1}},
        execution={"plan": ("p",), "trace": steps, "duration_ms": 5},
        outcome={"status": status, "output": LONG, "side_effects": ("s",)},
        reflection={"insights": ("i",), "failures": ("too slow",)},
        metadata={"domain": "d", "tags": ("x",)},
    )
    return episode


@pytest.mark.parametrize("phase", [EpisodeStatus.ACTIVE, EpisodeStatus.MATURE])
def test_a_young_episode_stays_whole(phase: EpisodeStatus) -> None:
    assert slimmed(an_episode(), phase, SETTINGS) == an_episode()


def test_an_aged_episode_loses_its_steps_but_not_what_went_wrong() -> None:
    slim = slimmed(an_episode(), EpisodeStatus.AGED, SETTINGS)
    assert len(slim.to_json()) < len(an_episode().to_json()) / 2
    assert slim.task == an_episode().task
    assert set(failure_signatures(slim)) == set(failure_signatures(an_episode()))


@pytest.mark.parametrize("status", ["SUCCESS", "PARTIAL", "FAILURE"])
def test_an_archived_episode_keeps_what_was_learned(status: str) -> None:
    episode = an_episode(status)
    slim = slimmed(episode, EpisodeStatus.ARCHIVED, SETTINGS)
    assert (slim.reflection, slim.metadata, slim.execution.duration_ms) == (episode.reflection, episode.metadata, 5)
    assert (len(slim.task.input), slim.task.goals, slim.execution.plan) == (1_000, (), ())
    assert (slim.outcome.status, bool(slim.outcome.output)) == (episode.outcome.status, status == "FAILURE")
    assert set(failure_signatures(slim)) == set(failure_signatures(episode))
    assert slimmed(slim, EpisodeStatus.ARCHIVED, SETTINGS) == slim


def test_a_cache_of_no_size_holds_nothing() -> None:
    cache = EpisodeCache(0)
    cache.put(SCOPE, sample(Episode, "e"), "one")
    assert cache.get(SCOPE, "e", "one") is None
    assert cache.counts()["held"] == 0


def test_a_cache_serves_what_has_the_stamp_that_is_asked_for_and_nobody_elses() -> None:
    cache = EpisodeCache(2)
    cache.put(SCOPE, sample(Episode, "e", version=3), "three")
    assert cache.get(SCOPE.replace(principal="bob"), "e", "three") is None
    assert cache.get(SCOPE, "e", "three") is not None
    cache.update_lifecycle(SCOPE, "three", sample(Episode, "e", version=4, lifecycle={"access_count": 7}), "four")
    moved = cache.get(SCOPE, "e", "four")
    assert moved is not None
    assert (moved.version, moved.lifecycle.access_count) == (4, 7)
    cache.update_lifecycle(SCOPE, "three", sample(Episode, "e", version=9), "nine")
    assert cache.get(SCOPE, "e", "nine") is None
    assert cache.counts()["held"] == cache.counts()["bytes"] == 0
    cache.put(SCOPE, sample(Episode, "e"), "one")
    cache.drop("e")
    assert cache.get(SCOPE, "e", "one") is None


def test_a_cache_holds_no_more_bytes_than_it_may() -> None:
    long = {"task": {"input": "x" * 1_000}}
    one = len(sample(Episode, "a", **long).to_json())
    cache = EpisodeCache(100, 2 * one)
    for id in ("a", "b", "c"):
        cache.put(SCOPE, sample(Episode, id, **long), id)
    assert [cache.get(SCOPE, id, id) is not None for id in ("a", "b", "c")] == [False, True, True]
    assert (cache.counts()["held"], cache.counts()["bytes"]) == (2, 2 * one)
    cache.put(SCOPE, sample(Episode, "b", task={"input": "x" * 5_000}), "longer")
    assert cache.get(SCOPE, "b", "longer") is None
    assert (cache.counts()["held"], cache.counts()["bytes"]) == (1, one)


def test_accesses_wait_until_they_are_taken() -> None:
    accesses = Accesses()
    assert accesses.add("a", NOW)[1] == 1
    assert accesses.add("b", NOW)[1] == 2
    counted, waiting = accesses.add("a", NOW - timedelta(days=1))
    assert (counted.times, counted.last, waiting) == (2, NOW, 3)
    assert {id: each.times for id, each in accesses.take().items()} == {"a": 2, "b": 1}
    assert accesses.take() == {}
