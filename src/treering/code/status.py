"""Status of the stored index of a project, and what to do if it is not current."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treering.code.index.report import ScipIndex
from treering.code.index.version import reading_version
from treering.code.language_choice import NO_GRAMMAR, by_level, missing_grammars
from treering.core.errors import Unreadable
from treering.core.graph import GraphSource
from treering.ports.processes import ProcessEnded, WriterProcess
from treering.ports.store import Check

if TYPE_CHECKING:
    from treering.ports.code import CodeIndex, CodeTotals

_CONTINUE_HINT = "run `treering index` to continue"


@dataclass(frozen=True, slots=True)
class CodeStatus:
    """Status of the index of a project."""

    root: str
    complete: bool
    """Whether every file that was discovered is stored."""
    totals: CodeTotals
    skipped: Mapping[str, int]
    """Files and folders skipped by name or size in the last full scan, by reason."""
    unread: Mapping[str, int] = field(default_factory=dict)
    """Files left out because their language is not read or its grammar is not installed, by language."""
    outdated: bool = False
    """Whether another version of Treering or of a grammar read the files; the next run then reads all of them."""
    writer: str = ""
    """Description of the process that is indexing now, or empty."""
    missing_grammars: Sequence[str] = ()
    """Which files are not read because their grammars are not installed, and what to install."""
    scip: Sequence[ScipIndex] = ()
    """SCIP indexes that were added last, as reported then."""
    scip_edges: int = 0
    """Edges from SCIP that are stored now; those of a file are dropped when the file changes."""

    @property
    def language_levels(self) -> Mapping[str, Mapping[str, int]]:
        """Files by language, grouped by how the language is read."""
        return by_level(self.totals.languages)

    @property
    def current(self) -> bool:
        """Whether nothing is left to do, as far as the stored index shows."""
        return self.complete and not self.totals.waiting and not self.outdated

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes beside the counts; empty if the index is complete and current."""
        waiting = self.totals.waiting
        notes = {
            "not complete": not self.complete,
            f"{waiting:,} file{'' if waiting == 1 else 's'} not resolved yet": bool(waiting),
            "read by another version": self.outdated,
            f"{self.writer} is indexing": bool(self.writer),
            "grammars are not installed": bool(self.missing_grammars),
            "the folder does not exist on this machine": not self._has_folder,
        }
        return tuple(note for note, applies in notes.items() if applies)

    @property
    def advice(self) -> str:
        """What to do next; empty if there is nothing to do."""
        if self.writer:
            return ""
        if not self._has_folder:
            return "the folder does not exist on this machine; run `treering index --forget` to remove the index"
        if self.outdated:
            return "run `treering index` to read all files again"
        return "; ".join(self.missing_grammars) if self.current else _CONTINUE_HINT

    @property
    def _has_folder(self) -> bool:
        return Path(self.root).is_dir()

    def to_document(self) -> Mapping[str, Any]:
        """All fields as plain values, for JSON output."""
        return {**asdict(self), "current": self.current}


def unread_files(unread: Mapping[str, int]) -> str:
    """The number of files by language, the largest number first."""
    largest_first = sorted(unread.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{count:,} {language}" for language, count in largest_first)


def status_of(index: CodeIndex, ended: ProcessEnded) -> CodeStatus | None:
    """The status, or None if nothing is indexed."""
    state = index.state()
    if state is None or not state.root:
        return None
    writer = None if state.lease is None else WriterProcess.parse(state.lease.owner)
    writer_name = "another process" if state.lease is not None else ""
    if writer is not None:
        writer_name = "" if ended(writer) else writer.description
    report = json.loads(state.report)
    added = [ScipIndex(**each) for each in report.get("scip", ())]
    scip_edges = _scip_edges(index) if added else 0
    unread = index.skipped_languages(NO_GRAMMAR)
    return CodeStatus(
        state.root,
        state.complete,
        index.totals(),
        report.get("skipped", {}),
        dict(sorted((Counter(report.get("unread", {})) + Counter(unread)).items())),
        state.version != reading_version(),
        writer_name,
        tuple(missing_grammars(unread)),
        tuple(each for each in added if scip_edges or not each.edges),
        scip_edges,
    )


def _scip_edges(index: CodeIndex) -> int:
    """Number of stored SCIP edges that can be decoded; `check_of` reports the rest."""
    from treering.code.encoding import unpack_further

    count = 0
    for packed in index.further():
        with suppress(Unreadable):
            count += len(unpack_further(packed).get(GraphSource.SCIP, ()))
    return count


def check_of(status: CodeStatus, index: CodeIndex) -> Check:
    """A doctor check: an unfinished index passes with advice, undecodable contents fail."""
    from treering.code.encoding import unpack_definitions, unpack_edges, unpack_further

    totals = status.totals
    counts = f"{totals.files:,} files, {totals.definitions:,} definitions, {totals.edges:,} edges"
    unread = (f"not read: {unread_files(status.unread)}",) if status.unread else ()
    summary = "; ".join((f"{status.root}: {counts}", *status.notes, *unread))
    try:
        for file in index.contents():
            unpack_definitions(file.definitions)
            unpack_edges(file.edges)
            unpack_further(file.further)
    except Unreadable as exc:
        return Check("code", False, f"{summary}; {exc}")
    return Check("code", True, summary, status.advice)
