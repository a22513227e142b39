"""What people see of a connection: the lines that change, how it went, and how each client stands."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treering.interfaces.cli.views import BAD, FAINT, GOOD, HEAD, ID, done, safe
from treering.interfaces.client_configs.command import is_in_a_cache
from treering.interfaces.client_configs.connection import Change, Outcome
from treering.interfaces.client_configs.table import Client, Reach

_COLOURS = {"+": GOOD, "-": BAD, " ": FAINT}
_FOR = {Reach.PROJECT: "in this project", Reach.USER: "for all your projects"}
_OPTION = {Reach.PROJECT: "--no-user", Reach.USER: "--user"}
_OF_THIS_MACHINE = "the file names a program of this machine; `--user` keeps that out of the repository"
_IN_A_CACHE = "the program is in a cache and may go; install it (`uv tool install treering`), then run this again"


def change(found: Change, named: str) -> RenderableType:
    """The lines of our entry that come, go and stay, under the name of the file."""
    state = " (a new file)" if found.before is None else " (goes away)" if found.after is None else ""
    head = _whole((safe(named), HEAD), (state, FAINT))
    return Group(head, *(_whole((f"  {safe(line)}", _COLOURS[line[:1]])) for line in found.lines))


def to_be_kept(memory: Path) -> RenderableType:
    """Where the memory goes."""
    return _whole(("the memory goes to ", FAINT), (safe(str(memory)), HEAD))


def advice(client: Client, reach: Reach, command: str, elsewhere: Path | None) -> list[str]:
    """What to do and to know once a client is connected."""
    given = (
        (client.after, True),
        (client.after_user, reach is Reach.USER),
        (_OF_THIS_MACHINE, reach is Reach.PROJECT and Path(command).is_absolute()),
        (_IN_A_CACHE, is_in_a_cache(command)),
        (_also_connected(client, reach), elsewhere is not None),
    )
    return [line for line, holds in given if line and holds]


def connected(
    client: Client, reach: Reach, found: Change, lines: Iterable[str], *, memory: Path | None, dry_run: bool
) -> RenderableType:
    if dry_run and (found.is_needed or memory):
        return _nothing_written()
    what = "already connected" if found.outcome is Outcome.ALREADY else "connected"
    told = done(what, f"{client.title} {_FOR[reach]}", "")
    return Group(told, *(Padding(Text(safe(line), FAINT), (0, 0, 0, 2)) for line in lines), *_kept(memory))


def removed(client: Client, reach: Reach, found: Change, elsewhere: Path | None, *, dry_run: bool) -> RenderableType:
    if dry_run and found.is_needed:
        return _nothing_written()
    absent = found.outcome is Outcome.ABSENT
    told = ["nothing is there to take out" if absent else f"start {client.title} anew"]
    told += [] if elsewhere is None else [_also_connected(client, reach)]
    return done("not connected" if absent else "disconnected", f"{client.title} {_FOR[reach]}", "; ".join(told))


def survey(clients: Iterable[Mapping[str, Any]], memory: Path | None, *, dry_run: bool) -> RenderableType:
    """Which clients are here, how each stands, and what connects it."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for style in (HEAD, FAINT, ""):
        grid.add_column(style=style, no_wrap=True)
    for client in clients:
        connected = " and ".join(_FOR[reach] for reach in Reach if client[reach.value]["connected"])
        missing = Text.assemble("not connected  ", (client["run"], ID))
        here = "found here" if client["found"] else "not found"
        grid.add_row(client["title"], here, f"connected {connected}" if connected else missing)
    refusals = [client[reach.value]["refused"] for client in clients for reach in Reach]
    told = [Text(safe(refused), "yellow") for refused in refusals if refused]
    if dry_run:
        return Group(grid, *told, *([] if memory is None else [to_be_kept(memory)]), _nothing_written())
    return Group(grid, *told, *_kept(memory))


def _whole(*parts: tuple[str, str]) -> Text:
    """One line, however long: what will stand in a file is shown as it will stand there."""
    return Text.assemble(*parts, no_wrap=True, overflow="ignore")


def _also_connected(client: Client, reach: Reach) -> str:
    """Two entries of one name: which other one there is, and how it is taken out."""
    other = reach.other
    return f"it is connected {_FOR[other]}; `treering init {client.name} {_OPTION[other]} --remove` takes that out"


def _kept(memory: Path | None) -> list[RenderableType]:
    return [] if memory is None else [done("the memory is kept in", str(memory), "")]


def _nothing_written() -> RenderableType:
    return Text("nothing was written (--dry-run)", FAINT)
