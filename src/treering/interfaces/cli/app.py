"""The `treering` command: the same verbs as the library. A command is imported when it is called."""

import sys
from typing import Annotated

import typer

from treering import __version__
from treering.interfaces.cli.exit_codes import ExitCode, leave, run
from treering.interfaces.cli.lazy_group import Command, LazyGroup

COMMANDS: tuple[Command, ...] = (
    Command("remember", "Keep", "remember:remember", "Keep a piece of knowledge."),
    Command("turn", "Keep", "remember:turn", "Keep what was said, word for word."),
    Command("episode", "Keep", "episodes:episode", "Keep a whole task execution, with what it produced."),
    Command("search", "Find", "search:search", "Find records of every kind by words, meaning and ties."),
    Command(
        "episodes",
        "Find",
        "episodes:episodes",
        "Find episodes: by meaning, attributes and time, or by what went wrong.",
    ),
    Command("get", "Find", "records:get", "Show one record, turn or episode, whole."),
    Command("history", "Find", "records:history", "Show what happened to a record, and what was believed before."),
    Command("audit", "Find", "records:audit", "List the audit log, newest first: writes, injections, removals."),
    Command("projects", "Find", "records:projects", "List the projects of the database, with their sizes."),
    Command("stats", "Find", "records:stats", "Count what the project holds."),
    Command("about", "Find", "entities:about", "Show what is known about a person, place or thing."),
    Command("entities", "Find", "entities:entities", "List who and what the memory speaks of, or put that right."),
    Command(
        "context",
        "Find",
        "conversation.command:context",
        "Draw a conversation's window: what is in it, what left and why.",
    ),
    Command(
        "patterns",
        "Find",
        "patterns.commands:patterns",
        "What works, proven by evidence: find it, prove it, put it right.",
    ),
    Command(
        "index",
        "Know the code",
        "code.commands:index",
        "Read the code of a repository into a graph: what is defined where, and what uses what.",
    ),
    Command(
        "where",
        "Know the code",
        "code.where:where",
        "Find the places in the code that a question is about: the functions, their files and lines.",
    ),
    Command(
        "impact",
        "Know the code",
        "code.commands:impact",
        "Show what breaks if something changes: who depends on it, which tests reach it, what is remembered about it.",
    ),
    Command(
        "deps",
        "Know the code",
        "code.commands:deps",
        "Show what something rests on, how it comes to depend on another thing, or where its data goes.",
    ),
    Command(
        "related",
        "Know the code",
        "code.commands:related",
        "List the files that belong to a file: changed together in the history, imported, or named alike.",
    ),
    Command(
        "map",
        "Know the code",
        "code.commands:map_",
        "Show the modules that the files form by what they use, with their sizes and what each is built on.",
    ),
    Command("confirm", "Put right", "corrections:confirm", "Say that it is true."),
    Command("correct", "Put right", "corrections:correct", "Put a record right; nothing is overwritten."),
    Command("flag", "Put right", "corrections:flag", "Doubt it: not recalled until confirmed or corrected."),
    Command("pin", "Put right", "corrections:pin", "Keep it from fading."),
    Command(
        "used", "Put right", "corrections:used", "Say that records were of use: what proves itself is trusted more."
    ),
    Command("forget", "Put right", "corrections:forget", "Take it away; undo brings it back."),
    Command("undo", "Put right", "corrections:undo", "Take back the last change of a record."),
    Command("init", "Connect", "init:init", "Connect a coding agent to this memory."),
    Command(
        "mcp",
        "Connect",
        "mcp:mcp",
        "Serve this project's memory to a coding agent, over stdin and stdout, or to many over HTTP.",
    ),
    Command("export", "Carry", "archive:export", "Write the project to a portable file."),
    Command("import", "Carry", "archive:import_", "Read an export into the project."),
    Command("backup", "Carry", "archive:backup", "Copy the memory to a SQLite file that opens by itself."),
    Command("settle", "Carry", "archive:settle", "Wait until background work is done."),
    Command("doctor", "Look after", "doctor:doctor", "Say how the memory is, and what to do about it."),
    Command("config", "Look after", "config:config", "Show each setting, its value and where it comes from."),
    Command("report", "Look after", "maintenance:report", "Show how the memory does."),
    Command("maintain", "Look after", "maintenance:maintain", "Do now what the schedule does at night."),
    Command("work", "Look after", "worker:work", "Do what is queued, and what the schedule says, until Ctrl-C."),
    Command("embed", "Look after", "embed:embed", "Make the vectors that search by meaning compares."),
    Command("demo", "Look after", "demo:demo", "Show on a temporary project what this is; nothing is kept."),
    # The library's name for the same verb.
    Command(
        "recall",
        "Find",
        "search:search",
        "Find records of every kind by words, meaning and ties.",
        hidden=True,
    ),
)


class _Commands(LazyGroup):
    table = COMMANDS


app = typer.Typer(
    cls=_Commands,
    help="Memory for AI agents: kept, found again, put right.",
    epilog="Start with `treering demo`, then `treering remember --help`.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
