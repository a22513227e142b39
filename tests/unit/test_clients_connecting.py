"""Connecting and taking back, on good days and bad ones."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from treering.core.errors import ClientFileUnusable, Conflict
from treering.interfaces.clients.connecting import Change, Outcome, make, standing, to_connect, to_remove
from treering.interfaces.clients.kept import Ledger
from treering.interfaces.clients.table import client_named

CLAUDE = client_named("claude")
SECRET = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
THEIRS = '{\n  "mcpServers": {\n    "treering": {"command": "mine"}\n  }\n}\n'


class Desk:
    """A folder with one configuration file in it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "project" / ".mcp.json"
        self.path.parent.mkdir()
        self.ledger = Ledger(folder / "kept")

    def connect(self, command: str = "treering") -> Change:
        change = self.planned(command)
        make(change, self.ledger)
        return change

    def planned(self, command: str = "treering") -> Change:
        return to_connect(CLAUDE, self.path, CLAUDE.entry(command), self.ledger)

    def remove(self) -> Change:
        change = to_remove(CLAUDE, self.path, self.ledger)
        make(change, self.ledger)
        return change

    def servers(self) -> dict[str, Any]:
        return json.loads(self.path.read_text())["mcpServers"]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def refused(desk: Desk) -> str:
    with pytest.raises(ClientFileUnusable) as told:
        desk.connect()
    return str(told.value)


def test_the_second_time_nothing_is_written(desk: Desk) -> None:
    assert desk.connect().outcome is Outcome.CONNECTED
    before = desk.path.stat().st_mtime_ns
    again = desk.connect()
    assert (again.outcome, again.lines, again.is_needed) == (Outcome.ALREADY, (), False)
    assert desk.path.stat().st_mtime_ns == before
    assert standing(CLAUDE, desk.path)


def test_a_program_that_moved_is_followed_and_the_way_back_is_still_the_first_one(desk: Desk) -> None:
    desk.path.write_text("{ }")
    desk.connect("/old/treering")
    change = desk.connect("/new/treering")
    assert change.outcome is Outcome.CONNECTED
    assert [line for line in change.lines if line[0] in "+-"] == [
        '-   "command": "/old/treering",',
        '+   "command": "/new/treering",',
    ]
    desk.remove()
    assert desk.path.read_text() == "{ }"


def test_an_entry_that_somebody_wrote_themselves_comes_back(desk: Desk) -> None:
    desk.path.write_text(THEIRS)
    assert desk.connect().outcome is Outcome.REPLACED
    assert desk.servers()["treering"]["command"] == "treering"
    desk.remove()
    assert desk.path.read_text() == THEIRS


def test_an_entry_of_ours_that_was_edited_is_replaced_and_then_goes_for_good(desk: Desk) -> None:
    desk.connect()
    desk.path.write_text(desk.path.read_text().replace('"treering",', '"edited",'))
    assert desk.connect().outcome is Outcome.REPLACED
    desk.remove()
    assert desk.servers() == {}


def test_only_our_entry_goes_where_others_wrote_since(desk: Desk) -> None:
    desk.path.write_text('{\n  "mcpServers": {}\n}')
    desk.connect()
    changed = desk.path.read_text().replace('{\n  "mcpServers"', '{\n  "theirs": 1, // kept\n  "mcpServers"', 1)
    desk.path.write_text(changed)
    desk.remove()
    assert desk.path.read_text() == '{\n  "theirs": 1, // kept\n  "mcpServers": {}\n}'


def test_our_entry_goes_where_others_wrote_the_whole_file_anew(desk: Desk) -> None:
    desk.connect()
    servers = {"a": {"command": "a"}, **desk.servers()}
    desk.path.write_text(json.dumps({"mcpServers": servers}, indent=8))
    desk.remove()
    assert desk.servers() == {"a": {"command": "a"}}


def test_an_entry_that_came_with_the_repository_can_be_taken_out(desk: Desk) -> None:
    desk.path.write_text(THEIRS)
    assert desk.remove().outcome is Outcome.REMOVED
    assert desk.servers() == {}


def test_nothing_to_take_out_is_no_mishap(desk: Desk) -> None:
    assert desk.remove().outcome is Outcome.ABSENT
    desk.path.write_text("{}")
    assert desk.remove().outcome is Outcome.ABSENT
    assert desk.path.read_text() == "{}"


def test_a_file_that_was_not_there_goes_with_the_folders_that_are_empty(desk: Desk) -> None:
    desk.path = desk.path.parent / "deep" / "er" / "config.json"
    desk.connect()
    (desk.path.parents[1] / "theirs").touch()
    desk.remove()
    assert [path.name for path in desk.path.parents[2].rglob("*")] == ["deep", "theirs"]


def test_only_our_entry_is_shown_and_only_the_difference_is_kept(desk: Desk) -> None:
    desk.path.write_text(f'{{\n  "key": "{SECRET}",\n  "mcpServers": {{"a": {{}}}},\n  "last": "{SECRET}"\n}}')
    change = desk.connect()
    assert change.lines == (
        '+ "treering": {"type": "stdio", "command": "treering", "args": ["mcp"], "alwaysLoad": true}',
    )
    kept = list(desk.ledger.folder.iterdir())
    assert [stat.S_IMODE(path.stat().st_mode) for path in (desk.ledger.folder, *kept)] == [0o700, 0o600]
    assert SECRET not in kept[0].read_text()


def test_a_secret_in_the_entry_that_is_replaced_is_not_shown(desk: Desk) -> None:
    desk.path.write_text(json.dumps({"mcpServers": {"treering": {"env": {"API_KEY": SECRET}}}}))
    shown = "\n".join(desk.planned().lines)
    assert "API_KEY" in shown
    assert SECRET not in shown


def test_a_link_stays_a_link_and_leads_to_what_was_written(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.json"
    target.write_text("{}\n")
    desk.path.symlink_to(target)
    desk.connect()
    assert desk.path.is_symlink()
    assert "treering" in target.read_text()
    desk.remove()
    assert (desk.path.is_symlink(), target.read_text()) == (True, "{}\n")


def test_permissions_stay(desk: Desk) -> None:
    desk.path.write_text("{}")
    desk.path.chmod(0o640)
    desk.connect()
    assert stat.S_IMODE(desk.path.stat().st_mode) == 0o640
    desk.remove()
    assert stat.S_IMODE(desk.path.stat().st_mode) == 0o640


def test_a_new_file_is_as_open_as_any_that_is_made_here(desk: Desk) -> None:
    desk.connect()
    (desk.path.parent / "usual").touch()
    assert desk.path.stat().st_mode == (desk.path.parent / "usual").stat().st_mode


def test_a_file_that_is_read_only_is_left_alone(desk: Desk) -> None:
    desk.path.write_text("{}")
    desk.path.chmod(0o444)
    assert "cannot be written (it is read-only)" in refused(desk)
    assert desk.path.read_text() == "{}"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"{ nonsense", "is not JSON (line 1"),
        (b'{"mcpServers": 7}', "holds no servers"),
        (b"\xff\xfe{\x00}\x00", "is not UTF-8"),
    ],
)
def test_a_file_that_is_not_understood_is_left_alone(desk: Desk, data: bytes, told: str) -> None:
    desk.path.write_bytes(data)
    said = refused(desk)
    assert said.startswith(f"{desk.path} ")
    assert told in said
    assert "run this again" in said
    assert desk.path.read_bytes() == data
    assert not desk.ledger.folder.exists()


def test_what_is_no_file_is_told_of(desk: Desk) -> None:
    desk.path.mkdir()
    assert "cannot be read (Is a directory)" in refused(desk)
    desk.path.rmdir()
    desk.path.symlink_to(desk.path)
    assert "cannot be" in refused(desk)
    desk.path = desk.path.parent / "file" / "config.json"
    desk.path.parent.write_text("")
    assert "cannot be written" in refused(desk)


def test_a_file_that_somebody_wrote_while_we_asked_is_not_overwritten(desk: Desk) -> None:
    change = desk.planned()
    desk.path.write_text('{"theirs": 1}')
    with pytest.raises(Conflict, match="run this again"):
        make(change, desk.ledger)
    assert desk.path.read_text() == '{"theirs": 1}'


def test_a_crash_in_between_leaves_the_old_file_and_a_way_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.path.write_text("{}\n")
    desk.connect("/old/treering")
    old = desk.path.read_text()
    replace = Path.replace

    def crash(self: Path, target: Path) -> Path:
        if target.name == ".mcp.json":
            raise KeyboardInterrupt
        return replace(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", crash)
        with pytest.raises(KeyboardInterrupt):
            desk.connect("/new/treering")
    assert desk.path.read_text() == old
    assert os.listdir(desk.path.parent) == [".mcp.json"]
    desk.remove()
    assert desk.path.read_text() == "{}\n"


def test_a_full_disk_is_told_of_and_leaves_nothing_behind(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left on device" in refused(desk)
    assert os.listdir(desk.path.parent) == []


def test_a_note_that_is_damaged_costs_only_the_exactness(desk: Desk) -> None:
    desk.path.write_text('{\n  "x": 1\n}')
    desk.connect()
    (note,) = desk.ledger.folder.iterdir()
    note.write_text('{"written": [{}]}')
    desk.remove()
    assert json.loads(desk.path.read_text()) == {"x": 1, "mcpServers": {}}
    assert list(desk.ledger.folder.iterdir()) == []
