"""Shows a change of a configuration file, and asks for confirmation."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from treering.interfaces.client_configs.connection import ConfigChange
    from treering.interfaces.client_configs.machine import ConfigScope, Machine


@dataclass(frozen=True, slots=True)
class InitOptions:
    """Options that decide whether the command asks, writes, and prints JSON."""

    yes: bool
    dry_run: bool
    as_json: bool

    @property
    def can_ask(self) -> bool:
        return not self.as_json and sys.stdin.isatty()


def show_changes(
    changes: "Iterable[ConfigChange]",
    memory: Path | None,
    options: InitOptions,
    scope: "ConfigScope",
    machine: "Machine",
) -> None:
    """Print the lines that will change in each file, and the new location of the memory."""
    from treering.interfaces.cli import init_views

    if options.as_json:
        return
    for change in changes:
        if change.is_needed:
            emit(None, partial(init_views.change, change, _named(change.path, scope, machine)), as_json=False)
    if memory is not None:
        emit(None, lambda: init_views.new_location(memory), as_json=False)


def confirm(question: str, options: InitOptions, *, refusal: str = "") -> None:
    """Ask the user, and raise `InvalidInput` unless they agree.

    Without a terminal, go on, unless there is a `refusal`, which is then raised.
    """
    if options.yes or options.dry_run:
        return
    if options.can_ask:
        if not typer.confirm(question, default=not refusal):
            raise InvalidInput("not confirmed; nothing was written")
    elif refusal:
        raise InvalidInput(refusal)


def _named(path: Path, scope: "ConfigScope", machine: "Machine") -> str:
    """A path relative to the working or the home folder if possible, with the target of a link."""
    here, at_home = (Path.cwd(), ""), (machine.home, "~/")
    folders = (at_home, here) if scope == "user" else (here, at_home)
    name = next((f"{sign}{path.relative_to(top)}" for top, sign in folders if path.is_relative_to(top)), str(path))
    return f"{name} → {path.resolve()}" if path.is_symlink() else name
