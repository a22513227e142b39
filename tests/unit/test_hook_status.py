"""What `doctor` says about hooks, and where they belong."""

import os
from datetime import UTC, datetime
from pathlib import Path
from socket import AF_UNIX, socket

import pytest

import treering
from tests.hook_payloads import claude, put
from treering.compose import current_project, embedded_path
from treering.interfaces.hooks.location import HookLocation, drain_spool
from treering.interfaces.hooks.status import hook_checks
from treering.location.hook_files import (
    AGENTS,
    PAUSE,
    TARGET,
    note_error,
    note_lost,
    read_json,
    socket_path,
    write_json,
)
from treering.location.hook_spool import LISTEN, LOW_VALUE_BYTES, FolderLock
from treering.ports.store import Check

AT = datetime(2026, 11, 15, 1, 24, tzinfo=UTC)


@pytest.fixture
def location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HookLocation:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    monkeypatch.chdir(root / "src")
    monkeypatch.setenv("TREERING_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return HookLocation.here(None, None)


def check(location: HookLocation) -> Check:
    [found] = hook_checks(location)
    return found


def test_a_project_without_hooks_has_no_line(location: HookLocation) -> None:
    assert hook_checks(location) == ()


def test_the_last_event_of_each_agent(location: HookLocation) -> None:
    write_json(location.folder, AGENTS, {"claude": {"at": AT.isoformat()}, "codex": {"at": "?"}, "x": 3})
    found = check(location)
    assert (found.fine, found.detail, found.advice) == (True, "last event of claude 2026-11-15 01:24 UTC", "")


def test_a_session_that_hooks_did_not_report(location: HookLocation, tmp_path: Path) -> None:
    write_json(location.folder, AGENTS, {"claude": {"at": AT.isoformat()}})
    folder = tmp_path / ".claude" / "projects" / location.root.replace("/", "-").replace("_", "-")
    folder.mkdir(parents=True)
    transcript = folder / "session.jsonl"
    transcript.touch()
    os.utime(transcript, (AT.timestamp() + 60,) * 2)
    assert check(location).advice == ""
    os.utime(transcript, (AT.timestamp() + 3_600,) * 2)
    found = check(location)
    assert found.fine
    assert "a session of claude ran at 2026-11-15 02:24 UTC" in found.detail
    assert "treering init claude" in found.advice
    write_json(location.folder, PAUSE, {"observe": "forever"})
    assert "treering init" not in check(location).advice


def test_what_was_lost_and_what_waits(location: HookLocation) -> None:
    put(location.folder, "claude", claude("SessionStart"))
    note_lost(location.folder, "dropped", 7)
    note_lost(location.folder, "unwritten", 3)
    note_error(location.folder, "OSError: no space", datetime.now().timestamp())
    found = check(location)
    assert found.fine
    assert "of events wait to be stored" in found.detail
    assert "7 dropped because the spool was full" in found.detail
    assert "3 not written" in found.detail
    assert "OSError: no space" in found.detail


def test_only_a_full_spool_is_not_healthy(location: HookLocation) -> None:
    put(location.folder, "claude", claude("SessionStart"))
    with (Path(location.folder) / "spool.jsonl").open("ab") as spool:
        spool.truncate(LOW_VALUE_BYTES)
    found = check(location)
    assert not found.fine
    assert "treering settle" in found.advice


def test_damaged_files_do_not_stop_the_doctor(location: HookLocation) -> None:
    write_json(location.folder, AGENTS, {})
    for name in ("agents.json", "lost.json", "pause.json"):
        (Path(location.folder) / name).write_bytes(b"\xff{")
    assert check(location).fine


def test_the_target_is_what_the_library_resolves(location: HookLocation) -> None:
    put(location.folder, "claude", claude("SessionStart"))
    write_json(location.folder, TARGET, {"file": "/etc/passwd", "project": "other", "socket": "/run/x"})
    with treering.open(project=current_project()) as memory:
        assert drain_spool(memory, location)
        target = read_json(location.folder, TARGET)
        assert target["file"] == str(embedded_path())
        assert target["project"] == memory.scope.project
        assert target["groups"] is memory.settings.context.control_groups
        assert not location.has_spool


def test_the_target_holds_no_password(location: HookLocation) -> None:
    server = HookLocation(location.root, "postgresql://anna:hunter2@db.example/shop", "")
    with treering.open(project=current_project()) as memory:
        server.sessions(memory, "/run/x")
    target = read_json(server.folder, TARGET)
    assert (target["file"], target["socket"]) == (None, "/run/x")
    assert "hunter2" not in str(target)


def test_hooks_with_other_arguments_have_another_folder(location: HookLocation) -> None:
    folders = {HookLocation(location.root, db, project).folder for db in ("", "x.db") for project in ("", "p")}
    assert len(folders) == 4
    assert HookLocation.here(None, None) == HookLocation.here("", "")


def test_the_socket_of_a_killed_server_is_removed_with_the_next_command(location: HookLocation) -> None:
    put(location.folder, "claude", claude("SessionStart"))
    path = Path(socket_path(location.folder))
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with socket(AF_UNIX) as left:
        left.bind(str(path))
    with FolderLock(location.folder, LISTEN) as held:
        assert held
        location.remove_dead_socket()
        assert path.exists()
    with treering.open(project=current_project()) as memory:
        assert drain_spool(memory, location)
    assert not path.exists()
