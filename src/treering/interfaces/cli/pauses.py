"""pause and resume: turn the hooks of coding agents off and on in this repository."""

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.options import AsJson, Db, Project
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from rich.console import RenderableType

Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="Only in this session of an agent.")]
Points = Annotated[
    list[str] | None,
    typer.Option(
        "--point", metavar="POINT", help="Only injection at this point: start, prompt, tool, step; repeatable."
    ),
]
_DURATION = re.compile(r"(\d{1,6})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def pause(
    *,
    duration: Annotated[
        str | None,
        typer.Option("--for", metavar="TIME", help="End on its own after 90s, 30m, 2h, 1d… Default: resume."),
    ] = None,
    session: Session = None,
    inject_only: Annotated[
        bool, typer.Option("--inject-only", help="Give agents nothing, but go on observing their sessions.")
    ] = False,
    points: Points = None,
    status: Annotated[bool, typer.Option("--status", help="Only show what is paused.")] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Pause memory in this repository: hooks of coding agents observe nothing and inject nothing.

    TREERING_HOOKS=off and TREERING_INJECT=off in the environment of an agent do the same for what is started there.
    """
    from treering.location import pauses

    folders = _folders(db, project)
    if status:
        found = pauses.pauses(folders)
    else:
        until = None if duration is None else _now() + _duration(duration)
        found = pauses.pause(folders, pauses.PauseRequest(until, session, inject_only, tuple(points or ())))
    _show(found, as_json=as_json)


def resume(
    *,
    session: Session = None,
    points: Points = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """End every pause of memory in this repository, or that of a session or point."""
    from treering.location import pauses

    _show(pauses.resume(_folders(db, project), session=session, points=points or ()), as_json=as_json)


def _folders(db: str | None, project: str | None) -> tuple[str, ...]:
    from treering.compose import data_directory, repository_around
    from treering.location.pauses import pause_folders

    return pause_folders(data_directory(), repository_around(None), db, project)


def _now() -> datetime:
    from treering.compose import now

    return now()


def _duration(text: str) -> timedelta:
    found = _DURATION.fullmatch(text)
    if found is None:
        raise InvalidInput(f"--for is {text!r}; write a number and s, m, h or d, such as 30m or 2h")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _show(found: dict[str, Any], *, as_json: bool) -> None:
    now = _now().timestamp()
    from treering.location.hook_files import is_paused

    document = {**found, "paused": {what: is_paused(found, what, now) for what in ("observe", "inject")}}
    emit(document, lambda: _view(document), as_json=as_json)


def _view(document: dict[str, Any]) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli import views as show

    named = {"observe": "observation and injection", "inject": "injection"}
    lines = [
        f"{text} paused {_end(document[what])}"
        for what, text in named.items()
        if document["paused"][what] and document[what] is not None
    ]
    for id, paused in document["sessions"].items():
        lines.append(f"session {id}: {'injection' if paused == 'inject' else 'observation and injection'} paused")
    lines += [f"injection at point {point} paused" for point in document["points"]]
    return Group(*(Text(show.safe(line)) for line in lines or ["nothing is paused"]))


def _end(until: str) -> str:
    from treering.interfaces.cli import views as show

    return "until `treering resume`" if until == "forever" else f"until {show.when(datetime.fromisoformat(until))}"
