"""A change is made whole or not at all, on good days and bad ones."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.unit.client_desk import CLAUDE, Desk, removing_change
from treering.core.errors import ClientFileUnusable, Conflict
from treering.interfaces.client_configs.apply import apply_change
from treering.interfaces.client_configs.connection import ChangeOutcome


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def refused(desk: Desk) -> str:
    with pytest.raises(ClientFileUnusable) as told:
        desk.connect()
    return str(told.value)


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


def test_the_owner_stays(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.path.write_text("{}")
    there = desk.path.stat()
    given: list[tuple[int, int]] = []

    def give(_path: Path, user: int, group: int) -> None:
        given.append((user, group))
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", give)
    desk.connect()
    assert (there.st_uid, there.st_gid) in given
    assert "treering" in desk.servers()


def test_a_new_file_of_a_user_is_theirs_alone_from_the_first_moment(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode)))
    apply_change(desk.planned(), desk.ledger, private=True)
    assert stat.S_IMODE(desk.path.stat().st_mode) == 0o600
    assert set(modes) == {0o600}
    desk.path.chmod(0o644)
    apply_change(desk.planned("/other/treering"), desk.ledger, private=True)
    assert stat.S_IMODE(desk.path.stat().st_mode) == 0o644


def test_a_new_file_of_a_project_is_as_open_as_any_that_is_made_here(desk: Desk) -> None:
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
        (b'{"mcpServers": 7}', "is not a table of servers"),
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
        apply_change(change, desk.ledger)
    assert desk.path.read_text() == '{"theirs": 1}'


@pytest.mark.parametrize("before", [None, '{"numStartups": 1}'])
def test_what_a_client_saves_at_the_last_moment_is_not_lost(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    if before is not None:
        desk.path.write_text(before)
    saved = '{"numStartups": 2}'
    monkeypatch.setattr(os, "fsync", lambda _descriptor: desk.path.write_text(saved))
    with pytest.raises(Conflict, match="run this again"):
        desk.connect()
    assert desk.path.read_text() == saved
    assert os.listdir(desk.path.parent) == [".mcp.json"]
    assert list(desk.ledger.folder.iterdir()) == []

    monkeypatch.undo()
    desk.connect()
    desk.remove()
    assert desk.path.read_text() == saved


def test_of_two_who_write_the_same_at_once_one_does_and_the_way_back_stays(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.path.write_text("{}")
    other = desk.planned()

    def meanwhile(_descriptor: int) -> None:
        monkeypatch.undo()
        apply_change(other, desk.ledger)

    monkeypatch.setattr(os, "fsync", meanwhile)
    with pytest.raises(Conflict):
        desk.connect()
    assert not desk.remove().replaces_foreign
    assert desk.path.read_text() == "{}"


def test_nor_is_it_lost_where_our_entry_is_taken_out(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.path.write_text("{}")
    desk.connect()
    ours = desk.path.read_text()
    saved = ours.replace("{", '{"numStartups": 2,', 1)
    monkeypatch.setattr(os, "fsync", lambda _descriptor: desk.path.write_text(saved))
    with pytest.raises(Conflict, match="run this again"):
        desk.remove()
    assert desk.path.read_text() == saved

    monkeypatch.undo()
    desk.path.write_text(ours)
    desk.remove()
    assert desk.path.read_text() == "{}"


def test_nor_is_it_lost_where_the_file_would_go(desk: Desk) -> None:
    desk.connect()
    change = removing_change(CLAUDE, desk.path, desk.ledger)
    desk.write_another_key()
    saved = desk.path.read_text()
    with pytest.raises(Conflict, match="run this again"):
        apply_change(change, desk.ledger)
    assert desk.path.read_text() == saved


def test_folders_that_were_made_for_nothing_go_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.path = desk.path.parent / "deep" / "er" / "config.json"

    def full(_self: Path, _target: Path) -> Path:
        raise OSError(28, "No space left on device")

    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda self, aim: (full if aim == desk.path else replace)(self, aim))
    assert "No space left" in refused(desk)
    assert not desk.path.parents[1].exists()


def test_a_file_that_moved_with_its_repository_is_given_back_all_the_same(desk: Desk) -> None:
    desk.path = desk.path.parent / "made" / "config.json"
    desk.connect()
    moved = desk.path.parents[1].rename(desk.path.parents[2] / "renamed")
    desk.path = moved / "made" / "config.json"
    desk.connect("/new/treering")
    assert desk.remove().replaces_foreign is False
    assert (os.listdir(moved), list(desk.ledger.folder.iterdir())) == ([], [])


def test_a_copy_of_a_file_of_ours_is_not_taken_for_it(desk: Desk) -> None:
    desk.connect()
    copy = desk.path.with_name("copy.json")
    copy.write_bytes(desk.path.read_bytes())
    assert removing_change(CLAUDE, copy, desk.ledger).replaces_foreign
    desk.remove()
    assert not desk.path.exists()


def test_a_file_that_is_away_for_a_while_is_still_known_when_it_is_back(desk: Desk) -> None:
    desk.connect()
    away = desk.path.rename(desk.path.with_name("on-another-branch"))
    assert desk.remove().outcome is ChangeOutcome.ABSENT
    away.rename(desk.path)
    desk.remove()
    assert not desk.path.exists()


def test_who_took_our_entry_out_by_hand_has_undone_it(desk: Desk) -> None:
    desk.path.write_text("{}")
    desk.connect()
    desk.path.write_text("{ }")
    assert desk.remove().outcome is ChangeOutcome.ABSENT
    assert list(desk.ledger.folder.iterdir()) == []


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
