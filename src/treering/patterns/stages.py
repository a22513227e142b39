"""What the night does with patterns: new episodes become evidence, finds candidates, evidence verdicts."""

from collections.abc import Mapping
from datetime import datetime

from treering.core.errors import Conflict, InvalidInput, NotFound
from treering.core.patterns import PatternStatus
from treering.core.queries import AuditFilter, Order, PatternFilter, RunFilter, TimeRange
from treering.core.runs import RunState
from treering.jobs.stage import StageRun
from treering.patterns.application_stage import OVERLAP, Stored, living_patterns, record_stored, stored_since
from treering.patterns.applications import began
from treering.patterns.audience import Audience, audiences
from treering.patterns.mining.limits import MINING_LIMITS
from treering.patterns.mining.stage import PAGE_EPISODES, mine_patterns
from treering.patterns.reviews import refine_pattern
from treering.patterns.validation_stage import validate
from treering.ports.store import Transaction

MINE, VALIDATE = "mine", "validate"


def record_new(run: StageRun) -> None:
    """Hold what was stored since the last night against the patterns, page by page."""
    number, _, reached = (run.cursor or "0 ").partition(" ")
    for place, audience in enumerate(audiences(run.scope)):
        if place < int(number):
            continue
        new = _new_episodes(run, audience)
        if place == int(number) and reached:
            new = [each for each in new if each.at.isoformat() >= reached]
        run.progress.expect(len(new))
        for start in range(0, len(new), PAGE_EPISODES):
            page = new[start : start + PAGE_EPISODES]
            counted = 0 if run.dry_run else record_stored(audience, run.store, run.now, page, MINING_LIMITS)
            run.progress.advance(f"{place} {page[-1].at.isoformat()}", len(page), applications=counted)


def mine_new(run: StageRun) -> Mapping[str, int]:
    """Search all episodes, where something changed among them since the last night."""
    with run.store.reading(run.scope, run.now) as tx:
        since = _last_run(tx, MINE)
        lately = AuditFilter(kinds=("episode",), happened=None if since is None else TimeRange(since=since))
        if not tx.audit.count(lately):
            return {"candidates": 0}
    found = mine_patterns(run.scope, run.store, run.now, MINING_LIMITS, dry_run=run.dry_run)
    return {"candidates": len(found)}


def validate_all(run: StageRun) -> Mapping[str, int]:
    verdicts = validate(run.scope, run.store, run.now, run.settings.patterns, dry_run=run.dry_run)
    moved = [each.judged.status for each in verdicts if each.moved]
    return {
        "judged": len(verdicts),
        "validated": moved.count(PatternStatus.VALIDATED),
        "under_review": moved.count(PatternStatus.UNDER_REVIEW),
    }


def refine_reviewed(run: StageRun) -> None:
    """Narrow what is under review, where a test sets its failures apart."""
    with run.store.reading(run.scope, run.now) as tx:
        reviewed = PatternFilter(statuses=(PatternStatus.UNDER_REVIEW,))
        ids = sorted(each.id for each in tx.patterns.stream(reviewed) if each.id > (run.cursor or ""))
    run.progress.expect(len(ids))
    for id in ids:
        run.progress.advance(id, refined=int(_refined(run, id)))


def _refined(run: StageRun, id: str) -> bool:
    try:
        found = refine_pattern(run.scope, run.store, run.now, id, run.settings.patterns, dry_run=run.dry_run)
    except (Conflict, NotFound, InvalidInput):
        # Somebody changed, removed or deprecated it since the list was made.
        return False
    return found.after is not found.before


def _new_episodes(run: StageRun, audience: Audience) -> list[Stored]:
    with run.store.reading(audience.scope, run.now) as tx:
        since = min((began(each) for each in living_patterns(tx, audience)), default=None)
        if since is None:
            return []
        night = _last_run(tx, VALIDATE)
        return stored_since(tx, since if night is None else max(since, night))


def _last_run(tx: Transaction, stage: str) -> datetime | None:
    """When the last completed run of a stage began, and a little before: what is looked at twice counts once."""
    done = RunFilter(stages=(stage,), states=(RunState.DONE,))
    last = tx.runs.find(done, order=Order(by="started_at"), limit=1).items
    return last[0].started_at - OVERLAP if last else None
