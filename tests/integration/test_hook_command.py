"""The hook command as an agent runs it: it ends soon with code 0, whatever is wrong around it."""

import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import treering
from tests.hook_calls import START, TOOL, HookedRepository
from treering.interfaces.hooks.command import hook_command
from treering.location.hook_files import SPOOL

PACKAGE = Path(treering.__file__).parent


@pytest.fixture
def repo(tmp_path: Path) -> HookedRepository:
    """A repository whose memory holds one rule."""
    repo = HookedRepository(tmp_path)
    file = tmp_path / "memory folder" / "memory #1?.db"
    file.parent.mkdir()
    with treering.open(file, project="p", background=False) as memory:
        memory.remember("Use uv for everything.", type="preference", confidence=0.95)
    repo.point_at(file)
    return repo


def started(repo: HookedRepository, **fields: object) -> bytes:
    return json.dumps(repo.payload(START, **fields)).encode()


def database(repo: HookedRepository) -> Path:
    return repo.folder / "memory folder" / "memory #1?.db"


def test_it_records_and_injects(repo: HookedRepository) -> None:
    done = repo.run(started(repo))
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Use uv" in repo.text(done.stdout)
    assert [line.get("hook") for line in repo.spooled()] == ["SessionStart", None]
    assert not list(database(repo).parent.glob("*-shm"))


def test_it_imports_only_what_it_needs(repo: HookedRepository) -> None:
    """Times are measured by the bench; here, no heavy module may slip in."""
    python, *rest = hook_command("claude")
    event = json.dumps(repo.payload({"hook_event_name": "Stop"})).encode()
    done = subprocess.run(
        [python, "-X", "importtime", *rest], input=event, env=repo.env, capture_output=True, check=True
    )
    imported = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert len(repo.spooled()) == 1
    assert not imported & {"re", "json", "enum", "typing", "dataclasses", "pathlib", "datetime", "sqlite3", "socket"}
    assert not imported & {"hashlib", "signal", "pydantic", "sqlalchemy", "collections", "functools", "contextlib"}


def test_a_copy_in_a_path_with_spaces_runs(repo: HookedRepository, tmp_path: Path) -> None:
    """As in a wheel: the package, found by its path alone."""
    copied = tmp_path / "site packages" / "treering"
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    python, isolated, no_site, _, agent = hook_command("claude")
    command = [python, isolated, no_site, str(copied / "hook_process.py"), agent]
    done = subprocess.run(command, input=started(repo), env=repo.env, capture_output=True, check=True)
    assert "Use uv" in repo.text(done.stdout)


def test_options_choose_the_folder(repo: HookedRepository) -> None:
    command = hook_command("claude", "/other memory.db", "q")
    assert command[-4:] == ["--db", "/other memory.db", "--project", "q"]
    assert os.path.isabs(command[0])
    done = subprocess.run(command, input=started(repo), env=repo.env, capture_output=True, check=True)
    assert done.stdout == b""
    assert repo.spooled() == []


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["claude", "--db"], ["claude", "--x", "y", "z"], ["\udcff"]])
def test_odd_arguments_are_no_error(repo: HookedRepository, arguments: list[str]) -> None:
    command = [*hook_command("claude")[:4], *arguments]
    done = subprocess.run(command, input=started(repo), env=repo.env, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_stdin_without_end_is_given_up(repo: HookedRepository) -> None:
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            hook_command("claude"), stdin=reading, env=repo.env, capture_output=True, timeout=60, check=False
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("closing_streams", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "</dev/null", ">/dev/full"])
def test_closed_streams_are_no_error(repo: HookedRepository, closing_streams: str) -> None:
    script = f'"$@" {closing_streams}; exit $?'
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *hook_command("claude")], input=started(repo), env=repo.env, check=False
    )
    assert done.returncode == 0
    # Nothing that was meant for the agent ended up in the spool.
    assert all("hookSpecificOutput" not in line for line in repo.spooled())


def test_an_agent_that_does_not_read_is_no_error(repo: HookedRepository) -> None:
    with subprocess.Popen(hook_command("claude"), stdin=-1, stdout=-1, stderr=-1, env=repo.env) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(started(repo))
        process.stdin.close()
        assert process.wait(60) == 0
        assert process.stderr.read() == b""


def test_a_listener_that_never_answers_costs_only_the_deadline(repo: HookedRepository) -> None:
    # The path of a socket has at most 107 bytes.
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        path = Path(folder, "hook.sock")
        repo.point_at(database(repo), socket=str(path))
        server.bind(str(path))
        server.listen()
        done = repo.run(started(repo))
        assert (done.returncode, done.stdout) == (0, b"")


def test_too_little_memory_is_no_error(repo: HookedRepository) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (60 * 1024 * 1024, 60 * 1024 * 1024))

    text = json.dumps(repo.payload(TOOL, tool_response="x" * 15_000_000)).encode()
    done = repo.run(text, preexec_fn=limit)
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_full_disk_is_no_error(repo: HookedRepository) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = repo.run(started(repo), preexec_fn=limit)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_memory_that_is_locked_missing_or_damaged_gives_nothing(repo: HookedRepository) -> None:
    with closing(sqlite3.connect(database(repo), isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        done = repo.run(started(repo))
        assert done.returncode == 0
    database(repo).write_bytes(b"not a database")
    assert repo.run(started(repo)).stdout == b""
    database(repo).unlink()
    assert repo.run(started(repo)).stdout == b""
    assert not database(repo).exists()


def test_a_memory_of_another_schema_is_not_read(repo: HookedRepository) -> None:
    with closing(sqlite3.connect(database(repo))) as connection, connection:
        connection.execute("UPDATE treering_version SET version_num = '9999'")
    done = repo.run(started(repo))
    assert (done.returncode, done.stdout) == (0, b"")


def test_an_open_memory_is_read_with_its_log(repo: HookedRepository) -> None:
    with treering.open(database(repo), project="p", background=False) as memory:
        memory.remember("Never use pip.", type="preference", confidence=0.95)
        given = repo.text(repo.run(started(repo)).stdout)
    assert "Never use pip." in given
    assert "Use uv" in given


def test_in_a_read_only_folder_nothing_is_created(repo: HookedRepository) -> None:
    folder = database(repo).parent
    before = sorted(os.listdir(folder))
    database(repo).chmod(0o400)
    folder.chmod(0o500)
    try:
        assert "Use uv" in repo.text(repo.run(started(repo)).stdout)
    finally:
        folder.chmod(0o700)
    assert sorted(os.listdir(folder)) == before


def test_a_fifo_in_place_of_a_file_does_not_block(repo: HookedRepository) -> None:
    for name in (SPOOL, "pause.json", "target.json"):
        path = Path(repo.hooks, name)
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        assert repo.run(started(repo)).returncode == 0
        path.unlink()
    database(repo).unlink()
    os.mkfifo(database(repo))
    repo.point_at(database(repo))
    assert repo.run(started(repo)).returncode == 0


def test_the_folder_of_another_user_is_left_alone(repo: HookedRepository) -> None:
    """Another user's hook, here root's or this user's own with a folder that others may write into."""
    Path(repo.hooks).chmod(0o777)
    before = sorted(os.listdir(repo.hooks))
    done = repo.run(started(repo))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert sorted(os.listdir(repo.hooks)) == before


def test_many_hooks_at_once_lose_nothing(repo: HookedRepository) -> None:
    command, event = hook_command("claude"), json.dumps(repo.payload({"hook_event_name": "Stop"})).encode()
    running = list[subprocess.Popen[bytes]]()
    for _ in range(20):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env=repo.env)
        assert process.stdin
        process.stdin.write(event)
        process.stdin.close()
        running.append(process)
    found = list[object]()
    while any(each.poll() is None for each in running):
        found += repo.spooled()
        time.sleep(0.01)
    found += repo.spooled()
    assert [each.returncode for each in running] == [0] * 20
    assert len(found) == 20


def test_python_without_the_package_in_its_path_finds_it() -> None:
    assert hook_command("claude")[3] == str(PACKAGE / "hook_process.py")
    assert os.path.samefile(hook_command("claude")[0], sys.executable)
