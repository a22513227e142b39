"""What became of the files that a record speaks of: rewritten, renamed, deleted since it was learned."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pydantic import TypeAdapter, ValidationError

from treering.core.history import Action
from treering.core.queries import AuditFilter, KnowledgeFilter, Order, TimeRange
from treering.core.records import Knowledge
from treering.core.settings import StalenessSettings
from treering.core.values import FilePath
from treering.jobs.record_pages import record_pages
from treering.jobs.stage import StageRun
from treering.knowledge.staleness.commit_marks import Compared, last_compared, remember_compared
from treering.ports.repository import FileChange, Repository
from treering.ports.store import Transaction

MAX_LOSS = 0.5  # a record whose files were rewritten entirely is as likely right as wrong
MIN_LOSS = 0.01  # a smaller loss is not worth a revision of the record

FILES_CHANGED = "files changed"
"""Why a record changed, as the audit log has it; beside it stand the commits that were compared."""
_PATH = TypeAdapter[str](FilePath)
_COUNTED = ("renamed", "lowered", "stale", "back", "review")
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Finding:
    """What new commits did to one record's files, and which files are there now.

    `lost` tells that an earlier run found all of them gone.
    """

    head: str
    present: frozenset[str]
    base: str = ""
    changes: Mapping[str, FileChange] = field(default_factory=dict)
    lost: bool = False

    @property
    def modified(self) -> datetime | None:
        """When the latest of the files that were rewritten was committed."""
        return max((each.at for each in self.changes.values() if each.at and each.now and each.share), default=None)


def mark_stale(run: StageRun, repository: Repository | None) -> None:
    """Compare every record with what its files are now; without a repository there is nothing to compare with.

    Confidence falls in proportion to what was rewritten, once for each commit, whatever is checked out in between.
    Renamed files are renamed in the record. One whose files are all gone is stale until one of them is back. Each
    change can be undone, and is then not made again.
    """
    head = repository.head() if repository is not None else None
    if repository is None or head is None:
        run.progress.advance(None, 0, skipped=1)
        return
    begun, _, after = (run.cursor or "").partition(" ")
    # Whoever goes on after a crash compares the rest with the same commit.
    head = begun if begun and repository.known((begun,)) else head
    with run.store.reading(run.scope, run.now) as tx:
        last = last_compared(tx)
    where = KnowledgeFilter(deprecated=False)
    if last is not None and last.head == head:
        # The files are as they were: only records that are new, or were given files, have anything to be told.
        where = where.replace(updated=TimeRange(since=last.at))
    run.progress.advance(run.cursor, 0, **dict.fromkeys((*_COUNTED, "unreadable"), 0))
    comparison = _Comparison(repository, head, None if last is None else last.still_in(repository, head))
    for page in record_pages(run, "knowledge", where, after):
        counts = _compare(run, [record for record in page.records if record.files], comparison)
        run.progress.advance(f"{head} {page.last}", len(page.ids), unreadable=page.unreadable, **counts)
    if not run.dry_run and (last is None or last.head != head):
        remember_compared(run, head, repository.ends((head, *comparison.seen)))
    run.progress.advance(None, 0)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """With what records are compared: the commit that is checked out, and what earlier runs have seen."""

    repository: Repository
    head: str
    last: Compared | None

    @property
    def seen(self) -> tuple[str, ...]:
        return self.last.seen if self.last is not None else ()

    def findings(self, records: Sequence[Knowledge], lost: frozenset[str]) -> Mapping[str, Finding]:
        """Of each record whose files new commits touched, or all of whose files were gone (`lost`)."""
        touched: dict[str, tuple[str, Mapping[str, FileChange]]] = {}
        for seen, mine in self._by_base(records).items():
            changes = self.repository.changes_since(seen, self.head, [file for each in mine for file in each.files])
            for record in mine:
                if own := {file: changes[file] for file in record.files if file in changes}:
                    touched[record.id] = " ".join(seen), own
        looked_at = {each.id: each for each in records if each.id in touched or each.id in lost}
        told = {id: touched.get(id, ("", {})) for id in looked_at}
        places = {place for id, each in looked_at.items() for place in _places(each, told[id][1])}
        present = self.repository.present(self.head, places)
        return {id: Finding(self.head, present, *told[id], lost=id in lost) for id in looked_at}

    def _by_base(self, records: Iterable[Knowledge]) -> Mapping[tuple[str, ...], list[Knowledge]]:
        """By the commits after which they are compared: what earlier runs have seen, of new records their own."""
        bases: dict[tuple[str, ...], list[Knowledge]] = defaultdict(list)
        new = []
        for record in records:
            if self.last is not None and self.seen and self.last.knew(record):
                bases[self.seen].append(record)
            else:
                new.append(record)
        known = self.repository.known(record.commit for record in new if record.commit)
        for record in new:
            own = record.commit if record.commit in known else None
            if base := own or self.repository.commit_before(record.created_at, self.head):
                bases[(base,)].append(record)
        return bases


def marked(record: Knowledge, finding: Finding, now: datetime, settings: StalenessSettings) -> Knowledge:
    """The record after what became of its files; a person's word is reviewed, not lowered.

    One whose files are gone, or back, keeps its confidence: that it is stale, or no longer, says enough.
    """
    changes, places = [finding.changes.get(file) for file in record.files], _places(record, finding.changes)
    there = any(place in finding.present for place in places)
    gone = not there and any(each is not None and each.now is None for each in changes)
    lost = MAX_LOSS * sum(each.share for each in changes if each) / max(1, len(changes))
    kept = record.user_verified or gone or finding.lost or lost < MIN_LOSS
    late = finding.modified is not None and finding.modified - record.created_at > timedelta(days=settings.review_days)
    stale_at = None if finding.lost and there else record.stale_at or (now if gone else None)
    return record.replace(
        files=places,
        confidence=record.confidence if kept else record.confidence * (1 - lost),
        stale_at=stale_at,
        needs_review=record.needs_review or late,
    )


def _places(record: Knowledge, changes: Mapping[str, FileChange]) -> tuple[str, ...]:
    """Where its files are now; one that is gone keeps its name, and so does one whose new name no record can hold."""
    places = ((file, changes[file].now if file in changes else file) for file in record.files)
    return tuple(dict.fromkeys(place if place and _can_be_named(place) else file for file, place in places))


def _can_be_named(path: str) -> bool:
    try:
        _PATH.validate_python(path)
    except ValidationError:
        return False
    return True


def _compare(run: StageRun, records: Sequence[Knowledge], comparison: _Comparison) -> Mapping[str, int]:
    """Change what there is to change; git is asked while no transaction is open."""
    with run.store.reading(run.scope, run.now) as tx:
        lost = _lost(tx, [record for record in records if record.stale_at is not None])
    counts = dict.fromkeys(_COUNTED, 0)
    for id, finding in (comparison.findings(records, lost) if records else {}).items():
        for what in _apply(run, id, finding):
            counts[what] += 1
    return counts


def _lost(tx: Transaction, stale: Sequence[Knowledge]) -> frozenset[str]:
    """Those that are stale because of their files; others are for another reason, which stays."""
    marked_at = {(record.id, record.stale_at) for record in stale}
    return frozenset(
        entry.subject
        for start in range(0, len(stale), _MOST)
        for entry in tx.audit.stream(AuditFilter(subjects=tuple(each.id for each in stale[start : start + _MOST])))
        if entry.detail.get("reason") == FILES_CHANGED and (entry.subject, entry.at) in marked_at
    )


def _apply(run: StageRun, id: str, finding: Finding) -> tuple[str, ...]:
    opened = run.store.reading if run.dry_run else run.store.transaction
    with opened(run.scope, run.now) as tx:
        if not run.dry_run:
            tx.claim(f"record {id}")
        record = tx.knowledge.get(id)
        if record is None or record.deleted_at is not None or record.deprecated_at is not None:
            return ()
        after = marked(record, finding, run.now, run.settings.staleness)
        if after == record or _is_done(tx, id, finding):
            return ()
        if not run.dry_run:
            detail = {"reason": FILES_CHANGED, "base": finding.base, "head": finding.head}
            tx.knowledge.update(after, Action.UPDATE, detail)
    told = {
        "renamed": after.files != record.files,
        "lowered": after.confidence < record.confidence,
        "stale": after.stale_at is not None and record.stale_at is None,
        "back": after.stale_at is None and record.stale_at is not None,
        "review": after.needs_review != record.needs_review,
    }
    return tuple(what for what, happened in told.items() if happened)


def _is_done(tx: Transaction, id: str, finding: Finding) -> bool:
    """Whether a worker that died, or another one, has told the record so already."""
    log = tx.audit.find(AuditFilter(subjects=(id,), actions=(Action.UPDATE,)), order=Order(by="at"), limit=_MOST).items
    last = next((entry for entry in log if entry.detail.get("reason") == FILES_CHANGED), None)
    return last is not None and last.detail.get("head") == finding.head
