"""Tasks and processes: many at once, and killed at any moment."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import treering
from tests.conftest import OpenMemory
from tests.integration.crew import Crew
from tests.integration.fork_server import tell
from tests.lengths import at_length
from treering.core.errors import NotFound
from treering.core.settings import Settings
from treering.memory import Memory

SMALL = Settings.make(task={"total": 1_000})
KILLS = at_length(3, full=6)
THREADS, TASKS, STEPS = 8, 24, 20


def output_of(number: int) -> str:
    return f"output {number}: " + f"what subtask {number} gave, at some length. " * 12


def open_place(place: str, tenant: str, blobs: str) -> Memory:
    return treering.open(place, project="p", tenant=tenant, blobs=blobs, settings=SMALL)


def test_a_task_saved_by_a_killed_process_goes_on_in_another(place: dict[str, Any], crew: Crew) -> None:
    """Also when it is killed while it prunes: an output is in the save or in the store, and comes back as it was."""
    moments = random.Random(7)
    for _ in range(KILLS):
        news = len(crew.news)
        pid = crew.start(work_on, **place)
        crew.hear_of(news, saved=2)
        time.sleep(moments.uniform(0.0, 0.15))
        crew.kill(pid)
        with open_place(**place) as memory:
            task = memory.task(id="work")
            last = task.get("last")
            assert last >= max(crew.told("saved"))
            assert [task.result(f"s{number}") for number in range(last + 1)] == [output_of(n) for n in range(last + 1)]
            for reference in task.references():
                assert task.resolve(reference) == output_of(int(str(reference.subtask).removeprefix("s")))
    assert max(crew.told("saved")) > KILLS


def test_two_processes_that_save_at_once_leave_one_whole_save(place: dict[str, Any], crew: Crew) -> None:
    with open_place(**place) as memory:
        memory.task("Shared", id="shared").save()
    for pid in [crew.start(save, name=name, **place) for name in ("one", "two")]:
        crew.join(pid)
    with open_place(**place) as memory:
        task = memory.task(id="shared")
        assert task.get("name") in ("one", "two")
        assert task.get("list") == [task.get("name")] * 50
        for name in ("one", "two"):
            task.restore(name)
            assert task.get("list") == [name] * 50


def test_many_tasks_in_many_threads_keep_their_own(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=SMALL)

    def work(number: int) -> None:
        task = memory.task(f"task {number}", id=f"task-{number}")
        task.push_state("work")
        for step in range(STEPS):
            task.set("step", step, scope="execution")
            task.accumulate("sum", number)
            task.add_intermediate(f"s{step}", f"{number} {output_of(step)}")
        task.save()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(TASKS)))

    for number in range(TASKS):
        task = memory.task(id=f"task-{number}")
        assert (task.get("step"), task.get("sum")) == (STEPS - 1, number * STEPS)
        assert task.result("s0") == f"{number} {output_of(0)}"
        assert task.result(f"s{STEPS - 1}") == f"{number} {output_of(STEPS - 1)}"


def work_on(**place: Any) -> None:
    """Go on where the last process was killed; tell each output once it is saved."""
    memory = open_place(**place)
    try:
        task = memory.task(id="work")
    except NotFound:
        task = memory.task("Work until killed", id="work")
    for number in range(task.get("last", default=-1) + 1, 10_000):
        task.add_intermediate(f"s{number}", output_of(number))
        task.set("last", number)
        task.save()
        tell(saved=number)


def save(name: str, **place: Any) -> None:
    """Save under two names, one of them the other process's too."""
    with open_place(**place) as memory:
        task = memory.task(id="shared")
        task.set("name", name)
        task.set("list", [name] * 50)
        for _ in range(20):
            task.save()
            task.save(name)
