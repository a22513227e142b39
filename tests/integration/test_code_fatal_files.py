"""A file that ends the process that reads or resolves it: told of, remembered, and never let near this process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import treering
from tests.code_projects import code_of, fresh, stored, written
from tests.forked_process import ForkedProcess
from tests.integration import deadly_readers
from tests.integration.crew import Crew
from treering.code.facts import Facts
from treering.code.files.discovery import discover
from treering.code.files.source_file import SourceFile, read_file
from treering.code.index import executor as hands
from treering.code.index import worker_pool as crews
from treering.code.index.resolution import Resolution, resolve_file
from treering.code.index.stored_symbols import StoredSymbols
from treering.code.index.worker_pool import ENDED_ITS_READER, ENDED_ITS_RESOLVER
from treering.code.index.worker_pool import WorkerPool as Readers
from treering.code.index.worker_process import LoadedFile
from treering.core.settings import CodeSettings
from treering.memory import Memory

PROJECT = {f"f{number}.py": f"from f{number + 1} import g\n\n\ndef g():\n    g()\n" for number in range(24)}
ENDLESS_TO_READ = "from f1 import g\n\n\ndef reading_hangs():\n    g()\n"
ENDLESS_TO_RESOLVE = "from f1 import g\n\n\ndef resolving_hangs():\n    g()\n"
DEADLY_TO_READ = "from f1 import g\n\n\ndef reading_kills():\n    g()\n"
DEADLY_TO_RESOLVE = "from f1 import g\n\n\ndef resolving_kills():\n    g()\n"
HARMLESS = "from f1 import g\n\n\ndef harmless():\n    g()\n"
STARTED = crews._WorkerHandle.__dict__["_start_process"]
"""How the product starts a reader."""


def start_deadly_reader() -> ForkedProcess:
    return ForkedProcess((), cwd=Path.cwd(), env=os.environ, stderr=subprocess.DEVNULL, function=deadly_readers.serve)


@pytest.fixture
def no_process_starts(monkeypatch: pytest.MonkeyPatch, fragile: None) -> Callable[[], None]:
    """From then on, the Python that readers are started with ends at once."""

    def use_broken_python() -> None:
        monkeypatch.setattr(crews._WorkerHandle, "_start_process", STARTED)
        monkeypatch.setattr(crews, "_START", "raise SystemExit(1)")

    return use_broken_python


@pytest.fixture(autouse=True)
def fragile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that some files end; what would end this one is noticed."""
    monkeypatch.setattr(crews._WorkerHandle, "_start_process", staticmethod(start_deadly_reader))

    def reading(root: Path, path: str, *others: Any, **named: Any) -> SourceFile:
        assert b"reading_kills" not in Path(root, path).read_bytes(), "this would have ended the whole program"
        return read_file(root, path, *others, **named)

    def resolving(language: str, facts: Facts, world: StoredSymbols) -> Resolution:
        names = {each.qualname for each in facts.definitions}
        assert "resolving_kills" not in names, "this would have ended the whole program"
        return resolve_file(language, facts, world)

    monkeypatch.setattr("treering.code.index.executor.read_file", reading)
    monkeypatch.setattr("treering.code.index.update.resolve_file", resolving)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with treering.open(tmp_path / "memory.db", project="p", background=False) as memory:
        yield memory


def test_a_pool_reports_a_file_that_ends_its_reader_and_detects_its_change(tmp_path: Path) -> None:
    root = written(tmp_path / "project", {**PROJECT, "deadly.py": DEADLY_TO_READ}).resolve()
    found = discover(root, CodeSettings()).found
    with Readers(root, CodeSettings()) as crew:
        read = {reading.path: reading for reading in crew.read(found)}
    assert {path for path, reading in read.items() if reading.skipped} == {"deadly.py"}
    ended = read["deadly.py"]
    assert ended.skipped == ENDED_ITS_READER
    assert ended.stamp == next(file.stamp for file in found if file.path == "deadly.py")
    assert ended.digest


@pytest.mark.parametrize("deadly", [("f3.py",), ("f3.py", "f4.py", "f22.py")])
def test_a_crew_resolves_all_but_the_files_that_end_it(tmp_path: Path, deadly: tuple[str, ...]) -> None:
    files = {**PROJECT, **dict.fromkeys(deadly, DEADLY_TO_RESOLVE)}
    root = written(tmp_path / "project", files).resolve()
    with Readers(root, CodeSettings()) as crew:
        read = list(crew.read(discover(root, CodeSettings()).found))
        lessons = [LoadedFile(each.path, each.language, each.given, each.facts) for each in read]
        resolved = list(crew.resolve([each.path for each in read], lambda: [lessons]))
    assert sorted(each.path for each in resolved) == sorted(files)
    assert {each.path for each in resolved if each.problem} == set(deadly)
    assert all(each.used for each in resolved if not each.problem and each.path != "f23.py")


def test_a_file_that_ends_its_reader_is_left_alone_until_it_changes(tmp_path: Path, memory: Memory) -> None:
    root = written(tmp_path / "project", {**PROJECT, "deadly.py": DEADLY_TO_READ})
    done = code_of(memory, many_files=2).index(root)
    assert done.skipped == {ENDED_ITS_READER: 1}
    assert any("deadly.py" in warning for warning in done.warnings)
    assert stored(memory) == fresh(PROJECT)

    again = code_of(memory).index(root)
    assert (again.read, again.skipped) == (0, {ENDED_ITS_READER: 1})
    assert any("deadly.py" in warning for warning in again.warnings)

    # Others change, it is only touched, it changes and is as deadly as before: few files, so they are read here.
    asking = code_of(memory)
    asking.index(root)
    for content in (None, DEADLY_TO_READ, DEADLY_TO_READ + "\n", DEADLY_TO_RESOLVE, DEADLY_TO_READ):
        written(root, {"f7.py": HARMLESS, **({} if content is None else {"deadly.py": content})})
        assert "f7.py::harmless" in {match.id for match in asking.find("harmless").matches}
        asking._current.catch_up(root, {"f7.py", "deadly.py"})
        assert "deadly.py" not in {edge.origin.partition("::")[0] for edge in asking._current.graph().edges()}

    written(root, {"deadly.py": HARMLESS})
    cured = code_of(memory).index(root)
    assert (cured.read, cured.skipped, cured.warnings) == (1, {}, ())
    assert stored(memory) == fresh({**PROJECT, "f7.py": HARMLESS, "deadly.py": HARMLESS})


def test_a_file_that_ends_its_resolver_keeps_its_definitions(tmp_path: Path, memory: Memory) -> None:
    files = {**PROJECT, "deadly.py": DEADLY_TO_RESOLVE, "user.py": "from deadly import resolving_kills\n"}
    root = written(tmp_path / "project", files)
    done = code_of(memory, many_files=2).index(root)
    assert done.skipped == {ENDED_ITS_RESOLVER: 1}
    assert [(each.path, each.what) for each in done.problems] == [("deadly.py", ENDED_ITS_RESOLVER)]
    whole = fresh(files)
    without = {**whole, "deadly.py": whole["deadly.py"]._replace(edges=(), unresolved=())}
    assert stored(memory) == without

    again = code_of(memory).index(root)
    assert (again.read, again.resolved, again.skipped) == (0, 0, {ENDED_ITS_RESOLVER: 1})

    # What it uses changes, and it does: few files, so they are resolved here.
    asking = code_of(memory)
    asking.index(root)
    for content in (DEADLY_TO_RESOLVE, DEADLY_TO_RESOLVE + "\n\ndef more(): ...\n"):
        written(root, {"f1.py": "def g(): ...\n", "deadly.py": content})
        assert asking.impact("resolving_kills").importers == ("user.py",)
        asking._current.catch_up(root, {"f1.py", "deadly.py"})

    now = {**files, "f1.py": "def g(): ...\n", "deadly.py": HARMLESS}
    written(root, now)
    assert code_of(memory).index(root).skipped == {}
    assert stored(memory) == fresh(now)


def test_a_fatal_file_stays_marked_when_all_files_are_read_again(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = written(tmp_path / "project", {**PROJECT, "deadly.py": DEADLY_TO_READ})
    code_of(memory, many_files=2).index(root)
    (root / "deadly.py").unlink()
    assert code_of(memory).index(root).removed == 1
    written(root, {"deadly.py": DEADLY_TO_READ})
    assert code_of(memory).index(root).skipped == {ENDED_ITS_READER: 1}
    for module in ("index.indexer", "index.update", "live.current"):
        monkeypatch.setattr(f"treering.code.{module}.reading_version", lambda: "another")
    assert code_of(memory).index(root).read == len(PROJECT) + 1
    assert stored(memory) == fresh(PROJECT)


def test_where_no_process_can_be_started_it_is_not_looked_at(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = written(tmp_path / "project", {"deadly.py": DEADLY_TO_READ, "kills.py": DEADLY_TO_RESOLVE, "a.py": ""})
    code_of(memory, many_files=1).index(root)
    monkeypatch.setattr(sys, "executable", "/usr/bin/some-program")
    written(root, {path: f"{(root / path).read_text()}\n" for path in ("deadly.py", "kills.py", "a.py")})
    done = code_of(memory, many_files=1).index(root)
    assert done.skipped == {ENDED_ITS_READER: 1, ENDED_ITS_RESOLVER: 1}


def test_a_python_that_cannot_start_is_reported_and_no_file_is_marked(
    tmp_path: Path, memory: Memory, no_process_starts: Callable[[], None]
) -> None:
    no_process_starts()
    root = written(tmp_path / "project", PROJECT)
    with pytest.raises(treering.TreeringError, match=r"code\.processes"):
        code_of(memory, many_files=1).index(root)
    assert code_of(memory, many_files=1, processes=1).index(root).complete


def test_with_one_process_fatal_files_are_skipped_if_no_worker_starts(
    tmp_path: Path, memory: Memory, no_process_starts: Callable[[], None]
) -> None:
    root = written(tmp_path / "project", {"deadly.py": DEADLY_TO_READ, "kills.py": DEADLY_TO_RESOLVE, "a.py": ""})
    code_of(memory, many_files=1).index(root)
    no_process_starts()
    written(root, {path: f"{(root / path).read_text()}\n" for path in ("deadly.py", "kills.py", "a.py")})
    done = code_of(memory, many_files=1, processes=1).index(root)
    assert (done.complete, done.skipped) == (True, {ENDED_ITS_READER: 1, ENDED_ITS_RESOLVER: 1})


def test_a_file_that_takes_for_ever_is_left_alone_as_well(tmp_path: Path, memory: Memory) -> None:
    endless = {"read.py": ENDLESS_TO_READ, "resolve.py": ENDLESS_TO_RESOLVE}
    root = written(tmp_path / "project", {**PROJECT, **endless})
    done = code_of(memory, many_files=2, seconds_a_file=2).index(root)
    assert (done.complete, done.skipped) == (True, {ENDED_ITS_READER: 1, ENDED_ITS_RESOLVER: 1})
    assert any("read.py" in warning and "resolve.py" in warning for warning in done.warnings)
    whole = fresh({**PROJECT, "resolve.py": ENDLESS_TO_RESOLVE})
    assert stored(memory) == {**whole, "resolve.py": whole["resolve.py"]._replace(edges=(), unresolved=())}
    again = code_of(memory, seconds_a_file=600).index(root)
    assert (again.read, again.resolved) == (0, 0)


@pytest.mark.parametrize("endless", [ENDLESS_TO_READ, ENDLESS_TO_RESOLVE])
def test_closing_the_pool_neither_waits_nor_leaves_processes(tmp_path: Path, memory: Memory, endless: str) -> None:
    root, mark = written(tmp_path / "project", {**PROJECT, "endless.py": endless}), tmp_path / "hanging"
    process = ForkedProcess(
        (str(tmp_path / "memory.db"), str(root)),
        cwd=Path.cwd(),
        env={**os.environ, deadly_readers.HANGING: str(mark)},
        text=True,
        function=deadly_readers.index,
    )
    try:
        while not (mark.exists() and mark.read_text()):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        os.kill(int(mark.read_text()), signal.SIGKILL)
        raise
    finally:
        process.kill()
        process.wait()
    assert "KeyboardInterrupt" in said
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), signal.SIGKILL)
    # Nobody indexes any more, so that others may.
    written(root, {"endless.py": HARMLESS})
    assert code_of(memory).index(root).complete


def index_until_killed(place: str, root: str) -> None:
    """Index in this process, which a file kills that it reads."""

    def deadly(root: Path, path: str, *others: Any, **named: Any) -> SourceFile:
        if b"reading_kills" in Path(root, path).read_bytes():
            os.kill(os.getpid(), signal.SIGKILL)
        return read_file(root, path, *others, **named)

    hands.read_file = deadly  # type: ignore[attr-defined]
    with treering.open(place, project="p", background=False) as memory:
        code_of(memory).index(root)


@pytest.mark.parametrize(
    ("known", "asked", "processes"),
    [(False, False, 2), (False, True, 2), (True, False, 2), (True, True, 2), (False, False, 1), (True, True, 1)],
)
def test_a_run_after_a_killed_one_reads_in_workers(
    tmp_path: Path, crew: Crew, known: bool, asked: bool, processes: int
) -> None:
    place, root = tmp_path / "memory.db", tmp_path / "project"
    with treering.open(place, project="p", background=False) as memory:
        written(root, PROJECT)
        if known:
            code_of(memory).index(root)
        written(root, {"deadly.py": DEADLY_TO_READ})
        crew.await_end(crew.start(index_until_killed, place=str(place), root=str(root)))
        assert not crew.told("ended")
        following = code_of(memory, processes=processes)
        if asked:
            following._current._roots.add(root.resolve())
            assert following.impact("f3.py::g").status.up_to_date
        done = following.index(root)
        assert (done.complete, done.skipped) == (True, {ENDED_ITS_READER: 1})
        assert stored(memory) == fresh(PROJECT)
