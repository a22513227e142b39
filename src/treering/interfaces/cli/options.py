"""Options that several commands share. Importing this module must stay cheap."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treering.interfaces.cli.pending_jobs import small_jobs_after

if TYPE_CHECKING:
    from treering.core.taint import Taint
    from treering.memory import Memory

Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="PATH_OR_URL",
        envvar="TREERING_DB",
        help="SQLite file, postgresql:// URL, or URL of `treering serve`. Default: the current repository's memory.",
        rich_help_panel="Location",
    ),
]
Project = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="NAME",
        envvar="TREERING_PROJECT",
        help="Project in that database. Default: the current repository.",
        rich_help_panel="Location",
    ),
]
QUICK_DRAIN = 5.0
"""Seconds that a command which only shows something may spend on events that hooks have written."""

Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document; errors are JSON on stderr.")]

RecordId = Annotated[
    str, typer.Argument(metavar="ID", help="Id, or its beginning or end, as in a citation `[Memory #id: …]`.")
]
TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="Text; - reads it from stdin.")]

Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Tag; repeatable.")]
Files = Annotated[
    list[str] | None,
    typer.Option("--file", metavar="PATH", help="File, relative to the repository root; repeatable."),
]
Modules = Annotated[list[str] | None, typer.Option("--module", metavar="NAME", help="Module; repeatable.")]
InPlay = Annotated[
    list[str] | None,
    typer.Option("--in-play", metavar="PATH", help="File being worked on: raises related records; repeatable."),
]
WorkPhase = Annotated[
    str | None,
    typer.Option(
        "--phase",
        metavar="PHASE",
        help="Phase of the work: define, implement, validate, refine, explore, reflect; or coding, debugging…",
    ),
]
Repository = Annotated[
    Path | None,
    typer.Option(
        "--repository",
        metavar="PATH",
        help="Git repository that records are compared with. Default: the current one, if the memory belongs to it.",
        rich_help_panel="Location",
    ),
]
VisibilityLevel = Annotated[
    str | None,
    typer.Option("--visibility", metavar="LEVEL", help="personal, project, team or organisation. Default: project."),
]

TaintSource = Annotated[
    str | None,
    typer.Option("--taint", metavar="SOURCE", help="Mark it as from outside, and name the source: a URL, a tool…"),
]
TaintReason = Annotated[str | None, typer.Option("--taint-reason", metavar="TEXT", help="Why the source is doubtful.")]


def taint_of(source: str | None, reason: str | None) -> "Taint | None":
    """The taint that the options describe."""
    from treering.core.errors import InvalidInput
    from treering.core.taint import Taint

    if source is None:
        if reason is not None:
            raise InvalidInput("--taint-reason has no effect without --taint; add --taint SOURCE")
        return None
    return Taint.make(source=source, reason=reason or "")


def is_server_url(db: str | None) -> bool:
    """Whether the option names a `treering serve` instead of a database."""
    return db is not None and db.startswith(("http://", "https://"))


@contextmanager
def opened(
    db: str | None,
    project: str | None,
    repository: Path | None = None,
    *,
    is_worker: bool = False,
    drain_seconds: float | None = None,
) -> "Iterator[Memory]":
    """The memory that the options name; its maintenance compares records with the files of `repository`.

    Small jobs that the command queues run at its end, and the output says how many are pending, unless it `is_worker`.
    With `drain_seconds`, events that hooks have written are stored first, for at most this long.
    """
    if is_server_url(db):
        from treering.interfaces.cli.remote import connected

        with connected(str(db), project) as remote:
            yield remote
        return
    from treering.compose import open

    memory = open(db, project=chosen_project(project), background=False, repository=repository)
    with memory, small_jobs_after(memory, is_worker=is_worker):
        if drain_seconds is not None:
            drain_hooks(memory, db, project, drain_seconds)
        yield memory


def drain_hooks(memory: "Memory", db: str | None, project: str | None, seconds: float = inf) -> None:
    """Store the events that hooks of the current repository have written, for at most this long."""
    from treering.core.errors import StoreError
    from treering.interfaces.hooks.location import HookLocation, drain_spool

    # In a memory that is only read, or is busy, the events wait, and `treering doctor` shows how many.
    with suppress(OSError, StoreError):
        drain_spool(memory, HookLocation.here(db, project), seconds=seconds)


def repository_for(db: str | None, project: str | None, named: Path | None, *, wanted: bool) -> Path | None:
    """The named repository, else the current one if the memory belongs to it or its files are `wanted`."""
    from treering.compose import repository_around

    return repository_around(named) if named or wanted or not (db or project) else None


def chosen_project(project: str | None) -> str:
    """The named project, else that of the current repository, whichever database it is in."""
    from treering.compose import current_project

    return project or current_project()
