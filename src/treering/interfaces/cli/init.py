"""init: coding agents are told of this server, in their own configuration files."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treering.core.errors import InvalidInput, TreeringError
from treering.interfaces.cli.options import AsJson
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from treering.interfaces.clients.connecting import Change
    from treering.interfaces.clients.kept import Ledger
    from treering.interfaces.clients.table import Client, Machine, Reach


@dataclass(frozen=True, slots=True)
class _Manner:
    """How the command was asked to go about it."""

    yes: bool
    dry_run: bool
    as_json: bool

    @property
    def somebody_is_here(self) -> bool:
        return not self.as_json and sys.stdin.isatty()


def init(
    client: Annotated[
        str | None,
        typer.Argument(
            metavar="[CLIENT]", help="claude, codex, gemini, cursor or vscode. Without it: how each stands."
        ),
    ] = None,
    *,
    user: Annotated[
        bool | None,
        typer.Option("--user/--no-user", help="For all your projects, or for this one. Codex: for all, unless told."),
    ] = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take the entry out again; the file is as it was, byte for byte.")
    ] = False,
    in_project: Annotated[
        bool | None,
        typer.Option(
            "--in-project/--in-data-folder",
            help="Keep the memory of this repository in its .treering/ folder, or in your data folder again.",
        ),
    ] = None,
    db: Annotated[
        str | None,
        typer.Option("--db", metavar="PATH_OR_URL", help="The server is to use this memory, in every project."),
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="NAME", help="The server is to use this project of it.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be written.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Connect a coding agent to this memory.

    Shows what it writes into the agent's configuration, and asks. Everything else in the file stays as it is.
    """
    from treering.compose import data_directory, repository_around
    from treering.interfaces.clients.kept import Ledger
    from treering.interfaces.clients.table import Machine, Reach, client_named

    machine = Machine(repository_around(None), Path.home(), os.environ, sys.platform)
    manner = _Manner(yes, dry_run, as_json)
    if client is None:
        if remove or user is not None or db is not None or project is not None:
            raise InvalidInput("which client? name it, such as `treering init claude`; `treering init` lists them")
        moved = None if dry_run else _moved(in_project, machine.project)
        _survey(machine, moved, as_json=as_json)
        return
    if remove and (in_project is not None or db is not None or project is not None):
        raise InvalidInput(
            "--remove goes with --user, --dry-run and --yes only; run `treering init` again for the rest"
        )
    chosen = client_named(client)
    reach = chosen.reach if user is None else Reach.USER if user else Reach.PROJECT
    ledger = Ledger(data_directory() / "clients")
    if remove:
        _disconnect(chosen, reach, machine, ledger, manner)
    else:
        _connect(chosen, reach, machine, ledger, manner, entry=_entry(chosen, db, project), in_project=in_project)


def _connect(
    client: "Client",
    reach: "Reach",
    machine: "Machine",
    ledger: "Ledger",
    manner: _Manner,
    *,
    entry: dict[str, Any],
    in_project: bool | None,
) -> None:
    from treering.interfaces.cli import init_pictures
    from treering.interfaces.clients.connecting import Outcome, make, to_connect
    from treering.interfaces.clients.table import Reach

    change = to_connect(client, client.file(machine, reach), entry, ledger)
    _show(change, manner, _named(change.path, reach, machine))
    if change.outcome is Outcome.REPLACED and not manner.dry_run:
        _allow("Replace the entry that is there?", manner, unasked=False)
    elif change.is_needed and not manner.dry_run:
        _allow("Write this?", manner, unasked=True)
    moved = None
    if not manner.dry_run:
        moved = _moved(in_project, machine.project)
        make(change, ledger)
    advice = [client.after] if change.is_needed else []
    if change.is_needed and reach is Reach.PROJECT and Path(entry["command"]).is_absolute():
        advice.append("the file names a program of this machine; `--user` keeps that out of the repository")
    document = _document(client, reach, change, manner) | {"entry": entry, "memory": moved, "next": advice}
    emit(
        document,
        lambda: init_pictures.connected(client, reach, change, advice, memory=moved, dry_run=manner.dry_run),
        as_json=manner.as_json,
    )


def _disconnect(client: "Client", reach: "Reach", machine: "Machine", ledger: "Ledger", manner: _Manner) -> None:
    from treering.interfaces.cli import init_pictures
    from treering.interfaces.clients.connecting import make, to_remove

    change = to_remove(client, client.file(machine, reach), ledger)
    _show(change, manner, _named(change.path, reach, machine))
    if not manner.dry_run:
        if change.is_needed:
            _allow("Take this out?", manner, unasked=True)
        make(change, ledger)
    document = _document(client, reach, change, manner)
    emit(document, lambda: init_pictures.removed(client, reach, change, dry_run=manner.dry_run), as_json=manner.as_json)


def _survey(machine: "Machine", moved: Path | None, *, as_json: bool) -> None:
    from treering.interfaces.cli import init_pictures
    from treering.interfaces.clients.table import CLIENTS, Reach

    clients = [
        {
            "client": client.name,
            "title": client.title,
            "found": client.is_found(machine),
            **{reach.value: _standing(client, client.file(machine, reach)) for reach in Reach},
            "run": f"treering init {client.name}",
        }
        for client in CLIENTS
    ]
    emit({"clients": clients, "memory": moved}, lambda: init_pictures.survey(clients, moved), as_json=as_json)


def _standing(client: "Client", path: Path) -> dict[str, Any]:
    from treering.interfaces.clients.connecting import standing

    try:
        return {"path": path, "connected": standing(client, path), "refused": None}
    except TreeringError as exc:
        return {"path": path, "connected": False, "refused": str(exc)}


def _entry(client: "Client", db: str | None, project: str | None) -> dict[str, Any]:
    import sysconfig

    from treering.interfaces.clients.command import command_for, own_script, server_options

    script = own_script(sys.argv[0], Path(sysconfig.get_path("scripts")))
    return client.entry(command_for(script, os.environ), server_options(db, project))


def _moved(in_project: bool | None, root: Path) -> Path | None:
    """Where the memory is kept now, if that was asked for."""
    if in_project is None:
        return None
    from treering.compose import keep_in_data_folder, keep_in_project

    return keep_in_project(root) if in_project else keep_in_data_folder(root)


def _document(client: "Client", reach: "Reach", change: "Change", manner: _Manner) -> dict[str, Any]:
    return {
        "client": client.name,
        "for": reach.value,
        "path": change.path,
        "outcome": change.outcome.value,
        "changed": change.is_needed and not manner.dry_run,
        "dry_run": manner.dry_run,
        "lines": change.lines,
    }


def _show(change: "Change", manner: _Manner, named: str) -> None:
    from treering.interfaces.cli import init_pictures

    if change.is_needed and not manner.as_json:
        emit(None, lambda: init_pictures.change(change, named), as_json=False)


def _named(path: Path, reach: "Reach", machine: "Machine") -> str:
    """A file as people call it: by where they stand or by their home, else in full."""
    here, at_home = (Path.cwd(), ""), (machine.home, "~/")
    for folder, sign in (at_home, here) if reach == "user" else (here, at_home):
        if path.is_relative_to(folder):
            return f"{sign}{path.relative_to(folder)}"
    return str(path)


def _allow(question: str, manner: _Manner, *, unasked: bool) -> None:
    """Go on only where somebody agrees. `unasked` is what holds where nobody is there, or says nothing else."""
    if manner.yes:
        return
    if manner.somebody_is_here:
        if not typer.confirm(question, default=unasked):
            raise InvalidInput("nothing was written")
    elif not unasked:
        raise InvalidInput("an entry `treering` is there that says something else; add --yes to replace it")
