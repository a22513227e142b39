"""Views of `init`: the lines that change, the outcome, and the status of each client."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treering.interfaces.cli.views import BAD, FAINT, GOOD, HEAD, ID, done, safe
from treering.interfaces.client_configs.command import is_in_cache
from treering.interfaces.client_configs.connection import ChangeOutcome, ConfigChange
from treering.interfaces.client_configs.table import Client, ConfigScope

_COLOURS = {"+": GOOD, "-": BAD, " ": FAINT}
_FOR = {ConfigScope.PROJECT: "in this project", ConfigScope.USER: "for all your projects"}
_OPTION = {ConfigScope.PROJECT: "--no-user", ConfigScope.USER: "--user"}
_MACHINE_PATH = "the file contains a path of this machine; `--user` keeps that out of the repository"
_IN_CACHE = "the program is in a cache that may be cleared; install it with `uv tool install` or `pipx install`, then run this again"


def change(found: ConfigChange, named: str) -> RenderableType:
    """The name of the file, and the diff of our entry."""
    state = " (new file)" if found.before is None else " (will be deleted)" if found.after is None else ""
    head = _line((safe(named), HEAD), (state, FAINT))
    return Group(head, *(_line((f"  {safe(line)}", _COLOURS[line[:1]])) for line in found.lines))


def new_location(memory: Path) -> RenderableType:
    """The folder that the memory will be moved to."""
    return _line(("the memory moves to ", FAINT), (safe(str(memory)), HEAD))


def advice(client: Client, scope: ConfigScope, command: str, elsewhere: Path | None) -> list[str]:
    """What the user should do and know after connecting a client."""
    given = (
        (client.after, True),
        (client.after_user, scope is ConfigScope.USER),
        (_MACHINE_PATH, scope is ConfigScope.PROJECT and Path(command).is_absolute()),
        (_IN_CACHE, is_in_cache(command)),
        (_also_connected(client, scope), elsewhere is not None),
    )
    return [line for line, holds in given if line and holds]


def connected(
    client: Client, scope: ConfigScope, found: ConfigChange, lines: Iterable[str], *, memory: Path | None, dry_run: bool
) -> RenderableType:
    if dry_run and (found.is_needed or memory):
        return _nothing_written()
    what = "already connected" if found.outcome is ChangeOutcome.ALREADY else "connected"
    head = done(what, f"{client.title} {_FOR[scope]}", "")
    return Group(head, *(Padding(Text(safe(line), FAINT), (0, 0, 0, 2)) for line in lines), *_moved(memory))


def removed(
    client: Client, scope: ConfigScope, found: ConfigChange, elsewhere: Path | None, *, dry_run: bool
) -> RenderableType:
    if dry_run and found.is_needed:
        return _nothing_written()
    absent = found.outcome is ChangeOutcome.ABSENT
    notes = ["there is no entry to remove" if absent else f"restart {client.title}"]
    notes += [] if elsewhere is None else [_also_connected(client, scope)]
    return done("not connected" if absent else "disconnected", f"{client.title} {_FOR[scope]}", "; ".join(notes))


def client_list(clients: Iterable[Mapping[str, Any]], memory: Path | None, *, dry_run: bool) -> RenderableType:
    """Each client, whether it is installed and connected, and the command that connects it."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for style in (HEAD, FAINT, ""):
        grid.add_column(style=style, no_wrap=True)
    for client in clients:
        connected = " and ".join(_FOR[scope] for scope in ConfigScope if client[scope.value]["connected"])
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


def _also_connected(client: Client, scope: ConfigScope) -> str:
    """A note about the entry of the other scope, and how to remove it."""
    other = scope.other
    return f"it is also connected {_FOR[other]}; `treering init {client.name} {_OPTION[other]} --remove` removes that"


def _moved(memory: Path | None) -> list[RenderableType]:
    return [] if memory is None else [done("the memory is now in", str(memory), "")]


def _nothing_written() -> RenderableType:
    return Text("nothing was written (--dry-run)", FAINT)
