"""The options that several commands share, each described once. Importing this must stay cheap."""

from collections.abc import Iterator
from contextlib import contextmanager
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
        help="A SQLite file or a postgresql:// URL. Without it: the memory of the repository you are in.",
        rich_help_panel="Where",
    ),
]
Project = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="NAME",
        envvar="TREERING_PROJECT",
        help="Which project of that database. Without it: the repository you are in.",
        rich_help_panel="Where",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; errors as JSON on stderr.")]

RecordId = Annotated[str, typer.Argument(metavar="ID", help="The id that remember, turn and search print.")]
SpokenText = Annotated[str, typer.Argument(metavar="TEXT", help="The text; - reads it from stdin.")]

Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; give it again for more.")]
Files = Annotated[
    list[str] | None,
    typer.Option("--file", metavar="PATH", help="A file, relative to the repository root; give it again for more."),
]
Modules = Annotated[list[str] | None, typer.Option("--module", metavar="NAME", help="A module; again for more.")]
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
        help="The git repository that records are compared with. Without it: the one around, if the memory is its own.",
        rich_help_panel="Where",
    ),
]
Visible = Annotated[
    str | None,
    typer.Option("--visibility", metavar="WHO", help="personal, project (as without it), team or organisation."),
]

TaintSource = Annotated[
    str | None,
    typer.Option("--taint", metavar="SOURCE", help="It came from outside: where from, such as a URL or a tool."),
]
TaintReason = Annotated[str | None, typer.Option("--taint-reason", metavar="TEXT", help="Why that is doubtful.")]


def taint_of(source: str | None, reason: str | None) -> "Taint | None":
    """The taint that the options describe."""
    from treering.core.errors import InvalidInput
    from treering.core.taint import Taint

    if source is None:
        if reason is not None:
            raise InvalidInput("--taint-reason goes with --taint SOURCE; name the source too")
        return None
    return Taint.make(source=source, reason=reason or "")


@contextmanager
def opened(
    db: str | None, project: str | None, repository: Path | None = None, *, is_worker: bool = False
) -> "Iterator[Memory]":
    """The memory that the options name; its maintenance compares records with the files of `repository`.

    What the command stores leaves jobs: small ones are done at the end, and the output names how many are pending,
    unless the command `is_worker`.
    """
    from treering.compose import open

    memory = open(db, project=chosen_project(project), background=False, repository=repository)
    with memory, small_jobs_after(memory, is_worker=is_worker):
        yield memory


def repository_for(db: str | None, project: str | None, named: Path | None, *, wanted: bool) -> Path | None:
    """The repository that was named, else the one around if the memory is its own, or its files are `wanted`."""
    from treering.compose import repository_around

    return repository_around(named) if named or wanted or not (db or project) else None


def chosen_project(project: str | None) -> str:
    """The project that was named, else that of the repository around, wherever its memory is."""
    from treering.compose import current_project

    return project or current_project()
