"""What people see of a connection: the lines that change, how it went, and how each client stands."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treering.interfaces.cli.show import BAD, FAINT, GOOD, HEAD, ID, done, safe
from treering.interfaces.clients.connecting import Change, Outcome
from treering.interfaces.clients.table import Client, Reach

_COLOURS = {"+": GOOD, "-": BAD, " ": FAINT}
_FOR = {Reach.PROJECT: "in this project", Reach.USER: "for all your projects"}


def change(found: Change, named: str) -> RenderableType:
    """The lines of our entry that come, go and stay, under the name of the file."""
    state = " (a new file)" if found.before is None else " (goes away)" if found.after is None else ""
    head = Text.assemble((safe(named), HEAD), (state, FAINT))
    return Group(head, *(Text(f"  {safe(line)}", _COLOURS[line[:1]], overflow="fold") for line in found.lines))


def connected(
    client: Client, reach: Reach, found: Change, advice: Iterable[str], *, memory: Path | None, dry_run: bool
) -> RenderableType:
    if dry_run and found.is_needed:
        return _nothing_written()
    what = "already connected" if found.outcome is Outcome.ALREADY else "connected"
    told = done(what, f"{client.title} {_FOR[reach]}", "")
    return Group(told, *(Padding(Text(safe(line), FAINT), (0, 0, 0, 2)) for line in advice), *_kept(memory))


def removed(client: Client, reach: Reach, found: Change, *, dry_run: bool) -> RenderableType:
    if dry_run and found.is_needed:
        return _nothing_written()
    what = "not connected" if found.outcome is Outcome.ABSENT else "disconnected"
    advice = "nothing is there to take out" if found.outcome is Outcome.ABSENT else f"start {client.title} anew"
    return done(what, f"{client.title} {_FOR[reach]}", advice)


def survey(clients: Iterable[Mapping[str, Any]], memory: Path | None) -> RenderableType:
    """Which clients are here, how each stands, and what connects it."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for style in (HEAD, FAINT, "", ID):
        grid.add_column(style=style, no_wrap=True)
    for client in clients:
        places = {_FOR[reach]: client[reach.value] for reach in Reach}
        standing = [f"connected {where}" for where, place in places.items() if place["connected"]]
        here = "found here" if client["found"] else "not found"
        grid.add_row(
            client["title"], here, " and ".join(standing) or "not connected", "" if standing else client["run"]
        )
    refusals = [client[reach.value]["refused"] for client in clients for reach in Reach]
    told = [Text(safe(refused), "yellow") for refused in refusals if refused]
    return Group(grid, *told, *_kept(memory))


def _kept(memory: Path | None) -> list[RenderableType]:
    return [] if memory is None else [done("the memory is kept in", str(memory), "")]


def _nothing_written() -> RenderableType:
    return Text("nothing was written (--dry-run)", FAINT)
