"""Files that hooks and the library share."""

import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from treering.compose import data_directory, repository_around
from treering.core.light_json import dumps, loads
from treering.location import hook_files, hook_spool
from treering.location.hook_files import (
    LOST,
    PAUSE,
    SPOOL,
    NotOurs,
    data_folder,
    ensure_private_folder,
    hook_folder,
    is_paused,
    is_private_folder,
    note_error,
    note_lost,
    read_json,
    repository_root,
    socket_path,
    write_json,
)
from treering.location.hook_spool import (
    DRAIN,
    FolderLock,
    append_line,
    drained_files,
    event_line,
    injected_line,
    session_lines,
    spool_bytes,
)

NOW = 1_800_000_000.0


@pytest.fixture
def folder(tmp_path: Path) -> str:
    path = str(tmp_path / "hooks")
    ensure_private_folder(path)
    return path


def line(number: int = 0) -> bytes:
    return event_line("claude", "Stop", {"number": number}, str(number), NOW)


@pytest.mark.parametrize(
    "variables", [{}, {"XDG_DATA_HOME": "/x"}, {"XDG_DATA_HOME": " "}, {"TREERING_DATA_DIR": "~/d"}]
)
def test_the_data_folder_is_that_of_the_library(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TREERING_DATA_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert data_folder() == str(data_directory())


def test_the_root_is_that_of_the_library(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "repo" / ".git").write_text("gitdir: elsewhere")
    (tmp_path / "link").symlink_to(inner)
    for start in (inner, tmp_path / "link", tmp_path, tmp_path / "missing" / "folder"):
        assert repository_root(str(start)) == str(repository_around(start))


def test_each_repository_database_and_project_has_its_own_folder() -> None:
    named = [("/r", "", ""), ("/q", "", ""), ("/r", "x", ""), ("/r", "", "x"), ("/r", "x", "x"), ("/r\ud800", "", "")]
    assert len({hook_folder("/data", *each) for each in named}) == len(named)


def test_the_socket_is_where_its_path_fits() -> None:
    name = "0123456789abcdef"
    assert socket_path(f"/data/{name}", {}) == f"/data/{name}/hook.sock"
    assert socket_path(f"/{'x' * 100}/{name}", {}) == f"/tmp/treering-{os.getuid()}/{name}.sock"
    with TemporaryDirectory(dir="/tmp") as short:  # the folder of a test is too long for a socket
        runtime = {"XDG_RUNTIME_DIR": short}
        assert socket_path(f"/data/{name}", runtime) == f"{short}/treering/{name}.sock"
        os.chmod(short, 0o777)
        assert socket_path(f"/data/{name}", runtime) == f"/data/{name}/hook.sock"


def test_folders_and_files_are_private(folder: str) -> None:
    append_line(folder, line())
    write_json(folder, PAUSE, {})
    note_lost(folder, "dropped")
    note_error(folder, "x", NOW)
    assert os.stat(folder).st_mode & 0o777 == 0o700
    assert {os.stat(Path(folder, each)).st_mode & 0o777 for each in os.listdir(folder)} == {0o600}


def test_a_folder_that_others_may_write_into_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert not is_private_folder(str(shared))
    with pytest.raises(NotOurs):
        ensure_private_folder(str(shared))


USES = {
    SPOOL: lambda folder: append_line(folder, line()),
    PAUSE: lambda folder: read_json(folder, PAUSE),
    LOST: lambda folder: note_lost(folder, "x"),
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/null", path)])
def test_fifos_links_and_folders_are_refused_without_waiting(
    folder: str, name: str, make: Callable[[str], None]
) -> None:
    make(str(Path(folder, name)))
    with pytest.raises(OSError, match=name):
        USES[name](folder)


def test_lines_are_drained_once_and_in_order(folder: str) -> None:
    for number in range(3):
        append_line(folder, line(number))
    seen = [each["id"] for file in drained_files(folder) for each in file.lines()]
    again = [(each["id"], file) for file in drained_files(folder) for each in file.lines()]
    assert seen == [id for id, _ in again] == ["0", "1", "2"]
    again[0][1].remove()
    assert list(drained_files(folder)) == []
    assert spool_bytes(folder) == 0


def test_what_an_earlier_drainer_left_comes_first(folder: str) -> None:
    append_line(folder, line(1))
    next(drained_files(folder))
    append_line(folder, line(2))
    assert [each["id"] for file in drained_files(folder) for each in file.lines()] == ["1", "2"]


def test_an_incomplete_line_costs_only_itself(folder: str) -> None:
    append_line(folder, line(1))
    with open(Path(folder, SPOOL), "ab") as spool:
        spool.write(line(2)[:-20])
    append_line(folder, line(3))
    for file in drained_files(folder):
        assert [each["id"] for each in file.lines()] == ["1", "3"]
        file.remove()
    assert read_json(folder, LOST)["torn"] == 1


def test_a_full_spool_drops_low_value_events_first(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_spool, "LOW_VALUE_BYTES", 1_000)
    monkeypatch.setattr(hook_spool, "MAX_SPOOL_BYTES", 2_000)
    kept = [(append_line(folder, line(each), low_value=True), append_line(folder, line(each))) for each in range(30)]
    assert kept[0] == (True, True)
    assert (False, True) in kept
    assert kept[-1] == (False, False)
    assert os.stat(Path(folder, SPOOL)).st_size <= 2_000
    assert read_json(folder, LOST)["dropped"] == sum(not each for pair in kept for each in pair)


def test_one_process_at_a_time_has_a_lock(folder: str) -> None:
    with FolderLock(folder, DRAIN) as first, FolderLock(folder, DRAIN) as second:
        assert (first, second) == (True, False)
    with FolderLock(folder, DRAIN) as again:
        assert again
    with FolderLock(f"{folder}/missing", DRAIN) as missing:
        assert not missing


def test_a_writer_that_hangs_does_not_block_the_drainer(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_spool, "_SETTLE_SECONDS", 0.05)
    append_line(folder, line())
    handle = hook_files.open_own(str(Path(folder, SPOOL)), hook_files.APPEND)
    assert hook_files.try_lock(handle, shared=True)
    assert list(drained_files(folder)) == []
    os.close(handle)
    assert [each["id"] for file in drained_files(folder) for each in file.lines()] == ["0"]


def test_what_a_hook_gave_is_found_in_the_spool_and_in_what_is_being_drained(folder: str) -> None:
    append_line(folder, injected_line("claude", "s", [{"item": "a"}], "1", NOW))
    next(drained_files(folder))
    append_line(folder, injected_line("claude", "s", [{"item": "b"}], "2", NOW))
    append_line(folder, injected_line("claude", "t", [{"item": "c"}], "3", NOW))
    append_line(folder, event_line("claude", "Stop", {"text": '"injected":['}, "4", NOW))
    assert {each["injected"][0]["item"] for each in session_lines(folder, "s") if "injected" in each} == {"a", "b"}


def test_a_damaged_file_is_an_error_and_a_missing_one_is_empty(folder: str) -> None:
    assert read_json(folder, PAUSE) == {}
    for text in ("", "[1]", "{", "\0"):
        Path(folder, PAUSE).write_text(text)
        with pytest.raises(ValueError, match=r"JSON|Expecting"):
            read_json(folder, PAUSE)


def test_counters_survive_a_rest_of_an_older_version(folder: str) -> None:
    note_lost(folder, "dropped", 99)
    with open(Path(folder, LOST), "ab") as file:
        file.write(b'"dropped":1}')
    note_lost(folder, "dropped")
    assert json.loads(Path(folder, LOST).read_text())["dropped"] == 100


def test_the_log_is_bounded(folder: str) -> None:
    for _ in range(500):
        note_error(folder, "x" * 10_000 + "\n", NOW)
    sizes = [os.stat(Path(folder, each)).st_size for each in os.listdir(folder)]
    assert len(sizes) == 2
    assert max(sizes) < hook_files.MAX_LOG_BYTES + 1_000


@pytest.mark.parametrize(
    ("pause", "observe", "inject"),
    [
        ({}, False, False),
        ({"observe": None, "inject": None, "sessions": {}, "points": []}, False, False),
        ({"observe": "forever"}, True, True),
        ({"inject": "forever"}, False, True),
        ({"observe": "2027-01-15T08:00:01Z"}, True, True),
        ({"observe": "2027-01-15T07:59:59+00:00"}, False, False),
        ({"inject": "2027-01-15T08:00:01"}, False, True),
        ({"inject": "tomorrow"}, False, True),
        ({"sessions": {"s": "observe"}}, True, True),
        ({"sessions": {"s": "inject"}}, False, True),
        ({"sessions": {"other": "observe"}}, False, False),
        ({"sessions": ["s"]}, True, True),
        ({"points": ["tool"]}, False, True),
        ({"points": ["start"]}, False, False),
    ],
)
def test_pauses(pause: dict[str, object], observe: bool, inject: bool) -> None:
    assert is_paused(pause, "observe", NOW, "s", "tool") is observe
    assert is_paused(pause, "inject", NOW, "s", "tool") is inject


def test_a_full_disk_is_an_error_of_the_system(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="no space"):
        append_line(folder, line())


def test_light_json_agrees_with_the_standard_library() -> None:
    values = [None, True, 1, 1.5, -2e30, 'a\u2028ü\U0001f600"\\\n', [], {}, {"a": [{"b": None}]}, [1, "x"]]
    for value in values:
        assert json.loads(dumps(value)) == loads(json.dumps(value)) == loads(dumps(value, ascii=False)) == value
    assert loads('{"a": NaN, "b": 1e999, "c": -Infinity}') == {"a": None, "b": None, "c": None}
    for text in ("", "{", "[1", "nul", "1 2", '{"a" 1}', "'a'", "\x00"):
        with pytest.raises(ValueError, match=r"JSON|Expecting"):
            loads(text)
    with pytest.raises(RecursionError):
        loads("[" * 100_000)
    with pytest.raises(ValueError, match="Out of range"):
        dumps(float("nan"))


def test_times_are_in_utc() -> None:
    assert hook_files.iso_time(NOW + 0.25) == time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(NOW)) + ".250Z"
