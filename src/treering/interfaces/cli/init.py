"""init: add this server to the configuration files of coding agents."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treering.core.errors import InvalidInput, TreeringError
from treering.interfaces.cli.init_confirmation import InitOptions, confirm, show_change
from treering.interfaces.cli.init_location import Move, requested_move
from treering.interfaces.cli.options import AsJson
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from treering.interfaces.client_configs.connection import ConfigChange
    from treering.interfaces.client_configs.ledger import Ledger
    from treering.interfaces.client_configs.table import Client, ConfigScope, Machine


def init(
    client: Annotated[
        str | None,
        typer.Argument(
            metavar="[CLIENT]", help="claude, codex, gemini, cursor or vscode. Default: list all with their status."
        ),
    ] = None,
    *,
    user: Annotated[
        bool | None,
        typer.Option(
            "--user/--no-user",
            help="For all your projects, or for this one. Default: this one; Codex: all.",
        ),
    ] = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove the entry and restore the file byte for byte.")
    ] = False,
    in_project: Annotated[
        bool | None,
        typer.Option(
            "--in-project/--in-data-folder",
            help="Move the memory of this repository to its .treering/ folder, or back to your data folder.",
        ),
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            metavar="PATH_OR_URL",
            help="Memory that the server uses. Default: that of the repository.",
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="NAME", help="Project that the server uses. Default: the repository."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the change without writing it.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Connect coding agents to this memory.

    Shows the change to the agent's configuration file and asks before writing. The rest of the file stays unchanged.
    """
    from treering.compose import data_directory, repository_around
    from treering.interfaces.client_configs.ledger import Ledger
    from treering.interfaces.client_configs.table import ConfigScope, Machine, client_named

    machine = Machine(repository_around(None), Path.home(), os.environ, sys.platform)
    options = InitOptions(yes, dry_run, as_json)
    move = requested_move(in_project, db, machine.project)
    if client is None:
        if remove or user is not None or db is not None or project is not None:
            raise InvalidInput(
                "no client is named; name one, as in `treering init claude` (`treering init` lists them)"
            )
        _list_clients(machine, move, options)
        return
    if remove and (in_project is not None or db is not None or project is not None):
        raise InvalidInput(
            "--remove cannot be combined with --in-project, --in-data-folder, --db or --project; run `treering init` a "
            "second time for those"
        )
    chosen = client_named(client)
    scope = chosen.scope if user is None else ConfigScope.USER if user else ConfigScope.PROJECT
    ledger = Ledger(data_directory() / "clients")
    if remove:
        _disconnect(chosen, scope, machine, ledger, options)
    else:
        _connect(chosen, scope, machine, ledger, options, entry=_entry(chosen, db, project), move=move)


def _connect(
    client: "Client",
    scope: "ConfigScope",
    machine: "Machine",
    ledger: "Ledger",
    options: InitOptions,
    *,
    entry: dict[str, Any],
    move: Move | None,
) -> None:
    from treering.interfaces.cli import init_views
    from treering.interfaces.client_configs.connection import connecting_change

    change = connecting_change(client, client.file(machine, scope), entry, ledger)
    memory = move.target if move else None
    show_change(change, memory, options, scope, machine)
    if change.replaces_foreign:
        refusal = f"{change.path} has a different entry `treering`; pass --yes to replace it"
        confirm("Replace the existing entry?", options, refusal=refusal)
    elif change.is_needed:
        confirm("Write this and move the memory?" if move else "Write this?", options)
    if not options.dry_run:
        memory = _write(client, scope, change, ledger, move)
    elsewhere = _elsewhere(client, scope, machine)
    advice = init_views.advice(client, scope, entry["command"], elsewhere) if change.is_needed else []
    document = _document(client, scope, change, options, elsewhere) | {"entry": entry, "memory": memory, "next": advice}
    emit(
        document,
        lambda: init_views.connected(client, scope, change, advice, memory=memory, dry_run=options.dry_run),
        as_json=options.as_json,
    )


def _write(
    client: "Client", scope: "ConfigScope", change: "ConfigChange", ledger: "Ledger", move: Move | None
) -> Path | None:
    """Write the file, then move the memory; the entry is correct even if the move fails."""
    from treering.interfaces.client_configs.apply import apply_change
    from treering.interfaces.client_configs.table import ConfigScope

    apply_change(change, ledger, private=scope is ConfigScope.USER)
    try:
        return move.apply() if move else None
    except TreeringError as exc:
        raise type(exc)(f"{client.title} is connected, but the memory was not moved: {exc}") from exc


def _disconnect(
    client: "Client", scope: "ConfigScope", machine: "Machine", ledger: "Ledger", options: InitOptions
) -> None:
    from treering.interfaces.cli import init_views
    from treering.interfaces.client_configs.apply import apply_change
    from treering.interfaces.client_configs.connection import removing_change

    change = removing_change(client, client.file(machine, scope), ledger)
    show_change(change, None, options, scope, machine)
    if change.replaces_foreign:
        refusal = (
            f"Treering did not write the entry `treering` in {change.path} on this machine, or it was edited since; "
            "pass --yes to remove it"
        )
        confirm("Remove an entry that Treering did not write?", options, refusal=refusal)
    elif change.is_needed:
        confirm("Remove this?", options)
    if not options.dry_run:
        apply_change(change, ledger)
    elsewhere = _elsewhere(client, scope, machine)
    emit(
        _document(client, scope, change, options, elsewhere),
        lambda: init_views.removed(client, scope, change, elsewhere, dry_run=options.dry_run),
        as_json=options.as_json,
    )


def _list_clients(machine: "Machine", move: Move | None, options: InitOptions) -> None:
    from treering.interfaces.cli import init_views
    from treering.interfaces.client_configs.table import CLIENTS, ConfigScope

    memory = None if move is None else move.target if options.dry_run else move.apply()
    clients = [
        {
            "client": client.name,
            "title": client.title,
            "found": client.is_found(machine),
            **{scope.value: _status(client, client.file(machine, scope)) for scope in ConfigScope},
            "run": f"treering init {client.name}",
        }
        for client in CLIENTS
    ]
    emit(
        {"clients": clients, "memory": memory, "dry_run": options.dry_run},
        lambda: init_views.client_list(clients, memory, dry_run=options.dry_run),
        as_json=options.as_json,
    )


def _status(client: "Client", path: Path) -> dict[str, Any]:
    from treering.interfaces.client_configs.connection import is_connected

    try:
        return {"path": path, "connected": is_connected(client, path), "refused": None}
    except TreeringError as exc:
        return {"path": path, "connected": False, "refused": str(exc)}


def _elsewhere(client: "Client", scope: "ConfigScope", machine: "Machine") -> Path | None:
    """The file of the other scope, if it lists our server too."""
    path = client.file(machine, scope.other)
    same = path == client.file(machine, scope)
    return path if not same and _status(client, path)["connected"] else None


def _entry(client: "Client", db: str | None, project: str | None) -> dict[str, Any]:
    import sysconfig

    from treering.interfaces.client_configs.command import command_for, own_script, server_options

    script = own_script(sys.argv[0], Path(sysconfig.get_path("scripts")))
    return client.entry(command_for(script, os.environ), server_options(db, project))


def _document(
    client: "Client", scope: "ConfigScope", change: "ConfigChange", options: InitOptions, elsewhere: Path | None
) -> dict[str, Any]:
    return {
        "client": client.name,
        "for": scope.value,
        "path": change.path,
        "outcome": change.outcome.value,
        "changed": change.is_needed and not options.dry_run,
        "dry_run": options.dry_run,
        "lines": change.lines,
        "elsewhere": elsewhere,
    }
