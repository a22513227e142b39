"""Tasks and processes: many at once, and killed at any moment. Run as a program, it is one of those processes."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

import treering
from tests.conftest import OpenMemory
from treering.core.errors import NotFound
from treering.core.settings import Settings
from treering.memory import Memory

ROOT = Path(__file__).parents[2]
SMALL = Settings.make(working={"total": 1_000})
KILLS = 6
THREADS, TASKS, STEPS = 8, 24, 20


def output_of(number: int) -> str:
    return f"output {number}: " + f"what subtask {number} gave, at some length. " * 12


def open_place(place: str, tenant: str, blobs: str) -> Memory:
    return treering.open(place, project="p", tenant=tenant, blobs=blobs, settings=SMALL)


class Member:
    """A process of this file; `told` is what it printed so far, line by line."""

    def __init__(self, work: str, *place: str) -> None:
        command = [sys.executable, __file__, work, *place]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self._process.stdout is not None
        self._lines: Iterator[str] = iter(self._process.stdout)

    def hear(self) -> int:
        """The next number it tells."""
        return int(next(self._lines))

    def kill(self) -> list[int]:
        """SIGKILL; what it had told by then."""
        self._process.send_signal(signal.SIGKILL)
        told = [int(line) for line in self._lines if line.endswith("\n")]
        self._process.wait(60)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return told

    def join(self) -> None:
        list(self._lines)
        assert self._process.wait(120) == 0
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture
def place(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, str, str]:
    """What a process needs to open the same memory."""
    where = str(tmp_path / "memory.db") if engine == "sqlite" else request.getfixturevalue("postgres_url")
    return where, f"t-{uuid4().hex[:12]}", str(tmp_path / "blobs")


def test_a_task_saved_by_a_killed_process_goes_on_in_another(place: tuple[str, str, str]) -> None:
    """Also when it is killed while it prunes: an output is in the save or in the store, and comes back as it was."""
    moments, acknowledged = random.Random(7), -1
    for _ in range(KILLS):
        member = Member("work", *place)
        acknowledged = max(acknowledged, member.hear())
        time.sleep(moments.uniform(0.0, 0.15))
        acknowledged = max([acknowledged, *member.kill()])
        with open_place(*place) as memory:
            task = memory.task(id="work")
            last = task.get("last")
            assert last >= acknowledged
            assert [task.result(f"s{number}") for number in range(last + 1)] == [output_of(n) for n in range(last + 1)]
            for reference in task.references():
                assert task.resolve(reference) == output_of(int(str(reference.subtask).removeprefix("s")))
    assert acknowledged > KILLS


def test_two_processes_that_save_at_once_leave_one_whole_save(place: tuple[str, str, str]) -> None:
    with open_place(*place) as memory:
        memory.task("Shared", id="shared").save()
    members = [Member("save", *place, name) for name in ("one", "two")]
    for member in members:
        member.join()
    with open_place(*place) as memory:
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


def _work(*place: str) -> None:
    """Go on where the last process was killed; tell each output once it is saved."""
    memory = open_place(*place)
    try:
        task = memory.task(id="work")
    except NotFound:
        task = memory.task("Work until killed", id="work")
    for number in range(task.get("last", default=-1) + 1, 10_000):
        task.add_intermediate(f"s{number}", output_of(number))
        task.set("last", number)
        task.save()
        print(number, flush=True)


def _save(*place_and_name: str) -> None:
    """Save under two names, one of them the other process's too."""
    *place, name = place_and_name
    with open_place(*place) as memory:
        task = memory.task(id="shared")
        task.set("name", name)
        task.set("list", [name] * 50)
        for _ in range(20):
            task.save()
            task.save(name)


if __name__ == "__main__":
    {"work": _work, "save": _save}[sys.argv[1]](*sys.argv[2:])
