"""export, import, backup and settle: operations on the whole memory."""

from pathlib import Path
from typing import Annotated

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.options import AsJson, Db, Force, Project, opened
from treering.interfaces.cli.output import emit, emit_text, file_or_stdin, write_lines


def export(
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="File to write; .gz compresses an export, - is stdout. Default: CLAUDE.md or AGENTS.md by the format.",
        ),
    ] = None,
    *,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="claude-md, agents-md or markdown: rules, decisions, gotchas and recipes as a marked block of FILE, "
            "whose other content stays as it is. Default: everything, as a portable file.",
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="TOKENS", help="Maximum length of the block. Default: 2,000."),
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Include deleted records, earlier versions and the audit log.")
    ] = False,
    force: Force = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Write the project to a portable file, or its rules into a block of a rule file such as CLAUDE.md."""
    if format is not None:
        _export_rules(path, format, budget, db, project, as_json=as_json)
        return
    if path is None:
        raise InvalidInput("pass the FILE to write, or --format claude-md for a rule file")
    with opened(db, project) as memory:
        if path == "-":
            write_lines(memory.export_lines(history=history))
            return
        lines = memory.export(path, history=history, force=force)
    from treering.interfaces.cli import views as show

    emit({"path": path, "lines": lines}, lambda: show.done("exported", f"{lines:,} lines", path), as_json=as_json)


def _export_rules(
    path: str | None, format: str, budget: int | None, db: str | None, project: str | None, *, as_json: bool
) -> None:
    from treering.archive.rule_files.rule_export import FORMATS
    from treering.interfaces.cli import rule_views

    if format not in FORMATS:
        raise InvalidInput(f"--format is {format!r}; use one of {', '.join(FORMATS)}")
    target = path or FORMATS[format] or "-"
    with opened(db, project) as memory:
        made = memory.export_rules(None if target == "-" else target, budget=budget)
    document = {name: getattr(made, name) for name in ("path", "records", "left_out", "tokens", "changed", "text")}
    if target == "-":
        emit_text(document, f"{made.text}\n" if made.text else "", as_json=as_json)
    else:
        emit(document, lambda: rule_views.exported(made), as_json=as_json)


def import_(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="File that export wrote, - is stdin; or a rule file: CLAUDE.md, AGENTS.md, .cursorrules…",
        ),
    ],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Rule file: only show what would change.")] = False,
    retire: Annotated[
        bool, typer.Option("--retire", help="Rule file: retire the records of statements that are gone from it.")
    ] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Read an export into the project, or the rules of a file such as CLAUDE.md.

    An export is read completely or not at all. Importing twice has the effect of once.
    """
    from treering.archive.rule_files.rule_sources import is_rule_file

    if is_rule_file(path):
        _import_rules(path, db, project, dry_run=dry_run, retire=retire, as_json=as_json)
        return
    if dry_run or retire:
        raise InvalidInput(f"--dry-run and --retire are for rule files such as CLAUDE.md, which {path} is not")
    with file_or_stdin(path) as file, opened(db, project) as memory:
        imported = memory.import_(file)
    from treering.interfaces.cli import views as show

    emit(imported, lambda: show.imported(imported), as_json=as_json)


def _import_rules(
    path: Path, db: str | None, project: str | None, *, dry_run: bool, retire: bool, as_json: bool
) -> None:
    from treering.compose import repository_around
    from treering.interfaces.cli import rule_views

    with opened(db, project) as memory:
        done = memory.import_rules(path, root=repository_around(None), dry_run=dry_run, retire=retire)
    emit(done, lambda: rule_views.imported(done), as_json=as_json)


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
    with opened(db, project, is_worker=True, drain_seconds=timeout) as memory:
        settled = memory.settle(timeout)
    from treering.interfaces.cli import views as show

    counts = f"{settled.done:,} done, {settled.waiting:,} waiting, {settled.dead:,} failed permanently"
    emit(settled, lambda: show.done("settled", counts, ""), as_json=as_json)
