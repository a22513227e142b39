"""The `treering` command: the same verbs as the library. What a verb needs is imported when it runs."""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from treering import __version__
from treering.interfaces.cli import (
    carry,
    demo,
    doctor,
    embed,
    entities,
    episodes,
    find,
    init,
    keep,
    maintain,
    mcp,
    put_right,
    search,
    work,
)
from treering.interfaces.cli.code import commands as code
from treering.interfaces.cli.code.where import where
from treering.interfaces.cli.context.command import context
from treering.interfaces.cli.door import ExitCode, leave, run
from treering.interfaces.cli.patterns.commands import patterns

VERBS: tuple[tuple[str, tuple[Callable[..., None], ...]], ...] = (
    ("Keep", (keep.remember, keep.turn, episodes.episode)),
    (
        "Find",
        (
            search.search,
            episodes.episodes,
            find.get,
            find.history,
            find.stats,
            entities.about,
            entities.entities,
            context,
        ),
    ),
    ("Know the code", (code.index, where, code.impact, code.deps, code.related, code.map_)),
    (
        "Put right",
        (
            put_right.confirm,
            put_right.correct,
            put_right.flag,
            put_right.pin,
            put_right.used,
            put_right.forget,
            put_right.undo,
        ),
    ),
    ("Connect", (init.init, mcp.mcp)),
    ("Carry", (carry.export, carry.import_, carry.backup, carry.settle)),
    ("Look after", (doctor.doctor, maintain.report, maintain.maintain, work.work, embed.embed, demo.demo)),
)

app = typer.Typer(
    help="Memory for AI agents: kept, found again, put right.",
    epilog="Start with `treering demo`, then `treering remember --help`.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for panel, verbs in VERBS:
    for verb in verbs:
        app.command(name=verb.__name__.rstrip("_"), rich_help_panel=panel)(verb)
app.add_typer(patterns, name="patterns", rich_help_panel="Find")
# The library's name for the same verb.
app.command(name="recall", hidden=True)(search.search)


def _tell_version(wanted: bool) -> None:
    if wanted:
        print(f"treering {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def treering(
    invoked: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and leave.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    if invoked.invoked_subcommand is None:
        print(invoked.get_help())


def main() -> None:
    try:
        leave(run(app, sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
