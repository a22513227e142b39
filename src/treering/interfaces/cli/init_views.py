"""Views of `init`: the lines that change, the outcome, and the status of each client."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treering.interfaces.cli.views import BAD, FAINT, GOOD, HEAD, ID, done, safe
from treering.interfaces.client_configs.command import is_in_cache
from treering.interfaces.client_configs.connection import ChangeOutcome, ConfigChange
from treering.interfaces.client_configs.machine import ConfigScope
from treering.interfaces.client_configs.table import ClientConfig

_COLOURS = {"+": GOOD, "-": BAD, " ": FAINT}
FOR = {ConfigScope.PROJECT: "in this project", ConfigScope.USER: "for all your projects"}
_HOOKS = {True: " with hooks", False: " without hooks"}
_OPTION = {ConfigScope.PROJECT: "--no-user", ConfigScope.USER: "--user"}
_MACHINE_PATH = "the configuration contains a path of this machine; `--user` keeps that out of the repository"
_LOAD_PLUGIN = "start Claude Code with `claude --plugin-dir {}`; `/hooks` and `/mcp` show the parts"
_IN_CACHE = "the program is in a cache that may be cleared; install it with `uv tool` or `pipx`, then run this again"


def change(found: ConfigChange, named: str) -> RenderableType:
    """The name of the file, and the diff of our entry."""
    state = " (new file)" if found.before is None else " (will be deleted)" if found.after is None else ""
    head = _line((safe(named), HEAD), (state, FAINT))
    return Group(head, *(_line((f"  {safe(line)}", _COLOURS[line[:1]])) for line in found.lines))


def new_location(memory: Path) -> RenderableType:
    """The folder that the memory will be moved to."""
    return _line(("the memory moves to ", FAINT), (safe(str(memory)), HEAD))


def advice(
    client: ClientConfig,
    scope: ConfigScope,
    command: str,
    hook: Sequence[str] | None,
    *,
    elsewhere: Path | None,
    plugin: Path | None,
) -> list[str]:
    """What the user should do and know after connecting a client."""
    in_project = plugin is None and scope is ConfigScope.PROJECT
    hooks, has_hooks = client.hooks, hook is not None and plugin is None
    is_committed = Path(command).is_absolute() or (has_hooks and not hooks.after_project)
    given = (
        (_LOAD_PLUGIN.format(shlex.quote(str(plugin))), plugin is not None),
        (client.after, plugin is None),
        (hooks.after, has_hooks),
        (client.after_user, plugin is None and scope is ConfigScope.USER),
        (_MACHINE_PATH, in_project and is_committed),
        (hooks.after_project, in_project and has_hooks),
        (_IN_CACHE, is_in_cache(command) or (hook is not None and is_in_cache(hook[0]))),
        (_also_connected(client, scope), elsewhere is not None),
    )
    return [line for line, holds in given if line and holds]


def connected(
    client: ClientConfig,
    place: str,
    changes: Iterable[ConfigChange],
    lines: Iterable[str],
    *,
    memory: Path | None,
    dry_run: bool,
) -> RenderableType:
    needed = any(change.is_needed for change in changes)
    if dry_run and (needed or memory):
        return _nothing_written()
    head = done("connected" if needed else "already connected", f"{client.title} {place}", "")
    return Group(head, *(Padding(Text(safe(line), FAINT), (0, 0, 0, 2)) for line in lines), *_moved(memory))


def removed(
    client: ClientConfig,
    scope: ConfigScope,
    place: str,
    changes: Iterable[ConfigChange],
    elsewhere: Path | None,
    *,
    dry_run: bool,
) -> RenderableType:
    outcomes = {change.outcome for change in changes}
    absent = ChangeOutcome.REMOVED not in outcomes
    if dry_run and not absent:
        return _nothing_written()
    notes = ["there is no entry to remove" if absent else f"restart {client.title}"]
    notes += [] if elsewhere is None else [_also_connected(client, scope)]
    return done("not connected" if absent else "disconnected", f"{client.title} {place}", "; ".join(notes))


def client_list(clients: Iterable[Mapping[str, Any]], memory: Path | None, *, dry_run: bool) -> RenderableType:
    """Each client, whether it is installed and connected, and the command that connects it."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for style in (HEAD, FAINT, ""):
        grid.add_column(style=style, no_wrap=True)
    for client in clients:
        listed = [scope for scope in ConfigScope if client[scope.value]["connected"]]
        connected = " and ".join(f"{FOR[scope]}{_HOOKS[client[scope.value]['hooks']]}" for scope in listed)
        missing = Text.assemble("not connected  ", (client["run"], ID))
        here = "found here" if client["found"] else "not found"
        grid.add_row(client["title"], here, f"connected {connected}" if connected else missing)
    refusals = [client[scope.value]["refused"] for client in clients for scope in ConfigScope]
    refused_files = [Text(safe(refused), "yellow") for refused in refusals if refused]
    if dry_run:
        return Group(grid, *refused_files, *([] if memory is None else [new_location(memory)]), _nothing_written())
    return Group(grid, *refused_files, *_moved(memory))


def _line(*parts: tuple[str, str]) -> Text:
    """One line, however long: lines of a file are shown as they are."""
    return Text.assemble(*parts, no_wrap=True, overflow="ignore")


def _also_connected(client: ClientConfig, scope: ConfigScope) -> str:
    """A note about the entry of the other scope, and how to remove it."""
    other = scope.other
    return f"it is also connected {FOR[other]}; `treering init {client.name} {_OPTION[other]} --remove` removes that"


def _moved(memory: Path | None) -> list[RenderableType]:
    return [] if memory is None else [done("the memory is now in", str(memory), "")]


def _nothing_written() -> RenderableType:
    return Text("nothing was written (--dry-run)", FAINT)
