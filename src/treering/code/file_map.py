"""Files of the code graph with their modules, memories and changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.code.linked_memories import recorded_files
from treering.core.queries import KnowledgeFilter

if TYPE_CHECKING:
    from treering.code.graph import FileGraph, IndexStatus, ModuleMap
    from treering.code.history.stored_history import RepositoryCounts
    from treering.ports.store import Transaction

_FILES_AT_ONCE = 500
_MAX_RECORDS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class MappedFile:
    """An indexed file."""

    path: str
    module: str
    records: tuple[str, ...]
    """Ids of the valid records about it."""
    commits: int
    """Commits that changed it, without those that changed very many files."""
    change_rate: float
    """Recent commits that changed it; a commit counts less the more commits followed it."""


@dataclass(frozen=True, slots=True)
class FileUse:
    """One file uses another; both are places in `FileMap.files`."""

    origin: int
    target: int


@dataclass(frozen=True, slots=True)
class FileMap:
    """Every indexed file, and the uses between files."""

    files: tuple[MappedFile, ...]
    uses: tuple[FileUse, ...]
    without_history: str
    """Why no changes are known; empty if they are."""
    status: IndexStatus


@dataclass(frozen=True, slots=True)
class FileChanges:
    """Commits and change rate by path; `missing` says why they are unknown."""

    counts: Mapping[str, tuple[int, float]]
    missing: str = ""


def file_map(
    modules: ModuleMap, graph: FileGraph, records: Mapping[str, Sequence[str]], changes: FileChanges
) -> FileMap:
    module_of = {path: module.name for module in modules.modules for path in module.files}
    files = (
        MappedFile(path, module_of[path], tuple(records.get(path, ())), *changes.counts.get(path, (0, 0.0)))
        for path in graph.paths
    )
    uses = (FileUse(*ends) for ends in zip(graph.tails.tolist(), graph.heads.tolist(), strict=True))
    return FileMap(tuple(files), tuple(uses), changes.missing, modules.status)


def records_by_file(tx: Transaction, paths: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Ids of the valid records about each file: the newest thousand of every 500 files."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    files = recorded_files(paths)
    for start in range(0, len(files), _FILES_AT_ONCE):
        chunk = files[start : start + _FILES_AT_ONCE]
        where = KnowledgeFilter(files=chunk, deprecated=False, flagged=False, tainted=False)
        for match in tx.knowledge.newest(where, limit=_MAX_RECORDS_AT_ONCE):
            for file in set(match.value.files).intersection(chunk):
                found[file].append(match.value.id)
    return found


def changes_by_file(history: RepositoryCounts) -> FileChanges:
    """Changes of the files of the project, by their paths in it."""
    counts, inside = history.counts, history.inside
    half_life = counts.settings.busy_half_life
    found = {}
    for number, count in counts.files.items():
        path = counts.path(number)
        if counts.exists(number) and path.startswith(inside):
            found[path.removeprefix(inside)] = (count.touched, count.busy.now(counts.moment, half_life))
    return FileChanges(found)
