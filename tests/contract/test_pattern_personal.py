"""What somebody keeps to himself is found, counted and told to nobody else. On both engines."""

from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.sample_episodes import Clock
from tests.sample_patterns import ROUTINE, apply_often, did, keep, pattern_stages
from treering.core.errors import InvalidInput, NotFound
from treering.core.patterns import PatternStatus
from treering.core.scope import Visibility
from treering.memory import Memory

ANY = tuple(PatternStatus)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ada(open_memory: OpenMemory, clock: Clock) -> Memory:
    return open_memory(clock=clock, principal="ada")


@pytest.fixture
def bob(open_memory: OpenMemory, clock: Clock) -> Memory:
    return open_memory(clock=clock, principal="bob")


def found(memory: Memory) -> list[str]:
    return [each.pattern.id for each in memory.patterns.find_applicable("fix it", statuses=ANY, limit=50)]


def test_a_personal_pattern_is_found_by_nobody_else(ada: Memory, bob: Memory, open_memory: OpenMemory) -> None:
    keep(ada, "mine", visibility="personal")
    keep(ada, "ours")
    apply_often(ada, "mine", "S" * 3)
    elsewhere = open_memory(project="elsewhere", principal="ada")
    assert (sorted(found(ada)), found(bob), found(elsewhere)) == (["mine", "ours"], ["ours"], [])
    for act in (
        lambda: bob.patterns.get("mine"),
        lambda: bob.patterns.record_application("mine", outcome="SUCCESS"),
        lambda: bob.patterns.update("mine", name="his"),
        lambda: bob.patterns.deprecate("mine", "no"),
        lambda: bob.patterns.merge(["mine", "ours"]),
        lambda: bob.patterns.history("mine"),
        lambda: bob.forget("mine", hard=True),
        lambda: bob.undo("mine"),
    ):
        with pytest.raises(NotFound):
            act()
    assert bob.patterns.applications("mine") == ()
    assert "mine" not in bob.patterns.export()
    assert bob.patterns.prune() == ()
    assert [each.pattern for each in bob.patterns.validate()] == ["ours"]
    assert len(ada.patterns.sessions("mine")) == 3
    with pytest.raises(InvalidInput, match="owner"):
        ada.patterns.merge(["mine", "ours"])


def test_personal_episodes_neither_prove_nor_narrow_what_is_shared(ada: Memory, bob: Memory) -> None:
    keep(ada, "ours")
    for place in range(24):
        lang = "python" if place % 2 else "rust"
        told: dict[str, Any] = {"outcome": "SUCCESS" if place % 2 else "FAILURE", "visibility": "personal"}
        did(ada, f"e{place}", "pytest -q", context={"languages": [lang]}, **told)
        made = ada.patterns.record_application("ours", episode=f"e{place}")
        assert (made.visibility, made.owner) == (Visibility.PERSONAL, "ada")
    for memory in (ada, bob):
        (verdict,) = memory.patterns.validate(dry_run=True)
        assert (verdict.judged.sessions, memory.patterns.sessions("ours")) == (0, ())
    assert ada.patterns.refine("ours").refinement.applicability is None
    assert bob.patterns.applications("ours") == ()


def test_personal_uses_are_not_written_into_what_all_see(ada: Memory, bob: Memory) -> None:
    keep(ada, "ours")
    did(ada, "own", "pytest -q", visibility="personal")
    ada.patterns.record_application("ours", episode="own")
    ada.patterns.update("ours", summary="told by ada")
    ada.patterns.validate()
    assert (ada.patterns.get("ours").usage_count, bob.patterns.get("ours").usage_count) == (1, 0)
    assert bob.patterns.get("ours").last_used_at is None


def test_both_see_the_same_verdict(ada: Memory, bob: Memory) -> None:
    keep(ada, "ours")
    apply_often(bob, "ours", "S" * 25)
    did(ada, "own", "pytest -q", visibility="personal", outcome="FAILURE")
    assert ada.patterns.validate(dry_run=True) == bob.patterns.validate(dry_run=True)
    bob.patterns.validate()
    assert ada.patterns.get("ours").status is PatternStatus.VALIDATED


def test_a_personal_pattern_is_proven_by_whatever_its_owner_did(ada: Memory, bob: Memory) -> None:
    keep(ada, "mine", visibility="personal")
    for place in range(25):
        did(ada, f"e{place}", "pytest -q")
        made = ada.patterns.record_application("mine", episode=f"e{place}")
        assert made.visibility is Visibility.PERSONAL
    assert [each.judged.sessions for each in ada.patterns.validate()] == [25]
    assert bob.stats().records["applications"] == 0


def test_what_is_mined_from_personal_episodes_is_personal(ada: Memory, bob: Memory, clock: Clock) -> None:
    for memory in (ada, bob):
        for place in range(6):
            did(memory, f"{memory.scope.principal} {place}", *ROUTINE, visibility="personal")
    mined = {each.key for each in ada.patterns.mine()}
    assert mined
    assert bob.patterns.list() == ()
    others = {each.key for each in bob.patterns.mine()}
    # The same finds under other names: neither learns of the other by a name that is taken.
    assert others
    assert not mined & others
    for memory, keys in ((ada, mined), (bob, others)):
        kept = memory.patterns.list()
        assert {each.id for each in kept} == keys
        assert {(each.visibility, each.owner) for each in kept} == {(Visibility.PERSONAL, memory.scope.principal)}


def test_the_night_works_for_everybody(ada: Memory, bob: Memory, clock: Clock, open_memory: OpenMemory) -> None:
    for place in range(6):
        did(ada, f"ada {place}", *ROUTINE, visibility="personal")
    worker = open_memory(clock=clock, principal="worker")
    assert {(run.state.value, run.error) for run in pattern_stages(worker)} == {("done", None)}
    kept = ada.patterns.list()
    assert kept
    assert {each.owner for each in kept} == {"ada"}
    assert worker.patterns.list() == bob.patterns.list() == ()
    clock.now += timedelta(hours=12)
    did(ada, "ada later", *ROUTINE, visibility="personal")
    did(bob, "bob later", *ROUTINE)
    clock.now += timedelta(hours=12)
    assert {run.error for run in pattern_stages(worker)} == {None}
    assert all(len(ada.patterns.sessions(each.id)) == 1 for each in kept)
