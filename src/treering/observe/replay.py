"""Replay of recorded sessions: transcripts of agents as if they were observed now, oldest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from treering.core.events import SessionOutcome
from treering.core.observations import GateDecision
from treering.observe.readers import AgentTranscript, ReadReport, find_transcripts, read_events

if TYPE_CHECKING:
    from treering.observe.api import Observer


@dataclass(frozen=True, slots=True)
class ReplayProgress:
    """The session that is read now, and how many of all are done."""

    session: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A session with its transcripts, the main agent's first. `root` is the folder where it ran, if they name it."""

    session: str
    transcripts: tuple[AgentTranscript, ...]
    root: str | None


@dataclass(slots=True)
class ReplayReport:
    """What a replay did. `known` sessions were observed before and had nothing new; `elsewhere` ran in another folder
    than the given root and were left out."""

    sessions: int = 0
    known: int = 0
    elsewhere: int = 0
    promoted: int = 0
    reinforced: int = 0
    read: ReadReport = field(default_factory=ReadReport)


OnProgress = Callable[[ReplayProgress], None]


def recorded_sessions(paths: Iterable[Path], report: ReadReport) -> tuple[RecordedSession, ...]:
    """The sessions in files and folders, oldest first. `report` counts what is not a transcript."""
    found: dict[str, list[AgentTranscript]] = {}
    for transcript in find_transcripts(paths, report):
        found.setdefault(transcript.session, []).append(transcript)
    return tuple(_recorded(session, transcripts) for session, transcripts in found.items())


def replay(
    observer: Observer,
    sessions: Sequence[RecordedSession],
    report: ReplayReport,
    root: str | None = None,
    *,
    stop: Callable[[], bool],
    on_progress: OnProgress,
) -> None:
    """Observe recorded sessions, and count them in `report`; one that was interrupted continues where it stopped.

    Nothing in a transcript is executed. A session whose files say where it ran keeps only paths below that folder. If
    `root` is given, sessions that ran elsewhere are left out, and only paths below it are kept. Ends early, after a
    whole session, when `stop` returns True.
    """
    for done, recorded in enumerate(sessions):
        on_progress(ReplayProgress(recorded.session, done, len(sessions)))
        if stop():
            return
        if _is_elsewhere(recorded.root, root):
            report.elsewhere += 1
        else:
            _replay_session(observer, recorded, root or recorded.root, report)
    on_progress(ReplayProgress("", len(sessions), len(sessions)))


def _recorded(session: str, transcripts: list[AgentTranscript]) -> RecordedSession:
    ordered = tuple(sorted(transcripts, key=lambda each: each.subagent is not None))
    return RecordedSession(session, ordered, next((each.root for each in ordered if each.root), None))


def _is_elsewhere(ran_in: str | None, root: str | None) -> bool:
    """Whether a session ran neither in the folder, nor below it, nor above it."""
    if not ran_in or not root:
        return False
    ran, wanted = PurePath(ran_in.replace("\\", "/")), PurePath(root.replace("\\", "/"))
    return not (ran.is_relative_to(wanted) or wanted.is_relative_to(ran))


def _replay_session(observer: Observer, recorded: RecordedSession, root: str | None, report: ReplayReport) -> None:
    session, main = recorded.session, recorded.transcripts[0]
    watch = observer.observe(session, type=main.type, agent=main.agent, root=root)
    before = watch.new_events
    for transcript in recorded.transcripts:
        for event in read_events(transcript, report.read):
            # The program that wrote the file is the main agent; events of subagents name theirs.
            watch.event({**event, "agent": transcript.subagent} if transcript.subagent else event)
    report.sessions += 1
    if watch.new_events == before:
        report.known += 1
        if observer.finisher.is_finished(session):
            return  # its outcome is known, and a transcript does not tell it
    found = watch.finish(SessionOutcome.SUCCESS)
    if watch.new_events > before:
        report.promoted += sum(1 for each in found.candidates if each.decision is GateDecision.PROMOTED)
        report.reinforced += sum(1 for each in found.candidates if each.decision is GateDecision.REINFORCED)
