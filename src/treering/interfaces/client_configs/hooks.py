"""Table of the hooks that each coding agent runs, and where it is configured to run them."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treering.interfaces.client_configs.machine import ConfigScope, Machine
from treering.interfaces.client_configs.parts import HookPart
from treering.interfaces.hooks.agents import AGENTS, TIMEOUT_SECONDS, Agent

_CODEX_END_SECONDS = 3
"""Codex allows no more for this event, and warns on each start if more is configured."""


@dataclass(frozen=True, slots=True)
class HookSetup:
    """The hooks of one agent: the file they are in, the events, and the form of an entry."""

    agent: Agent
    """With its hooks and the unit of their timeouts."""
    project_file: str
    user_file: Callable[[Machine], Path]
    left_out: tuple[str, ...] = ()
    """Hooks that are not installed, although the hook process knows them."""
    first: Mapping[str, Any] = field(default_factory=dict)
    grouped: bool = True
    """Whether each array holds groups of hooks, which may have a matcher, or the hooks themselves."""
    takes_arguments: bool = False
    """Whether a program and its arguments are given apart; otherwise the agent passes one string to a shell."""
    seconds: Mapping[str, int] = field(default_factory=dict)
    """Timeouts of single events."""
    initial: Mapping[str, Any] = field(default_factory=dict)
    """Members that the file must have beside the hooks."""
    after: str = ""
    """What the user does after the hooks were added."""
    after_project: str = ""
    """A note for hooks of one project in a file that is not meant to be committed."""
    commands: tuple[str, ...] = ()
    """Custom commands of the agent, which are files of this package, and the folder that they belong into."""
    commands_folder: str = ""

    @property
    def events(self) -> tuple[str, ...]:
        return tuple(name for name in self.agent.hooks if name not in self.left_out)

    def file(self, machine: Machine, scope: ConfigScope) -> Path:
        return self.user_file(machine) if scope is ConfigScope.USER else machine.project / self.project_file

    def parts(self, command: Sequence[str] | None) -> tuple[HookPart, ...]:
        """One hook per event that runs the command; without a command, none."""
        return tuple(
            HookPart(event, None if command is None else self._hook(event, command), self.grouped)
            for event in self.events
        )

    def _hook(self, event: str, command: Sequence[str]) -> dict[str, Any]:
        program, *arguments = command
        started = {"command": program, "args": arguments} if self.takes_arguments else {"command": _shell_line(command)}
        timeout = self.seconds.get(event, TIMEOUT_SECONDS) * _UNITS_PER_SECOND[self.agent.timeout_unit]
        return {**self.first, **started, "timeout": timeout}


def _shell_line(command: Sequence[str]) -> str:
    """The command for a POSIX shell, without names of variables, which Gemini CLI replaces even between quotes."""
    return shlex.join(command).replace("$", "$''")


_UNITS_PER_SECOND = {"s": 1, "ms": 1000}
_COMMAND = {"type": "command"}

HOOK_SETUPS = {
    "claude": HookSetup(
        agent=AGENTS["claude"],
        # Not the settings that a team shares: the commands contain paths of this machine.
        project_file=".claude/settings.local.json",
        user_file=lambda machine: machine.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
        first=_COMMAND,
        takes_arguments=True,
        after="`/hooks` shows the hooks",
        after_project=".claude/settings.local.json contains paths of this machine: keep it out of git",
    ),
    "codex": HookSetup(
        agent=AGENTS["codex"],
        project_file=".codex/hooks.json",
        user_file=lambda machine: machine.folder("CODEX_HOME", ".codex") / "hooks.json",
        first=_COMMAND,
        seconds={"SessionEnd": _CODEX_END_SECONDS},
        after="review and trust the hooks with `/hooks` in Codex: until then it skips them",
    ),
    "gemini": HookSetup(
        agent=AGENTS["gemini"],
        project_file=".gemini/settings.json",
        user_file=lambda machine: machine.folder("GEMINI_CLI_HOME") / ".gemini" / "settings.json",
        # Version 0.61 runs it before every request to the model.
        left_out=("PreCompress",),
        first={"name": "treering", **_COMMAND},
        commands=("remember.toml", "memory.toml", "forget.toml"),
        # In a folder of their own, because Gemini CLI has a `/memory` already.
        commands_folder="commands/treering",
        after="`/hooks` shows the hooks; Gemini CLI names those of a project when it starts",
    ),
    "cursor": HookSetup(
        agent=AGENTS["cursor"],
        project_file=".cursor/hooks.json",
        user_file=lambda machine: machine.home / ".cursor" / "hooks.json",
        grouped=False,
        initial={"version": 1},
        after="the Hooks page of Cursor's settings shows the hooks",
    ),
    "vscode": HookSetup(
        agent=AGENTS["vscode"],
        project_file=".github/hooks/treering.json",
        user_file=lambda machine: machine.home / ".copilot" / "hooks" / "treering.json",
        first=_COMMAND,
        grouped=False,
        after="`Chat: Open Customizations` in VS Code shows the hooks",
    ),
}
