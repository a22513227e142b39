"""Staleness of records whose files were changed, renamed or deleted."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pydantic import TypeAdapter, ValidationError

from treering.core.history import Action
from treering.core.queries import AuditFilter, KnowledgeFilter, Order, TimeRange
from treering.core.records import Knowledge
from treering.core.runs import SKIPPED_WITHOUT_REPOSITORY
from treering.core.settings import StalenessSettings
from treering.core.values import FilePath
from treering.jobs.record_pages import record_pages
from treering.jobs.stage import StageRun
from treering.knowledge.staleness.commit_marks import CommitMark, last_commit_mark, store_commit_mark
from treering.ports.repository import FileChange, Repository
from treering.ports.store import Transaction

MAX_LOSS = 0.5  # a record whose files were rewritten entirely is as likely right as wrong
MIN_LOSS = 0.01  # a smaller loss is not worth a revision of the record

FILES_CHANGED = "files changed"
"""Reason in the audit log, next to the compared commits."""
_PATH = TypeAdapter[str](FilePath)
_COUNTED = ("renamed", "lowered", "stale", "back", "review")
_MAX_ENTRIES = 1_000


@dataclass(frozen=True, slots=True)
class FileFinding:
    """Changes to the files of one record by new commits, and which files exist now.

    `lost` is set if an earlier run found all of them deleted.
    """

    head: str
    present: frozenset[str]
    base: str = ""
    changes: Mapping[str, FileChange] = field(default_factory=dict)
    lost: bool = False

    @property
    def modified(self) -> datetime | None:
        """Time of the latest commit that changed one of the files."""
        return max((each.at for each in self.changes.values() if each.at and each.now and each.share), default=None)


def mark_stale(run: StageRun, repository: Repository | None) -> None:
    """Compare every record with the current state of its files; does nothing without a repository.

    Confidence falls in proportion to the changed share, once for each commit, whatever is checked out in between.
    Renamed files are renamed in the record. A record whose files are all deleted is stale until one exists again. Each
    change can be undone and is then not repeated.
    """
    head = repository.head() if repository is not None else None
    if repository is None or head is None:
        run.progress.advance(None, 0, **{SKIPPED_WITHOUT_REPOSITORY: 1})
        return
    started_head, _, after = (run.cursor or "").partition(" ")
    # After a crash, the rest is compared with the same commit.
    head = started_head if started_head and repository.known((started_head,)) else head
    with run.store.reading(run.scope, run.now) as tx:
        last = last_commit_mark(tx)
    where = KnowledgeFilter(deprecated=False)
    if last is not None and last.head == head:
        # The files are unchanged, so only new or updated records need a comparison.
        where = where.replace(updated=TimeRange(since=last.at))
    run.progress.advance(run.cursor, 0, **dict.fromkeys((*_COUNTED, "unreadable"), 0))
    comparison = _FileComparison(repository, head, None if last is None else last.still_in(repository, head))
    for page in record_pages(run, "knowledge", where, after):
        counts = _compare(run, [record for record in page.records if record.files], comparison)
        run.progress.advance(f"{head} {page.last}", len(page.ids), unreadable=page.unreadable, **counts)
    if not run.dry_run and (last is None or last.head != head):
        store_commit_mark(run, head, repository.ends((head, *comparison.seen)))
    run.progress.advance(None, 0)


@dataclass(frozen=True, slots=True)
class _FileComparison:
    """Compares records with the checked-out commit, based on the mark of the last run."""

    repository: Repository
    head: str
    last: CommitMark | None

    @property
    def seen(self) -> tuple[str, ...]:
        return self.last.seen if self.last is not None else ()

    def findings(self, records: Sequence[Knowledge], lost: frozenset[str]) -> Mapping[str, FileFinding]:
        """Findings for records whose files changed in new commits or were all deleted before (`lost`)."""
        touched: dict[str, tuple[str, Mapping[str, FileChange]]] = {}
        for seen, of_base in self._by_base(records).items():
            changes = self.repository.changes_since(seen, self.head, [file for each in of_base for file in each.files])
            for record in of_base:
                if own := {file: changes[file] for file in record.files if file in changes}:
                    touched[record.id] = " ".join(seen), own
        examined = {each.id: each for each in records if each.id in touched or each.id in lost}
        changes_by_id = {id: touched.get(id, ("", {})) for id in examined}
        paths = {path for id, each in examined.items() for path in _current_paths(each, changes_by_id[id][1])}
        present = self.repository.present(self.head, paths)
        return {id: FileFinding(self.head, present, *changes_by_id[id], lost=id in lost) for id in examined}

    def _by_base(self, records: Iterable[Knowledge]) -> Mapping[tuple[str, ...], list[Knowledge]]:
        """Records by base commits: those of earlier runs or, for new records, the commit they were stored at."""
        bases: dict[tuple[str, ...], list[Knowledge]] = defaultdict(list)
        new = []
        for record in records:
            if self.last is not None and self.seen and self.last.covers(record):
                bases[self.seen].append(record)
            else:
                new.append(record)
        known = self.repository.known(record.commit for record in new if record.commit)
        for record in new:
            own = record.commit if record.commit in known else None
            if base := own or self.repository.commit_before(record.created_at, self.head):
                bases[(base,)].append(record)
        return bases


def updated_record(record: Knowledge, finding: FileFinding, now: datetime, settings: StalenessSettings) -> Knowledge:
    """The record updated for the changes of its files; confirmed records are reviewed, not lowered.

    A record whose files are deleted or restored keeps its confidence, because staleness already expresses that.
    """
    changes, paths = [finding.changes.get(file) for file in record.files], _current_paths(record, finding.changes)
    exists = any(path in finding.present for path in paths)
    deleted = not exists and any(each is not None and each.now is None for each in changes)
    lost = MAX_LOSS * sum(each.share for each in changes if each) / max(1, len(changes))
    unchanged = record.user_verified or deleted or finding.lost or lost < MIN_LOSS
    late = finding.modified is not None and finding.modified - record.created_at > timedelta(days=settings.review_days)
    stale_at = None if finding.lost and exists else record.stale_at or (now if deleted else None)
    return record.replace(
        files=paths,
        confidence=record.confidence if unchanged else record.confidence * (1 - lost),
        stale_at=stale_at,
        needs_review=record.needs_review or late,
    )


def _current_paths(record: Knowledge, changes: Mapping[str, FileChange]) -> tuple[str, ...]:
    """Current paths of its files; deleted files and files with an invalid new path keep their old one."""
    paths = ((file, changes[file].now if file in changes else file) for file in record.files)
    return tuple(dict.fromkeys(path if path and _is_valid_path(path) else file for file, path in paths))


def _is_valid_path(path: str) -> bool:
    try:
        _PATH.validate_python(path)
    except ValidationError:
        return False
    return True


def _compare(run: StageRun, records: Sequence[Knowledge], comparison: _FileComparison) -> Mapping[str, int]:
    """Update changed records and return the counts; git runs while no transaction is open."""
    with run.store.reading(run.scope, run.now) as tx:
        lost = _lost(tx, [record for record in records if record.stale_at is not None])
    counts = dict.fromkeys(_COUNTED, 0)
    for id, finding in (comparison.findings(records, lost) if records else {}).items():
        for name in _apply(run, id, finding):
            counts[name] += 1
    return counts


def _lost(tx: Transaction, stale: Sequence[Knowledge]) -> frozenset[str]:
    """Ids of records that are stale because of their files rather than for another reason."""
    marked_at = {(record.id, record.stale_at) for record in stale}
    return frozenset(
        entry.subject
        for start in range(0, len(stale), _MAX_ENTRIES)
        for entry in tx.audit.stream(
            AuditFilter(subjects=tuple(each.id for each in stale[start : start + _MAX_ENTRIES]))
        )
        if entry.detail.get("reason") == FILES_CHANGED and (entry.subject, entry.at) in marked_at
    )


def _apply(run: StageRun, id: str, finding: FileFinding) -> tuple[str, ...]:
    opened = run.store.reading if run.dry_run else run.store.transaction
    with opened(run.scope, run.now) as tx:
        if not run.dry_run:
            tx.claim(f"record {id}")
        record = tx.knowledge.get(id)
        if record is None or record.deleted_at is not None or record.deprecated_at is not None:
            return ()
        after = updated_record(record, finding, run.now, run.settings.staleness)
        if after == record or _is_stored(tx, id, finding):
            return ()
        if not run.dry_run:
            detail = {"reason": FILES_CHANGED, "base": finding.base, "head": finding.head}
            tx.knowledge.update(after, Action.UPDATE, detail)
    outcomes = {
        "renamed": after.files != record.files,
        "lowered": after.confidence < record.confidence,
        "stale": after.stale_at is not None and record.stale_at is None,
        "back": after.stale_at is None and record.stale_at is not None,
        "review": after.needs_review != record.needs_review,
    }
    return tuple(name for name, happened in outcomes.items() if happened)


def _is_stored(tx: Transaction, id: str, finding: FileFinding) -> bool:
    """Whether another worker has already stored this finding."""
    log = tx.audit.find(
        AuditFilter(subjects=(id,), actions=(Action.UPDATE,)), order=Order(by="at"), limit=_MAX_ENTRIES
    ).items
    last = next((entry for entry in log if entry.detail.get("reason") == FILES_CHANGED), None)
    return last is not None and last.detail.get("head") == finding.head
