"""Maintenance stages of patterns: record applications, mine episodes, validate and refine patterns."""

from collections.abc import Mapping
from datetime import datetime

from treering.core.errors import Conflict, InvalidInput, NotFound
from treering.core.patterns import PatternStatus
from treering.core.queries import AuditFilter, Order, PatternFilter, RunFilter, TimeRange
from treering.core.runs import RunState
from treering.jobs.stage import StageRun
from treering.patterns.application_stage import (
    OVERLAP,
    StoredEpisode,
    active_patterns,
    episodes_stored_since,
    record_applications,
)
from treering.patterns.applications import evidence_start
from treering.patterns.audience import Audience, audiences
from treering.patterns.mining.stage import mine_patterns
from treering.patterns.reviews import refine_pattern
from treering.patterns.validation_stage import validate
from treering.ports.store import Transaction

MINE, VALIDATE = "mine", "validate"


def record_new_applications(run: StageRun) -> None:
    """Record which patterns were applied in the episodes stored since the last run, page by page."""
    number, _, reached = (run.cursor or "0 ").partition(" ")
    for index, audience in enumerate(audiences(run.scope)):
        if index < int(number):
            continue
        new = _new_episodes(run, audience)
        if index == int(number) and reached:
            new = [each for each in new if each.at.isoformat() >= reached]
        run.progress.expect(len(new))
        for start in range(0, len(new), run.settings.mining.page):
            page = new[start : start + run.settings.mining.page]
            counted = 0 if run.dry_run else record_applications(audience, run.store, run.now, page, run.settings.mining)
            run.progress.advance(f"{index} {page[-1].at.isoformat()}", len(page), applications=counted)


def mine_changed_episodes(run: StageRun) -> Mapping[str, int]:
    """Mine all episodes, unless none of them changed since the last run."""
    with run.store.reading(run.scope, run.now) as tx:
        since = _last_run(tx, MINE)
        changed = AuditFilter(kinds=("episode",), happened=None if since is None else TimeRange(since=since))
        if not tx.audit.count(changed):
            return {"candidates": 0}
    found = mine_patterns(run.scope, run.store, run.now, run.settings.mining, dry_run=run.dry_run)
    return {"candidates": len(found)}


def validate_all(run: StageRun) -> Mapping[str, int]:
    verdicts = validate(run.scope, run.store, run.now, run.settings.patterns, dry_run=run.dry_run)
    moved = [each.judged.status for each in verdicts if each.moved]
    return {
        "judged": len(verdicts),
        "validated": moved.count(PatternStatus.VALIDATED),
        "under_review": moved.count(PatternStatus.UNDER_REVIEW),
    }


def refine_patterns_under_review(run: StageRun) -> None:
    """Narrow patterns under review, where a condition separates their failures."""
    with run.store.reading(run.scope, run.now) as tx:
        reviewed = PatternFilter(statuses=(PatternStatus.UNDER_REVIEW,))
        ids = sorted(each.id for each in tx.patterns.stream(reviewed) if each.id > (run.cursor or ""))
    run.progress.expect(len(ids))
    for id in ids:
        run.progress.advance(id, refined=int(_refine(run, id)))


def _refine(run: StageRun, id: str) -> bool:
    try:
        found = refine_pattern(run.scope, run.store, run.now, id, run.settings.patterns, dry_run=run.dry_run)
    except (Conflict, NotFound, InvalidInput):
        # Changed, removed or deprecated since the list was made.
        return False
    return found.after is not found.before


def _new_episodes(run: StageRun, audience: Audience) -> list[StoredEpisode]:
    with run.store.reading(audience.scope, run.now) as tx:
        since = min((evidence_start(each) for each in active_patterns(tx, audience)), default=None)
        if since is None:
            return []
        last = _last_run(tx, VALIDATE)
        return episodes_stored_since(tx, since if last is None else max(since, last))


def _last_run(tx: Transaction, stage: str) -> datetime | None:
    """Start of the last completed run, less an overlap; an episode that is read twice counts once."""
    done = RunFilter(stages=(stage,), states=(RunState.DONE,))
    last = tx.runs.find(done, order=Order(by="started_at"), limit=1).items
    return last[0].started_at - OVERLAP if last else None
