"""Two agents on one project at once, each found by the folder it works in: both write, and each reads the other."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from treering.compose import project_name
from treering.core.errors import StoreUnavailable

RECORDS = 25
PATIENCE = 120
COMMAND = (sys.executable, "-c", "from treering.interfaces.cli.app import main; main()")

# Says that it is there, writes, and reads until everything of the other is there too.
AGENT = """
import sys, time
import treering

name, other, records = sys.argv[1], sys.argv[2], int(sys.argv[3])
with treering.open() as memory:
    print(memory.store.location, memory.scope.project, flush=True)
    sys.stdin.readline()
    for number in range(records):
        memory.remember(f"{name} learned lesson {number}")
    wanted = {f"{other} learned lesson {number}" for number in range(records)}
    deadline = time.monotonic() + 100
    while wanted - {hit.text for hit in memory.recall("", limit=4 * records)}:
        assert time.monotonic() < deadline, "the other is not heard"
        time.sleep(0.02)
"""


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


def started(folder: Path, env: dict[str, str], *said: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", AGENT, *said],
        cwd=folder,
        env=env,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def told(folder: Path, env: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    call = [*COMMAND, *command]
    return subprocess.run(call, cwd=folder, env=env, text=True, capture_output=True, timeout=PATIENCE, check=False)


def chosen(root: Path, env: dict[str, str], place: str) -> subprocess.CompletedProcess[str]:
    program = f"import sys; from pathlib import Path; from treering.compose import {place}; print({place}(Path('.')))"
    call = [sys.executable, "-c", program]
    return subprocess.run(call, cwd=root, env=env, text=True, capture_output=True, timeout=PATIENCE, check=False)


@pytest.mark.parametrize("place", ["keep_in_data_folder", "keep_in_project"])
def test_two_agents_on_one_project_both_work(
    root: Path, tmp_path: Path, surroundings: dict[str, str], place: str
) -> None:
    file = chosen(root, surroundings, place).stdout.strip()
    first = started(root / "src" / "deep", surroundings, "first", "second", str(RECORDS))
    second = started(tmp_path / "short" / "tests", surroundings, "second", "first", str(RECORDS))
    agents = (first, second)
    try:
        assert [agent.stdout.readline().split() for agent in agents if agent.stdout] == [[file, project_name(root)]] * 2
        refused = chosen(root, surroundings, "keep_in_project" if "data" in place else "keep_in_data_folder")
        assert StoreUnavailable.__name__ in refused.stderr
        for agent in agents:
            assert agent.stdin is not None
            agent.stdin.write("begin\n")
            agent.stdin.flush()
        for agent in agents:
            _, complaints = agent.communicate(timeout=PATIENCE)
            assert (agent.returncode, complaints) == (0, "")
    finally:
        for agent in agents:
            agent.kill()
            agent.communicate()
    counted = json.loads(told(root, surroundings, "stats", "--json").stdout)
    assert counted["location"] == file
    assert counted["records"]["knowledge"] == 2 * RECORDS
    report = json.loads(told(root / "src", surroundings, "doctor", "--json").stdout)
    assert (report["healthy"], report["repository"], report["location"]) == (True, str(root), file)


@pytest.mark.parametrize("place", ["keep_in_data_folder", "keep_in_project"])
def test_many_commands_at_once_from_everywhere_lose_nothing(
    root: Path, tmp_path: Path, surroundings: dict[str, str], place: str
) -> None:
    chosen(root, surroundings, place)
    folders = (root, root / "src" / "deep", tmp_path / "short", tmp_path / "short" / "tests")
    call = [*COMMAND, "remember"]
    running = [
        subprocess.Popen([*call, f"lesson {number}"], cwd=folder, env=surroundings, stdout=subprocess.DEVNULL)
        for number, folder in enumerate(folders)
    ]
    assert [process.wait(PATIENCE) for process in running] == [0] * len(folders)
    assert json.loads(told(root, surroundings, "stats", "--json").stdout)["records"]["knowledge"] == len(folders)


def test_whoever_moves_it_while_others_open_it_one_memory_is_left(
    root: Path, tmp_path: Path, surroundings: dict[str, str]
) -> None:
    told(root, surroundings, "remember", "the only one")
    for place in ("in-project", "in-data-folder") * 2:
        commands = [("init", f"--{place}")] * 3 + [("search", "only", "--json")] * 2
        running = [
            subprocess.Popen(
                [*COMMAND, *command], cwd=root, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            for command in commands
        ]
        answers = [process.communicate(timeout=PATIENCE)[0] for process in running]
        assert ["the only one" in answer.decode() for answer in answers[3:]] == [True, True]
        # Movers that met somebody who had it open were refused; afterwards nobody has.
        assert told(root, surroundings, "init", f"--{place}").returncode == 0
        assert len([*(tmp_path / "data").rglob("memory.db*"), *root.rglob("memory.db*")]) == 1
