"""Memories about code: records about what a change reaches, and annotations attached to nodes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from treering.code.graph import Impact
from treering.code.graph.folders import ROOT_ID, is_folder
from treering.code.graph.module_names import above
from treering.core.errors import InvalidInput
from treering.core.queries import KnowledgeFilter

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.ports.store import Transaction

_NEAREST = 50
"""Maximum number of files and definitions, nearest to the change first, whose memories are searched."""


class AnnotationKind(StrEnum):
    """What an annotation says about a node of the code."""

    INVARIANT = "invariant"
    DECISION = "decision"
    PATTERN = "pattern"
    """The node applies this pattern (`applies_pattern`); the same text at several nodes is one record about all."""


RECORD_TYPES = {
    AnnotationKind.INVARIANT: "requirement",
    AnnotationKind.DECISION: "decision",
    AnnotationKind.PATTERN: "pattern",
}
"""The knowledge type of each kind of annotation; the kind itself is a tag."""
_VALID = KnowledgeFilter(deprecated=False, flagged=False, tainted=False)
_ANNOTATIONS = _VALID.replace(tags=tuple(AnnotationKind), types=tuple(RECORD_TYPES.values()))
_MOST_ANNOTATIONS = 500
"""Maximum number of annotations that are compared with renamed files and with nodes beyond the nearest."""

CurrentPath = Callable[[str], str | None]
"""The present path of a file that was renamed; None if it is not known."""


@dataclass(frozen=True, slots=True)
class CodeImpact(Impact):
    """Impact of a change, with the memories about what it reaches."""

    annotations: tuple[Knowledge, ...] = ()
    """Invariants, decisions and patterns attached to the node, to what is inside it and to what it is inside of."""

    memories: tuple[Knowledge, ...] = ()
    """Records about the node, its file or neighbouring files: those about its own file first, then the newest."""


def with_memories(
    tx: Transaction, impact: Impact, limit: int, paths: Container[str], current_path: CurrentPath
) -> CodeImpact:
    """The impact with memories. `paths` are the indexed files; `current_path` is called for others."""
    near = [impact.node, *impact.members, *impact.dependents.ids[:_NEAREST]][:_NEAREST]
    files = recorded_files(near)
    fields = {name: getattr(impact, name) for name in Impact.__dataclass_fields__}
    attached = _annotations(tx, impact, paths, current_path)
    shown = {record.id for record in attached}
    memories = tuple(record for record in _memories(tx, near, files, limit + len(shown)) if record.id not in shown)
    return CodeImpact(**fields, annotations=attached[:limit], memories=memories[:limit])


def _annotations(
    tx: Transaction, impact: Impact, paths: Container[str], current_path: CurrentPath
) -> tuple[Knowledge, ...]:
    """Annotations of a node, nearest first, then the newest; those of a renamed file included.

    Only the nearest nodes are part of the query: a large file has thousands.
    """
    ids = list(dict.fromkeys((impact.node, *_around(impact.node), *impact.members)))
    nodes = tuple(node for id in ids[:_NEAREST] for node in _as_named(id))
    found: dict[str, Knowledge] = {}
    for where in (nodes[:1], nodes):
        if where:
            chosen = _ANNOTATIONS.replace(nodes=where)
            found.update((match.value.id, match.value) for match in tx.knowledge.newest(chosen, limit=_NEAREST))
    wanted = set(ids)
    for match in tx.knowledge.newest(_ANNOTATIONS, limit=_MOST_ANNOTATIONS):
        record = match.value
        now = [_moved(node, paths, current_path) or node for node in _nodes_of(record)]
        if record.id not in found and any(node in wanted or _is_below(node, impact.node) for node in now):
            found[record.id] = record
    return tuple(found.values())


def _nodes_of(record: Knowledge) -> Iterable[str]:
    return (*((record.node,) if record.node else ()), *record.impacted_nodes)


def _moved(node: str, paths: Container[str], current_path: CurrentPath) -> str | None:
    """The id of a node whose file was renamed."""
    path, separator, qualname = node.partition("::")
    if path in paths or path.endswith("/"):
        return None
    now = current_path(path)
    return None if now is None else f"{now}{separator}{qualname}"


def _is_below(node: str, folder: str) -> bool:
    """Whether a node is in a folder or a subfolder of it; False if `folder` is not a folder."""
    return folder == ROOT_ID or (is_folder(folder) and node.startswith(folder))


def _around(id: str) -> Iterator[str]:
    """What a node is inside of, innermost first: classes and functions, the file, its folders."""
    path, separator, qualname = id.partition("::")
    while "." in qualname:
        qualname = qualname.rpartition(".")[0]
        yield f"{path}::{qualname}"
    if separator:
        yield path
    for folder in above(path.removesuffix("/")):
        yield f"{folder}/" if folder else ROOT_ID


def recorded_files(ids: Iterable[str]) -> tuple[str, ...]:
    """Paths in the form that records use; paths that no record can hold are dropped."""
    paths = dict.fromkeys(id.partition("::")[0] for id in ids)
    return tuple(file for path in paths for file in _as_recorded(path))


def _as_recorded(path: str) -> Iterator[str]:
    try:
        yield from KnowledgeFilter.make(files=(path,)).files
    except InvalidInput:
        return


def _as_named(id: str) -> Iterator[str]:
    """The id as a record can refer to it, if its syntax allows that."""
    try:
        yield from KnowledgeFilter.make(nodes=(id,)).nodes
    except InvalidInput:
        return


def _memories(tx: Transaction, ids: Sequence[str], files: tuple[str, ...], limit: int) -> tuple[Knowledge, ...]:
    """Valid records, without deprecated, flagged or tainted ones."""
    nodes = tuple(node for id in ids for node in _as_named(id))
    found: dict[str, Knowledge] = {}
    for where in (
        KnowledgeFilter(nodes=nodes[:1]) if nodes else None,
        KnowledgeFilter(files=files[:1]) if files else None,
        KnowledgeFilter(nodes=nodes) if nodes else None,
        KnowledgeFilter(files=files) if files else None,
    ):
        if where is not None and len(found) < limit:
            valid = where.replace(deprecated=False, flagged=False, tainted=False)
            for match in tx.knowledge.newest(valid, limit=limit):
                found.setdefault(match.value.id, match.value)
    return tuple(found.values())[:limit]
