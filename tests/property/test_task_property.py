"""What holds for a task whatever is done to it, in whatever order."""

from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import treering
from tests.examples import examples
from treering.core.errors import InvalidInput
from treering.core.settings import Settings
from treering.memory import Memory
from treering.task.api import Task
from treering.task.snapshots import Snapshot

TOTAL = 1_000
NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
SUBTASKS = st.sampled_from([f"s{number}" for number in range(12)])
# A redacted secret would not come back: words that are none.
PIECES = ["tea", "at", "four", "o'clock\n", "é", "😀", "</data>", '"', "\0", "{}"]
WORDS = st.lists(st.sampled_from(PIECES), max_size=400)
TEXTS = WORDS.map(" ".join)
VALUES = st.one_of(
    st.integers(),
    st.booleans(),
    st.lists(st.integers(0, 9), max_size=60),
    WORDS.map(lambda words: " ".join(words).replace("\0", "")),
)
OUTPUTS = st.one_of(TEXTS, st.binary(max_size=600), st.lists(st.integers(0, 99), max_size=120), TEXTS.map(str.encode))


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with TemporaryDirectory() as folder:
        chosen = Settings.make(working={"total": TOTAL})
        with treering.open(f"{folder}/memory.db", project="p", settings=chosen) as opened:
            for number in range(5):
                opened.remember(f"Tea is served at {number} o'clock, " + "and there is cake " * number * 20)
            yield opened


class Working(RuleBasedStateMachine):
    """A task beside a plain model of it."""

    memory: Memory

    @initialize()
    def begin(self) -> None:
        self.task: Task = self.memory.task("Have tea")
        self.outputs: dict[str, Any] = {}
        self.frames: list[dict[str, Any]] = []
        self.values: dict[tuple[str, str], Any] = {}
        self.gathered: dict[str, list[Any]] = {}

    @rule(subtask=SUBTASKS, output=OUTPUTS)
    def add(self, subtask: str, output: Any) -> None:
        self.task.add_intermediate(subtask, output)
        self.outputs[subtask] = output

    @rule(text=TEXTS)
    def trace(self, text: str) -> None:
        self.task.trace(text)

    @rule(subtask=SUBTASKS, text=TEXTS)
    def start_and_fail(self, subtask: str, text: str) -> None:
        self.task.start(subtask, text[:200])
        self.task.fail(subtask, text)

    @rule(key=NAMES, value=VALUES, scope=st.sampled_from(["task", "global", "metadata"]))
    def set(self, key: str, value: Any, scope: str) -> None:
        self.task.set(key, value, scope=scope)
        self.values[scope, key] = value

    @rule(key=NAMES, value=VALUES)
    def gather(self, key: str, value: Any) -> None:
        self.task.accumulate(f"all {key}", [value])
        self.gathered.setdefault(f"all {key}", []).append(value)

    @rule(text=TEXTS)
    def push(self, text: str) -> None:
        self.task.push_state("phase", note=text.replace("\0", ""))
        self.frames.append({})

    @precondition(lambda self: self.frames)
    @rule(key=NAMES, value=VALUES)
    def set_in_frame(self, key: str, value: Any) -> None:
        self.task.set(key, value, scope="execution")
        self.frames[-1][key] = value

    @precondition(lambda self: self.frames)
    @rule()
    def pop(self) -> None:
        self.task.pop_state()
        self.frames.pop()

    @rule(texts=st.lists(TEXTS, max_size=3), steps=st.lists(SUBTASKS, unique=True, max_size=6))
    def load(self, texts: list[str], steps: list[str]) -> None:
        self.task.load_task_context(goals=texts, system=texts, plan=[{"id": step, "uses": steps[:1]} for step in steps])

    @rule(query=st.sampled_from(["tea", "cake", "clock"]), reads=st.booleans())
    def retrieve(self, query: str, reads: bool) -> None:
        taken = self.task.retrieve_from_episodic(query)
        if reads and taken:
            self.task.read(taken[0].id)

    @rule()
    def prune_twice(self) -> None:
        self.task.prune()
        before = self.task.snapshot()
        assert not self.task.prune().items
        assert _same(self.task.snapshot(), before)

    @rule()
    def there_and_back(self) -> None:
        taken, usage = self.task.snapshot(), self.task.stats()
        self.task.restore(Snapshot.from_json(taken.to_json()))
        assert _same(self.task.snapshot(), taken)
        assert self.task.stats() == usage

    @rule()
    def save_and_resume(self) -> None:
        self.task.save()
        self.task = self.memory.task(id=self.task.id)

    @rule()
    def clear(self) -> None:
        kept = self.task.clear()
        self.frames.clear()
        self.outputs.clear()
        self.values = {place: value for place, value in self.values.items() if place[0] == "metadata"}
        assert set(kept.accumulators) == set(self.gathered)

    @rule(budget=st.integers(1, 1_500))
    def render(self, budget: int) -> None:
        try:
            rendered = self.task.render(budget)
        except InvalidInput:
            assert budget < 120
            return
        assert rendered.tokens <= budget
        assert rendered.text.count("</working-memory>") == 1

    @invariant()
    def no_section_is_over_budget(self) -> None:
        usage = self.task.stats()
        assert usage.tokens <= TOTAL
        assert all(each.tokens <= each.budget for each in usage.sections)
        assert all(each.hot + each.warm + each.cold <= each.tokens for each in usage.sections)

    @invariant()
    def variables_are_what_was_set_while_they_live(self) -> None:
        for (scope, key), value in self.values.items():
            assert self.task.get(key, scope) == value
        for key, values in self.gathered.items():
            assert self.task.get(key) == values
        for key in ("a", "b", "c", "d", "e"):
            inner = next((frame[key] for frame in reversed(self.frames) if key in frame), None)
            assert self.task.get(key, "execution") == inner

    def teardown(self) -> None:
        for subtask, output in self.outputs.items():
            assert self.task.result(subtask) == output
        for reference in self.task.references():
            self.task.resolve(reference)


def test_whatever_is_done_a_task_keeps_its_promises(memory: Memory) -> None:
    machine = type("Bound", (Working,), {"memory": memory})
    run_state_machine_as_test(machine, settings=examples(40, stateful_step_count=25))


@given(outputs=st.lists(OUTPUTS, min_size=1, max_size=14), budget=st.integers(1, 3_000))
def test_a_render_never_exceeds_its_budget_and_nothing_is_lost(memory: Memory, outputs: list[Any], budget: int) -> None:
    task = memory.task("Have tea")
    for number, output in enumerate(outputs):
        task.add_intermediate(f"s{number}", output)
    assert [task.result(f"s{number}") for number in range(len(outputs))] == outputs
    try:
        assert task.render(budget).tokens <= budget
    except InvalidInput as exc:
        least = int(str(exc).rsplit(" ", 1)[1])
        assert task.render(least + 20).tokens <= least + 20


def _same(one: Snapshot, other: Snapshot) -> bool:
    return one.replace(at=other.at) == other
