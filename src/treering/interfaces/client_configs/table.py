"""The coding agents that can be connected, one row each."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from treering.core.errors import InvalidInput
from treering.interfaces.client_configs import json_text, toml_text
from treering.interfaces.client_configs.formats import Format, Place

SERVER = "treering"
FORWARDED = (
    "TREERING_BACKGROUND",
    "TREERING_BLOBS",
    "TREERING_DATA_DIR",
    "TREERING_DB",
    "TREERING_EMBEDDER",
    "TREERING_EMBEDDER_KEY",
    "TREERING_PRINCIPAL",
    "TREERING_PROJECT",
    "TREERING_RERANKER",
    "TREERING_RERANKER_KEY",
    "TREERING_TENANT",
    "TREERING_WRITER",
    "TREERING_WRITER_KEY",
    "XDG_DATA_HOME",
)
"""What decides which memory is opened, for a client that hands on no variable that is not named."""
_WORKSPACE = ("--root", "${workspaceFolder}")
"""For clients whose servers start elsewhere than in the folder that is open: they fill in which one that is."""


class Reach(StrEnum):
    """For whom a server is configured."""

    PROJECT = "project"
    USER = "user"

    @property
    def other(self) -> "Reach":
        return Reach.PROJECT if self is Reach.USER else Reach.USER


@dataclass(frozen=True, slots=True)
class Machine:
    """Where files are looked for."""

    project: Path
    home: Path
    variables: Mapping[str, str]
    platform: str

    def folder(self, variable: str, otherwise: str = "") -> Path:
        """The folder that a variable names, else one at home."""
        named = self.variables.get(variable)
        return Path(named).expanduser() if named else self.home / otherwise

    def has(self, program: str) -> bool:
        return shutil.which(program, path=self.variables.get("PATH", "")) is not None


@dataclass(frozen=True, slots=True)
class Client:
    """A coding agent: where its servers are listed, how an entry looks, and what people do next."""

    name: str
    title: str
    program: str
    format: Format
    servers: str
    project_file: str
    user_file: Callable[[Machine], Path]
    folder: Callable[[Machine], Path]
    """What is there where it is installed."""
    after: str
    """What to do once the entry is there."""
    after_user: str = ""
    """What else to know where it is there for all projects."""
    reach: Reach = Reach.PROJECT
    first: Mapping[str, Any] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    last: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> Place:
        return self.servers, SERVER

    def file(self, machine: Machine, reach: Reach) -> Path:
        return self.user_file(machine) if reach is Reach.USER else machine.project / self.project_file

    def is_found(self, machine: Machine) -> bool:
        """Whether somebody uses it here."""
        files = (self.file(machine, reach) for reach in Reach)
        # Unlike those of a Path, these are False where nobody may look.
        return (
            machine.has(self.program)
            or os.path.isdir(self.folder(machine))
            or any(os.path.exists(file) for file in files)
        )

    def entry(self, command: str, options: tuple[str, ...] = ()) -> dict[str, Any]:
        """What is written under our name."""
        started = {"command": command, "args": ["mcp", *self.arguments, *options]}
        return {**self.first, **started, **self.last}


def _vs_code(machine: Machine) -> Path:
    places = {
        "darwin": machine.home / "Library" / "Application Support",
        "win32": machine.folder("APPDATA", "AppData/Roaming"),
    }
    return places.get(machine.platform, machine.folder("XDG_CONFIG_HOME", ".config")) / "Code" / "User"


CLIENTS = (
    Client(
        name="claude",
        title="Claude Code",
        program="claude",
        format=json_text,
        servers="mcpServers",
        project_file=".mcp.json",
        user_file=lambda machine: machine.folder("CLAUDE_CONFIG_DIR") / ".claude.json",
        folder=lambda machine: machine.folder("CLAUDE_CONFIG_DIR", ".claude"),
        first={"type": "stdio"},
        # Without it the tools are not in sight until Claude searches for them.
        last={"alwaysLoad": True},
        after="start Claude Code anew and approve the server where it asks; `/mcp` shows it",
    ),
    Client(
        name="codex",
        title="Codex",
        program="codex",
        format=toml_text,
        servers="mcp_servers",
        project_file=".codex/config.toml",
        user_file=lambda machine: machine.folder("CODEX_HOME", ".codex") / "config.toml",
        folder=lambda machine: machine.folder("CODEX_HOME", ".codex"),
        # The file of a project counts in projects only that Codex was told to trust.
        reach=Reach.USER,
        last={"env_vars": list(FORWARDED)},
        after="start a new Codex session; `/mcp` in it, or `codex mcp list`, shows the server",
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        program="gemini",
        format=json_text,
        servers="mcpServers",
        project_file=".gemini/settings.json",
        user_file=lambda machine: machine.folder("GEMINI_CLI_HOME") / ".gemini" / "settings.json",
        folder=lambda machine: machine.folder("GEMINI_CLI_HOME") / ".gemini",
        after="start Gemini CLI anew and trust the folder where it asks (in scripts: GEMINI_CLI_TRUST_WORKSPACE=true); "
        "`/mcp` or `gemini mcp list` shows the server",
    ),
    Client(
        name="cursor",
        title="Cursor",
        program="cursor",
        format=json_text,
        servers="mcpServers",
        project_file=".cursor/mcp.json",
        user_file=lambda machine: machine.home / ".cursor" / "mcp.json",
        folder=lambda machine: machine.home / ".cursor",
        first={"type": "stdio"},
        arguments=_WORKSPACE,
        after="restart Cursor; its settings list the server under MCP, where it is switched on",
    ),
    Client(
        name="vscode",
        title="VS Code",
        program="code",
        format=json_text,
        servers="servers",
        project_file=".vscode/mcp.json",
        user_file=lambda machine: _vs_code(machine) / "mcp.json",
        folder=_vs_code,
        first={"type": "stdio"},
        arguments=_WORKSPACE,
        after="run `MCP: List Servers` from the command palette of VS Code and start the server there",
        after_user="where VS Code says that `workspaceFolder` cannot be resolved, connect each project: `--no-user`",
    ),
)
NAMES = tuple(client.name for client in CLIENTS)


def client_named(name: str) -> Client:
    found = next((client for client in CLIENTS if client.name == name), None)
    if found is None:
        raise InvalidInput(f"no client is called {name!r}; these are known: {', '.join(NAMES)}")
    return found
