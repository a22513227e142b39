"""doctor: diagnose the memory, even if it cannot be opened."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treering.core.errors import NotADatabase, TreeringError
from treering.interfaces.cli.exit_codes import ExitCode
from treering.interfaces.cli.options import QUICK_DRAIN, AsJson, Db, Project, opened
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    from rich.console import RenderableType

    from treering.maintenance.doctor import DoctorReport
    from treering.ports.store import Check

    class SalvageResult(Protocol):
        """Records saved from a damaged file."""

        @property
        def kept_aside(self) -> Path: ...
        @property
        def saved(self) -> Mapping[str, int]: ...
        @property
        def lost(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A report, the error that kept the memory from opening, and the records saved from a damaged file."""

    report: "DoctorReport"
    refused: TreeringError | None = None
    salvaged: "SalvageResult | None" = None

    @property
    def healthy(self) -> bool:
        lost = self.salvaged is not None and self.salvaged.lost
        return self.refused is None and self.report.healthy and not lost

    @property
    def damaged(self) -> bool:
        """Whether the file itself is damaged, not only derived data."""
        sound = all(check.fine for check in self.report.checks if check.name == "integrity")
        return isinstance(self.refused, NotADatabase) or not sound


def doctor(
    repair: Annotated[
        bool, typer.Option("--repair", help="Rebuild derived data; save readable records of a damaged file.")
    ] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Diagnose the memory and suggest repairs.

    Checks engine, integrity, models, sizes and missing parts. Exits with 1 if something is not healthy.
    """
    from treering.compose import embedded_path

    found = _diagnose(db, project, repair=repair)
    if repair and found.damaged and (path := embedded_path(db)) is not None:
        found = _rescue(path, db, project)
    emit(_document(found), lambda: _view(found), as_json=as_json)
    if not found.healthy:
        raise typer.Exit(ExitCode.FAILED)


def _diagnose(db: str | None, project: str | None, *, repair: bool) -> Diagnosis:
    from treering.compose import unopened_report

    try:
        with opened(db, project, drain_seconds=QUICK_DRAIN) as memory:
            report = memory.doctor(repair=repair)
            return Diagnosis(replace(report, checks=(*report.checks, *_hook_checks(db, project))))
    except TreeringError as exc:
        return Diagnosis(unopened_report(db, project, exc), refused=exc)


def _hook_checks(db: str | None, project: str | None) -> "tuple[Check, ...]":
    from treering.interfaces.hooks.location import HookLocation
    from treering.interfaces.hooks.status import hook_checks

    try:
        return hook_checks(HookLocation.here(db, project))
    except OSError:
        return ()


def _rescue(path: Path, db: str | None, project: str | None) -> Diagnosis:
    from treering.compose import salvage, unopened_report

    try:
        salvaged = salvage(path)
    except TreeringError as exc:
        return Diagnosis(unopened_report(db, project, exc), refused=exc)
    # Saved records have their indexes already, and blobs of lost records must stay.
    again = _diagnose(db, project, repair=False)
    return Diagnosis(again.report, again.refused, salvaged)


def _document(found: Diagnosis) -> dict[str, object]:
    report = found.report
    kind = type(found.refused).__name__ if found.refused else None
    described = {name: getattr(report, name) for name in report.__slots__}
    saved = found.salvaged
    rescue = saved and {"kept_aside": saved.kept_aside, "saved": dict(saved.saved), "lost": list(saved.lost)}
    return {"healthy": found.healthy, "refused": kind, **described, "salvaged": rescue}


def _view(found: Diagnosis) -> "RenderableType":
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from treering.interfaces.cli import views as show

    report = found.report
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name in ("location", "repository", "project", "blobs"):
        if getattr(report, name):
            grid.add_row(Text(f"  {name}", show.FAINT), show.safe(getattr(report, name)))
        if name == "location" and report.place:
            grid.add_row(Text(), Text(show.safe(report.place), show.FAINT))
    for check in report.checks:
        mark = ("✓ ", show.GOOD) if check.fine else ("✗ ", show.BAD)
        advice = Text(f"\n→ {show.safe(check.advice)}", "yellow") if check.advice else Text()
        grid.add_row(Text.assemble(mark, check.name), Text.assemble(show.safe(check.detail), advice))
    if report.sizes:
        sizes = ", ".join(f"{name} {show.size(count)}" for name, count in report.sizes.items())
        grid.add_row(Text("  sizes", show.FAINT), sizes)
    for name, advice_text in report.missing.items():
        grid.add_row(Text.assemble(("○ ", "yellow"), name), f"not in use → {advice_text}")
    for job in report.dead_jobs:
        grid.add_row(Text.assemble(("✗ ", show.BAD), "dead job"), show.safe(f"{job.kind} {job.id}: {job.error}"))
    if report.repaired:
        grid.add_row(Text("  repaired", show.FAINT), "\n".join(show.safe(line) for line in report.repaired))
    verdict = ("healthy", f"bold {show.GOOD}") if found.healthy else ("not healthy", f"bold {show.BAD}")
    head = Text.assemble("Treering ", report.version, ": ", verdict)
    return Group(head, grid, *_salvage_lines(found))


def _salvage_lines(found: Diagnosis) -> "list[RenderableType]":
    from rich.text import Text

    from treering.interfaces.cli import views as show

    if found.salvaged is None:
        return []
    saved = ", ".join(f"{count:,} {name}" for name, count in found.salvaged.saved.items() if count) or "nothing"
    return [
        Text(f"saved from the damaged file: {saved}", show.HEAD),
        *(Text(f"  lost: {show.safe(lost)}", "yellow") for lost in found.salvaged.lost),
        Text(f"  the damaged file is kept as {show.safe(str(found.salvaged.kept_aside))}", show.FAINT),
    ]
