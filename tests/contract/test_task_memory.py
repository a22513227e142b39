"""What a task promises, on both engines."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.sample_patterns import keep
from treering.core.errors import Conflict, InvalidInput, NotFound, SecretRefused, StoreUnavailable
from treering.core.messages import Role
from treering.core.settings import Settings
from treering.core.turns import Turn
from treering.memory import Memory
from treering.task.api import Task
from treering.task.definition import Constraint, PlannedSubtask
from treering.task.pruning import PruneStep, StepName
from treering.task.snapshots import Snapshot
from treering.task.state import SubtaskStatus

LONG = "the parser reads one token after another and keeps what it saw. " * 20
OUTPUTS = [LONG, {"rows": list(range(300))}, b"\xff\x00" * 700, "nul \0 and \ud800 " * 100, ("text " * 300).encode()]
PASSWORD = "Xk9mQ2vR7zLp4T"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def small(total: int = 2_000, **working: Any) -> Settings:
    return Settings.make(task={"total": total, **working})


def same(one: Snapshot, other: Snapshot) -> bool:
    return one.replace(at=other.at) == other


@pytest.fixture
def tight(open_memory: OpenMemory) -> Memory:
    """A memory whose tasks have little room."""
    return open_memory(settings=small())


def within_budget(task: Task) -> bool:
    usage = task.stats()
    return usage.tokens <= usage.budget and all(each.tokens <= each.budget for each in usage.sections)


def test_a_task_shows_what_it_is_about_in_order_of_temperature(memory: Memory) -> None:
    task = memory.task("Add JWT authentication")
    task.load_task_context(
        goals=["users log in"],
        constraints=["no new dependency", {"text": "never log a token", "critical": True}, Constraint(text="be quick")],
        success_criteria=["all tests pass"],
        plan=["choose a library", PlannedSubtask(id="code", description="write the encoder", uses=("s1",))],
        system="You have a shell.",
    )
    task.start("s1")
    task.add_intermediate("s1", "PyJWT")
    task.start("code")
    task.trace("opened auth.py\nread it\nclosed it")
    task.fail("review", "nobody there")

    text = task.render().text

    hot, warm, cold = text.index("## Hot"), text.index("## Warm"), text.index("## Cold")
    for shown in ("Add JWT", "users log in", "all tests pass", "never log a token", "Now code: write the", "PyJWT"):
        assert hot < text.index(shown) < warm, shown
    for shown in ("You have a shell", "no new dependency", "Plan s1", "Failed review", "nobody there", "Done s1"):
        assert warm < text.index(shown) < cold, shown
    assert cold < text.index("opened auth.py … closed it")
    statuses = {subtask.id: subtask.status for subtask in task.subtasks}
    assert statuses == {
        "s1": SubtaskStatus.COMPLETED,
        "code": SubtaskStatus.IN_PROGRESS,
        "review": SubtaskStatus.FAILED,
    }


def test_pruning_goes_in_order_and_each_step_can_be_seen(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=small(20_000))
    memory.remember("The parser was written in 2019")
    heard: list[PruneStep] = []
    task = memory.task("Read everything", on_event=heard.append)
    for number in range(8):
        task.add_intermediate(f"s{number}", f"output {number} {LONG}")
    task.load_task_context(plan=[PlannedSubtask(id="last", uses=("s1",))])
    task.trace(LONG + "\n" + LONG)
    task.retrieve_from_episodic("parser")
    assert heard == []

    report = task.prune()

    assert [step.name for step in report.steps] == [
        StepName.MOVE_RESULTS,
        StepName.SUMMARISE_TRACES,
        StepName.DROP_UNREAD,
    ]
    assert [len(step.items) for step in report.steps] == [2, 1, 1]
    assert heard == list(report.steps) == list(task.pruned)
    assert all(step.tokens_after <= step.tokens_before for step in report.steps)
    assert [reference.subtask for reference in task.references()] == ["s0", "s2", None]
    assert "output 1" in task.render().text, "s1 is used by a subtask to come"
    assert not task.prune().items
    task.complete("last")
    assert task.prune().items == ("result-5",), "nobody to come uses s1 any more"


def test_what_no_step_before_could_help_is_summarised_with_a_warning(tight: Memory) -> None:
    task = tight.task("Read everything")
    task.load_task_context(plan=[*({"id": f"s{n}"} for n in range(4)), {"id": "last", "uses": ["s0", "s1", "s2"]}])
    for number in range(4):
        task.add_intermediate(f"s{number}", f"{number} {LONG}")

    (*_, last) = task.pruned

    assert last.name is StepName.SUMMARISE_ALL
    assert "results" in last.warning
    assert "task.total" in last.warning
    assert within_budget(task)
    assert [task.result(f"s{number}") for number in range(4)] == [f"{number} {LONG}" for number in range(4)]


@pytest.mark.parametrize("output", OUTPUTS, ids=["text", "json", "bytes", "nul", "text as bytes"])
def test_a_moved_result_comes_back_byte_for_byte(tight: Memory, open_memory: OpenMemory, output: object) -> None:
    task = tight.task("Read everything")
    task.add_intermediate("first", output)
    for number in range(12):
        task.add_intermediate(f"s{number}", f"{number} {LONG}")
    (reference,) = [each for each in task.references() if each.subtask == "first"]

    assert task.resolve(reference) == task.resolve(reference.id) == task.resolve(reference.entry) == output
    assert task.result("first") == output
    assert reference.size == len(output) if isinstance(output, bytes) else True
    task.save()
    assert open_memory(settings=small()).task(id=task.id).resolve(reference) == output


def test_a_moved_result_is_a_turn_that_recall_finds(tight: Memory) -> None:
    task = tight.task("Read everything")
    task.add_intermediate("s", "The zebra crossing is closed")
    for number in range(6):
        task.add_intermediate(f"s{number}", str(number))
    task.prune()

    hit, *_ = tight.search("zebra")

    assert isinstance(hit.record, Turn)
    assert (hit.record.session, hit.record.role) == (task.id, Role.TOOL)
    assert hit.record.metadata["working"]["kind"] == "result"


def test_a_task_does_not_retrieve_what_it_moved_out_itself(tight: Memory) -> None:
    tight.remember("Zebras live in Africa")
    task = tight.task("Zebras")
    task.add_intermediate("s", "The zebra crossing is closed")
    for number in range(6):
        task.add_intermediate(f"s{number}", str(number))
    task.prune()

    assert [each.text for each in task.retrieve_from_episodic("zebra")] == ["Zebras live in Africa"]
    assert task.retrieve_from_episodic("zebra") == (), "nothing comes twice"


def test_retrieved_passages_stay_within_their_budget_and_say_where_they_were_cut(tight: Memory) -> None:
    for number in range(4):
        tight.remember(f"parser note {number}: {LONG}")
    task = tight.task("Parsers")

    taken = task.retrieve_from_episodic("parser note")

    assert taken[-1].text.endswith("[cut]")
    assert within_budget(task)
    assert task.read(taken[0].id) == taken[0]
    task.prune()
    assert [each for each in taken if each.id in _held(task)] == [taken[0]], "what was read stays"


def test_unread_passages_make_room_for_those_of_the_next_query(tight: Memory) -> None:
    for number in range(3):
        tight.remember(f"parser note {number}: {LONG}")
    bird = tight.remember("The heron is grey")
    task = tight.task("Parsers and herons")
    task.retrieve_from_episodic("parser note")

    assert [each.id for each in task.retrieve_from_episodic("heron grey", limit=1)] == [bird.id]
    assert task.pruned[-1].name is StepName.DROP_UNREAD


def test_nothing_changes_when_the_store_fails(tight: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    task = tight.task("Read everything")
    for number in range(2):
        task.add_intermediate(f"s{number}", LONG)
    task.set("kept", 1)
    before = task.snapshot()

    def gone(*_: object, **__: object) -> AbstractContextManager[Any]:
        raise StoreUnavailable("the disk is away; plug it in")

    with monkeypatch.context() as patched:
        patched.setattr(type(tight.store), "transaction", gone)
        for verb in (
            lambda: task.add_intermediate("s2", LONG * 2),
            lambda: task.trace(LONG * 3),
            lambda: task.load_task_context(system=LONG * 3),
        ):
            with pytest.raises(StoreUnavailable):
                verb()
            assert same(task.snapshot(), before)
            assert task.pruned == ()
    task.add_intermediate("s2", LONG * 2)
    assert task.result("s2") == LONG * 2


def test_variables_live_as_long_as_their_scope(memory: Memory) -> None:
    task = memory.task("Count")
    task.set("who", "task")
    task.set("who", "global", scope="global")
    task.set("spent", 3, scope="metadata")
    task.accumulate("files", "a.py")
    task.accumulate("files", ["b.py"])
    task.accumulate("calls", 2)
    task.accumulate("calls", 3)
    task.push_state("outer")
    task.set("who", "outer", scope="execution")
    task.push_state("inner", "s1", attempt=2)
    task.set("who", "inner", scope="execution")

    assert (task.get("who"), task.get("who", "task"), task.get("who", "global")) == ("inner", "task", "global")
    assert task.pop_state().data == {"attempt": 2}
    assert task.get("who") == "outer"
    task.pop_state()
    assert task.get("who") == "task"
    task.push_state("another")
    assert task.get("who", "execution", default="dead") == "dead", "a new state inherits nothing"
    task.pop_state()
    with pytest.raises(InvalidInput, match="push_state"):
        task.pop_state()

    kept = task.clear()

    assert kept.accumulators == {"files": ("a.py", "b.py"), "calls": 5}
    assert {**kept.metadata, "started_at": ""} == {"spent": 3, "started_at": ""}
    assert (task.get("files"), task.get("calls"), task.get("spent")) == (["a.py", "b.py"], 5, 3)
    assert task.get("who") is None
    assert "Count" not in task.render().text


def test_intermediate_variables_leave_with_their_result_and_come_back_with_it(tight: Memory) -> None:
    task = tight.task("Choose")
    task.start("s")
    task.set("library", {"name": "PyJWT"}, scope="intermediate")
    task.add_intermediate("s", "PyJWT it is")
    for number in range(6):
        task.add_intermediate(f"s{number}", str(number))
    assert task.get("library") == {"name": "PyJWT"}
    task.prune()
    assert task.get("library") is None

    id = task.bring_back(task.references()[0])

    assert task.get("library", "intermediate") == {"name": "PyJWT"}
    assert task.resolve(id) == "PyJWT it is"


@pytest.mark.parametrize(
    ("verb", "advice"),
    [
        (lambda task: task.set("x", object()), "not JSON"),
        (lambda task: task.set("x", 1, scope="local"), "use one of"),
        (lambda task: task.get("x", "local"), "use one of"),
        (lambda task: task.set("x", 1, scope="execution"), "push_state"),
        (lambda task: task.set("x", 1, scope="intermediate"), "start"),
        (lambda task: task.set(" ", 1), "printable"),
        (lambda task: task.load_task_context(plan=[PlannedSubtask(id="a", uses=("b",))]), "not one of its subtasks"),
        (lambda task: task.load_task_context(plan=[{"id": "a"}, {"id": "a"}]), "same id"),
        (lambda task: task.load_task_context(goals=[1]), "sentence"),
        (lambda task: task.render(3), "at least"),
        (lambda task: task.resolve("nothing"), "references"),
        (lambda task: task.result("nothing"), "add_intermediate"),
        (lambda task: task.read("nothing"), "retrieve_from_episodic"),
        (lambda task: task.restore("nothing"), "save"),
        (lambda task: task.save("\n"), "printable"),
        (lambda task: task.retrieve_from_episodic("x", limit=0), "pass 1 or more"),
    ],
)
def test_what_cannot_be_done_says_what_to_do(memory: Memory, verb: Callable[[Task], object], advice: str) -> None:
    task = memory.task("Fail")
    before = task.snapshot()
    with pytest.raises((InvalidInput, NotFound), match=advice):
        verb(task)
    assert same(task.snapshot(), before)


def test_a_saved_task_goes_on_in_another_memory(open_memory: OpenMemory) -> None:
    task = open_memory(settings=small()).task("Long work", id="work")
    task.push_state("analysis")
    task.set("loop", 3, scope="execution")
    for number in range(9):
        task.add_intermediate(f"s{number}", f"{number} {LONG}")
    saved = task.save()
    task.set("after", True)

    again = open_memory(settings=small()).task(id="work")

    assert same(again.snapshot(), saved)
    assert (again.get("loop"), again.get("after")) == (3, None)
    assert again.result("s0") == f"0 {LONG}"
    assert again.stats() == open_memory(settings=small()).task(id="work").stats()


def test_saves_have_names_and_only_the_newest_are_kept(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.task.api.MAX_SAVES", 2)
    memory = open_memory(settings=small())
    task = memory.task("Try", id="try")
    for name in ("one", "two", "three"):
        task.set("at", name)
        task.save(name)
    task.restore("two")
    assert task.get("at") == "two"
    with pytest.raises(NotFound, match="two, three"):
        task.restore("one")


def test_an_unsaved_task_cannot_be_resumed(memory: Memory) -> None:
    with pytest.raises(NotFound, match="start it with a description"):
        memory.task(id="unknown")
    with pytest.raises(InvalidInput, match="description"):
        memory.task()
    memory.task("Work", id="work").save()
    with pytest.raises(Conflict, match="resume"):
        memory.task("Other work", id="work")


def test_secrets_are_redacted_in_every_field(tight: Memory) -> None:
    task = tight.task("Deploy", id="deploy")
    task.set("password", PASSWORD)
    task.set("note", f"the token is {SECRET}")
    for number, output in enumerate((f"token {SECRET}", f"\0 {SECRET}", b"\xff " + SECRET.encode(), {"k": [SECRET]})):
        task.add_intermediate(f"s{number}", output)
    assert task.get("note") == f"the token is {SECRET}", "memory itself keeps what it was given"
    task.save()
    for number in range(8):
        task.add_intermediate(f"t{number}", LONG)

    resumed = tight.task(id="deploy")

    moved = {each.subtask: task.resolve(each) for each in task.references()}
    written = [moved[f"s{number}"] for number in range(4)]
    written += [resumed.get("note"), resumed.get("password"), *(resumed.result(f"s{n}") for n in range(4))]
    assert all(SECRET not in str(value) and PASSWORD not in str(value) for value in written)
    assert written[0].startswith("token [redacted")
    assert written[1].startswith("\0 ")
    assert written[2].startswith(b"\xff ")


def test_a_memory_that_refuses_secrets_refuses_them_from_a_task_too(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=Settings.make(secrets={"on_secret": "refuse"}))
    for output in (SECRET, f"\0 {SECRET}"):
        task = memory.task("Deploy")
        task.add_intermediate("s", output)
        with pytest.raises(SecretRefused):
            task.save()


def test_tasks_in_many_threads_do_not_disturb_each_other(memory: Memory) -> None:
    def work(number: int) -> None:
        task = memory.task(f"task {number}", id=f"task-{number}")
        for step in range(8):
            task.set("step", step)
            task.add_intermediate(f"s{step}", f"{number}/{step}")
        task.prune()
        task.save()
        assert [task.result(f"s{step}") for step in range(8)] == [f"{number}/{step}" for step in range(8)]

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert [memory.task(id=f"task-{number}").get("step") for number in range(6)] == [7] * 6


def test_one_task_takes_many_threads_at_once(memory: Memory) -> None:
    task = memory.task("Together")

    def gather(name: int) -> None:
        for number in range(100):
            task.accumulate("total", 1)
            task.accumulate("seen", f"{name}-{number}")
            task.set(f"v{name}", number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(gather, range(4)))
    assert task.get("total") == 400
    assert len(set(task.get("seen"))) == 400


def _held(task: Task) -> set[str | None]:
    return {entry.reference for entry in task.snapshot().entries if entry.kind == "retrieved"}


def test_a_finished_task_is_an_episode_and_leaves_an_empty_task(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=small())
    task = memory.task("Add JWT authentication", goals=["users log in"], plan=["choose a library", "write the encoder"])
    task.load_task_context(
        constraints=[Constraint(text="never log a token", critical=True)], success_criteria=["green"]
    )
    task.set("branch", "jwt")
    task.accumulate("files", "auth.py")
    task.start("s1")
    task.trace("read the release notes")
    task.add_intermediate("s1", "PyJWT")
    for number in range(12):
        task.add_intermediate(f"log{number}", f"log {number}: {LONG}")
    task.fail("s2", "ImportError: no module named jwt")
    task.complete("s3")
    task.save()
    assert task.references(), "some outputs were moved out"

    episode = task.finish("FAILURE", insights=["install it first"], tools=["pytest"])

    stored = memory.episodes.get(episode.id)
    assert (stored.task.input, stored.task.goals) == ("Add JWT authentication", ("users log in",))
    assert stored.task.constraints == ("never log a token",)
    assert stored.task.context == {"branch": "jwt", "files": ("auth.py",), "success_criteria": ("green",)}
    assert stored.execution.plan == ("s1: choose a library", "s2: write the encoder")
    steps = [(step.action, step.output, step.is_error) for step in stored.execution.trace]
    assert steps[:2] == [("read the release notes", "", False), ("s1", "PyJWT", False)]
    assert steps[2:14] == [(f"log{number}", f"log {number}: {LONG}", False) for number in range(12)]
    assert steps[14:] == [("s2", "ImportError: no module named jwt", True), ("s3", "", False)]
    assert (stored.outcome.status, stored.outcome.output) == ("FAILURE", "ImportError: no module named jwt")
    assert (tuple(map(str, stored.reflection.insights)), stored.metadata.tools) == (("install it first",), ("pytest",))
    assert stored.session == task.id
    assert (task.description, task.subtasks, task.get("branch")) == ("", (), None)
    assert task.get("files") == ["auth.py"]
    assert memory.task(id=task.id).description == ""
    with pytest.raises(InvalidInput, match="no description"):
        task.finish()


def test_a_task_may_be_used_again_after_it_was_finished(memory: Memory) -> None:
    task = memory.task("Write the parser")
    task.add_intermediate("s1", "written")
    first = task.finish()
    task.load_task_context(description="Write the lexer")
    task.add_intermediate("s1", "written too")
    second = task.finish("success", output="all of it")
    assert (first.outcome.output, second.outcome.output) == ("written", "all of it")
    assert [step.output for step in second.execution.trace] == ["written too"]
    assert {each.id for each in memory.episodes.recent()} == {first.id, second.id}


def test_a_task_knows_when_it_started_and_what_it_spent(open_memory: OpenMemory) -> None:
    clock = [datetime(2026, 5, 8, 12, tzinfo=UTC)]
    memory = open_memory(clock=lambda: clock[0])
    task = memory.task("Add JWT", id="jwt")
    task.add_intermediate("s1", "PyJWT")
    task.fail("s2", "ImportError")
    task.record_model_call(1_500, 0.02)
    task.save()
    clock[0] += timedelta(minutes=3)
    resumed = memory.task(id="jwt")
    resumed.record_model_call(500, 0.01)
    assert resumed.get("started_at") == "2026-05-08T12:00:00+00:00"
    spent = resumed.finish("FAILURE").execution
    assert spent.duration_ms == 180_000
    assert dict(spent.resources) == {
        "subtasks_completed": 1,
        "subtasks_failed": 1,
        "llm_calls": 2,
        "tokens_consumed": 2_000,
        "cost": 0.03,
    }
    clock[0] += timedelta(minutes=1)
    resumed.load_task_context(description="Something else")
    assert resumed.get("started_at") == "2026-05-08T12:04:00+00:00"


def test_what_the_caller_says_of_time_and_resources_counts(memory: Memory) -> None:
    task = memory.task("Add JWT")
    spent = task.finish(duration_ms=5.0, resources={"cost": 1}).execution
    assert (spent.duration_ms, dict(spent.resources)) == (5.0, {"cost": 1})


def test_a_call_that_gives_tokens_back_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="must not be negative"):
        memory.task("Add JWT").record_model_call(-1)


def test_a_task_that_cannot_be_stored_stays_as_it_was_and_is_stored_once(memory: Memory) -> None:
    task = memory.task("Write the parser")
    task.add_intermediate("s1", "written")
    with pytest.raises(InvalidInput):
        task.finish("almost")
    before = task.snapshot()
    episode = task.finish()
    task.restore(before)
    assert task.finish().id == episode.id
    assert len(memory.episodes.recent()) == 1


def test_a_finished_task_is_evidence_for_the_pattern_that_it_names(memory: Memory) -> None:
    pattern = keep(memory, "Write the test first")
    memory.task("Write the parser").finish("SUCCESS", patterns=[pattern.id])
    assert [each.outcome for each in memory.patterns.applications(pattern.id)] == ["SUCCESS"]
