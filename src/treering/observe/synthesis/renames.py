"""Renamed files in what is known from sessions: co-access edges, sessions by file, and the files of each session."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput
from treering.core.observations import PROMOTION, SessionFile, evidence_id, session_claim
from treering.core.queries import CoAccessFilter, SignalEvidenceFilter
from treering.observe.co_access import ID_PREFIX, edge_id, pair_of, renamed_edges
from treering.observe.synthesis.statistics import FILE_SESSIONS, SESSION_COUNTS, sessions_by_file, with_renamed

if TYPE_CHECKING:
    from treering.core.co_access import CoAccessEdge
    from treering.core.past_sessions import PastSession
    from treering.jobs.stage import StageRun
    from treering.ports.repository import Repository
    from treering.ports.store import Transaction

MAX_SESSIONS = 5_000  # newest finished sessions whose files are renamed
_BATCH = 50  # renamed files in one transaction


def follow_renames(run: StageRun, repository: Repository | None) -> None:
    """Replace the old paths of renamed files by the present ones; does nothing without a repository.

    If both paths are known, what is known of them is added. Each transaction is complete in itself, and a repetition
    finds no old path, so that it may stop anywhere.
    """
    head = repository.head() if repository is not None else None
    if repository is None or head is None:
        return
    with run.store.reading(run.scope, run.now) as tx:
        past = tx.observed_sessions.newest_finished(limit=MAX_SESSIONS)
        first_used = _first_used(tx, past)
    found = repository.renamed(head, first_used)
    renamed = {old: new for old, new in found.items() if _is_valid(new)}
    if renamed and not run.dry_run:
        old = [*renamed]
        for start in range(0, len(old), _BATCH):
            _rename_statistics(run, {path: renamed[path] for path in old[start : start + _BATCH]}, past)
        for session in past:
            if any(file.path in renamed for file in session.files):
                _rename_files(run, session.session, renamed)
    run.progress.advance(None, 0, followed=len(renamed))


def _first_used(tx: Transaction, past: Iterable[PastSession]) -> dict[str, datetime]:
    """All paths that sessions used, with the start of the first session."""
    rows = tx.evidence.stream(SignalEvidenceFilter(signals=(FILE_SESSIONS,)))
    found = {row.subject: row.first_seen_at for row in rows}
    for session in past:
        for file in session.files:
            found[file.path] = min(session.at, found.get(file.path, session.at))
    return found


def _is_valid(path: str) -> bool:
    try:
        SessionFile.make(path=path)
    except InvalidInput:
        return False
    return True


def _rename_statistics(run: StageRun, renamed: Mapping[str, str], past: Iterable[PastSession]) -> None:
    """Rename the rows of files and their edges in one transaction."""
    used = [frozenset(file.path for file in session.files) for session in past]

    def rename(tx: Transaction) -> None:
        _rename_rows(tx, renamed, used)
        _rename_edges(tx, renamed)

    run.store.write(run.scope, run.now, rename, claims=(PROMOTION,))


def _rename_rows(tx: Transaction, renamed: Mapping[str, str], used: Iterable[Collection[str]]) -> None:
    ids = {path: evidence_id(FILE_SESSIONS, path) for each in renamed.items() for path in each}
    stored = tx.evidence.get_many(ids.values())
    rows = {path: stored[id] for path, id in ids.items() if id in stored}
    changed = {}
    for old, new in renamed.items():
        before, after = rows.get(old), rows.get(new)
        if before is None:
            continue
        both = sum(1 for files in used if old in files and new in files)
        known = after.occurrences if after is not None else 0
        changed[new] = rows[new] = before.replace(
            id=ids[new],
            subject=new,
            occurrences=max(before.occurrences, known, before.occurrences + known - both),
            first_seen_at=min(each.first_seen_at for each in (before, after) if each is not None),
            last_seen_at=max(each.last_seen_at for each in (before, after) if each is not None),
        )
    tx.evidence.put_many(changed.values())
    tx.evidence.remove(SignalEvidenceFilter(ids=tuple(ids[old] for old in renamed)))


def _rename_edges(tx: Transaction, renamed: Mapping[str, str]) -> None:
    old = _session_edges(tx.co_access.stream(CoAccessFilter(files=tuple(renamed))))
    if not old:
        return
    pairs = [[renamed.get(path, path) for path in pair_of(edge)] for edge in old.values()]
    known = tx.co_access.get_many({edge_id(*pair) for pair in pairs} - old.keys())
    edges = {**old, **known}
    ends = [each.model_copy(update={"first": a, "second": b}) for each, (a, b) in zip(old.values(), pairs, strict=True)]
    tx.co_access.put_many(renamed_edges(edges.values(), renamed, sessions_by_file(tx, ends)))
    ids = [*old]
    for start in range(0, len(ids), _BATCH):
        tx.co_access.remove(CoAccessFilter(ids=tuple(ids[start : start + _BATCH])))


def _session_edges(edges: Iterable[CoAccessEdge]) -> dict[str, CoAccessEdge]:
    return {edge.id: edge for edge in edges if edge.id.startswith(ID_PREFIX)}


def _rename_files(run: StageRun, id: str, renamed: Mapping[str, str]) -> None:
    """Rename the files of a session, and add the new paths to what is counted of it."""

    def rename(tx: Transaction) -> None:
        session = tx.observed_sessions.get(id)
        if session is not None:
            files: dict[str, SessionFile] = {}
            for each in session.files:
                path = renamed.get(each.path, each.path)
                files[path] = _united(each.replace(path=path), files.get(path))
            tx.observed_sessions.put_many([session.replace(files=tuple(files.values()))])
        counted = tx.evidence.get(evidence_id(SESSION_COUNTS, id))
        if counted is not None:
            tx.evidence.put_many([with_renamed(counted, renamed)])

    run.store.write(run.scope, run.now, rename, claims=(PROMOTION, session_claim(id)))


def _united(file: SessionFile, other: SessionFile | None) -> SessionFile:
    """The larger numbers: a session that is continued reports its earlier accesses under the old path again."""
    if other is None:
        return file
    return file.replace(
        reads=max(file.reads, other.reads),
        edits=max(file.edits, other.edits),
        first_step=min(file.first_step, other.first_step),
    )
