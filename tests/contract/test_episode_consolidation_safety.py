"""Whatever breaks, changes or happens at once while episodes merge leaves the old or the new; and it can be undone."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.consolidation_episodes import Compass, Counted, all_of, consolidate, episode, keep, members, standing, three
from tests.samples import NOW
from treering.adapters.sql.index_base import SqlIndex
from treering.adapters.sql.listed_documents import ListedDocuments
from treering.adapters.sql.turns import EpisodeRecords
from treering.core.episodes import Episode, EpisodeStatus
from treering.core.errors import Conflict, InvalidInput, NotFound, NothingToUndo, StoreError
from treering.episodes.consolidation import stage
from treering.episodes.consolidation.dissolution import dissolve, purge_representatives
from treering.knowledge.reflection.withdrawal import withdraw_source
from treering.memory import Memory
from treering.search.embedding import embed_all


class Broken(Exception):
    """What a test breaks."""


def _breaking(monkeypatch: pytest.MonkeyPatch, cls: type[Any], name: str, at_call: int, *, after: bool) -> list[int]:
    """The call with this number raises, before or after it does its work."""
    real, calls = getattr(cls, name), [0]

    def breaking(self: Any, *given: Any, **named: Any) -> Any:
        if not self._context.writing:
            return real(self, *given, **named)
        calls[0] += 1
        if calls[0] == at_call and not after:
            raise Broken
        found = real(self, *given, **named)
        if calls[0] == at_call:
            raise Broken
        return found

    monkeypatch.setattr(cls, name, breaking)
    return calls


STEPS = [
    (EpisodeRecords, "create", 1),
    (EpisodeRecords, "get", 1),
    (EpisodeRecords, "get_many", 1),
    (ListedDocuments, "numbers", 1),
    (SqlIndex, "add_vectors", 1),
    *((EpisodeRecords, "set_lifecycle", call) for call in (1, 2, 3)),
]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step[1]} {step[2]}")
def test_whatever_breaks_leaves_everything_as_it_was(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, step: tuple[type[Any], str, int], after: bool
) -> None:
    cls, name, call = step
    keep(memory, *three())
    embed_all(memory.scope, memory.store, NOW, Compass(), memory.settings.embedder)
    before = all_of(memory)
    with monkeypatch.context() as broken:
        calls = _breaking(broken, cls, name, call, after=after)
        with pytest.raises(Broken):
            consolidate(memory)
        assert calls[0] == call
    assert all_of(memory, deleted=None) == before
    assert consolidate(memory).counts["merged"] == 3


def test_originals_stay_as_they_are_where_the_new_episode_is_not_what_was_written(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(memory, *three())
    before, real = all_of(memory), EpisodeRecords.get

    def damaged(self: EpisodeRecords, id: str) -> Episode | None:
        found = real(self, id)
        return found.replace(task={"input": "something else"}) if found and found.consolidation else found

    with monkeypatch.context() as broken:
        broken.setattr(EpisodeRecords, "get", damaged)
        with pytest.raises(StoreError, match="not stored as written"):
            consolidate(memory)
    assert all_of(memory, deleted=None) == before


@pytest.mark.parametrize("step", ["gather", "merged"])
@pytest.mark.parametrize("change", ["touched", "deleted", "purged"])
def test_who_changes_meanwhile_is_left_for_the_next_run(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, change: str, step: str
) -> None:
    """After this step of the stage, and before the next one reads the episode again."""
    keep(memory, *three(), episode("e3"))
    real: Callable[..., Any] = getattr(stage, step)

    def meanwhile(*given: Any) -> Any:
        monkeypatch.setattr(stage, step, real)
        found_by_step = real(*given)
        with memory.store.transaction(memory.scope, NOW) as tx:
            if change == "touched":
                found = tx.episodes.get("e1")
                assert found is not None
                tx.episodes.set_lifecycle("e1", found.lifecycle.replace(access_count=7))
            else:
                (tx.episodes.delete if change == "deleted" else tx.episodes.purge)("e1")
        return found_by_step

    monkeypatch.setattr(stage, step, meanwhile)
    counts = consolidate(memory).counts
    assert (counts["changed_meanwhile"], counts["clusters"]) == (1, 0)
    assert standing(memory) == []
    assert consolidate(memory).counts["merged"] == (4 if change == "touched" else 3)


def test_two_workers_at_once_merge_each_episode_once(open_memory: OpenMemory) -> None:
    workers = [open_memory(), open_memory()]
    keep(workers[0], *(episode(f"t{task}-{n}", f"task {task} at {n}") for task in range(8) for n in range(4)))
    embed_all(workers[0].scope, workers[0].store, NOW, Compass(), workers[0].settings.embedder)
    together = threading.Barrier(2)

    def work(memory: Memory) -> Counted:
        together.wait()
        return consolidate(memory)

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(work, workers))
    assert sum(each.counts["merged"] for each in done) == 32
    found = standing(workers[0])
    assert sorted(id for one in found for id in members(one)) == sorted(
        f"t{task}-{n}" for task in range(8) for n in range(4)
    )
    assert len(found) == 8


def test_what_is_taken_apart_is_as_it_was_and_stays_apart(memory: Memory) -> None:
    before = three()
    keep(memory, *before)
    consolidate(memory)
    [one] = standing(memory)
    assert dissolve(memory.scope, memory.store, NOW, one.id) == ("e0", "e1", "e2")
    found = all_of(memory)
    assert set(found) == {"e0", "e1", "e2"}
    for each in before:
        life = found[each.id].lifecycle
        assert (life.status, life.consolidated_into, life.referenced_by) == (EpisodeStatus.MATURE, None, (one.id,))
        assert found[each.id].replace(lifecycle=each.lifecycle, version=each.version) == each
    assert set(all_of(memory, deleted=True)) == {one.id}
    assert not consolidate(memory).counts["clusters"]
    with pytest.raises(Conflict, match="dissolved already; its members are e0, e1, e2"):
        dissolve(memory.scope, memory.store, NOW, one.id)


def test_what_was_taken_apart_is_not_brought_back_beside_its_members(memory: Memory) -> None:
    keep(memory, *three())
    consolidate(memory)
    [one] = standing(memory)
    memory.undo(one.id)
    before = all_of(memory, deleted=None)
    for _ in range(2):
        with pytest.raises(NothingToUndo, match="split up"):
            memory.undo(one.id)
    assert all_of(memory, deleted=None) == before


def test_what_stands_for_others_and_was_forgotten_is_brought_back(memory: Memory) -> None:
    keep(memory, *three())
    consolidate(memory)
    [one] = standing(memory)
    memory.forget(one.id)
    assert memory.undo(one.id) == one
    keep(memory, episode("later", "task 0 at 3", days=40))
    consolidate(memory)
    [second] = standing(memory)
    memory.forget(one.id)
    memory.undo(one.id)
    assert memory.undo(second.id) is None
    for id in (one.id, second.id):
        with pytest.raises(NothingToUndo):
            memory.undo(id)


def test_what_is_taken_apart_later_is_what_its_age_makes_it(memory: Memory) -> None:
    keep(memory, episode("old", days=179), episode("older", days=179), episode("young", days=150))
    consolidate(memory)
    [one] = standing(memory)
    dissolve(memory.scope, memory.store, NOW + timedelta(days=10), one.id)
    found = all_of(memory)
    assert found["old"].lifecycle.status is EpisodeStatus.AGED
    assert found["young"].lifecycle.status is EpisodeStatus.MATURE


def test_with_the_last_one_leaves_what_it_took_in(memory: Memory) -> None:
    keep(memory, *three())
    consolidate(memory)
    [first] = standing(memory)
    keep(memory, episode("later", "task 0 at 3", days=40))
    consolidate(memory)
    [second] = standing(memory)
    with pytest.raises(Conflict, match=second.id):
        dissolve(memory.scope, memory.store, NOW, first.id)
    assert set(dissolve(memory.scope, memory.store, NOW, second.id)) == set(members(second))
    assert set(all_of(memory)) == set(members(second))


def test_only_what_stands_for_others_can_be_taken_apart(memory: Memory) -> None:
    keep(memory, episode("plain"))
    with pytest.raises(InvalidInput, match="is not a consolidated episode"):
        dissolve(memory.scope, memory.store, NOW, "plain")
    with pytest.raises(NotFound):
        dissolve(memory.scope, memory.store, NOW, "nowhere")


def test_taking_apart_happens_wholly_or_not_at_all(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(memory, *three())
    consolidate(memory)
    [one] = standing(memory)
    before = all_of(memory)
    for name, call in (("set_lifecycle", 2), ("set_lifecycle", 3), ("delete", 1)):
        with monkeypatch.context() as broken:
            _breaking(broken, EpisodeRecords, name, call, after=True)
            with pytest.raises(Broken):
                dissolve(memory.scope, memory.store, NOW, one.id)
        assert all_of(memory, deleted=None) == before


def purge(memory: Memory, id: str) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        purge_representatives(
            tx, id, memory.settings.episodes, lambda each: withdraw_source(tx, each, memory._parts.new_id)
        )
        tx.episodes.purge(id)


def test_nothing_that_stood_for_a_purged_episode_keeps_its_words(memory: Memory) -> None:
    keep(memory, *three())
    consolidate(memory)
    keep(memory, episode("later", "task 0 at 3", days=40))
    consolidate(memory)
    purge(memory, "e1")
    found = all_of(memory, deleted=None)
    assert set(found) == {"e0", "e2", "later"}
    for each in found.values():
        assert (each.lifecycle.status, each.lifecycle.consolidated_into) == (EpisodeStatus.MATURE, None)
    assert consolidate(memory).counts["merged"] == 3
    assert [members(each) for each in standing(memory)] == [("e0", "e2", "later")]


def test_nothing_that_was_taken_apart_keeps_the_words_of_a_purged_episode(memory: Memory) -> None:
    keep(memory, *three())
    consolidate(memory)
    dissolve(memory.scope, memory.store, NOW, standing(memory)[0].id)
    purge(memory, "e1")
    assert set(all_of(memory, deleted=None)) == {"e0", "e2"}


def test_members_come_back_when_what_stands_for_them_is_purged(memory: Memory) -> None:
    keep(memory, *three())
    consolidate(memory)
    purge(memory, standing(memory)[0].id)
    found = all_of(memory, deleted=None)
    assert {each.lifecycle.status for each in found.values()} == {EpisodeStatus.MATURE}
    assert set(found) == {"e0", "e1", "e2"}
