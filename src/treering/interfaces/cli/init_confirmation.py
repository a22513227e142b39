"""A change is shown, and made only where somebody agrees."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from treering.interfaces.client_configs.connection import Change
    from treering.interfaces.client_configs.table import Machine, Reach


@dataclass(frozen=True, slots=True)
class Manner:
    """How the command was asked to go about it."""

    yes: bool
    dry_run: bool
    as_json: bool

    @property
    def somebody_is_here(self) -> bool:
        return not self.as_json and sys.stdin.isatty()


def show(change: "Change", memory: Path | None, manner: Manner, reach: "Reach", machine: "Machine") -> None:
    """The lines that are about to change, and where the memory goes."""
    from treering.interfaces.cli import init_views as init_pictures

    if manner.as_json:
        return
    if change.is_needed:
        emit(None, lambda: init_pictures.change(change, _named(change.path, reach, machine)), as_json=False)
    if memory is not None:
        emit(None, lambda: init_pictures.to_be_kept(memory), as_json=False)


def allow(question: str, manner: Manner, *, refusal: str = "") -> None:
    """Go on only where somebody agrees. Where nobody is there silence does, unless there is a `refusal` to give."""
    if manner.yes or manner.dry_run:
        return
    if manner.somebody_is_here:
        if not typer.confirm(question, default=not refusal):
            raise InvalidInput("nothing was written")
    elif refusal:
        raise InvalidInput(refusal)


def _named(path: Path, reach: "Reach", machine: "Machine") -> str:
    """A file as people call it, by where they stand or by their home, else in full; with where a link leads."""
    here, at_home = (Path.cwd(), ""), (machine.home, "~/")
    folders = (at_home, here) if reach == "user" else (here, at_home)
    name = next((f"{sign}{path.relative_to(top)}" for top, sign in folders if path.is_relative_to(top)), str(path))
    return f"{name} → {path.resolve()}" if path.is_symlink() else name
