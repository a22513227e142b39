"""Clusters are what brute force connects, whatever the blocks; and nothing crosses a band."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import treering
from tests.samples import NOW, sample
from treering.core.episodes import Episode, EpisodeStatus
from treering.core.settings import EpisodeConsolidationSettings
from treering.episodes.consolidation import clusters as module
from treering.episodes.consolidation.clusters import Band, ConsolidationCandidate, clusters, components, unit
from treering.episodes.consolidation.stage import consolidate_episodes
from treering.jobs.stage import StageRun

LIKENESS = 0.95
WINDOW = 30.0
# So near to the threshold, rounding decides; which way is nobody's promise.
_UNDECIDED = 1e-5


def brute_force(near: NDArray[np.bool_]) -> list[frozenset[int]]:
    """The connected components of a graph, one step after the other."""
    left, found = set(range(len(near))), []
    while left:
        reached, edge = set[int](), [min(left)]
        while edge:
            row = edge.pop()
            if row not in reached:
                reached.add(row)
                edge += np.flatnonzero(near[row]).tolist()
        found.append(frozenset(reached))
        left -= reached
    return sorted(found, key=min)


def grouped(labels: NDArray[np.int64]) -> list[frozenset[int]]:
    found = defaultdict[int, set[int]](set)
    for row, label in enumerate(labels.tolist()):
        found[label].add(row)
    return sorted((frozenset(each) for each in found.values()), key=min)


@st.composite
def crowds(draw: st.DrawFn) -> tuple[NDArray[np.float16], NDArray[np.float64], NDArray[np.int64]]:
    """Points around some middles, at moments over some months; now and then a row of zeros, or rows tied together."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    count, dimension = draw(st.integers(0, 60)), draw(st.sampled_from((2, 4, 16, 256)))
    middles = chance.normal(size=(draw(st.integers(1, 8)), dimension))
    noise = draw(st.sampled_from((0.0, 0.1, 0.2, 0.3, 0.6)))
    vectors = unit(middles)[chance.integers(len(middles), size=count)] if count else np.zeros((0, dimension))
    vectors = unit(vectors + noise * unit(chance.normal(size=(count, dimension))))
    vectors[chance.random(count) < 0.05] = 0
    at = chance.uniform(0, draw(st.sampled_from((1.0, 60.0, 150.0))), count)
    tied = np.arange(count)
    for row in range(1, count):
        if chance.random() < 0.1:
            tied[row] = tied[chance.integers(row)]
    return vectors.astype(np.float16), at, tied


@given(crowds(), st.sampled_from((1, 2, 7, 1_024)))
def test_clusters_are_what_brute_force_connects(
    crowd: tuple[NDArray[np.float16], NDArray[np.float64], NDArray[np.int64]], block: int
) -> None:
    vectors, at, tied = crowd
    cosines = unit(vectors).astype(np.float64) @ unit(vectors).astype(np.float64).T
    close = np.abs(at[:, None] - at) <= WINDOW
    same = tied[:, None] == tied
    surely = (cosines > LIKENESS + _UNDECIDED) & close | same
    perhaps = (cosines > LIKENESS - _UNDECIDED) & close | same
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_BLOCK", block)
        found = components(vectors, at, tied, likeness=LIKENESS, window=WINDOW)
    pairs = surely & (found[:, None] == found)
    assert pairs.sum() == surely.sum(), "a pair that is alike ended in two clusters"
    if (surely == perhaps).all():
        assert grouped(found) == brute_force(surely)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 9)), max_size=40), st.integers(2, 12))
def test_parts_keep_to_their_cluster_their_size_and_the_order_of_time(
    drawn: list[tuple[int, int, int]], largest: int
) -> None:
    candidates = [
        ConsolidationCandidate(
            f"e{place:02}",
            1,
            NOW + timedelta(days=day),
            tuple(f"m{place}-{n}" for n in range(min(size, largest) if size > 2 else 0)),
        )
        for place, (_, size, day) in enumerate(drawn)
    ]
    labels = np.array([label for label, *_ in drawn], np.int64)
    chosen = EpisodeConsolidationSettings(largest=largest)
    parts = list(clusters(candidates, labels, chosen))
    taken = [each.id for part in parts for each in part]
    assert len(taken) == len(set(taken))
    of = {candidate.id: label for candidate, label in zip(candidates, labels.tolist(), strict=True)}
    for part in parts:
        assert len({of[each.id] for each in part}) == 1
        assert chosen.smallest <= sum(each.instances for each in part) <= largest
        assert any(not each.members for each in part)
        assert [each.at for each in part] == sorted(each.at for each in part)


BANDS = {
    "task_type": st.sampled_from((None, "fix", "build")),
    "domain": st.sampled_from((None, "web")),
    "status": st.sampled_from(("SUCCESS", "FAILURE")),
    "visibility": st.sampled_from(("personal", "project", "team")),
    "tainted": st.booleans(),
    "shared_owner": st.sampled_from(("local", "ada")),
}
DRAWN = st.lists(
    st.tuples(st.fixed_dictionaries(BANDS), st.integers(0, 1), st.integers(0, 8), st.integers(31, 179)),
    min_size=3,
    max_size=24,
)
WORDS = ("repair the login form of the shop", "write release notes for version seven of the compiler")


class Silent:
    def expect(self, total: int) -> None: ...

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None: ...


def _episode(place: int, drawn: tuple[dict[str, Any], int, int, int]) -> Episode:
    band, task, _, days = drawn
    owner = "local" if band["visibility"] == "personal" else band["shared_owner"]
    made: Episode = sample(
        Episode,
        f"e{place:02}",
        at=NOW - timedelta(days=days),
        owner=owner,
        visibility=band["visibility"],
        tainted=band["tainted"],
        task={"input": WORDS[task]},
        outcome={"status": band["status"], "output": WORDS[task]},
        metadata={"task_type": band["task_type"], "domain": band["domain"]},
        lifecycle={"status": "mature"},
    )
    return made


def _expected(episodes: Sequence[Episode]) -> Iterator[frozenset[str]]:
    """The same text, the same band, and never more than the window between one and the next."""
    groups = defaultdict[tuple[str, str], list[Episode]](list)
    for each in episodes:
        groups[Band.of(each).key, each.task.input].append(each)
    for group in groups.values():
        group.sort(key=lambda each: each.at)
        run = [group[0]]
        for each in group[1:]:
            if each.at - run[-1].at > timedelta(days=WINDOW):
                yield frozenset(member.id for member in run)
                run = []
            run.append(each)
        yield frozenset(member.id for member in run)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bands") / "memory.db"


@given(DRAWN)
def test_nothing_crosses_a_band_and_no_episode_is_lost(
    place: Path, drawn: list[tuple[dict[str, Any], int, int, int]]
) -> None:
    episodes = [_episode(number, each) for number, each in enumerate(drawn)]
    with treering.open(place, project=f"p{uuid4().hex}") as memory:
        with memory.store.transaction(memory.scope, NOW) as tx:
            tx.episodes.create_many(episodes)
        run = StageRun(memory.scope, memory.store, NOW, memory.settings, memory.models, lambda: "unused", Silent())
        consolidate_episodes(run)
        with memory.store.reading(memory.scope, NOW) as tx:
            found = {each.id: each for each in tx.episodes.stream()}
    made = {each.id: each for each in found.values() if each.consolidation}
    members = {id: set(each.consolidation.members) for id, each in made.items() if each.consolidation}
    assert {frozenset(each) for each in members.values()} == {each for each in _expected(episodes) if len(each) >= 3}
    for each in episodes:
        now = found[each.id]
        standing = now.lifecycle.consolidated_into
        assert now.replace(lifecycle=each.lifecycle, version=each.version) == each
        assert [id for id, named in members.items() if each.id in named] == ([standing] if standing else [])
        assert now.lifecycle.status is (EpisodeStatus.ARCHIVED if standing else EpisodeStatus.MATURE)
        assert standing is None or Band.of(made[standing]) == Band.of(each)
