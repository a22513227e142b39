"""Two agents on one project at once, each found by the folder it works in: both write, and each reads the other."""

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import treering
from tests.integration.crew import Crew
from tests.integration.fork_server import tell
from tests.lengths import at_length
from treering import compose
from treering.compose import project_name
from treering.core.errors import StoreUnavailable
from treering.interfaces.cli.app import main

RECORDS = 25
PATIENCE = 120
ROUNDS = at_length(1, full=2)


def go_to(folder: str, environment: dict[str, str]) -> None:
    """Be as a process that was started there."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)


def choose(verb: str, **where: Any) -> None:
    """Choose where the memory of the project is kept; tells where that is, or the error."""
    go_to(**where)
    try:
        tell(chosen=str(getattr(compose, verb)(Path("."))))
    except treering.TreeringError as error:
        tell(refused=type(error).__name__)


def share_lessons(name: str, other: str, begin: str, **where: Any) -> None:
    """Tell which memory this is, write, and read until everything of the other is there too."""
    go_to(**where)
    with treering.open() as memory:
        tell(memory=[memory.store.location, memory.scope.project])
        deadline = time.monotonic() + PATIENCE
        while not Path(begin).exists():
            assert time.monotonic() < deadline
            time.sleep(0.005)
        for number in range(RECORDS):
            memory.remember(f"{name} learned lesson {number}")
        wanted = {f"{other} learned lesson {number}" for number in range(RECORDS)}
        while wanted - {hit.text for hit in memory.search("", limit=4 * RECORDS)}:
            assert time.monotonic() < deadline, "the other is not heard"
            time.sleep(0.02)


def run_command(arguments: Sequence[str], printed: str, **where: Any) -> None:
    """Run `treering`, which prints to a file, and tell its exit code."""
    go_to(**where)
    news = os.dup(1)
    os.dup2(os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    sys.argv = ["treering", *arguments]
    try:
        main()
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    sys.stdout.flush()
    os.dup2(news, 1)
    tell(command=printed, code=code)


class Commands:
    """Runs `treering` commands, each in a process of its own."""

    def __init__(self, crew: Crew, folder: Path, environment: dict[str, str]) -> None:
        self.crew, self._folder, self.environment = crew, folder, environment
        self._started = 0

    def start(self, folder: Path, *arguments: str) -> tuple[int, Path]:
        """The process, and the file to which it prints."""
        self._started += 1
        printed = self._folder / f"printed-{self._started}"
        pid = self.crew.start(
            run_command, arguments=arguments, printed=str(printed), folder=str(folder), environment=self.environment
        )
        return pid, printed

    def end(self, pid: int, printed: Path) -> tuple[int, str]:
        """Its exit code and what it printed."""
        self.crew.join(pid)
        (code,) = (news["code"] for news in self.crew.news if news.get("command") == str(printed))
        return code, printed.read_text()

    def run(self, folder: Path, *arguments: str) -> tuple[int, str]:
        return self.end(*self.start(folder, *arguments))

    def choose(self, folder: Path, verb: str) -> None:
        self.crew.join(self.crew.start(choose, verb=verb, folder=str(folder), environment=self.environment))


@pytest.fixture
def commands(crew: Crew, tmp_path: Path, surroundings: dict[str, str]) -> Commands:
    return Commands(crew, tmp_path, surroundings)


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TREERING_")}
    return {**kept, "TREERING_DATA_DIR": str(tmp_path / "data"), "TREERING_EMBEDDER": "bundled"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "app"
    for folder in (".git", "src/deep", "tests"):
        (made / folder).mkdir(parents=True)
    (tmp_path / "short").symlink_to(made)
    return made


@pytest.mark.parametrize("place", ["keep_in_data_folder", "keep_in_project"])
def test_two_agents_on_one_project_both_work(root: Path, tmp_path: Path, commands: Commands, place: str) -> None:
    crew, environment = commands.crew, commands.environment
    commands.choose(root, place)
    (file,) = crew.told("chosen")
    begin, folders = tmp_path / "begin", (root / "src" / "deep", tmp_path / "short" / "tests")
    agents = [
        crew.start(share_lessons, name=name, other=other, begin=str(begin), folder=str(folder), environment=environment)
        for folder, (name, other) in zip(folders, (("first", "second"), ("second", "first")), strict=True)
    ]
    crew.wait_until(lambda: len(crew.told("memory")) == 2)
    assert crew.told("memory") == [[file, project_name(root)]] * 2
    commands.choose(root, "keep_in_project" if "data" in place else "keep_in_data_folder")
    assert crew.told("refused") == [StoreUnavailable.__name__]
    begin.touch()
    for agent in agents:
        crew.join(agent)
    counted = json.loads(commands.run(root, "stats", "--json")[1])
    assert counted["location"] == file
    assert counted["records"]["knowledge"] == 2 * RECORDS
    report = json.loads(commands.run(root / "src", "doctor", "--json")[1])
    assert (report["healthy"], report["repository"], report["location"]) == (True, str(root), file)


@pytest.mark.parametrize("place", ["keep_in_data_folder", "keep_in_project"])
def test_many_commands_at_once_from_everywhere_lose_nothing(
    root: Path, tmp_path: Path, commands: Commands, place: str
) -> None:
    commands.choose(root, place)
    folders = (root, root / "src" / "deep", tmp_path / "short", tmp_path / "short" / "tests")
    running = [commands.start(folder, "remember", f"lesson {number}") for number, folder in enumerate(folders)]
    assert [commands.end(*command)[0] for command in running] == [0] * len(folders)
    assert json.loads(commands.run(root, "stats", "--json")[1])["records"]["knowledge"] == len(folders)


def test_whoever_moves_it_while_others_open_it_one_memory_is_left(
    root: Path, tmp_path: Path, commands: Commands
) -> None:
    assert commands.run(root, "remember", "the only one")[0] == 0
    for place in ("in-project", "in-data-folder") * ROUNDS:
        moves = [commands.start(root, "init", f"--{place}") for _ in range(3)]
        searches = [commands.start(root, "search", "only", "--json") for _ in range(2)]
        for move in moves:
            commands.end(*move)
        assert ["the only one" in commands.end(*search)[1] for search in searches] == [True, True]
        # Moves that met a process that had it open were refused; afterwards none has.
        assert commands.run(root, "init", f"--{place}")[0] == 0
        assert len([*(tmp_path / "data").rglob("memory.db*"), *root.rglob("memory.db*")]) == 1
