"""Options shared by the commands for the code graph."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treering.interfaces.cli.pending_jobs import small_jobs_after

if TYPE_CHECKING:
    from treering.memory import Memory

Node = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A definition, file or folder: verify_jwt, AuthService.login, auth/tokens.py:verify_jwt, tokens.py:42.",
    ),
]
Depth = Annotated[int | None, typer.Option("--depth", metavar="STEPS", min=1, help="Maximum number of steps.")]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Maximum number of results. Default: 20.")
]
MapLimit = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=1, help="Maximum number of results. Default: 20; with --json, all."),
]
MinConfidence = Annotated[
    float,
    typer.Option(
        "--min-confidence", metavar="0..1", min=0, max=1, help="Follow only edges with at least this confidence."
    ),
]
Unresolved = Annotated[
    bool,
    typer.Option("--unresolved", help="List the uses whose targets are not known instead, with file and line."),
]
LISTED = 20


@contextmanager
def opened_for(db: str | None, project: str | None, path: Path | None = None) -> "Iterator[Memory]":
    """The memory of the repository around a folder, or around the current one."""
    from treering.compose import open, project_name, repository_around

    root = repository_around(path)
    memory = open(db, project=project or project_name(root), repository=root, background=False)
    with memory, small_jobs_after(memory):
        yield memory


def resolve_from_cwd(memory: "Memory", name: str) -> str:
    """A name given in the current folder; a relative path becomes absolute."""
    try:
        here = Path.cwd()
    except OSError:
        return name
    return memory.code.name_from(here, name)
