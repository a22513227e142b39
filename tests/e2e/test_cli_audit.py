"""audit, projects and staleness from the command line."""

import subprocess
from pathlib import Path

import pytest

from tests.e2e.terminal import Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, {"TREERING_DB": str(tmp_path / "memory.db"), "TREERING_PROJECT": "shop"})


def test_the_audit_log_is_listed(terminal: Terminal) -> None:
    id = terminal.json("remember", "The port is 5432")["id"]
    terminal.ok("context", "port")
    terminal.ok("forget", id)
    entries = terminal.json("audit")["entries"]
    assert [entry["action"] for entry in entries] == ["delete", "inject", "create"]
    assert entries[1]["detail"]["records"] == [id]
    assert [entry["action"] for entry in terminal.json("audit", id)["entries"]] == ["delete", "create"]
    assert len(terminal.json("audit", "--limit", "1")["entries"]) == 1
    assert "inject" in (shown := terminal.ok("audit", "--action", "inject"))
    assert "delete" not in shown
    assert "use one of" in terminal.refused("audit", "--action", "eat")


def test_projects_are_listed(terminal: Terminal) -> None:
    assert "no projects" in terminal.ok("projects")
    terminal.ok("remember", "The port is 5432")
    terminal.ok("turn", "Hello", "--session", "s", "--project", "office")
    sizes = {each["project"]: (each["knowledge"], each["turns"]) for each in terminal.json("projects")["projects"]}
    assert sizes == {"shop": (1, 0), "office": (0, 1)}
    shown = terminal.ok("projects")
    assert "office" in shown
    assert "0 records, 1 turn, 0 episodes" in shown
    for command in ("stats", "report"):
        shown = terminal.ok(command, "--project", "office")
        assert "1 turn, 1 session" in shown
        assert "1 turns" not in shown


def test_staleness_outside_of_a_repository_says_why_it_was_skipped(terminal: Terminal) -> None:
    assert "skipped: no git repository with commits was found" in terminal.ok("maintain", "staleness")


def test_a_use_of_an_unknown_record_fails(terminal: Terminal) -> None:
    id = terminal.json("remember", "The port is 5432")["id"]
    assert "no knowledge record with id 'nope' in project 'shop'" in terminal.refused("used", "nope")
    assert "1 of 2 records" in terminal.ok("used", "nope", id)


def _git(folder: Path, *arguments: str) -> None:
    named = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *named, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one file."""
    folder = tmp_path / "project"
    folder.mkdir()
    _git(folder, "init", "-q")
    (folder / "deploy.py").write_text("one\n" * 50)
    _git(folder, "add", ".")
    _git(folder, "commit", "-qm", "one")
    return folder


@pytest.mark.parametrize("how", ["own memory", "named memory", "from elsewhere"])
def test_staleness_compares_with_the_repository(project: Path, tmp_path: Path, how: str) -> None:
    own = {"TREERING_DATA_DIR": str(tmp_path / "data"), "HOME": str(tmp_path)}
    named = {"TREERING_DB": str(tmp_path / "memory.db"), "TREERING_PROJECT": "shop"}
    folder = tmp_path if how == "from elsewhere" else project
    terminal = Terminal(folder, own if how == "own memory" else named)
    options = ("--repository", str(project)) if how == "from elsewhere" else ()
    id = terminal.json("remember", "Deploys run from main", "--file", "deploy.py")["id"]
    (run,) = terminal.json("maintain", "staleness", *options)["runs"]
    assert "skipped_without_repository" not in run["counts"]
    _git(project, "rm", "-q", "deploy.py")
    _git(project, "commit", "-qm", "gone")
    terminal.ok("maintain", "staleness", *options)
    assert terminal.json("get", id)["stale_at"] is not None


def test_other_stages_do_not_compare_a_named_memory_with_the_repository_around(project: Path, tmp_path: Path) -> None:
    terminal = Terminal(project, {"TREERING_DB": str(tmp_path / "memory.db"), "TREERING_PROJECT": "shop"})
    runs = {run["stage"]: run["counts"] for run in terminal.json("maintain")["runs"]}
    assert runs["staleness"] == {"skipped_without_repository": 1}
