"""A language model names what was found and proved true; evidence and what people said stay. On both engines."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.contract.test_forgetting import Counted, run_of
from tests.contract.test_reflection import Written
from tests.sample_episodes import Clock
from tests.sample_patterns import ROUTINE, did
from tests.samples import NOW
from treering.core.errors import ModelUnavailable
from treering.core.patterns import Pattern, PatternStatus
from treering.core.settings import LearnSettings, Settings
from treering.memory import Memory
from treering.patterns.mining.names import name_mined_patterns


def found(memory: Memory) -> Pattern:
    """A routine that was mined, and that we say is proven."""
    for number in range(6):
        did(memory, f"e{number}", *ROUTINE)
    (mined, *_) = memory.patterns.mine()
    with memory.store.transaction(memory.scope, NOW) as tx:
        return tx.patterns.note(memory.patterns.get(mined.key).replace(status=PatternStatus.VALIDATED))


def named(memory: Memory, models: Any, **options: Any) -> dict[str, int]:
    progress = Counted()
    name_mined_patterns(replace(run_of(memory, NOW, progress, **options), models=models))
    return progress.counts


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(clock=Clock(), background=False)


def test_a_name_is_given_once_and_changes_nothing_else(memory: Memory) -> None:
    before = found(memory)
    models = Written(json.dumps({"name": "Test before you commit"}))
    assert named(memory, models) == {"named": 1}
    after = memory.patterns.get(before.id)
    assert after.name == "Test before you commit"
    assert after.replace(name=before.name, version=before.version, updated_at=before.updated_at) == before
    assert before.summary.split(".")[0] in models.prompts[0]
    assert named(memory, Written()) == {}
    memory.patterns.mine()
    assert memory.patterns.get(before.id).name == "Test before you commit"


@pytest.mark.parametrize(
    ("answers", "lost"),
    [
        ((ModelUnavailable("gone"),), ["writer"]),
        (("no JSON", "still none"), []),
        ((json.dumps({"name": "Works in 999 of 1000 cases"}),), []),
        ((json.dumps({"name": "  "}),), []),
    ],
)
def test_no_name_is_taken_that_fails_or_invents_figures(
    memory: Memory, answers: tuple[Any, ...], lost: list[str]
) -> None:
    before, models = found(memory), Written(*answers)
    assert named(memory, models) == {"unnamed": 1}
    assert memory.patterns.get(before.id) == before
    assert models.lost == lost


def test_candidates_and_what_people_named_are_left_alone(memory: Memory) -> None:
    before = found(memory)
    memory.patterns.update(before.id, name="Ours")
    assert named(memory, Written()) == {}


def test_nobody_is_asked_where_learning_does_without_or_nothing_is_to_be_changed(open_memory: OpenMemory) -> None:
    settings = Settings(learn=LearnSettings(model="off"))
    memory = open_memory(clock=Clock(), background=False, settings=settings)
    found(memory)
    assert named(memory, Written()) == {}
    other = open_memory(clock=Clock(), background=False, project="other")
    found(other)
    assert named(other, Written(), dry_run=True) == {}
