"""maintain and report: run maintenance, show its history and the health of the memory."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

from treering.interfaces.cli.exit_codes import ExitCode
from treering.interfaces.cli.options import AsJson, Db, Project, Repository, opened, repository_for
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from treering.core.runs import Run
    from treering.maintenance.api import StagePlan
    from treering.maintenance.health_report import HealthReport

    OnProgress = Callable[[Run], None]

_MAX_RUNS = 50
_BAR = 30


def maintain(
    stage: Annotated[
        str | None,
        typer.Argument(metavar="STAGE", help="One stage; default: all stages in order."),
    ] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be done.")] = False,
    history: Annotated[bool, typer.Option("--history", help="Only show the schedule and earlier runs.")] = False,
    repository: Repository = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Run the scheduled maintenance now.

    Learns from sessions, forgets faded records and optimises indexes. The next run resumes an interrupted one. Exits
    with 1 if a stage failed.
    """
    if history and (stage is not None or dry_run):
        raise typer.BadParameter("--history shows the runs of all stages; leave out STAGE and --dry-run")
    compared = repository_for(db, project, repository, wanted=stage == "staleness")
    drain_seconds = None if history or dry_run else inf
    with opened(db, project, compared, is_worker=True, drain_seconds=drain_seconds) as memory:
        if history:
            plan, runs = memory.maintenance.plan(), memory.maintenance.runs(_MAX_RUNS)
            emit({"plan": plan, "runs": runs}, lambda: _history(plan, runs), as_json=as_json)
            return
        with _progress() as on_progress:
            runs = memory.maintenance.run(stage, dry_run=dry_run, on_progress=on_progress)
        found = memory.maintenance.report() if stage == "report" else None
    document = {"dry_run": dry_run, "runs": runs, **({"report": found} if found else {})}
    emit(document, lambda: _done(runs, found, dry_run=dry_run), as_json=as_json)
    if any(run.error for run in runs):
        raise typer.Exit(ExitCode.FAILED)


def report(db: Db = None, project: Project = None, as_json: AsJson = False) -> None:
    """Show the health of the memory.

    Contents, growth, confidence, pending jobs, maintenance runs and failures.
    """
    with opened(db, project) as memory:
        found = memory.maintenance.report()
    emit(found, lambda: _report(found), as_json=as_json)


@contextmanager
def _progress() -> "Iterator[OnProgress]":
    """A progress bar for each stage if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _run: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bars: dict[str, TaskID] = {}

        def update(run: "Run") -> None:
            if run.stage not in bars:
                bars[run.stage] = progress.add_task(run.stage, total=None)
            progress.update(bars[run.stage], completed=run.done, total=run.total)

        yield update


def _grid(*, wrapped: int = -1) -> "Table":
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(2 if wrapped < 0 else wrapped):
        grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _done(runs: "Sequence[Run]", found: "HealthReport | None", *, dry_run: bool) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli import views as show

    grid = _grid()
    for run in runs:
        grid.add_row(_mark(run), run.stage, _summary(run))
    head = [Text("nothing was written; this would be done:", show.FAINT)] if dry_run else []
    return Group(*head, grid, *([_report(found)] if found else []))


def _history(plan: "Sequence[StagePlan]", runs: "Sequence[Run]") -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli import views as show

    schedule = _grid()
    for each in plan:
        next_run = "overdue" if each.overdue else f"next {show.when(each.next)}" if each.next else "on request"
        schedule.add_row(each.stage, Text(each.cron, show.FAINT), Text(next_run, "yellow" if each.overdue else ""))
    done = _grid(wrapped=3)
    for run in runs:
        done.add_row(Text(show.when(run.started_at), show.FAINT), _mark(run), run.stage, _summary(run))
    return Group(Text("schedule", show.HEAD), schedule, Text("runs", show.HEAD), done if runs else Text("none yet"))


def _mark(run: "Run") -> "RenderableType":
    from rich.text import Text

    from treering.interfaces.cli import views as show

    if run.error:
        return Text("✗", show.BAD)
    return Text("✓", show.GOOD) if run.finished_at else Text("…", "yellow")


def _summary(run: "Run") -> "RenderableType":
    from rich.text import Text

    from treering.core.runs import SKIPPED_WITHOUT_REPOSITORY
    from treering.interfaces.cli import views as show

    if run.error:
        return Text(show.preview(run.error), "yellow")
    if not run.finished_at:
        total = f" of {run.total:,}" if run.total else ""
        return Text(f"{run.done:,}{total} steps so far" if run.attempts else "queued")
    if SKIPPED_WITHOUT_REPOSITORY in run.counts:
        return Text("skipped: no git repository with commits was found; pass --repository PATH", "yellow")
    counts = {} if run.stage == "report" else run.counts
    return Text(
        show.counts_line({name.replace("_", " "): count for name, count in counts.items()}) or "done", show.FAINT
    )


def _report(found: "HealthReport") -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli import views as show

    grid = _grid(wrapped=1)
    rows: Mapping[str, str] = {
        "holds": show.counts_line(found.records),
        "knowledge": show.counts_line(found.knowledge),
        "state": show.counts_line(found.states),
        **{f"last {period}": show.counts_line(counts, sign="+") for period, counts in found.growth.items()},
        "episodes": show.counts_line(found.episodes),
        "patterns": show.counts_line(
            {status.lower().replace("_", " "): count for status, count in found.patterns.items()}
        ),
        "learning": show.counts_line(found.learning),
        "jobs": show.counts_line(found.jobs),
        "dead jobs": show.counts_line(found.dead_jobs),
        "sizes": ", ".join(f"{name} {show.size(count)}" for name, count in found.sizes.items()),
    }
    grid.add_row(Text("project", show.FAINT), show.safe(found.project))
    for name, counts in rows.items():
        if counts or name == "holds":
            grid.add_row(Text(name, show.FAINT), counts or "nothing yet")
    return Group(grid, *_confidence(found), *_last_runs(found.runs))


def _confidence(found: "HealthReport") -> "Sequence[RenderableType]":
    from rich.text import Text

    from treering.interfaces.cli import views as show

    if not found.looked_at:
        return ()
    highest = max(found.confidence.values())
    grid = _grid(wrapped=1)
    for name, count in found.confidence.items():
        grid.add_row(Text(name, show.FAINT), Text.assemble((show.bar(count, highest, _BAR), show.GOOD), f" {count:,}"))
    return Text("confidence today", show.HEAD), grid


def _last_runs(runs: "Sequence[Run]") -> "Sequence[RenderableType]":
    from rich.text import Text

    from treering.interfaces.cli import views as show

    if not runs:
        return ()
    grid = _grid(wrapped=3)
    for run in runs:
        grid.add_row(Text(show.when(run.started_at), show.FAINT), _mark(run), run.stage, _summary(run))
    return Text("last runs", show.HEAD), grid
