"""export, import, backup and settle: operations on the whole memory."""

from pathlib import Path
from typing import Annotated

import typer

from treering.interfaces.cli.options import AsJson, Db, Force, Project, opened
from treering.interfaces.cli.output import emit, file_or_stdin, write_lines


def export(
    path: Annotated[str, typer.Argument(metavar="FILE", help="File to write; .gz compresses it, - is stdout.")],
    *,
    history: Annotated[
        bool, typer.Option("--history", help="Include deleted records, earlier versions and the audit log.")
    ] = False,
    force: Force = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Write the project to a portable file."""
    with opened(db, project) as memory:
        if path == "-":
            write_lines(memory.export_lines(history=history))
            return
        lines = memory.export(path, history=history, force=force)
    from treering.interfaces.cli import views as show

    emit({"path": path, "lines": lines}, lambda: show.done("exported", f"{lines:,} lines", path), as_json=as_json)


def import_(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="File that export wrote; - is stdin.")],
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Read an export into the project.

    All of it or nothing; importing twice has the effect of once.
    """
    with file_or_stdin(path) as file, opened(db, project) as memory:
        imported = memory.import_(file)
    from treering.interfaces.cli import views as show

    emit(imported, lambda: show.imported(imported), as_json=as_json)


def backup(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="File to write; blobs go into a folder beside it.")],
    force: Force = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Copy the memory to a SQLite file that can be opened on its own."""
    with opened(db, project) as memory:
        written, name = memory.backup(path, force=force), memory.scope.project
    from treering.interfaces.cli import views as show

    advice = f"`treering stats --db {written} --project {name}` opens it"
    emit({"path": written}, lambda: show.done("backed up", str(written), advice), as_json=as_json)


def settle(
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="Maximum time to wait.")] = 60.0,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Wait until background work is done."""
    with opened(db, project, is_worker=True) as memory:
        settled = memory.settle(timeout)
    from treering.interfaces.cli import views as show

    counts = f"{settled.done:,} done, {settled.waiting:,} waiting, {settled.dead:,} failed permanently"
    emit(settled, lambda: show.done("settled", counts, ""), as_json=as_json)
