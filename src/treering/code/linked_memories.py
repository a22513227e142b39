"""Memories about code: records about the files and definitions that a change reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.code.graph import Impact
from treering.core.errors import InvalidInput
from treering.core.queries import KnowledgeFilter

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.ports.store import Transaction

_NEAREST = 50
"""Maximum number of files and definitions, nearest to the change first, whose memories are searched."""


@dataclass(frozen=True, slots=True)
class CodeImpact(Impact):
    """Impact of a change, with the memories about what it reaches."""

    memories: tuple[Knowledge, ...] = ()
    """Records about the node, its file or neighbouring files: those about its own file first, then the newest."""


def with_memories(tx: Transaction, impact: Impact, limit: int) -> CodeImpact:
    near = [impact.node, *impact.members, *impact.dependents.ids[:_NEAREST]][:_NEAREST]
    files = recorded_files(near)
    fields = {name: getattr(impact, name) for name in Impact.__dataclass_fields__}
    return CodeImpact(**fields, memories=_memories(tx, near, files, limit))


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
