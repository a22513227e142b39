"""Table of the coding agents that can be connected."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from treering.core.errors import InvalidInput
from treering.interfaces.client_configs import json_text, toml_text
from treering.interfaces.client_configs.formats import ConfigFormat, Place

SERVER = "treering"
FORWARDED = (
    "TREERING_BACKGROUND",
    "TREERING_BLOBS",
    "TREERING_CONFIG_DIR",
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
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)
"""Variables that decide which memory is opened, for a client that passes on only the named ones."""
_WORKSPACE = ("--root", "${workspaceFolder}")
"""For clients that start servers outside the open folder: they substitute its path."""


class ConfigScope(StrEnum):
    """Whether a server is configured for one project or for all projects of the user."""

    PROJECT = "project"
    USER = "user"

    @property
    def other(self) -> "ConfigScope":
        return ConfigScope.PROJECT if self is ConfigScope.USER else ConfigScope.USER


@dataclass(frozen=True, slots=True)
class Machine:
    """The places where configuration files are."""

    project: Path
    home: Path
    variables: Mapping[str, str]
    platform: str

    def folder(self, variable: str, default: str = "") -> Path:
        """The folder that an environment variable names, else one in the home folder."""
        named = self.variables.get(variable)
        return Path(named).expanduser() if named else self.home / default

    def has(self, program: str) -> bool:
        return shutil.which(program, path=self.variables.get("PATH", "")) is not None


@dataclass(frozen=True, slots=True)
class Client:
    """A coding agent: its configuration files, the form of an entry, and what the user does next."""

    name: str
    title: str
    program: str
    format: ConfigFormat
    servers: str
    project_file: str
    user_file: Callable[[Machine], Path]
    folder: Callable[[Machine], Path]
    """A folder that exists if the agent is installed."""
    after: str
    """What the user does after the entry was added."""
    after_user: str = ""
    """A note for an entry that is for all projects."""
    scope: ConfigScope = ConfigScope.PROJECT
    first: Mapping[str, Any] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    last: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> Place:
        return self.servers, SERVER

    def file(self, machine: Machine, scope: ConfigScope) -> Path:
        return self.user_file(machine) if scope is ConfigScope.USER else machine.project / self.project_file

    def is_found(self, machine: Machine) -> bool:
        """Whether the agent is installed or configured here."""
        files = (self.file(machine, scope) for scope in ConfigScope)
        # Unlike the methods of Path, these return False without permission.
        return (
            machine.has(self.program)
            or os.path.isdir(self.folder(machine))
            or any(os.path.exists(file) for file in files)
        )

    def entry(self, command: str, options: tuple[str, ...] = ()) -> dict[str, Any]:
        """The entry of our server."""
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
        # Otherwise Claude does not see the tools until it searches for them.
        last={"alwaysLoad": True},
        after="restart Claude Code and approve the server if asked; `/mcp` shows it",
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
        # Codex reads the file of a project only if the project is trusted.
        scope=ConfigScope.USER,
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
        after="restart Gemini CLI and trust the folder if asked (in scripts: GEMINI_CLI_TRUST_WORKSPACE=true); "
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
        after="restart Cursor and enable the server in its settings under MCP",
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
        after_user="if VS Code says that `workspaceFolder` cannot be resolved, connect each project with `--no-user`",
    ),
)
NAMES = tuple(client.name for client in CLIENTS)


def client_named(name: str) -> Client:
    found = next((client for client in CLIENTS if client.name == name), None)
    if found is None:
        raise InvalidInput(f"{name!r} is not a known client; use one of {', '.join(NAMES)}")
    return found
