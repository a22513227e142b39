"""Whose entry it is decides: ours comes and goes, theirs comes back, and nothing else moves."""

import json
import stat
from pathlib import Path

import pytest

from tests.unit.client_desk import CLAUDE, Desk, removing_change, server_file
from treering.interfaces.client_configs.connection import ChangeOutcome, is_present

SECRET = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
THEIRS = '{\n  "mcpServers": {\n    "treering": {"command": "mine"}\n  }\n}\n'


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_second_time_nothing_is_written(desk: Desk) -> None:
    assert desk.connect().outcome is ChangeOutcome.CONNECTED
    before = desk.path.stat().st_mtime_ns
    again = desk.connect()
    assert (again.outcome, again.lines, again.is_needed) == (ChangeOutcome.ALREADY, (), False)
    assert desk.path.stat().st_mtime_ns == before
    assert is_present(server_file(CLAUDE, desk.path))


def test_a_client_that_lists_something_else_by_our_name_is_not_connected(desk: Desk) -> None:
    desk.path.write_text('{"mcpServers": {"treering": false}}')
    assert not is_present(server_file(CLAUDE, desk.path))


def test_a_program_that_moved_is_followed_and_the_way_back_is_still_the_first_one(desk: Desk) -> None:
    desk.path.write_text("{ }")
    desk.connect("/old/treering")
    change = desk.connect("/new/treering")
    assert change.outcome is ChangeOutcome.CONNECTED
    assert [line for line in change.lines if line[0] in "+-"] == [
        '-   "command": "/old/treering",',
        '+   "command": "/new/treering",',
    ]
    desk.remove()
    assert desk.path.read_text() == "{ }"


def test_an_entry_that_somebody_wrote_themselves_comes_back(desk: Desk) -> None:
    desk.path.write_text(THEIRS)
    assert desk.connect().outcome is ChangeOutcome.REPLACED
    assert desk.servers()["treering"]["command"] == "treering"
    desk.remove()
    assert desk.path.read_text() == THEIRS


def test_an_entry_of_ours_that_was_edited_is_replaced_and_then_goes_for_good(desk: Desk) -> None:
    desk.connect()
    desk.path.write_text(desk.path.read_text().replace('"treering",', '"edited",'))
    assert desk.connect().outcome is ChangeOutcome.REPLACED
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


def test_an_entry_that_came_with_the_repository_can_be_taken_out_by_who_says_so(desk: Desk) -> None:
    desk.path.write_text(THEIRS)
    change = desk.remove()
    assert (change.outcome, change.replaces_foreign) == (ChangeOutcome.REMOVED, True)
    assert desk.servers() == {}


def test_what_we_wrote_goes_unasked_and_what_came_back_does_not(desk: Desk) -> None:
    desk.path.write_text(THEIRS)
    assert desk.connect().replaces_foreign
    assert not desk.remove().replaces_foreign
    assert removing_change(CLAUDE, desk.path, desk.ledger).replaces_foreign


def test_an_entry_of_ours_that_was_edited_does_not_go_unasked(desk: Desk) -> None:
    desk.connect()
    unedited = desk.path.read_text()
    desk.path.write_text(unedited.replace("{", '{"x": 1,', 1))
    assert not removing_change(CLAUDE, desk.path, desk.ledger).replaces_foreign
    assert not desk.planned("/other/treering").replaces_foreign
    desk.path.write_text(unedited.replace('"treering",', '"edited",'))
    assert removing_change(CLAUDE, desk.path, desk.ledger).replaces_foreign
    assert desk.planned().replaces_foreign


def test_their_entry_comes_back_though_others_wrote_since(desk: Desk) -> None:
    theirs = json.dumps({"mcpServers": {"treering": CLAUDE.entry("treering", ("--project", "mine")), "a": {}}})
    desk.path.write_text(theirs)
    desk.connect()
    desk.write_another_key()
    desk.remove()
    assert desk.path.read_text() == theirs.replace("{", '{\n  "x": 1,', 1)


def test_their_entry_comes_back_though_ours_was_written_anew(desk: Desk) -> None:
    desk.path.write_text(THEIRS)
    desk.connect()
    desk.write_another_key()
    desk.connect("/new/treering")
    desk.path.write_text(json.dumps(json.loads(desk.path.read_text()), indent=8))
    desk.remove()
    assert json.loads(desk.path.read_text()) == {"x": 1, **json.loads(THEIRS)}


def test_their_entry_comes_back_where_it_stood_and_nowhere_else(desk: Desk) -> None:
    theirs = {"mcpServers": {"treering": CLAUDE.entry("treering") | {"alwaysLoad": False}}}
    desk.path.write_text(json.dumps(theirs))
    desk.connect()
    edited = desk.path.read_text().replace(', "alwaysLoad": true', "")
    desk.path.write_text(f"// this is true\n{edited}")
    desk.remove()
    assert desk.path.read_text() == f"// this is true\n{json.dumps(theirs)}"


def test_what_was_added_is_not_taken_from_where_somebody_put_it(desk: Desk) -> None:
    desk.path.write_text('{"mcpServers": {}}')
    desk.connect()
    parked = desk.path.read_text().replace("mcpServers", "parked").rstrip().removesuffix("}")
    desk.path.write_text(f'{parked}, "mcpServers": {{"treering": {{"command": "theirs"}}}}}}')
    desk.remove()
    assert json.loads(desk.path.read_text()) == {"parked": {"treering": CLAUDE.entry("treering")}, "mcpServers": {}}


def test_nothing_to_take_out_is_no_mishap(desk: Desk) -> None:
    assert desk.remove().outcome is ChangeOutcome.ABSENT
    desk.path.write_text("{}")
    assert desk.remove().outcome is ChangeOutcome.ABSENT
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
