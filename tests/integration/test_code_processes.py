"""Several processes on one code graph: one writes, others read; killed ones leave what is right."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import treering
from tests.code_projects import code_of, fresh, stored, written
from tests.integration.crew import Crew
from tests.integration.fork_server import tell
from tests.lengths import at_length
from treering.code.index.report import IndexPhase, IndexProgress

FILES = at_length(150, full=400)
MANY = {
    f"pkg/file_{number}.py": f"from pkg.file_{(number * 7) % FILES} import f{(number * 7) % FILES}\n\n\n"
    f"def f{number}():\n    return f{(number * 7) % FILES}()\n"
    for number in range(FILES)
} | {"pkg/__init__.py": ""}
KILLS = at_length(3, full=17)
STEPS_BEFORE_A_KILL = at_length(90, full=45)


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    """The graph of all files, read in this process."""
    return fresh(MANY)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "project", MANY)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An empty memory."""
    path = tmp_path / "memory.db"
    treering.open(path, project="p").close()
    return path


def index(place: str, root: str) -> None:
    """Wait for others that index, then do so."""
    with treering.open(place, project="p", background=False) as memory:
        code = code_of(memory, batch=50)
        while True:
            try:
                done = code.index(root)
                break
            except treering.TreeringError as exc:
                if "index" not in str(exc):
                    raise
                time.sleep(0.05)
        tell(files=done.totals.files)


def index_until(place: str, root: str, steps: int) -> None:
    """Index, and stop for good after so many steps."""
    left = steps

    def report(progress: IndexProgress) -> None:
        nonlocal left
        left -= progress.total is not None
        if left == 0:
            tell(stopped=True)
            time.sleep(600)

    with treering.open(place, project="p", background=False) as memory:
        code_of(memory, batch=20).index(root, on_progress=report)


def index_half(place: str, root: str, go_on: str) -> None:
    """Index, and stop when half of the files are resolved until the file `go_on` is there."""

    def report(progress: IndexProgress) -> None:
        if progress.phase is IndexPhase.RESOLVING and progress.done == FILES // 2:
            tell(half=True)
            while not Path(go_on).exists():
                time.sleep(0.05)

    with treering.open(place, project="p", background=False) as memory:
        code_of(memory, batch=20).index(root, on_progress=report)


def test_many_files_are_read_and_resolved_in_several_processes(place: Path, root: Path, whole: dict[str, Any]) -> None:
    with treering.open(place, project="p") as memory:
        done = code_of(memory, many_files=2, batch=60).index(root)
        assert (done.read, done.resolved, done.complete) == (FILES + 1, FILES + 1, True)
        assert stored(memory) == whole
        changed = {**MANY, "pkg/file_7.py": "def g(): ...\n"}
        written(root, changed)
        assert code_of(memory).index(root).read == 1
        assert stored(memory) == fresh(changed)


def test_a_branch_switch_of_many_files_is_shared_out_as_well(place: Path, root: Path) -> None:
    with treering.open(place, project="p") as memory:
        code_of(memory).index(root)
        switched = {path: content.replace("def f", "def g") for path, content in MANY.items() if "file_1" in path}
        written(root, switched)
        (root / "pkg/file_3.py").unlink()
        now = {path: content for path, content in {**MANY, **switched}.items() if path != "pkg/file_3.py"}
        code_of(memory, many_files=2, batch=30).index(root)
        assert stored(memory) == fresh(now)


def has_stopped(crew: Crew, times: int) -> bool:
    return len(crew.told("stopped")) > times


def test_a_killed_process_leaves_a_consistent_index_and_the_next_continues(
    place: Path, root: Path, whole: dict[str, Any], crew: Crew
) -> None:
    """Each is killed after so many files: a part of what there is to read and to resolve, and of a batch."""
    resolved: set[str] = set()
    for kill in range(10 * KILLS):
        if kill >= KILLS and resolved:
            break
        pid = crew.start(index_until, place=str(place), root=str(root), steps=STEPS_BEFORE_A_KILL)
        crew.wait_until(partial(has_stopped, crew, kill))
        crew.kill(pid)
        with treering.open(place, project="p") as memory:
            with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
                state = tx.code.state()
                assert state is not None
                assert not state.complete
                assert all(file.resolved or not file.edges for file in tx.code.contents())
            now = stored(memory, unresolved=True)
            assert now == {path: whole[path] for path in now}
            resolved |= now.keys()
    assert 0 < len(resolved) < len(MANY)
    crew.join(crew.start(index, place=str(place), root=str(root)))
    assert crew.told("files") == [FILES + 1]
    with treering.open(place, project="p") as memory:
        assert stored(memory) == whole


def test_after_a_kill_the_next_run_need_not_wait_for_the_lease(
    place: Path, root: Path, whole: dict[str, Any], crew: Crew, tmp_path: Path
) -> None:
    with treering.open(place, project="p") as memory:
        pid = crew.start(index_half, place=str(place), root=str(root), go_on=str(tmp_path / "never"))
        crew.wait_until(lambda: bool(crew.told("half")))
        with pytest.raises(treering.TreeringError, match=rf"process {pid} on .* is indexing this project"):
            code_of(memory).index(root)
        os.kill(pid, signal.SIGKILL)
        crew.await_end(pid)
        done = code_of(memory).index(root)
        assert (done.read, done.complete) == (0, True)
        assert stored(memory) == whole


def test_processes_that_index_at_once_take_turns(place: Path, root: Path, whole: dict[str, Any], crew: Crew) -> None:
    for pid in [crew.start(index, place=str(place), root=str(root)) for _ in range(3)]:
        crew.join(pid)
    assert crew.told("files") == [FILES + 1] * 3
    with treering.open(place, project="p") as memory:
        assert stored(memory) == whole


def test_a_reader_sees_nothing_wrong_while_another_process_indexes(
    place: Path, root: Path, whole: dict[str, Any], crew: Crew, tmp_path: Path
) -> None:
    edges = {(edge[0], edge[1]) for kept in whole.values() for edge in kept.edges}
    go_on = tmp_path / "go on"
    pid = crew.start(index_half, place=str(place), root=str(root), go_on=str(go_on))
    with treering.open(place, project="p") as memory:
        reader = code_of(memory)
        seen_incomplete = False
        while not crew.told("ended"):
            assert not crew.told("failed")
            half = bool(crew.told("half"))
            try:
                found = reader._current.graph()
            except treering.TreeringError:
                assert not half
                continue
            assert {(edge.origin, edge.target) for edge in found.edges()} <= edges
            seen_incomplete |= not found.module_map().status.up_to_date
            if half:
                go_on.touch()
        assert seen_incomplete
        assert reader.module_map().status.up_to_date
    crew.join(pid)


def test_worker_processes_end_with_their_parent(root: Path) -> None:
    script = (
        "import os, sys, time\nfrom pathlib import Path\nfrom treering.core.settings import CodeSettings\n"
        "from treering.code.index.worker_pool import WorkerPool\n"
        "with WorkerPool(Path(sys.argv[1]), CodeSettings()) as crew:\n"
        "    print(*(worker._process.pid for worker in crew._workers), flush=True)\n    time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(root)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    children = [int(each) for each in process.stdout.readline().split()]
    assert len(children) == 2
    process.kill()
    process.communicate()
    for _ in range(200):
        if not any(_is_running(child) for child in children):
            return
        time.sleep(0.05)
    raise AssertionError(f"{children} are still there")


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # Somebody else's child that ended is a zombie until it is waited for.
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if Path(f"/proc/{pid}/stat").exists() else True
