"""A user's home and a repository in which a coding agent is connected to Treering."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import AF_UNIX, socket
from time import monotonic, sleep
from typing import Any

import psutil

from tests.agents.agent_tools import turn_of
from tests.agents.coding_agents import CodingAgent, environment
from tests.agents.hook_leftovers import hook_leftovers
from tests.agents.script import After, Say, Step, ToolCall
from tests.agents.scripted_model import ScriptedModel, serve
from tests.e2e.terminal import COMMAND
from tests.leftovers import processes_left
from tests.mcp_messages import greeting

TIMEOUT = 240  # seconds for one session of an agent on a busy machine
ATTEMPTS = 6


@dataclass
class Workplace:
    agent: CodingAgent
    program: Path
    home: Path
    project: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables that the user has set, for Treering or the agent."""
    page: str = ""
    """Text of the web page that models are asked to read."""
    wrapper: Sequence[str | Path] = ()
    """Command that runs the agent, such as one that limits it."""
    _agent_process: subprocess.Popen[str] | None = None

    def set_up(self, files: Mapping[str, str], home_files: Mapping[str, str] | None = None) -> None:
        """Create the home folder and a repository with these files, all of them committed."""
        for folder, contents in ((self.home, {**self.agent.home_files, **(home_files or {})}), (self.project, files)):
            folder.mkdir()
            for name, text in contents.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text)
        for command in (
            ["init", "--quiet", "--initial-branch", "main"],
            ["add", "--all"],
            ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "--quiet", "-m", "Start"],
        ):
            self.run("git", *command)

    def configure(self, text: str) -> None:
        """Write the user's configuration file of Treering."""
        folder = self.home / ".config" / "treering"
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text(text)

    @property
    def memory_file(self) -> Path:
        [found] = self.home.rglob("memory.db")
        return found

    @property
    def data_folder(self) -> Path:
        return self.home / ".local" / "share" / "treering"

    def spooled_bytes(self) -> int:
        """Size of the events that hooks have recorded and that are not stored yet."""
        return sum(path.stat().st_size for path in self.data_folder.glob("hooks/*/spool*"))

    def leftovers(self) -> list[object]:
        """Processes, sockets, held locks and half of a database that sessions have left.

        An agent may kill its server; the next process that opens the memory completes the database.
        """
        running = processes_left(self.home)
        self.treering("sessions")
        return [*running, *hook_leftovers(self.data_folder)]

    def session(self, *steps: Step, prompt: str = "Do it.", options: Sequence[str] = ()) -> ScriptedModel:
        """Run one session of the agent, which must play all steps and succeed; return its model."""
        plain = [step.step if isinstance(step, After) else step for step in steps]
        actions: dict[int, Callable[[], object]] = {
            number: step.action for number, step in enumerate(steps) if isinstance(step, After)
        }
        if not isinstance(plain[-1] if plain else None, Say):
            plain.append(Say("Done."))
        turns = [turn_of(step, self.agent.tools, self.project) for step in plain]
        return self.play(turns, actions, prompt=prompt, options=options)

    def session_given(self, text: str, *steps: Step, prompt: str, options: Sequence[str] = ()) -> ScriptedModel:
        """Run sessions until the model of one was sent this text; return that model.

        Memory has a deadline, after which it stays silent: a busy machine misses some.
        """
        for _ in range(ATTEMPTS):
            model = self.session(*steps, prompt=prompt, options=options)
            if text in model.last_request():
                return model
        raise AssertionError(f"not given in {ATTEMPTS} sessions: {text}")

    def play(
        self,
        turns: Sequence[ToolCall | Say],
        actions: Mapping[int, Callable[[], object]] | None = None,
        *,
        prompt: str = "Do it.",
        options: Sequence[str] = (),
    ) -> ScriptedModel:
        """Run one session of the agent with these turns of its model."""
        with serve(ScriptedModel(self.agent.dialect, turns, actions or {}, self.page)) as model:
            command = [*self.wrapper, *self.agent.command(self.program, model.url, prompt), *options]
            self.run(*command, **self.agent.variables(model.url))
        assert model.turns_played == len(turns), (model.turns_played, turns)
        return model

    def run(self, *command: str | Path, **variables: str) -> str:
        """Run a command in the project, which must succeed; return what it prints."""
        with subprocess.Popen(
            command,
            cwd=self.project,
            env={**environment(self.home), **self.variables, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            self._agent_process = process
            try:
                printed, complaints = process.communicate(timeout=TIMEOUT)
            finally:
                process.kill()
        assert process.returncode == 0, (command, process.returncode, printed, complaints)
        return printed

    def treering(self, *arguments: str) -> str:
        return self.run(COMMAND, *arguments)

    def treering_json(self, *arguments: str) -> Any:
        return json.loads(self.treering(*arguments, "--json"))

    @contextmanager
    def other_session(self) -> Iterator[None]:
        """Keep a server of another session open, which answers the hooks of all sessions of the repository.

        The server of a session of its own is often still starting when the first hooks ask.
        """
        with subprocess.Popen(
            [COMMAND, "mcp"],
            cwd=self.project,
            env={**environment(self.home), **self.variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            try:
                server.stdin.write(greeting("2025-06-18"))
                server.stdin.flush()
                assert b"serverInfo" in server.stdout.readline()
                self._wait_for_listener()
                yield
            finally:
                server.stdin.close()
                server.wait(TIMEOUT)

    def _wait_for_listener(self) -> None:
        give_up = monotonic() + 60
        while not self._has_listener():
            assert monotonic() < give_up, "the server does not answer hooks"
            sleep(0.05)

    def _has_listener(self) -> bool:
        targets = (json.loads(path.read_text()) for path in self.data_folder.glob("hooks/*/target.json"))
        with socket(AF_UNIX) as client:
            return any(client.connect_ex(target.get("socket") or "") == 0 for target in targets)

    def memory_servers(self) -> list[psutil.Process]:
        """Processes of `treering mcp` that the running agent has started."""
        assert self._agent_process is not None
        below = psutil.Process(self._agent_process.pid).children(recursive=True)
        return [process for process in below if _is_memory_server(process)]


def _is_memory_server(process: psutil.Process) -> bool:
    try:
        words = process.cmdline()
    except psutil.Error:
        return False
    return "mcp" in words and any(Path(word).name == "treering" for word in words)
