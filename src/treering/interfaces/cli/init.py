"""init: coding agents are told of this server, in their own configuration files."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treering.core.errors import InvalidInput, TreeringError
from treering.interfaces.cli.init_confirmation import Manner, allow, show
from treering.interfaces.cli.init_location import Move, move_asked_for
from treering.interfaces.cli.options import AsJson
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from treering.interfaces.client_configs.connection import Change
    from treering.interfaces.client_configs.ledger import Ledger
    from treering.interfaces.client_configs.table import Client, Machine, Reach


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
    from treering.interfaces.client_configs.ledger import Ledger
    from treering.interfaces.client_configs.table import Machine, Reach, client_named

    machine = Machine(repository_around(None), Path.home(), os.environ, sys.platform)
    manner = Manner(yes, dry_run, as_json)
    move = move_asked_for(in_project, db, machine.project)
    if client is None:
        if remove or user is not None or db is not None or project is not None:
            raise InvalidInput("which client? name it, such as `treering init claude`; `treering init` lists them")
        _survey(machine, move, manner)
        return
    if remove and (in_project is not None or db is not None or project is not None):
        raise InvalidInput(
            "--remove takes an entry out and does nothing else; run `treering init` again without it for "
            "--in-project, --in-data-folder, --db or --project"
        )
    chosen = client_named(client)
    reach = chosen.reach if user is None else Reach.USER if user else Reach.PROJECT
    ledger = Ledger(data_directory() / "clients")
    if remove:
        _disconnect(chosen, reach, machine, ledger, manner)
    else:
        _connect(chosen, reach, machine, ledger, manner, entry=_entry(chosen, db, project), move=move)


def _connect(
    client: "Client",
    reach: "Reach",
    machine: "Machine",
    ledger: "Ledger",
    manner: Manner,
    *,
    entry: dict[str, Any],
    move: Move | None,
) -> None:
    from treering.interfaces.cli import init_views as init_pictures
    from treering.interfaces.client_configs.connection import to_connect

    change = to_connect(client, client.file(machine, reach), entry, ledger)
    memory = move.target if move else None
    show(change, memory, manner, reach, machine)
    if change.costs_theirs:
        refusal = f"{change.path} has an entry `treering` that says something else; add --yes to replace it"
        allow("Replace the entry that is there?", manner, refusal=refusal)
    elif change.is_needed:
        allow("Write this and move the memory?" if move else "Write this?", manner)
    if not manner.dry_run:
        memory = _made(client, reach, change, ledger, move)
    elsewhere = _elsewhere(client, reach, machine)
    advice = init_pictures.advice(client, reach, entry["command"], elsewhere) if change.is_needed else []
    document = _document(client, reach, change, manner, elsewhere) | {"entry": entry, "memory": memory, "next": advice}
    emit(
        document,
        lambda: init_pictures.connected(client, reach, change, advice, memory=memory, dry_run=manner.dry_run),
        as_json=manner.as_json,
    )


def _made(client: "Client", reach: "Reach", change: "Change", ledger: "Ledger", move: Move | None) -> Path | None:
    """Write the file, then move the memory: the entry is right wherever that is, so either may fail alone."""
    from treering.interfaces.client_configs.apply import make
    from treering.interfaces.client_configs.table import Reach

    make(change, ledger, private=reach is Reach.USER)
    try:
        return move.make() if move else None
    except TreeringError as exc:
        raise type(exc)(f"{client.title} is connected, and that stays; of the move: {exc}") from exc


def _disconnect(client: "Client", reach: "Reach", machine: "Machine", ledger: "Ledger", manner: Manner) -> None:
    from treering.interfaces.cli import init_views as init_pictures
    from treering.interfaces.client_configs.apply import make
    from treering.interfaces.client_configs.connection import to_remove

    change = to_remove(client, client.file(machine, reach), ledger)
    show(change, None, manner, reach, machine)
    if change.costs_theirs:
        refusal = (
            f"Treering did not write the entry `treering` in {change.path} on this machine, or it was edited since; "
            "add --yes to take it out"
        )
        allow("Take out an entry that Treering did not write so?", manner, refusal=refusal)
    elif change.is_needed:
        allow("Take this out?", manner)
    if not manner.dry_run:
        make(change, ledger)
    elsewhere = _elsewhere(client, reach, machine)
    emit(
        _document(client, reach, change, manner, elsewhere),
        lambda: init_pictures.removed(client, reach, change, elsewhere, dry_run=manner.dry_run),
        as_json=manner.as_json,
    )


def _survey(machine: "Machine", move: Move | None, manner: Manner) -> None:
    from treering.interfaces.cli import init_views as init_pictures
    from treering.interfaces.client_configs.table import CLIENTS, Reach

    memory = None if move is None else move.target if manner.dry_run else move.make()
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
    emit(
        {"clients": clients, "memory": memory, "dry_run": manner.dry_run},
        lambda: init_pictures.survey(clients, memory, dry_run=manner.dry_run),
        as_json=manner.as_json,
    )


def _standing(client: "Client", path: Path) -> dict[str, Any]:
    from treering.interfaces.client_configs.connection import standing

    try:
        return {"path": path, "connected": standing(client, path), "refused": None}
    except TreeringError as exc:
        return {"path": path, "connected": False, "refused": str(exc)}


def _elsewhere(client: "Client", reach: "Reach", machine: "Machine") -> Path | None:
    """The file of the other reach, where that lists our server too."""
    path = client.file(machine, reach.other)
    same = path == client.file(machine, reach)
    return path if not same and _standing(client, path)["connected"] else None


def _entry(client: "Client", db: str | None, project: str | None) -> dict[str, Any]:
    import sysconfig

    from treering.interfaces.client_configs.command import command_for, own_script, server_options

    script = own_script(sys.argv[0], Path(sysconfig.get_path("scripts")))
    return client.entry(command_for(script, os.environ), server_options(db, project))


def _document(
    client: "Client", reach: "Reach", change: "Change", manner: Manner, elsewhere: Path | None
) -> dict[str, Any]:
    return {
        "client": client.name,
        "for": reach.value,
        "path": change.path,
        "outcome": change.outcome.value,
        "changed": change.is_needed and not manner.dry_run,
        "dry_run": manner.dry_run,
        "lines": change.lines,
        "elsewhere": elsewhere,
    }
