"""`treering init --in-project`: shown first, moved last, and what was done is said."""

from pathlib import Path

import pytest

from tests.e2e.terminal import Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """Somebody in a repository, with an empty home."""
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    return Terminal(shop, {"HOME": str(tmp_path), "TREERING_DATA_DIR": str(tmp_path / "data")})


def test_the_memory_moves_into_the_project_and_back(terminal: Terminal, tmp_path: Path) -> None:
    terminal.ok("remember", "Deploy from main")
    inside = terminal.folder / ".treering" / "memory.db"
    assert terminal.json("init", "claude", "--in-project")["memory"] == str(inside)
    assert inside.exists()
    assert "Deploy from main" in terminal.ok("search", "deploy")
    back = Path(terminal.json("init", "--in-data-folder")["memory"])
    assert back.is_relative_to(tmp_path / "data")
    assert "Deploy from main" in terminal.ok("search", "deploy")


def test_a_move_is_shown_before_it_is_made(terminal: Terminal, tmp_path: Path) -> None:
    inside = terminal.folder / ".treering" / "memory.db"
    for arguments in (("init", "--in-project"), ("init", "claude", "--in-project")):
        shown = " ".join(terminal.ok(*arguments, "--dry-run").split())
        # A long path is folded wherever the line ends.
        assert f"the memory moves to {inside}".replace(" ", "") in shown.replace(" ", "")
        assert "nothing was written" in shown
        told = terminal.json(*arguments, "--dry-run")
        assert (told["memory"], told["dry_run"]) == (str(inside), True)
    assert not inside.parent.exists()
    done = terminal.answered("n\n", "init", "claude", "--in-project")
    assert (done.returncode, inside.parent.exists()) == (1, False)
    assert done.stdout.index("the memory moves to") < done.stdout.index("Write this and move the memory? [Y/n]")
    terminal.ok("init", "claude")
    assert "the memory is now in" in terminal.ok("init", "claude", "--in-project")


def test_a_file_that_cannot_be_written_leaves_the_memory_where_it_is(terminal: Terminal) -> None:
    path = terminal.folder / ".mcp.json"
    path.write_text("{}")
    path.chmod(0o444)
    done = terminal.run("init", "claude", "--in-project")
    assert (done.returncode, "read-only" in done.stderr) == (1, True)
    assert not (terminal.folder / ".treering").exists()


def test_a_memory_that_cannot_be_moved_leaves_the_client_connected_and_says_so(terminal: Terminal) -> None:
    (terminal.folder / ".treering").write_text("in the way")
    done = terminal.run("init", "claude", "--in-project")
    assert done.returncode == 1
    assert "Claude Code is connected, but the memory was not moved: " in done.stderr
    assert terminal.json("init", "claude")["outcome"] == "already connected"


@pytest.mark.parametrize("option", ["--in-project", "--in-data-folder"])
def test_a_memory_that_is_named_is_not_moved(terminal: Terminal, tmp_path: Path, option: str) -> None:
    terminal.environment["TREERING_DB"] = str(tmp_path / "named.db")
    for arguments in ((option,), ("claude", option)):
        assert f"which {option} does not move; unset it" in terminal.refused("init", *arguments)
    assert not (terminal.folder / ".mcp.json").exists()
    assert not (tmp_path / "data").exists()
