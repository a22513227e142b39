"""The `treering` command: the verbs of the library. A command is imported when it is called."""

import sys
from typing import Annotated

import typer

from treering import __version__
from treering.interfaces.cli.exit_codes import ExitCode, leave, run
from treering.interfaces.cli.lazy_group import Command, LazyGroup

COMMANDS: tuple[Command, ...] = (
    Command("remember", "Record", "remember:remember", "Store a piece of knowledge."),
    Command("turn", "Record", "remember:turn", "Store a message of a conversation, word for word."),
    Command("episode", "Record", "episodes:episode", "Store a task execution with its artifacts."),
    Command(
        "observe",
        "Record",
        "sessions:observe",
        "Learn from recorded sessions of coding agents: Claude Code, Codex, Gemini CLI, or files of events.",
    ),
    Command("search", "Search", "search:search", "Search records of every kind by words, meaning and relations."),
    Command(
        "context",
        "Search",
        "context:context",
        "Print context for a prompt: rules and search results as cited text within a token budget.",
    ),
    Command(
        "episodes",
        "Search",
        "episodes:episodes",
        "Search episodes by meaning, attributes and time, or by failure.",
    ),
    Command("sessions", "Search", "sessions:sessions", "List observed sessions, newest first."),
    Command(
        "session",
        "Search",
        "sessions:session",
        "Show what was seen in an observed session, and what was promoted or rejected, and why.",
    ),
    Command("patterns", "Search", "patterns.commands:patterns", "Find, validate and correct patterns of what works."),
    Command("about", "Search", "entities:about", "Show what is known about a person, place or thing."),
    Command("entities", "Search", "entities:entities", "List or correct the entities mentioned in the memory."),
    Command("get", "Search", "records:get", "Show a record of any kind in full."),
    Command("history", "Search", "records:history", "Show the history of a record."),
    Command("audit", "Search", "records:audit", "List the audit log, newest first: writes, injections, removals."),
    Command("projects", "Search", "records:projects", "List the projects of the database, with their sizes."),
    Command("stats", "Search", "records:stats", "Count the records of the project."),
    Command(
        "conversation",
        "Search",
        "conversation.command:conversation",
        "Show the window of a conversation: its messages, those removed, and why.",
    ),
    Command(
        "index",
        "Code",
        "code.commands:index",
        "Index the code of a repository as a graph: what is defined where, and what uses what.",
    ),
    Command(
        "where",
        "Code",
        "code.where:where",
        "Find the locations in the code that answer a question: functions with their files and lines.",
    ),
    Command(
        "impact",
        "Code",
        "code.commands:impact",
        "Show what breaks if something changes: its dependents, the tests that reach it, and memories about it.",
    ),
    Command(
        "annotate",
        "Code",
        "code.commands:annotate",
        "Attach an invariant, a decision or a pattern to a part of the code; `treering impact` shows it.",
    ),
    Command(
        "deps",
        "Code",
        "code.commands:deps",
        "Show what something depends on, the path by which it depends on another node, or where its data goes.",
    ),
    Command(
        "related",
        "Code",
        "code.commands:related",
        "List the files related to a file: changed or used together, imported, or named alike.",
    ),
    Command(
        "map",
        "Code",
        "code.commands:map_",
        "Show the modules that the files form by their uses, with their sizes and what each depends on.",
    ),
    Command("confirm", "Correct", "corrections:confirm", "Mark a record as true."),
    Command("correct", "Correct", "corrections:correct", "Correct a record; the old version is kept."),
    Command(
        "flag", "Correct", "corrections:flag", "Mark a record as doubtful: hidden until it is confirmed or corrected."
    ),
    Command(
        "review",
        "Correct",
        "review:review",
        "Review a session: what it used, what was learned; confirm, edit or reject each with one key.",
    ),
    Command(
        "trust",
        "Correct",
        "review:trust",
        "Show or set the trust level: how certain a record must be before agents are given it unasked.",
    ),
    Command("pin", "Correct", "corrections:pin", "Protect a record from decay."),
    Command("mute", "Correct", "corrections:mute", "Keep a record from being given to agents unasked."),
    Command("used", "Correct", "corrections:used", "Report that records were useful; this raises their confidence."),
    Command("forget", "Correct", "corrections:forget", "Delete a record; undo restores it."),
    Command("undo", "Correct", "corrections:undo", "Revert the last change of a record."),
    Command("init", "Connect", "init:init", "Connect coding agents to this memory."),
    Command(
        "mcp",
        "Connect",
        "mcp:mcp",
        "Serve this memory over MCP: to one coding agent on stdin and stdout, or to several over HTTP.",
    ),
    Command(
        "serve",
        "Connect",
        "serve:serve",
        "Serve this memory over HTTP: REST API, live events, the panel and MCP.",
    ),
    Command(
        "pause",
        "Connect",
        "pauses:pause",
        "Pause memory in this repository: hooks of coding agents observe nothing and inject nothing.",
    ),
    Command(
        "resume",
        "Connect",
        "pauses:resume",
        "End every pause of memory in this repository, or that of a session or point.",
    ),
    Command(
        "export",
        "Archive",
        "archive:export",
        "Write the project to a portable file, or its rules into a block of a rule file such as CLAUDE.md.",
    ),
    Command(
        "import",
        "Archive",
        "archive:import_",
        "Read an export into the project, or the rules of a file such as CLAUDE.md.",
    ),
    Command("backup", "Archive", "archive:backup", "Copy the memory to a SQLite file that can be opened on its own."),
    Command("doctor", "Maintain", "doctor:doctor", "Diagnose the memory and suggest repairs."),
    Command("config", "Maintain", "config:config", "Show each setting, its value and where it comes from."),
    Command("report", "Maintain", "maintenance:report", "Show the health of the memory."),
    Command("maintain", "Maintain", "maintenance:maintain", "Run the scheduled maintenance now."),
    Command("work", "Maintain", "worker:work", "Run queued jobs and scheduled stages until Ctrl-C."),
    Command("settle", "Maintain", "archive:settle", "Wait until background work is done."),
    Command("embed", "Maintain", "embed:embed", "Compute the vectors that search by meaning compares."),
    Command("demo", "Maintain", "demo:demo", "Demonstrate Treering on a temporary project; nothing is kept."),
)


class _Commands(LazyGroup):
    table = COMMANDS


app = typer.Typer(
    cls=_Commands,
    help="Memory for AI agents: store, search, correct.",
    epilog="Start with `treering demo`, then `treering remember --help`.",
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"treering {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def treering(
    invoked: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    if invoked.invoked_subcommand is None:
        print(invoked.get_help())


def main() -> None:
    try:
        leave(run(app, sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
