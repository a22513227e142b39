"""Patterns as files, and in exports, backups and what is forgotten. On both engines."""

from datetime import timedelta
from pathlib import Path

import pytest

import treering
from tests.conftest import OpenMemory
from tests.sample_episodes import Clock
from tests.sample_patterns import STRATEGY, apply_often, did, keep
from treering.core.errors import InvalidInput, NotFound
from treering.core.history import Action
from treering.core.patterns import PatternStatus
from treering.memory import Memory
from treering.patterns.transfer import PatternImport


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_file_is_taken_in_as_candidates(open_memory: OpenMemory, clock: Clock, form: str) -> None:
    here, there = open_memory(clock=clock), open_memory(clock=clock, project="there")
    made = keep(here)
    apply_often(here, made.id, "S" * 25)
    here.patterns.validate()
    keep(here, "gone")
    here.patterns.deprecate("gone", "old")
    text = here.patterns.export(form)
    assert there.patterns.import_(text) == PatternImport((made.id,), (), {"gone": "deprecated in the file"})
    found = there.patterns.get(made.id)
    assert (found.status, found.evidence.applications, found.version) == (PatternStatus.CANDIDATE, 0, 1)
    assert found.metadata["imported"]["status"] == "VALIDATED"
    assert found.metadata["imported"]["evidence"]["applications"] == 25
    left = {made.id: "the same as here", "gone": "deprecated in the file"}
    assert there.patterns.import_(text) == here.patterns.import_(text) == PatternImport((), (), left)
    assert here.patterns.get(made.id).status is PatternStatus.VALIDATED


def test_an_edited_file_changes_what_is_here(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(clock=clock)
    made = keep(memory)
    apply_often(memory, made.id, "S" * 25)
    memory.patterns.validate()
    before = memory.patterns.export()
    text = before.replace("one step at a time", "two at a time")
    assert memory.patterns.import_(text).updated == (made.id,)
    found = memory.patterns.get(made.id)
    assert (found.status, found.evidence.generation) == (PatternStatus.CANDIDATE, 2)
    assert found.content.approach == "two at a time"
    assert memory.patterns.import_(before).left == {made.id: "an earlier version of what is here"}
    assert memory.patterns.get(made.id) == found
    assert memory.patterns.versions(made.id)[0].content.approach == "one step at a time"
    with pytest.raises(InvalidInput, match="line"):
        memory.patterns.import_("treering_patterns: 1\npatterns:\n- id: x\n")
    with pytest.raises(InvalidInput, match="yaml or json"):
        memory.patterns.export("xml")


def test_nothing_of_a_wrong_file_is_taken_in(memory: Memory) -> None:
    keep(memory, "a")
    text = memory.patterns.export().replace("id: a", "id: b") + "- id: c\n  name: x\n"
    with pytest.raises(InvalidInput):
        memory.patterns.import_(text)
    assert [each.id for each in memory.patterns.list()] == ["a"]


def test_export_backup_and_import_hold_patterns_and_applications(
    open_memory: OpenMemory, clock: Clock, tmp_path: Path
) -> None:
    memory = open_memory(clock=clock)
    made = keep(memory)
    apply_often(memory, made.id, "SSF", features={"task_type": "fix", "files": ["a.py"]}, time_saved_ms=5.0)
    known = memory.patterns.applications(made.id)
    memory.export(tmp_path / "all.jsonl")
    copied = open_memory(clock=clock, project="copied")
    copied.import_(tmp_path / "all.jsonl")
    assert sorted(copied.patterns.applications(made.id), key=lambda each: each.id) == sorted(known, key=lambda e: e.id)
    assert len(copied.patterns.sessions(made.id)) == 3
    saved = memory.backup(tmp_path / "saved.db")
    scope = memory.scope
    with treering.open(saved, tenant=scope.tenant, project=scope.project, clock=clock) as again:
        assert again.patterns.get(made.id) == memory.patterns.get(made.id)
        assert set(again.patterns.applications(made.id)) == set(known)


def test_a_pattern_leaves_with_its_applications(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(clock=clock, settings=treering.Settings.make(store={"blob_bytes": 1_024}))
    made = keep(memory, "zebra crossing carefully walked", id="z", summary="walk slowly over the striped road")
    memory.patterns.update(made.id, summary="run quickly over the striped road")
    apply_often(memory, made.id, "SF", features={"context": {"said": "a purple elephant in the parking lot " * 100}})
    forgotten = memory.forget(made.id, hard=True)
    assert forgotten is not None
    assert forgotten.prove().clean
    assert not memory.store.find_traces(memory.scope, clock.now, ["purple elephant"]).found
    assert memory.patterns.applications(made.id) == ()
    with pytest.raises(NotFound):
        memory.patterns.get(made.id)
    assert [each.action for each in memory.patterns.history(made.id)] == [Action.PURGE, Action.UPDATE, Action.CREATE]
    again = keep(memory, "other", id=made.id)
    assert memory.patterns.sessions(again.id) == ()


def test_of_a_forgotten_episode_only_that_it_was_an_application_stays(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(clock=clock)
    made = keep(memory)
    told = did(memory, "e", "pytest -q", context={"said": "a purple elephant in the parking lot"})
    memory.patterns.record_application(made.id, episode=told.id)
    forgotten = memory.forget(told.id, hard=True)
    assert forgotten is not None
    assert forgotten.prove().clean
    (left,) = memory.patterns.applications(made.id)
    assert (left.episode, dict(left.features), left.outcome.value) == (None, {}, "SUCCESS")
    assert len(memory.patterns.sessions(made.id)) == 1


def test_counted_in_stats_and_in_the_report(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(clock=clock)
    apply_often(memory, keep(memory).id, "SS")
    keep(memory, "gone")
    memory.patterns.deprecate("gone", "old")
    assert (memory.stats().records["patterns"], memory.stats().records["applications"]) == (2, 2)
    assert memory.maintenance.report().patterns == {"CANDIDATE": 1, "VALIDATED": 0, "UNDER_REVIEW": 0, "DEPRECATED": 1}


def test_a_doctor_finds_nothing_wrong_with_them(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(clock=clock)
    apply_often(memory, keep(memory).id, "S" * 25)
    memory.patterns.validate()
    clock.now += timedelta(days=1)
    memory.patterns.update("small steps", content={**STRATEGY, "approach": "other"})
    assert memory.doctor().healthy
    assert memory.doctor(repair=True).healthy


def test_nobody_writes_where_a_pattern_came_from(memory: Memory) -> None:
    """What evidence is counted by cannot be told, neither by a caller nor by a file."""
    for name in ("mined", "merged_from", "imported"):
        with pytest.raises(InvalidInput, match=name):
            keep(memory, metadata={name: {"base_rate": "high"}})
    made = keep(memory, metadata={"team": "a"})
    with pytest.raises(InvalidInput, match="merged_from"):
        memory.patterns.update(made.id, metadata={"merged_from": ["a"]})
    text = memory.patterns.export().replace("team: a", "mined: {base_rate: high}").replace("small steps", "other")
    assert memory.patterns.import_(text).added == ("other",)
    assert set(memory.patterns.get("other").metadata) == {"imported"}
    changed = memory.patterns.update("other", metadata={"team": "b"})
    assert set(changed.metadata) == {"imported", "team"}
