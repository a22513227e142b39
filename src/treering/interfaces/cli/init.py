"""init: add this server and its hooks to the configuration files of coding agents."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treering.core.errors import InvalidInput, TreeringError
from treering.interfaces.cli.init_confirmation import InitOptions, confirm, show_changes
from treering.interfaces.cli.init_location import Move, requested_move
from treering.interfaces.cli.options import AsJson
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from treering.interfaces.client_configs.connection import ConfigChange, ConfigFile
    from treering.interfaces.client_configs.ledger import Ledger
    from treering.interfaces.client_configs.machine import ConfigScope, Machine
    from treering.interfaces.client_configs.table import ClientConfig

    Changes = tuple[ConfigChange, ...]


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
        bool, typer.Option("--remove", help="Remove the entry and the hooks, and restore the files byte for byte.")
    ] = False,
    hooks: Annotated[
        bool,
        typer.Option(
            "--hooks/--no-hooks",
            help="Install hooks, which record sessions and give the agent what memory knows, or only the server.",
        ),
    ] = True,
    plugin: Annotated[
        Path | None,
        typer.Option(
            "--plugin",
            metavar="FOLDER",
            help="Claude Code: write a plug-in with server, hooks, commands and a skill into this folder instead.",
        ),
    ] = None,
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

    Shows the changes to the agent's configuration files and asks before writing. The rest of the files stays unchanged.
    """
    from treering.compose import data_directory, repository_around
    from treering.interfaces.client_configs.ledger import Ledger
    from treering.interfaces.client_configs.machine import ConfigScope, Machine
    from treering.interfaces.client_configs.table import client_named

    machine = Machine(repository_around(None), Path.home(), os.environ, sys.platform)
    options = InitOptions(yes, dry_run, as_json)
    move = requested_move(in_project, db, machine.project)
    if client is None:
        if remove or not hooks or any(value is not None for value in (user, db, project, plugin)):
            raise InvalidInput(
                "no client is named; name one, as in `treering init claude` (`treering init` lists them)"
            )
        _list_clients(machine, move, options)
        return
    if remove and (not hooks or any(value is not None for value in (in_project, db, project))):
        raise InvalidInput(
            "--remove cannot be combined with --no-hooks, --in-project, --in-data-folder, --db or --project; run "
            "`treering init` a second time for those"
        )
    chosen = client_named(client)
    if plugin is not None:
        _check_plugin_options(chosen, user, hooks)
    scope = chosen.scope if user is None else ConfigScope.USER if user else ConfigScope.PROJECT
    setup = _Setup(chosen, scope, machine, Ledger(data_directory() / "clients"), options, plugin and plugin.absolute())
    if remove:
        _disconnect(setup)
    else:
        _connect(setup, entry=_entry(chosen, db, project), command=_command(chosen, db, project, hooks), move=move)


@dataclass(frozen=True, slots=True)
class _Setup:
    """What is connected, where, and with which options."""

    client: "ClientConfig"
    scope: "ConfigScope"
    machine: "Machine"
    ledger: "Ledger"
    options: InitOptions
    plugin: Path | None

    @property
    def place(self) -> str:
        """Where it is connected, for a sentence."""
        from treering.interfaces.cli.init_views import FOR

        return FOR[self.scope] if self.plugin is None else f"as a plug-in in {self.plugin}"

    def changes(self, entry: dict[str, Any] | None, command: list[str] | None) -> "Changes":
        from treering.interfaces.client_configs.connection import planned_change

        return tuple(planned_change(file, self.ledger) for file in self._files(entry, command))

    def _files(self, entry: dict[str, Any] | None, command: list[str] | None) -> "tuple[ConfigFile, ...]":
        if self.plugin is None:
            return self.client.files(self.machine, self.scope, entry, command)
        from treering.interfaces.client_configs.plugin import plugin_files

        return plugin_files(self.plugin, entry, command)

    def apply(self, changes: "Changes") -> None:
        from treering.interfaces.client_configs.apply import apply_changes
        from treering.interfaces.client_configs.machine import ConfigScope

        apply_changes(changes, self.ledger, private=self.plugin is None and self.scope is ConfigScope.USER)

    def document(self, changes: "Changes", elsewhere: Path | None, *, connecting: bool) -> dict[str, Any]:
        from treering.interfaces.client_configs.connection import combined_outcome

        return {
            "client": self.client.name,
            "for": self.scope.value if self.plugin is None else "plugin",
            "path": changes[0].path if self.plugin is None else self.plugin,
            "outcome": combined_outcome(changes, connecting=connecting).value,
            "changed": any(change.is_needed for change in changes) and not self.options.dry_run,
            "dry_run": self.options.dry_run,
            "lines": [line for change in changes for line in change.lines],
            "files": [{"path": each.path, "outcome": each.outcome.value, "lines": each.lines} for each in changes],
            "elsewhere": elsewhere,
        }


def _connect(setup: _Setup, *, entry: dict[str, Any], command: list[str] | None, move: Move | None) -> None:
    from treering.interfaces.cli import init_views

    options = setup.options
    changes = setup.changes(entry, command)
    memory = move.target if move else None
    show_changes(changes, memory, options, setup.scope, setup.machine)
    if foreign := next((change for change in changes if change.replaces_foreign), None):
        refusal = f"{foreign.path} has a different entry `treering`; pass --yes to replace it"
        confirm("Replace the existing entry?", options, refusal=refusal)
    elif any(change.is_needed for change in changes):
        confirm("Write this and move the memory?" if move else "Write this?", options)
    if not options.dry_run:
        memory = _write(setup, changes, move)
    elsewhere = _elsewhere(setup)
    needed = any(change.is_needed for change in changes)
    advice = init_views.advice(
        setup.client, setup.scope, entry["command"], command, elsewhere=elsewhere, plugin=setup.plugin
    )
    document = setup.document(changes, elsewhere, connecting=True) | {
        "hooks": setup.client.hooks.events if command else [],
        "entry": entry,
        "memory": memory,
        "next": advice if needed else [],
    }
    emit(
        document,
        lambda: init_views.connected(
            setup.client, setup.place, changes, document["next"], memory=memory, dry_run=options.dry_run
        ),
        as_json=options.as_json,
    )


def _write(setup: _Setup, changes: "Changes", move: Move | None) -> Path | None:
    """Write the files, then move the memory; the entry is correct even if the move fails."""
    setup.apply(changes)
    try:
        return move.apply() if move else None
    except TreeringError as exc:
        raise type(exc)(f"{setup.client.title} is connected, but the memory was not moved: {exc}") from exc


def _disconnect(setup: _Setup) -> None:
    from treering.interfaces.cli import init_views

    options = setup.options
    changes = setup.changes(None, None)
    show_changes(changes, None, options, setup.scope, setup.machine)
    if foreign := next((change for change in changes if change.replaces_foreign), None):
        refusal = (
            f"Treering did not write the entry `treering` in {foreign.path} on this machine, or it was edited since; "
            "pass --yes to remove it"
        )
        confirm("Remove an entry that Treering did not write?", options, refusal=refusal)
    elif any(change.is_needed for change in changes):
        confirm("Remove this?", options)
    if not options.dry_run:
        setup.apply(changes)
    elsewhere = _elsewhere(setup)
    emit(
        setup.document(changes, elsewhere, connecting=False),
        lambda: init_views.removed(setup.client, setup.scope, setup.place, changes, elsewhere, dry_run=options.dry_run),
        as_json=options.as_json,
    )


def _list_clients(machine: "Machine", move: Move | None, options: InitOptions) -> None:
    from treering.interfaces.cli import init_views
    from treering.interfaces.client_configs.machine import ConfigScope
    from treering.interfaces.client_configs.table import CLIENTS

    memory = None if move is None else move.target if options.dry_run else move.apply()
    clients = [
        {
            "client": client.name,
            "title": client.title,
            "found": client.is_found(machine),
            **{scope.value: _status(client, machine, scope) for scope in ConfigScope},
            "run": f"treering init {client.name}",
        }
        for client in CLIENTS
    ]
    emit(
        {"clients": clients, "memory": memory, "dry_run": options.dry_run},
        lambda: init_views.client_list(clients, memory, dry_run=options.dry_run),
        as_json=options.as_json,
    )


def _status(client: "ClientConfig", machine: "Machine", scope: "ConfigScope") -> dict[str, Any]:
    from treering.interfaces.client_configs.connection import is_present

    path = client.file(machine, scope)
    try:
        connected, hooks = (is_present(file) for file in client.parts_by_kind(machine, scope))
        return {"path": path, "connected": connected, "hooks": hooks, "refused": None}
    except TreeringError as exc:
        return {"path": path, "connected": False, "hooks": False, "refused": str(exc)}


def _elsewhere(setup: _Setup) -> Path | None:
    """The file of the other scope, if it lists our server too."""
    if setup.plugin is not None:
        return None
    client, machine = setup.client, setup.machine
    path = client.file(machine, setup.scope.other)
    same = path == client.file(machine, setup.scope)
    return path if not same and _status(client, machine, setup.scope.other)["connected"] else None


def _check_plugin_options(client: "ClientConfig", user: bool | None, hooks: bool) -> None:
    if client.name != "claude":
        raise InvalidInput(f"--plugin is for Claude Code; use `treering init {client.name}` without it")
    if user is not None or not hooks:
        raise InvalidInput("--plugin cannot be combined with --user, --no-user or --no-hooks; omit them")


def _entry(client: "ClientConfig", db: str | None, project: str | None) -> dict[str, Any]:
    import sysconfig

    from treering.interfaces.client_configs.command import command_for, own_script, server_options

    script = own_script(sys.argv[0], Path(sysconfig.get_path("scripts")))
    return client.entry(command_for(script, os.environ), server_options(db, project))


def _command(client: "ClientConfig", db: str | None, project: str | None, hooks: bool) -> list[str] | None:
    from treering.interfaces.client_configs.command import server_options
    from treering.interfaces.hooks.command import hook_command

    options = iter(server_options(db, project))
    given = dict(zip(options, options, strict=True))
    return hook_command(client.name, given.get("--db", ""), given.get("--project", "")) if hooks else None
