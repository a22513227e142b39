"""What became of the files that a record speaks of: rewritten, renamed, deleted since it was learned."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import TypeAdapter, ValidationError

from treering.core.history import Action
from treering.core.queries import AuditFilter, KnowledgeFilter, Order
from treering.core.records import Knowledge
from treering.core.settings import StalenessSettings
from treering.core.values import FilePath
from treering.learn.stages import StageRun
from treering.ports.repository import FileChange, Repository
from treering.ports.store import Transaction

FILES_CHANGED = "files changed"
"""Why a record changed, as the audit log has it; beside it stand the commits that were compared."""
_PATH = TypeAdapter[str](FilePath)
_OLDEST_FIRST = Order(by="created_at", descending=False)


@dataclass(frozen=True, slots=True)
class Finding:
    """What the history says about one record's files, and when the latest of the changed ones was committed."""

    base: str
    head: str
    changes: Mapping[str, FileChange]
    modified: datetime | None = None


def mark_stale(run: StageRun, repository: Repository | None) -> None:
    """Compare every record with what its files are now; without a repository there is nothing to compare with.

    Confidence falls in proportion to what was rewritten, once for each stretch of history. Renamed files are renamed
    in the record. One whose files are all gone is stale from now on. Each change can be undone, and is then not made
    again.
    """
    head = repository.head() if repository is not None else None
    if repository is None or head is None:
        run.progress.advance(None, 0, skipped=1)
        return
    after = run.cursor
    while True:
        with run.store.reading(run.scope, run.now) as tx:
            page = tx.knowledge.find(
                KnowledgeFilter(deprecated=False), order=_OLDEST_FIRST, limit=run.settings.forgetting.page, after=after
            )
            with_files = [record for record in page.items if record.files]
            bases = _bases(tx, with_files, repository)
        findings = _findings(with_files, bases, repository, head)
        counts = {"renamed": 0, "lowered": 0, "stale": 0, "review": 0}
        for id, finding in findings.items():
            for what in _apply(run, id, finding):
                counts[what] += 1
        after = page.next
        run.progress.advance(after, len(page.items), **counts)
        if after is None:
            return


def marked(record: Knowledge, finding: Finding, now: datetime, settings: StalenessSettings) -> Knowledge:
    """The record after what became of its files; a person's word is reviewed, not lowered."""
    changes = [finding.changes.get(file) for file in record.files]
    lost = settings.most_loss * sum(each.share for each in changes if each) / max(1, len(changes))
    lowered = record.confidence * (1 - lost) if lost >= settings.least_loss else record.confidence
    gone = bool(changes) and all(each is not None and each.now is None for each in changes)
    rewritten = finding.modified is not None and any(each and each.share > 0 for each in changes)
    late = timedelta(days=settings.review_days)
    return record.replace(
        files=tuple(dict.fromkeys(_place(file, finding.changes) for file in record.files)),
        confidence=record.confidence if record.user_verified else lowered,
        stale_at=record.stale_at or (now if gone else None),
        needs_review=record.needs_review
        or (rewritten and finding.modified is not None and finding.modified - record.created_at > late),
    )


def _place(file: str, changes: Mapping[str, FileChange]) -> str:
    """Where it is now; one that is gone keeps its name, and so does one whose new name no record can hold."""
    change = changes.get(file)
    place = change.now if change is not None else None
    return file if place is None or not _can_be_named(place) else place


def _can_be_named(path: str) -> bool:
    try:
        _PATH.validate_python(path)
    except ValidationError:
        return False
    return True


def _bases(tx: Transaction, records: Sequence[Knowledge], repository: Repository) -> dict[str, str]:
    """The commit from which on each record's files are compared: where they were compared last, else its own."""
    ids = tuple(record.id for record in records)
    checked: dict[str, tuple[datetime, str]] = {}
    for entry in tx.audit.stream(AuditFilter(subjects=ids, actions=(Action.UPDATE,))) if ids else ():
        if entry.detail.get("reason") == FILES_CHANGED:
            checked[entry.subject] = max(
                checked.get(entry.subject, (entry.at, "")), (entry.at, str(entry.detail["head"]))
            )
    bases = {}
    for record in records:
        at, commit = checked.get(record.id, (record.created_at, record.commit or ""))
        base = commit if commit and repository.has(commit) else repository.commit_before(at)
        if base is not None:
            bases[record.id] = base
    return bases


def _findings(
    records: Sequence[Knowledge], bases: Mapping[str, str], repository: Repository, head: str
) -> dict[str, Finding]:
    by_base: dict[str, list[Knowledge]] = defaultdict(list)
    for record in records:
        if record.id in bases:
            by_base[bases[record.id]].append(record)
    findings: dict[str, Finding] = {}
    for base, mine in by_base.items():
        changes = repository.changes_between(base, head, [file for record in mine for file in record.files])
        modified = {path: repository.last_change(each.now) for path, each in changes.items() if each.now is not None}
        for record in mine:
            touched = {file: changes[file] for file in record.files if file in changes}
            if touched:
                moments = [moment for file in touched if (moment := modified.get(file)) is not None]
                findings[record.id] = Finding(base, head, touched, max(moments, default=None))
    return findings


def _apply(run: StageRun, id: str, finding: Finding) -> tuple[str, ...]:
    opened = run.store.reading if run.dry_run else run.store.transaction
    with opened(run.scope, run.now) as tx:
        if not run.dry_run:
            tx.claim(f"record {id}")
        record = tx.knowledge.get(id)
        if record is None or record.deleted_at is not None or record.deprecated_at is not None:
            return ()
        after = marked(record, finding, run.now, run.settings.staleness)
        if after != record and not run.dry_run:
            detail = {"reason": FILES_CHANGED, "base": finding.base, "head": finding.head}
            tx.knowledge.update(after, Action.UPDATE, detail)
    told = {
        "renamed": after.files != record.files,
        "lowered": after.confidence < record.confidence,
        "stale": after.stale_at != record.stale_at,
        "review": after.needs_review != record.needs_review,
    }
    return tuple(what for what, happened in told.items() if happened)
