"""`treering observe` with sessions of several projects: each goes to the memory of the folder where it ran."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.terminal import Terminal
from tests.observed import RULE
from tests.transcripts import AT, write_lines

OTHER_RULE = "Never push to the main branch without a review."


def claude_code(file: Path, session: str, cwd: Path | None, prompt: str, edited: str = "tide.py") -> None:
    common: dict[str, Any] = {"sessionId": session, "isSidechain": False, "version": "2.1.0"}
    if cwd is not None:
        common["cwd"] = str(cwd)
    call = {"type": "tool_use", "id": f"toolu_{session}", "name": "Edit", "input": {"file_path": f"{cwd}/{edited}"}}
    write_lines(
        file,
        [
            {
                "type": "user",
                "uuid": f"{session}-1",
                "timestamp": AT.format(1),
                "message": {"role": "user", "content": prompt},
                **common,
            },
            {
                "type": "assistant",
                "uuid": f"{session}-2",
                "timestamp": AT.format(2),
                "message": {"role": "assistant", "content": [call]},
                **common,
            },
        ],
    )


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """Transcripts of two repositories, of a folder that is gone, and of a session without a folder."""
    for name in ("shop", "harbour"):
        (tmp_path / "code" / name / ".git").mkdir(parents=True)
    (tmp_path / "code" / "shop" / "web").mkdir()
    recorded = tmp_path / "projects"
    claude_code(recorded / "-shop" / "a.jsonl", "a", tmp_path / "code" / "shop", RULE)
    claude_code(recorded / "-shop-web" / "b.jsonl", "b", tmp_path / "code" / "shop" / "web", "Hello")
    claude_code(recorded / "-harbour" / "c.jsonl", "c", tmp_path / "code" / "harbour", OTHER_RULE)
    claude_code(recorded / "-gone" / "d.jsonl", "d", tmp_path / "code" / "gone", "Hello")
    claude_code(recorded / "-none" / "e.jsonl", "e", None, "Hello")
    return recorded


def ids(terminal: Terminal, *options: str) -> set[str]:
    return {each["id"] for each in terminal.json("sessions", *options)["sessions"]}


@pytest.mark.parametrize("in_one_database", [False, True])
def test_each_session_goes_to_the_project_of_its_folder(projects: Path, tmp_path: Path, in_one_database: bool) -> None:
    place = {"TREERING_DB": str(tmp_path / "all.db")} if in_one_database else {}
    environment = {"TREERING_DATA_DIR": str(tmp_path / "data"), **place}
    elsewhere = Terminal(tmp_path, environment)
    done = elsewhere.json("observe", str(projects))
    assert (done["sessions"], done["without_root"], done["missing_root"]) == (3, 1, 1)
    assert sorted((name.rpartition("-")[0], count) for name, count in done["projects"].items()) == [
        ("harbour", 1),
        ("shop", 2),
    ]
    shop, harbour = (Terminal(tmp_path / "code" / name, environment) for name in ("shop", "harbour"))
    assert (ids(shop), ids(harbour), ids(elsewhere)) == ({"a", "b"}, {"c"}, set())
    assert OTHER_RULE not in shop.ok("search", "rules for pushing and pnpm")
    assert [each["path"] for each in shop.json("session", "b")["files"]] == ["web/tide.py"]
    again = elsewhere.json("observe", str(projects))
    assert (again["sessions"], again["known"]) == (3, 3)


def test_the_report_names_projects_and_what_was_left_out(projects: Path, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, {"TREERING_DATA_DIR": str(tmp_path / "data"), "COLUMNS": "200"})
    shown = terminal.ok("observe", str(projects))
    assert "project shop-" in shown
    assert ": 2 sessions" in shown
    assert "1 sessions that do not say in which folder they ran; --project NAME observes them" in shown
    assert "1 sessions of folders that do not exist here; --project NAME observes them" in shown


def test_a_named_project_takes_all(projects: Path, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, {"TREERING_DB": str(tmp_path / "all.db")})
    done = terminal.json("observe", str(projects), "--project", "mine")
    assert (done["sessions"], done["projects"]) == (5, {"mine": 5})
    assert ids(terminal, "--project", "mine") == set("abcde")


def test_a_root_is_for_the_memory_of_that_folder(projects: Path, tmp_path: Path) -> None:
    environment = {"TREERING_DATA_DIR": str(tmp_path / "data")}
    shop = tmp_path / "code" / "shop"
    done = Terminal(tmp_path, environment).json("observe", str(projects), "--root", str(shop))
    assert done["elsewhere"] == 2
    assert ids(Terminal(shop, environment)) == {"a", "b", "e"}
    # A folder of another machine: its sessions are for the memory of the current folder.
    gone = tmp_path / "code" / "gone"
    Terminal(tmp_path / "code" / "harbour", environment).ok("observe", str(projects), "--root", str(gone))
    assert ids(Terminal(tmp_path / "code" / "harbour", environment)) == {"d", "e"}


def test_a_memory_that_cannot_be_opened_does_not_stop_the_others(projects: Path, tmp_path: Path) -> None:
    environment = {"TREERING_DATA_DIR": str(tmp_path / "data")}
    shop = Terminal(tmp_path / "code" / "shop", environment)
    shop.ok("init", "--in-project", "--yes")
    (tmp_path / "code" / "shop" / ".treering" / "memory.db").unlink()
    done = Terminal(tmp_path, environment).json("observe", str(projects))
    assert [name.rpartition("-")[0] for name in done["failed"]] == ["shop"]
    assert ids(Terminal(tmp_path / "code" / "harbour", environment)) == {"c"}
