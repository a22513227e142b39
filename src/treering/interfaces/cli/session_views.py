"""Views of observed sessions."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from treering.core.observations import Candidate, GateDecision, ObservedSession
from treering.core.values import thaw
from treering.interfaces.cli import views as show

if TYPE_CHECKING:
    from treering.interfaces.cli.replay_destinations import ReplaySummary
    from treering.observe.reports import SessionReport

_STYLES = {GateDecision.PROMOTED: show.GOOD, GateDecision.REINFORCED: show.GOOD, GateDecision.REJECTED: show.FAINT}
_MAX_FILES = 10
_MAX_PROMPTS = 3


def session_document(session: ObservedSession, *, candidates: bool = False) -> dict[str, Any]:
    """The session as JSON; without `candidates`, only their numbers."""
    document: dict[str, Any] = session.model_dump(mode="json", exclude={"words"})
    decisions = {each.value: 0 for each in GateDecision}
    for candidate in session.candidates:
        decisions[candidate.decision.value] += 1
    if not candidates:
        document.pop("candidates")
    return {**document, "decisions": decisions}


def replay_document(done: "ReplaySummary") -> dict[str, Any]:
    report, read = done.report, done.report.read
    names = ("events", "lines", "broken", "too_long", "truncated", "ignored", "unreadable")
    return {
        **{name: getattr(report, name) for name in ("sessions", "known", "elsewhere", "promoted", "reinforced")},
        **{name: getattr(read, name) for name in names},
        "unknown": dict(read.unknown),
        "projects": done.projects,
        "failed": done.failed,
        "without_root": done.destinations.without_root,
        "missing_root": done.destinations.missing_root,
    }


def replayed(done: "ReplaySummary") -> RenderableType:
    """What a replay did, and what it could not read."""
    report, read = done.report, done.report.read
    new = report.sessions - report.known
    lines = [
        Text(f"observed {_counted(new, 'session')} ({read.events:,} events), {report.known:,} were known"),
        Text(f"promoted {_counted(report.promoted, 'record')}, strengthened {report.reinforced:,}"),
    ]
    if len(done.projects) > 1 or any(each.repository for each in done.destinations.found):
        lines += [
            Text(f"  project {show.safe(name)}: {_counted(count, 'session')}") for name, count in done.projects.items()
        ]
    lines += [Text(f"  {line}", "yellow") for line in _left_out(done)]
    if new:
        lines.append(
            Text("  `treering sessions` lists them; `treering session ID --why` explains each decision", show.FAINT)
        )
    return Group(*lines)


def listed(found: Sequence[ObservedSession]) -> RenderableType:
    """One line per session: when, id, type, size, records and its first prompt, which a narrow terminal cuts first."""
    if not found:
        return Text("no observed sessions; `treering observe FILE…` reads recorded ones", show.FAINT)
    rows = [_row(each) for each in found]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for *fields, prompt in rows:
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append("".join(f"{field:<{width}}  " for field, width in zip(fields, widths, strict=False)))
        lines.append(line.append(prompt, show.FAINT))
    return Group(*lines)


def _row(seen: ObservedSession) -> tuple[str, ...]:
    promoted = sum(1 for candidate in seen.candidates if candidate.decision is GateDecision.PROMOTED)
    outcome = seen.outcome.value if seen.outcome else "running"
    return (
        show.when(seen.started_at),
        show.safe(seen.id),
        f"{seen.type.value}, {outcome}",
        _counted(seen.events, "event"),
        _counted(promoted, "record"),
        show.preview(seen.prompts[0], 60) if seen.prompts else "",
    )


def session(found: "SessionReport", *, why: bool) -> RenderableType:
    """What was seen, then the records, then with `why` the rejected candidates."""
    seen = found.session
    return Group(*_seen(seen), Text(), *_decisions(seen.candidates, why=why))


def _seen(seen: ObservedSession) -> Iterator[RenderableType]:
    outcome = seen.outcome.value if seen.outcome else "running"
    checked = {True: ", validated", False: ", not validated", None: ""}[seen.validated]
    agent = f" · {show.safe(seen.agent)}" if seen.agent else ""
    yield Text(f"{show.safe(seen.id)} · {seen.type.value}, {outcome}{checked}{agent}", "bold")
    counts = f"{_counted(seen.events, 'event')}, {_counted(seen.steps, 'step')}"
    yield Text(f"{show.when(seen.started_at)} to {show.when(seen.last_at)} · {counts}", show.FAINT)
    for prompt in seen.prompts[:_MAX_PROMPTS]:
        yield Text(f"  › {show.preview(prompt, 160)}")
    edited = [each.path for each in seen.files if each.edits]
    if edited:
        more = f" and {len(edited) - _MAX_FILES} more" if len(edited) > _MAX_FILES else ""
        yield Text(f"  edited {', '.join(map(show.safe, edited[:_MAX_FILES]))}{more}")
    if seen.signals:
        counted = ", ".join(f"{name} {count}" for name, count in sorted(thaw(seen.signals).items()))
        yield Text(f"  signals: {counted}", show.FAINT)
    for source in seen.taints:
        yield Text(f"  outside content: {show.safe(source)}; what was noted after it waits for review", "yellow")
    for name, count in thaw(seen.ignored).items():
        yield Text(f"  {name}: {count:,}", show.FAINT)


def _decisions(candidates: Sequence[Candidate], *, why: bool) -> Iterator[RenderableType]:
    shown = [each for each in candidates if why or each.decision is not GateDecision.REJECTED]
    for each in shown:
        stopped = f" at {each.gate.value.replace('_', ' ')}" if each.gate else ""
        yield Text.assemble((f"{each.decision.value}{stopped} ", _STYLES[each.decision]), (each.signal, show.FAINT))
        yield Text(f"  {show.preview(each.text or each.subject)}")
        record = f" · {each.record}" if each.record else ""
        yield Text(f"  {show.safe(each.reason)}{record}", show.FAINT)
    rejected = sum(1 for each in candidates if each.decision is GateDecision.REJECTED)
    if not shown:
        yield Text("nothing was promoted", show.FAINT)
    if rejected and not why:
        yield Text(f"{_counted(rejected, 'candidate')} rejected; --why shows them with the reasons", show.FAINT)


def _left_out(done: "ReplaySummary") -> Iterator[str]:
    report, read = done.report, done.report.read
    for project, reason in done.failed.items():
        yield f"left out: project {show.safe(project)}: {show.safe(reason)}"
    for count, what in (
        (done.destinations.without_root, "sessions that do not say in which folder they ran"),
        (done.destinations.missing_root, "sessions of folders that do not exist here"),
    ):
        if count:
            yield f"left out: {count:,} {what}; --project NAME observes them"
    for count, what in (
        (read.broken, "broken lines"),
        (read.too_long, "over-long lines"),
        (read.unreadable, "unreadable files"),
        (read.ignored, "files that are not transcripts"),
        (report.elsewhere, "sessions that ran outside the root"),
    ):
        if count:
            yield f"left out: {count:,} {what}"
    if read.unknown:
        named = ", ".join(f"{name} ({count:,})" for name, count in read.unknown.most_common(5))
        yield f"left out: lines of unknown types: {show.safe(named)}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
