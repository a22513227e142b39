"""Many sessions in a row leave no process, socket, lock or open file behind."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest

from tests.agents.coding_agents import environment
from tests.agents.hook_leftovers import hook_leftovers
from tests.agents.script import Run, Say
from tests.agents.workplace import Workplace
from tests.forked_process import ForkedProcess
from tests.leftovers import processes_left
from tests.mcp_messages import greeting
from treering.core.settings import Settings
from treering.interfaces.hooks.command import hook_command

pytestmark = pytest.mark.agents

SESSIONS = 200
REAL_SESSIONS = 3  # of each agent
PATIENCE = 60


def test_sessions_of_real_agents(workplace: Workplace) -> None:
    for number in range(REAL_SESSIONS):
        workplace.session(Run(f"echo {number}"), Say("Done."))
    assert workplace.leftovers() == []
    assert len(workplace.treering_json("sessions")["sessions"]) == REAL_SESSIONS


def test_two_hundred_sessions_as_an_agent_starts_them(tmp_path: Path) -> None:
    """Each session starts a server and the processes of four hooks, and ends them as Claude Code does."""
    place = _Place(tmp_path)
    for number in range(SESSIONS):
        with place.server():
            place.play(f"session-{number}")
    assert place.leftovers() == []


def test_a_server_keeps_no_file_open_for_a_session(tmp_path: Path) -> None:
    """Beside those of its pool of connections, which a busy machine may fill later than the first sessions."""
    place, pool = _Place(tmp_path), 3 * Settings().store.pool_size  # the database, its log and its shared memory
    with place.server() as server:
        _play(place, 20)
        most = server.num_fds() + pool
        _play(place, 2 * pool)
        give_up = monotonic() + PATIENCE
        while server.num_fds() > most and monotonic() < give_up:
            sleep(0.05)
        assert server.num_fds() <= most, server.open_files()
    assert place.leftovers() == []


def _play(place: "_Place", sessions: int) -> None:
    for number in range(sessions):
        place.play(f"{sessions}-{number}")


class _Place:
    """A home folder and a repository, in which a server and hooks run as an agent starts them."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        (self.project / ".git").mkdir(parents=True)
        self._hook = hook_command("claude")
        # A forked server keeps the options of the interpreter that it was forked from.
        python = {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}
        self._variables = environment(self.home) | python

    @contextmanager
    def server(self) -> Iterator[psutil.Process]:
        """Start a server, and end it by closing its input."""
        with ForkedProcess(("mcp",), cwd=self.project, env=self._variables) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(greeting("2025-06-18"))
            process.stdin.flush()
            assert b"serverInfo" in process.stdout.readline()
            yield psutil.Process(process.pid)
            process.stdin.close()
            assert process.wait(PATIENCE) == 0

    def leftovers(self) -> list[object]:
        return [*processes_left(self.home, self.project), *hook_leftovers(self.home / ".local" / "share" / "treering")]

    def play(self, session: str) -> None:
        """The hooks of a short session."""
        common = {"session_id": session, "cwd": str(self.project), "transcript_path": "/nowhere.jsonl"}
        bash = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": f"toolu_{session}"}
        for fields in (
            {"hook_event_name": "SessionStart", "source": "startup"},
            {"hook_event_name": "UserPromptSubmit", "prompt": "Which files are in this folder?"},
            {"hook_event_name": "PostToolUse", **bash, "tool_response": {"stdout": "README.md", "stderr": ""}},
            {"hook_event_name": "SessionEnd", "reason": "other"},
        ):
            done = subprocess.run(
                self._hook,
                cwd=self.project,
                env=self._variables,
                input=json.dumps({**common, **fields}),
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            assert (done.returncode, done.stderr) == (0, ""), done
