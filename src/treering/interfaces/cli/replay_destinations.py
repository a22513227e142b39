"""The projects that recorded sessions belong to: each session goes to the memory of the folder where it ran."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from treering.interfaces.cli.options import chosen_project, opened

if TYPE_CHECKING:
    from treering.observe.replay import OnProgress, RecordedSession, ReplayProgress, ReplayReport


@dataclass(frozen=True, slots=True)
class Destination:
    """A project with its sessions. `repository` is the folder whose memory it is; None if the project was named."""

    project: str
    repository: Path | None
    sessions: Sequence[RecordedSession]


@dataclass(slots=True)
class Destinations:
    """Where sessions go, and how many are left out: without a folder, and of folders that do not exist here."""

    found: list[Destination] = field(default_factory=list)
    without_root: int = 0
    missing_root: int = 0


@dataclass(slots=True)
class ReplaySummary:
    """A replay into several projects: sessions by project, and the projects that could not be opened, with reasons."""

    report: ReplayReport
    destinations: Destinations
    projects: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def destinations_of(sessions: Iterable[RecordedSession], project: str | None, root: Path | None) -> Destinations:
    """All sessions for the named project or the project of `root`, else each for the project of its own folder.

    Paths of the latter are noted relative to the repository, wherever in it the session ran.
    """
    if project is not None or root is not None:
        folder = root if project is None and root is not None and root.is_dir() else None
        name = _project_of(folder) if folder is not None else chosen_project(project)
        return Destinations([Destination(name, folder, tuple(sessions))])
    return _by_folder(sessions)


def _by_folder(sessions: Iterable[RecordedSession]) -> Destinations:
    result, groups = Destinations(), dict[Path, list["RecordedSession"]]()
    for each in sessions:
        found = None if each.root is None else _repository_of(each.root)
        if not each.root:
            result.without_root += 1
        elif found is None:
            result.missing_root += 1
        else:
            repository, seen_as = found
            groups.setdefault(repository, []).append(replace(each, root=seen_as))
    result.found = [Destination(_project_of(folder), folder, found) for folder, found in groups.items()]
    return result


def replay_into(
    destinations: Destinations,
    report: ReplayReport,
    db: str | None,
    root: Path | None,
    *,
    stop: Callable[[], bool],
    on_progress: OnProgress,
) -> ReplaySummary:
    """Observe the sessions of every destination. One whose memory cannot be used does not stop the others.

    Raises its error if there is no other.
    """
    from treering.core.errors import TreeringError

    summary = ReplaySummary(report, destinations)
    total = sum(len(each.sessions) for each in destinations.found)
    for begun, each in _counted(destinations.found):
        if stop():
            break
        before = report.sessions
        try:
            with opened(db, each.project, each.repository) as memory:
                memory.sessions.replay_recorded(
                    each.sessions,
                    report,
                    root=None if root is None else str(root),
                    stop=stop,
                    on_progress=_shifted(on_progress, begun, total),
                )
        except TreeringError as exc:
            if len(destinations.found) == 1:
                raise
            summary.failed[each.project] = str(exc)
        if report.sessions > before:
            summary.projects[each.project] = report.sessions - before
    return summary


def _counted(found: Iterable[Destination]) -> Iterator[tuple[int, Destination]]:
    """Destinations with the number of sessions before each."""
    begun = 0
    for each in found:
        yield begun, each
        begun += len(each.sessions)


def _shifted(on_progress: OnProgress, begun: int, total: int) -> OnProgress:
    def show(progress: ReplayProgress) -> None:
        on_progress(replace(progress, done=begun + progress.done, total=total))

    return show


def _project_of(folder: Path) -> str:
    from treering.compose import current_project

    return current_project(folder)


def _repository_of(root: str) -> tuple[Path, str] | None:
    """The repository of a folder and its path in events, which have links as the agent saw them; None if it is gone."""
    from treering.compose import repository_around, repository_root
    from treering.core.errors import InvalidInput

    try:
        if not os.path.isabs(root) or not os.path.isdir(root):
            return None
        return repository_around(root), str(repository_root(Path(root)))
    except (OSError, ValueError, InvalidInput):
        return None
