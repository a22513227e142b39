"""Reads the records of a week. Personal records are left out: every member of the project reads reflections."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from treering.core.history import Action
from treering.core.payloads import ErrorPattern
from treering.core.queries import AuditFilter, EpisodeFilter, KnowledgeFilter, Order, RunFilter, TimeRange
from treering.core.records import Knowledge, RelationKind, Source
from treering.core.scope import Visibility
from treering.core.settings import ReflectionSettings
from treering.knowledge.reflection.digest import Correction, ReflectionWeek
from treering.ports.store import Transaction

MAX_RECORDS = 200  # records of each kind that are read, the newest

WEEKLY = "weekly"
"""Tag of the reflections that this stage writes."""
WRITTEN = "reflections"
"""Name of the run's counter of written reflections."""
_STAGE, _MAX_RUNS, _PAGE = "reflect", 30, 500
_OUTDATED = "outdated"
_SHARED = tuple(each for each in Visibility if each is not Visibility.PERSONAL)


def read_week(tx: Transaction, until: datetime, settings: ReflectionSettings) -> ReflectionWeek:
    """The newest records of each kind from the last days, and the number of all new facts.

    Records count by the time they were stored, whatever day they describe.
    """
    since = until - timedelta(days=settings.period_days)
    created = _created_since(tx, since)
    current = [each for each in created if each.deprecated_at is None and not each.flagged]
    facts = [each for each in current if each.type == "fact"]
    others = [each for each in current if each.type not in ("fact", "error_pattern", "work_state", "reflection")]
    corrections = list(_corrections(tx, since))
    corrected = {each.old.id for each in corrections}
    failures = EpisodeFilter(happened=TimeRange(since=since))
    episodes = tx.episodes.find(failures, order=Order(by="at"), limit=MAX_RECORDS).items
    return ReflectionWeek(
        since=since,
        until=until,
        facts=facts[:MAX_RECORDS],
        fact_count=len(facts),
        others=others[:MAX_RECORDS],
        changes=[pair for pair in _pairs(tx, created[:MAX_RECORDS]) if pair[0].id not in corrected],
        corrections=corrections,
        errors=_errors(tx, since),
        episodes=[each for each in episodes if each.visibility in _SHARED],
    )


def newest_reflection(tx: Transaction) -> Knowledge | None:
    """The newest current reflection; None if there is none."""
    where = KnowledgeFilter(types=("reflection",), deprecated=False, flagged=False)
    found = tx.knowledge.find(where, order=Order(by="created_at"), limit=1).items
    return found[0] if found else None


def last_reflected(tx: Transaction) -> datetime | None:
    """When the last weekly reflection was written, even if it was forgotten; None if there was none."""
    weekly = KnowledgeFilter(
        types=("reflection",),
        all_tags=(WEEKLY,),
        sources=(Source.CONSOLIDATION,),
        visibility=_SHARED,
        deleted=None,
    )
    written = [match.value.created_at for match in tx.knowledge.newest(weekly, limit=1)]
    runs = tx.runs.find(RunFilter(stages=(_STAGE,)), order=Order(by="started_at"), limit=_MAX_RUNS).items
    # A purged reflection leaves only the run that wrote it.
    return max((*written, *(each.updated_at for each in runs if each.counts.get(WRITTEN))), default=None)


def _created_since(tx: Transaction, since: datetime) -> Sequence[Knowledge]:
    """Shared records created since then, newest first, without imported ones."""
    where = AuditFilter(
        actions=(Action.CREATE, Action.SUPERSEDE),
        kinds=("knowledge",),
        happened=TimeRange(since=since),
    )
    found: dict[str, Knowledge] = {}
    after: str | None = None
    while True:
        page = tx.audit.find(where, order=Order(by="at"), limit=_PAGE, after=after)
        # A superseded record is logged next to the one that replaced it.
        new = dict.fromkeys(entry.subject for entry in page.items if "replaced_by" not in entry.detail)
        read = {match.value.id: match.value for match in tx.knowledge.readable(new)}
        found |= {id: read[id] for id in new if id in read and _is_shared(read[id])}
        after = page.next
        if after is None:
            return list(found.values())


def _pairs(tx: Transaction, created: Sequence[Knowledge]) -> Iterator[tuple[Knowledge, Knowledge]]:
    for new in created:
        for relation in new.relations:
            old = tx.knowledge.get(relation.record) if relation.record else None
            if relation.kind is RelationKind.SUPERSEDES and old is not None and _is_shared(old):
                yield old, new


def _corrections(tx: Transaction, since: datetime) -> Iterator[Correction]:
    """Corrections of wrong records; outdated ones count as changes."""
    where = AuditFilter(actions=(Action.CORRECT,), kinds=("knowledge",), happened=TimeRange(since=since))
    for entry in tx.audit.find(where, order=Order(by="at"), limit=MAX_RECORDS).items:
        reason = str(entry.detail.get("reason", ""))
        old = tx.knowledge.get(entry.subject)
        # Undone or deleted since.
        if old is None or not _is_shared(old) or old.deprecated_at is None or reason == _OUTDATED:
            continue
        new = tx.knowledge.get(str(entry.detail["replaced_by"])) if "replaced_by" in entry.detail else None
        yield Correction(old, reason, new if new is not None and _is_shared(new) else None)


def _errors(tx: Transaction, since: datetime) -> list[Knowledge]:
    where = KnowledgeFilter(
        types=("error_pattern",), updated=TimeRange(since=since), visibility=_SHARED, deprecated=False, flagged=False
    )
    found = tx.knowledge.find(where, order=Order(by="updated_at"), limit=MAX_RECORDS).items
    return [each for each in found if isinstance(each.payload, ErrorPattern) and each.payload.occurrences > 1]


def _is_shared(record: Knowledge) -> bool:
    return record.deleted_at is None and record.visibility in _SHARED
