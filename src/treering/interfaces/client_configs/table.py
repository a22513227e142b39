"""Table of the coding agents that can be connected."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treering.core.errors import InvalidInput
from treering.interfaces.client_configs import json_text, toml_text
from treering.interfaces.client_configs.connection import ConfigFile
from treering.interfaces.client_configs.formats import ConfigFormat, Entry, Place
from treering.interfaces.client_configs.hooks import HOOK_SETUPS, HookSetup
from treering.interfaces.client_configs.machine import ConfigScope, Machine
from treering.interfaces.client_configs.parts import ConfigPart, ServerPart
from treering.interfaces.client_configs.plugin import package_texts, whole_files

SERVER = "treering"
FORWARDED = (
    "TREERING_BACKGROUND",
    "TREERING_BLOBS",
    "TREERING_CONFIG_DIR",
    "TREERING_DATA_DIR",
    "TREERING_DB",
    "TREERING_EMBEDDER",
    "TREERING_EMBEDDER_KEY",
    "TREERING_HOOKS",
    "TREERING_INJECT",
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


@dataclass(frozen=True, slots=True)
class ClientConfig:
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

    @property
    def hooks(self) -> HookSetup:
        return HOOK_SETUPS[self.name]

    def files(
        self, machine: Machine, scope: ConfigScope, entry: Entry | None, hook: Sequence[str] | None
    ) -> tuple[ConfigFile, ...]:
        """The files with our server and our hooks; without an entry or a command, without them."""
        setup = self.hooks
        hooks = ConfigFile(setup.file(machine, scope), setup.parts(hook), setup.initial)
        path = self.file(machine, scope)
        server: ConfigPart = ServerPart(self.format, self.place, entry)
        same = hooks.path == path
        configured = (ConfigFile(path, (server, *hooks.parts)),) if same else (ConfigFile(path, (server,)), hooks)
        texts = package_texts(f"{self.name}_commands", setup.commands)
        return *configured, *whole_files(hooks.path.parent / setup.commands_folder, texts, wanted=hook is not None)

    def parts_by_kind(self, machine: Machine, scope: ConfigScope) -> tuple[ConfigFile, ConfigFile]:
        """The file with the server, and the file with the hooks, which may be the same one."""
        server = ConfigFile(self.file(machine, scope), (ServerPart(self.format, self.place, None),))
        return server, ConfigFile(self.hooks.file(machine, scope), self.hooks.parts(None))

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
    ClientConfig(
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
    ClientConfig(
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
    ClientConfig(
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
    ClientConfig(
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
    ClientConfig(
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


def client_named(name: str) -> ClientConfig:
    found = next((client for client in CLIENTS if client.name == name), None)
    if found is None:
        raise InvalidInput(f"{name!r} is not a known client; use one of {', '.join(NAMES)}")
    return found
