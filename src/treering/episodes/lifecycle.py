"""Lifecycle of episodes: as they age, their details move to the blob store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from treering.core.episodes import Episode, EpisodeOutcome, EpisodeStatus, OutcomeStatus, TraceEntry
from treering.core.errors import BlobMissing, Conflict, NotFound
from treering.core.queries import EpisodeFilter, TimeRange

if TYPE_CHECKING:
    from treering.core.settings import EpisodeSettings
    from treering.jobs.stage import StageRun
    from treering.ports.store import Transaction

_DAY = timedelta(days=1)
# In order.
_PHASES = (EpisodeStatus.ACTIVE, EpisodeStatus.MATURE, EpisodeStatus.AGED, EpisodeStatus.ARCHIVED)
_COLD = frozenset({EpisodeStatus.AGED, EpisodeStatus.ARCHIVED})
# A failure is recognised by this many characters of its message, or by the last line.
_ERROR_CHARACTERS = 2_000


def phase_at(age_days: float, settings: EpisodeSettings) -> EpisodeStatus:
    """The phase of an episode of this age."""
    if age_days > settings.archived_after_days:
        return EpisodeStatus.ARCHIVED
    if age_days > settings.aged_after_days:
        return EpisodeStatus.AGED
    return EpisodeStatus.MATURE if age_days > settings.mature_after_days else EpisodeStatus.ACTIVE


def age_days(episode: Episode, now: datetime) -> float:
    return (now - episode.at) / _DAY


def slimmed(episode: Episode, phase: EpisodeStatus, settings: EpisodeSettings) -> Episode:
    """The part of an episode that stays in the database in this phase; errors always do, so that they are found."""
    errors = tuple(_shortened_error(entry) for entry in episode.execution.trace if entry.is_error)
    if phase is EpisodeStatus.AGED:
        return episode.replace(execution=episode.execution.replace(trace=errors))
    if phase is not EpisodeStatus.ARCHIVED:
        return episode
    outcome = episode.outcome
    failed = outcome.status is OutcomeStatus.FAILURE
    return episode.replace(
        task=episode.task.replace(
            input=episode.task.input[: settings.archived_characters], goals=(), constraints=(), context={}
        ),
        execution=episode.execution.replace(plan=(), trace=errors, adaptations=(), resources={}),
        outcome=EpisodeOutcome(
            status=outcome.status, output=_short(outcome.output) if failed else "", artifacts=outcome.artifacts
        ),
        embeddings=None,
    )


def age_episodes(run: StageRun) -> None:
    """Move every episode to the phase of its age. Moved ones no longer match, so no cursor is needed.

    Removes nothing, whatever `run.now` is; the forget stage purges after the grace period.
    """
    steps = _steps(run.now, run.settings.episodes)
    with run.store.reading(run.scope, run.now) as tx:
        pending = [tx.episodes.count(step.where) for step in steps]
    run.progress.expect(sum(pending))
    for step, count in zip(steps, pending, strict=True):
        name = step.phase.value
        if run.dry_run:
            run.progress.advance(name, count, **{name: count})
            continue
        stuck = set[str]()
        while moved := _move_some(run, step, stuck):
            run.progress.advance(name, moved, **{name: moved})


@dataclass(frozen=True, slots=True)
class _PhaseStep:
    """A phase, and the filter for episodes that have reached its age but not the phase."""

    phase: EpisodeStatus
    where: EpisodeFilter


def _steps(now: datetime, settings: EpisodeSettings) -> tuple[_PhaseStep, ...]:
    ends = (settings.mature_after_days, settings.aged_after_days, settings.archived_after_days)
    found = []
    for index, (after, until) in enumerate(zip(ends, (*ends[1:], None), strict=True), start=1):
        span = TimeRange(since=None if until is None else now - until * _DAY, before=now - after * _DAY)
        found.append(_PhaseStep(_PHASES[index], EpisodeFilter(statuses=_PHASES[:index], happened=span)))
        if _PHASES[index] in _COLD:
            # Consolidation and its reversal set the phase before the content is moved.
            left = EpisodeFilter(statuses=_PHASES[index:], cold=False, happened=span)
            found.append(_PhaseStep(_PHASES[index], left))
    return tuple(found)


def _move_some(run: StageRun, step: _PhaseStep, stuck: set[str]) -> int:
    """Move one batch; episodes that cannot be moved are added to `stuck` and do not block the others."""
    settings = run.settings.episodes
    with run.store.transaction(run.scope, run.now) as tx:
        found = [each for each in _readable(tx, step.where, settings.batch + len(stuck)) if each.id not in stuck]
        moved = {each.id for each in found[: settings.batch] if _move(tx, each, step.phase, settings)}
    stuck.update(each.id for each in found[: settings.batch] if each.id not in moved)
    return len(moved)


def _readable(tx: Transaction, where: EpisodeFilter, limit: int) -> list[Episode]:
    """Up to `limit` readable episodes, however many are unreadable."""
    found, lost = tx.episodes.newest(where, limit=limit), 0
    while len(found.unreadable) > lost:
        lost = len(found.unreadable)
        found = tx.episodes.newest(where, limit=limit + lost)
    return [match.value for match in found][:limit]


def _move(tx: Transaction, episode: Episode, phase: EpisodeStatus, settings: EpisodeSettings) -> bool:
    """Whether it was moved; an episode whose blob is missing stays, so that a backup can restore it."""
    slim = slimmed(episode, phase, settings)
    lifecycle = episode.lifecycle.replace(status=max(phase, episode.lifecycle.status, key=_PHASES.index))
    try:
        # Episodes without steps are moved, too, or they would match again every night.
        if slim == episode and (episode.cold is not None or phase not in _COLD):
            tx.episodes.set_lifecycle(episode.id, lifecycle, version=episode.version)
        else:
            tx.episodes.move_to_blobs(slim.replace(lifecycle=lifecycle))
    except (Conflict, NotFound, BlobMissing):
        return False
    return True


def _shortened_error(entry: TraceEntry) -> TraceEntry:
    """An error with the part of its message that it is recognised by."""
    return entry.replace(input="", output=_short(entry.output), action=_short(entry.action))


def _short(message: str) -> str:
    if len(message) <= 2 * _ERROR_CHARACTERS:
        return message
    last = next((line for line in reversed(message.strip().splitlines()) if line.strip()), "")
    return f"{message[:_ERROR_CHARACTERS]}\n{last[:_ERROR_CHARACTERS]}"
