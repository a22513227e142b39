"""Several processes on one code graph: one writes, others read; killed ones leave what is right."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import treering
from tests.code_projects import code_of, fresh, stored, written
from tests.lengths import at_length

MANY = {
    f"pkg/file_{number}.py": f"from pkg.file_{(number * 7) % 400} import f{(number * 7) % 400}\n\n\n"
    f"def f{number}():\n    return f{(number * 7) % 400}()\n"
    for number in range(400)
} | {"pkg/__init__.py": ""}

INDEX = """
import sys, treering
from tests.code_projects import code_of
with treering.open(sys.argv[1], project="p", background=False) as memory:
    code = code_of(memory, batch=int(sys.argv[3]), lease_seconds=0.5)
    print("ready", flush=True)
    while True:
        try:
            done = code.index(sys.argv[2])
            break
        except treering.TreeringError as exc:
            if "index" not in str(exc):
                raise
    print(done.totals.files, flush=True)
"""


def indexing(place: Path, root: Path, batch: int = 50) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", INDEX, str(place), str(root), str(batch)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_many_files_are_read_and_resolved_in_several_processes(tmp_path: Path) -> None:
    root = written(tmp_path / "project", MANY)
    with treering.open(tmp_path / "memory.db", project="p") as memory:
        done = code_of(memory, many_files=2, batch=60).index(root)
        assert (done.read, done.resolved, done.complete) == (401, 401, True)
        assert stored(memory) == fresh(MANY)
        changed = {**MANY, "pkg/file_7.py": "def g(): ...\n"}
        written(root, changed)
        assert code_of(memory).index(root).read == 1
        assert stored(memory) == fresh(changed)


def test_a_branch_switch_of_many_files_is_shared_out_as_well(tmp_path: Path) -> None:
    root = written(tmp_path / "project", MANY)
    with treering.open(tmp_path / "memory.db", project="p") as memory:
        code_of(memory).index(root)
        switched = {path: content.replace("def f", "def g") for path, content in MANY.items() if "file_1" in path}
        written(root, switched)
        (root / "pkg/file_3.py").unlink()
        now = {path: content for path, content in {**MANY, **switched}.items() if path != "pkg/file_3.py"}
        code_of(memory, many_files=2, batch=30).index(root)
        assert stored(memory) == fresh(now)


UNTIL = """
import sys, time, treering
from tests.code_projects import code_of
left = int(sys.argv[3])

def tell(progress):
    global left
    left -= progress.total is not None
    if left == 0:
        print("in the middle", flush=True)
        time.sleep(600)

with treering.open(sys.argv[1], project="p", background=False) as memory:
    code_of(memory, batch=20).index(sys.argv[2], on_progress=tell)
"""


def test_a_killed_process_leaves_what_is_right_and_the_next_one_goes_on(tmp_path: Path) -> None:
    """Each is killed after so many files: a part of what there is to read and to resolve, and of a batch."""
    root = written(tmp_path / "project", MANY)
    place, whole = tmp_path / "memory.db", fresh(MANY)
    treering.open(place, project="p").close()
    resolved: set[str] = set()
    for _ in range(at_length(3, full=17)):
        command = [sys.executable, "-c", UNTIL, str(place), str(root), str(at_length(250, full=45))]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        said = process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert said == "in the middle\n"
        with treering.open(place, project="p") as memory:
            with memory.store.reading(memory.scope, memory._ports.clock()) as tx:
                state = tx.code.state()
                assert state is not None
                assert not state.complete
                assert all(file.resolved or not file.edges for file in tx.code.contents())
            now = stored(memory, unresolved=True)
            assert now == {path: whole[path] for path in now}
            resolved |= now.keys()
    assert 0 < len(resolved) < len(MANY)
    assert indexing(place, root).communicate(timeout=120)[0] == "ready\n401\n"
    with treering.open(place, project="p") as memory:
        assert stored(memory) == whole


HALF_WAY = """
import sys, time, treering
from tests.code_projects import code_of
from treering.index.building.summary import Phase

def tell(progress):
    if progress.phase is Phase.RESOLVING and progress.done == 200:
        print("half-way", flush=True)
        time.sleep(600)

with treering.open(sys.argv[1], project="p", background=False) as memory:
    code_of(memory, batch=50).index(sys.argv[2], on_progress=tell)
"""


def test_after_a_kill_the_next_run_need_not_wait_for_the_lease(tmp_path: Path) -> None:
    root = written(tmp_path / "project", MANY)
    place = tmp_path / "memory.db"
    command = [sys.executable, "-c", HALF_WAY, str(place), str(root)]
    with treering.open(place, project="p") as memory:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "half-way\n"
            with pytest.raises(treering.TreeringError, match=rf"process {process.pid} on .* indexes this project now"):
                code_of(memory).index(root)
        finally:
            process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        # Nobody has asked how it ended, so its number is still taken.
        done = code_of(memory).index(root)
        process.communicate()
        assert (done.read, done.complete) == (0, True)
        assert stored(memory) == fresh(MANY)


def test_processes_that_index_at_once_take_turns(tmp_path: Path) -> None:
    root = written(tmp_path / "project", MANY)
    place = tmp_path / "memory.db"
    treering.open(place, project="p").close()
    processes = [indexing(place, root) for _ in range(3)]
    said = [process.communicate(timeout=120) for process in processes]
    assert [out for out, _ in said] == ["ready\n401\n"] * 3, said
    with treering.open(place, project="p") as memory:
        assert stored(memory) == fresh(MANY)


def test_whoever_reads_while_another_indexes_sees_nothing_wrong(tmp_path: Path) -> None:
    root = written(tmp_path / "project", MANY)
    place = tmp_path / "memory.db"
    treering.open(place, project="p").close()
    whole = {(edge[0], edge[1]) for kept in fresh(MANY).values() for edge in kept.edges}  # type: ignore[index]
    process = indexing(place, root, batch=20)
    try:
        with treering.open(place, project="p") as memory:
            reader = code_of(memory)
            seen_incomplete = False
            while process.poll() is None:
                try:
                    found = reader._current.graph()
                except treering.TreeringError:
                    continue
                assert {(edge.origin, edge.target) for edge in found.edges()} <= whole
                seen_incomplete |= not found.module_map().standing.whole
            assert seen_incomplete
            assert reader.module_map().standing.whole
    finally:
        process.kill()
        process.communicate()


def test_the_processes_end_with_whoever_started_them(tmp_path: Path) -> None:
    root = written(tmp_path / "project", MANY)
    script = (
        "import os, sys, time\nfrom pathlib import Path\nfrom treering.core.settings import IndexSettings\n"
        "from treering.index.building.crew import Crew\n"
        "with Crew(Path(sys.argv[1]), IndexSettings()) as crew:\n"
        "    print(*(member._process.pid for member in crew._members), flush=True)\n    time.sleep(60)\n"
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
