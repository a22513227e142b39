"""embed: compute missing vectors, and show how many there are."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from treering.interfaces.cli.options import AsJson, Db, Project, opened
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from treering.maintenance.vectors import VectorCoverage, Vectors


def embed(
    status: Annotated[
        bool, typer.Option("--status", help="Only show how many documents have a vector; compute none.")
    ] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Compute the vectors that search by meaning compares.

    Existing vectors are kept; after an interruption the next run continues.
    """
    with opened(db, project) as memory:
        embedded = 0 if status else _update(memory.vectors)
        found = memory.vectors.coverage()
    from treering.interfaces.cli import views as show

    summary = _summary(found)
    document = {"model": found.model, "embedded": embedded, **asdict(found)}
    picture = (lambda: show.safe(summary)) if status else (lambda: show.done("embedded", f"{embedded:,} new", summary))
    emit(document, picture, as_json=as_json)


def _summary(found: "VectorCoverage") -> str:
    code = f", {found.code_vectors:,} of {found.code:,} code chunks" if found.code else ""
    return f"{found.vectors:,} of {found.documents:,} documents{code} have a vector of {found.model}"


def _update(vectors: "Vectors") -> int:
    before = vectors.coverage()
    with _progress_bar(before.model, before.missing) as advance:
        return vectors.update(advance)


@contextmanager
def _progress_bar(model: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr that disappears at the end; none if stderr is not a terminal."""
    if not sys.stderr.isatty() or not total:
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(model, total=total)
        yield lambda done: progress.update(task, completed=done)
