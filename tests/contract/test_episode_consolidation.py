"""Episodes that are alike become one that stands for them: nothing is lost, and nobody sees more than before."""

import math
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from tests.conftest import OpenMemory
from tests.consolidation_episodes import Compass, OneModel, all_of, consolidate, episode, keep, members, standing, three
from tests.samples import NOW, sample
from treering.core.episodes import EpisodeStatus, OutcomeStatus
from treering.core.errors import NotFound
from treering.core.queries import EpisodeFilter, SearchedKind, SearchFilter
from treering.core.scope import Visibility
from treering.core.turns import Turn
from treering.episodes.consolidation.dissolution import dissolve
from treering.memory import Memory
from treering.search.embedding import embed_all


def test_three_alike_become_one_that_tells_what_they_share_and_where_they_differ(memory: Memory) -> None:
    for place, (tool, took) in enumerate((("pytest", 1_000), ("ruff", 2_000), ("mypy", 6_000))):
        keep(
            memory,
            episode(
                f"e{place}",
                f"task 0 at {place}",
                days=60 - place,
                execution={
                    "plan": ("reproduce", f"try {tool}", "fix"),
                    "duration_ms": took,
                    "trace": [
                        {"at": NOW, "action": "read the log"},
                        {"at": NOW, "action": "run", "tool": "bash", "input": tool},
                        {"at": NOW, "action": "run", "is_error": True, "output": f"boom {tool}"},
                        {"at": NOW, "action": "commit"},
                    ],
                },
                metadata={"domain": "web", "task_type": "fix", "tools": ("git", tool), "tags": ("red",)},
                reflection={"insights": ("look first", f"{tool} helps"), "patterns": ("p", "q")[: 1 + (place == 1)]},
                lifecycle={"status": "mature", "access_count": place, "last_accessed_at": NOW},
            ),
        )
    counts = consolidate(memory).counts
    assert (counts["clusters"], counts["merged"]) == (1, 3)
    [one] = standing(memory)
    told = one.consolidation
    assert told is not None
    assert told.representative == "e1"
    assert told.members == ("e0", "e1", "e2")
    assert told.instances == 3
    assert (told.first_at, told.last_at) == (NOW - timedelta(days=60), NOW - timedelta(days=58))
    shared = {"tools": ("git",), "plan": ("reproduce", "fix"), "tags": ("red",), "trace": ("read the log", "commit")}
    assert dict(told.common) == shared
    differs = {each.episode: each.differs for each in told.variations}
    assert differs["e0"]["tools"] == ("pytest",)
    assert differs["e0"]["plan"] == ("try pytest",)
    assert differs["e0"]["input"] == {"instead_of": "1", "says": "0"}
    assert "input" not in differs["e1"]
    assert differs["e0"]["trace"] == {
        "instead_of": ("bash run ruff", "run (failed: boom ruff)"),
        "says": ("bash run pytest", "run (failed: boom pytest)"),
    }
    assert "trace" not in differs["e1"]
    assert told.mean_duration_ms == one.execution.duration_ms == 3_000
    assert told.success_rate == 1
    assert told.patterns == ("p",)
    assert one.task.input == "task 0 at 1"
    assert one.at == told.last_at
    assert one.execution.trace == ()
    assert tuple(map(str, one.reflection.insights)) == ("look first", "pytest helps", "ruff helps", "mypy helps")
    assert tuple(map(str, one.reflection.failures)) == ("boom pytest", "boom ruff", "boom mypy")
    assert one.metadata.tools == ("git", "pytest", "ruff", "mypy")
    assert one.lifecycle.status is EpisodeStatus.MATURE
    assert (one.lifecycle.access_count, one.lifecycle.last_accessed_at) == (3, NOW)


def test_members_stay_whole_archived_and_name_what_stands_for_them(memory: Memory) -> None:
    before = three()
    keep(memory, *before)
    consolidate(memory)
    [one] = standing(memory)
    found = all_of(memory)
    for each in before:
        now = found[each.id]
        assert now.lifecycle.status is EpisodeStatus.ARCHIVED
        assert now.lifecycle.consolidated_into == one.id
        assert now.lifecycle.referenced_by == (one.id,)
        assert now.replace(lifecycle=each.lifecycle, version=each.version) == each
        assert memory.get(each.id) == now


def test_the_one_is_found_by_words_and_by_the_vectors_of_all(memory: Memory) -> None:
    keep(memory, *three())
    consolidate(memory)
    [one] = standing(memory)
    with memory.store.reading(memory.scope, NOW) as tx:
        number = tx.documents.numbers("episode", [one.id])[one.id]
        stored = tx.index.vectors("compass", np.array([number]))[number]
        known = tx.index.matching_numbers({"episode": EpisodeFilter()})
        assert {id for _, id in tx.index.matching_ids({"episode": EpisodeFilter()}, known).values()} == {
            one.id,
            "e0",
            "e1",
            "e2",
        }
    expected = Compass().documents(["task 0 at 0", "task 0 at 1", "task 0 at 2"]).mean(axis=0)
    np.testing.assert_allclose(stored, expected / np.linalg.norm(expected), atol=1e-3)
    assert one.embeddings is not None
    np.testing.assert_array_equal(stored, np.array(one.embeddings.whole, np.float32))


def test_a_search_of_everything_shows_the_one_and_not_its_members(memory: Memory) -> None:
    keep(memory, *three())
    consolidate(memory)
    (one,) = standing(memory)
    found = memory.search("task", where=SearchFilter(kinds=(SearchedKind.EPISODE,)), repeated=True)
    assert [hit.id for hit in found] == [one.id]
    memory.forget(one.id)
    assert {hit.id for hit in memory.search("task", repeated=True)} == set(members(one))


def test_the_combined_vector_survives_that_all_vectors_are_made_anew(memory: Memory) -> None:
    keep(memory, *three())
    consolidate(memory)
    [one] = standing(memory)
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.index.drop_vectors(but="another")
    embed_all(memory.scope, memory.store, NOW, Compass(), memory.settings.embedder)
    with memory.store.reading(memory.scope, NOW) as tx:
        number = tx.documents.numbers("episode", [one.id])[one.id]
        stored = tx.index.vectors("compass", np.array([number]))[number]
    assert one.embeddings is not None
    np.testing.assert_array_equal(stored, np.array(one.embeddings.whole, np.float32))


def test_two_are_not_enough_and_what_is_not_like_them_stays_out(memory: Memory) -> None:
    keep(memory, episode("a"), episode("b"), episode("far", "task 0 at 45"), episode("other", "task 1 at 0"))
    before = all_of(memory)
    assert not consolidate(memory).counts["clusters"]
    assert all_of(memory) == before


def test_neighbours_connect_what_is_not_alike_itself(memory: Memory) -> None:
    keep(memory, *(episode(f"e{place}", f"task 0 at {15 * place}") for place in range(4)))
    consolidate(memory)
    assert [members(each) for each in standing(memory)] == [("e0", "e1", "e2", "e3")]


def test_a_longer_pause_is_a_new_beginning(memory: Memory) -> None:
    keep(memory, *(episode(f"e{place}", days=40 + place) for place in range(3)))
    keep(memory, *(episode(f"f{place}", days=80 + place) for place in range(3)))
    consolidate(memory)
    assert [set(members(each)) for each in standing(memory)] == [{"f0", "f1", "f2"}, {"e0", "e1", "e2"}]


@pytest.mark.parametrize("status", [each for each in EpisodeStatus if each is not EpisodeStatus.MATURE])
def test_only_mature_ones_are_merged(memory: Memory, status: EpisodeStatus) -> None:
    keep(memory, *three(lifecycle={"status": status}))
    assert not consolidate(memory).counts["clusters"]


def test_what_was_deleted_is_not_merged(memory: Memory) -> None:
    keep(memory, *three())
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.episodes.delete("e1")
    assert not consolidate(memory).counts["clusters"]


@pytest.mark.parametrize(
    "other",
    [
        {"metadata": {"domain": "web", "task_type": "build"}},
        {"metadata": {"domain": "mail", "task_type": "fix"}},
        {"metadata": {"task_type": "fix"}},
        {"outcome": {"status": "FAILURE", "output": "built"}},
        {"visibility": Visibility.PERSONAL},
        {"owner": "somebody else"},
        {"tainted": True},
    ],
    ids=str,
)
def test_what_differs_in_its_band_is_never_merged(memory: Memory, other: dict[str, Any]) -> None:
    keep(memory, *three(), *(episode(f"o{place}", **other) for place in range(3)), episode("o3", **other))
    consolidate(memory)
    found = standing(memory)
    assert sorted(map(len, map(members, found))) == [3, 4]
    for one in found:
        assert len({id[0] for id in members(one)}) == 1
        like = all_of(memory)[members(one)[0]]
        assert (one.visibility, one.owner, one.tainted) == (like.visibility, like.owner, like.tainted)
        assert one.outcome.status is like.outcome.status
        assert one.consolidation is not None
        assert one.consolidation.success_rate == (one.outcome.status is OutcomeStatus.SUCCESS)


def test_personal_episodes_of_two_people_never_meet(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    for memory in (ada, bob):
        whose = memory.scope.principal
        keep(
            memory,
            *(episode(f"{whose}{place}", owner=whose, visibility=Visibility.PERSONAL) for place in range(2)),
        )
    assert not consolidate(ada).counts["clusters"]
    keep(bob, episode("bob2", owner="bob", visibility=Visibility.PERSONAL))
    assert not consolidate(ada).counts["clusters"]
    assert consolidate(bob).counts["merged"] == 3
    assert [members(each) for each in standing(bob)] == [("bob0", "bob1", "bob2")]
    assert standing(ada) == []
    assert set(all_of(ada)) == {"ada0", "ada1"}
    with pytest.raises(NotFound):
        dissolve(ada.scope, ada.store, NOW, standing(bob)[0].id)


def test_running_twice_changes_nothing(memory: Memory) -> None:
    keep(memory, *three(), episode("far", "task 0 at 45"))
    consolidate(memory)
    before = all_of(memory)
    assert not consolidate(memory).counts["clusters"]
    assert all_of(memory) == before


def test_what_is_only_near_the_middle_of_a_cluster_is_not_drawn_in_by_a_second_run(memory: Memory) -> None:
    corners = [np.array([0.945, 0.0, 0.0, 0.0]) + 0.2 * np.eye(4)[1 + place] for place in range(3)]
    middle = sum(corners) / np.linalg.norm(sum(corners))
    beside = np.append(math.cos(math.radians(16)) * middle, math.sin(math.radians(16)))
    given = [np.append(corner / np.linalg.norm(corner), 0.0) for corner in corners] + [beside]
    keep(
        memory,
        *(
            episode(f"e{place}", "exactly " + ",".join(f"{number:.6f}" for number in vector))
            for place, vector in enumerate(given)
        ),
    )
    consolidate(memory)
    [one] = standing(memory)
    assert set(members(one)) == {"e0", "e1", "e2"}
    assert one.embeddings is not None
    assert np.array(one.embeddings.whole[:5]) @ beside > 0.95
    before = all_of(memory)
    consolidate(memory)
    assert all_of(memory) == before


def test_a_later_one_joins_and_members_are_always_named_themselves(memory: Memory) -> None:
    keep(memory, *three())
    consolidate(memory)
    [first] = standing(memory)
    keep(memory, episode("later", "task 0 at 3", days=40))
    counts = consolidate(memory).counts
    assert (counts["clusters"], counts["merged"]) == (1, 1)
    [second] = standing(memory)
    assert members(second) == ("e0", "e1", "e2", "later")
    found = all_of(memory)
    assert found[first.id].lifecycle.consolidated_into == second.id
    assert found[first.id].lifecycle.status is EpisodeStatus.ARCHIVED
    assert {found[id].lifecycle.consolidated_into for id in members(second)} == {second.id}
    before = all_of(memory)
    consolidate(memory)
    assert all_of(memory) == before


def test_a_cluster_that_is_too_large_is_cut_by_time(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treering.episodes.consolidation.clusters.MAX_CLUSTER", 4)
    keep(memory, *(episode(f"e{place}", days=60 - place) for place in range(9)))
    consolidate(memory)
    assert [members(each) for each in standing(memory)] == [("e0", "e1", "e2", "e3"), ("e4", "e5", "e6", "e7")]
    before = all_of(memory)
    assert before["e8"].lifecycle.status is EpisodeStatus.MATURE
    consolidate(memory)
    assert all_of(memory) == before


def test_a_dry_run_counts_and_changes_nothing(memory: Memory) -> None:
    keep(memory, *three())
    consolidate(memory)
    keep(memory, *(episode(f"n{place}", "task 1 at 0") for place in range(4)))
    with memory.store.reading(memory.scope, NOW) as tx:
        assert tx.index.coverage("compass").vectors == 4
    assert consolidate(memory, dry_run=True).counts == {"skipped_without_vector": 4}
    embed_all(memory.scope, memory.store, NOW, Compass(), memory.settings.embedder)
    before = all_of(memory)
    counts = consolidate(memory, dry_run=True).counts
    assert (counts["clusters"], counts["merged"]) == (1, 4)
    assert all_of(memory) == before


@pytest.mark.parametrize("models", [OneModel(Compass(local=False)), OneModel(None)], ids=["remote", "none"])
def test_what_has_no_vector_is_counted_and_left(memory: Memory, models: OneModel) -> None:
    keep(memory, *three())
    before = all_of(memory)
    assert consolidate(memory, models).counts == {"skipped_without_vector": 3}
    assert all_of(memory) == before
    embed_all(memory.scope, memory.store, NOW, Compass(), memory.settings.embedder)
    keep(memory, episode("new"))
    counts = consolidate(memory, models).counts
    assert (counts["merged"], counts["skipped_without_vector"]) == (3, 1)


def test_no_document_loses_its_turn_to_be_embedded(memory: Memory) -> None:
    """A consolidated episode comes with its vector while others still wait for theirs."""
    keep(memory, *three())
    embed_all(memory.scope, memory.store, NOW, Compass(), memory.settings.embedder)
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.turns.create(sample(Turn, "t", text="task 7 at 0"))
    consolidate(memory, OneModel(Compass(local=False)))
    assert len(standing(memory)) == 1
    embed_all(memory.scope, memory.store, NOW, Compass(), memory.settings.embedder)
    [one] = standing(memory)
    with memory.store.reading(memory.scope, NOW) as tx:
        coverage = tx.index.coverage("compass")
        turn = tx.documents.numbers("turn", ["t"])["t"]
        own = tx.documents.numbers("episode", [one.id])[one.id]
        found = tx.index.vectors("compass", np.array([turn, own]))
    assert coverage.documents == coverage.vectors == 5
    assert one.embeddings is not None
    np.testing.assert_array_equal(found[own], np.array(one.embeddings.whole, np.float32))
    np.testing.assert_allclose(found[turn], Compass().documents(["task 7 at 0"])[0], atol=1e-3)


def test_it_goes_on_after_the_last_band_that_was_done(memory: Memory) -> None:
    for kind in ("a", "b", "c"):
        keep(memory, *(episode(f"{kind}{n}", metadata={"task_type": kind, "domain": "web"}) for n in range(3)))
    whole = consolidate(memory, dry_run=True, likeness=0.5)
    assert whole.expected == 9
    embed_all(memory.scope, memory.store, NOW, Compass(), memory.settings.embedder)
    bands = sorted({cursor for cursor in whole.cursors if cursor})
    assert len(bands) == 3
    progress = consolidate(memory, cursor=bands[0])
    assert progress.expected == progress.steps == 6
    assert [members(each)[0][0] for each in sorted(standing(memory), key=members)] == ["b", "c"]
    assert progress.cursors[-1] == bands[-1]
