"""A group of commands that are imported when they are called; the list of commands needs only names and summaries."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info, get_group_from_info
from typer.models import CommandInfo, TyperInfo


class Command(NamedTuple):
    """A command, and the function or subgroup that implements it."""

    name: str
    panel: str
    target: str
    """`module:attribute`, below this package."""
    summary: str
    """First paragraph of its help, shown in the list of commands."""


class LazyGroup(TyperGroup):
    """The commands of `table`, which subclasses set. `commands` holds summaries without options."""

    table: ClassVar[Sequence[Command]] = ()

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for row in self.table:
            self.add_command(TyperCommand(row.name, help=row.summary, rich_help_panel=row.panel), row.name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _summary, rest = super().resolve_command(ctx, args)
        return name, self.loaded(name), rest

    def loaded(self, name: str | None) -> Any:
        """The imported command, with its options."""
        row = next(row for row in self.table if row.name == name)
        module, attribute = row.target.split(":")
        found = getattr(import_module(f"{__package__}.{module}"), attribute)
        if isinstance(found, typer.Typer):
            return get_group_from_info(
                TyperInfo(found, name=row.name, rich_help_panel=row.panel),
                pretty_exceptions_short=found.pretty_exceptions_short,
                suggest_commands=found.suggest_commands,
                rich_markup_mode=found.rich_markup_mode,
            )
        return get_command_from_info(
            CommandInfo(row.name, callback=found, rich_help_panel=row.panel),
            pretty_exceptions_short=True,
            rich_markup_mode=self.rich_markup_mode,
        )
