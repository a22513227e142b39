"""observe, sessions and session: learn from recorded sessions, and show what was seen and decided."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treering.interfaces.cli.options import QUICK_DRAIN, AsJson, Db, Project, opened
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from treering.observe.replay import OnProgress


def observe(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="Transcripts, or folders of them, such as ~/.claude/projects/NAME."),
    ],
    *,
    root: Annotated[
        Path | None,
        typer.Option(
            "--root",
            metavar="FOLDER",
            help="Only sessions of this folder. Default: all, each for the memory of the folder where it ran.",
        ),
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Learn from recorded sessions of coding agents: Claude Code, Codex, Gemini CLI, or files of events.

    Each session goes to the memory of the folder where it ran, unless --project names one for all. Sessions are read
    oldest first. Ctrl-C stops after the current session; the next call goes on from there.
    """
    from treering.core.errors import NotFound
    from treering.interfaces.cli import session_views
    from treering.interfaces.cli.code.progress import stop_on_signal
    from treering.interfaces.cli.replay_destinations import destinations_of, replay_into
    from treering.observe.replay import ReplayReport, recorded_sessions

    if missing := [path for path in paths if not path.exists()]:
        raise NotFound(f"{missing[0]} does not exist; pass a transcript or a folder of transcripts")
    report, folder = ReplayReport(), root and root.resolve()
    with stop_on_signal() as stop, _progress_bar() as show:
        found = destinations_of(recorded_sessions(paths, report.read), project, folder)
        done = replay_into(found, report, db, folder, stop=stop.is_set, on_progress=show)
    emit(session_views.replay_document(done), lambda: session_views.replayed(done), as_json=as_json)


def sessions(
    *,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Maximum number of sessions.")] = 20,
    types: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="Only this type: build, terminal…; repeatable.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="WHEN", help="Only sessions since then.")] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List observed sessions, newest first."""
    from treering.interfaces.cli import session_views

    with opened(db, project, drain_seconds=QUICK_DRAIN) as memory:
        found = memory.sessions.list(limit=limit, types=types or (), since=since)
    document = {"sessions": [session_views.session_document(each) for each in found]}
    emit(document, lambda: session_views.listed(found), as_json=as_json)


def session(
    id: Annotated[str, typer.Argument(metavar="ID", help="Id of an observed session.")],
    *,
    why: Annotated[
        bool, typer.Option("--why", help="Also show the candidates that were rejected, each with the gate and reason.")
    ] = False,
    injected: Annotated[
        bool,
        typer.Option(
            "--injected", help="Show what the session was given of memory: when, why, the tokens, and the outcome."
        ),
    ] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show what was seen in an observed session, and what was promoted or rejected, and why."""
    from treering.interfaces.cli import session_views

    with opened(db, project, drain_seconds=QUICK_DRAIN) as memory:
        if injected:
            from treering.interfaces.cli import review_views

            given = memory.injections.given(id)
            emit(review_views.injected_document(id, given), lambda: review_views.injected(id, given), as_json=as_json)
            return
        found = memory.sessions.get(id)
    document = session_views.session_document(found.session, candidates=True)
    emit(document, lambda: session_views.session(found, why=why), as_json=as_json)


def _progress_bar() -> "ProgressBar":
    return ProgressBar()


class ProgressBar:
    """A progress bar of sessions on a terminal; otherwise nothing."""

    def __enter__(self) -> "OnProgress":
        import sys
        from contextlib import ExitStack

        self._stack = ExitStack()
        if not sys.stderr.isatty():
            return lambda _progress: None
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        bars = self._stack.enter_context(Progress(*columns, console=Console(stderr=True), transient=True))
        shown = bars.add_task("sessions")
        return lambda progress: bars.update(shown, completed=progress.done, total=progress.total)

    def __exit__(self, *_raised: object) -> None:
        self._stack.close()
