"""How the stored index of a project stands, and what to do about it where that is not as it should be."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treering.code.build.report import ScipIndex
from treering.code.build.version import reading_version
from treering.core.errors import Unreadable
from treering.core.graph import GraphSource
from treering.ports.processes import Ended, Writer
from treering.ports.store import Check

if TYPE_CHECKING:
    from treering.ports.code import CodeIndex, CodeTotals

_GO_ON = "`treering index` goes on where it stopped"


@dataclass(frozen=True, slots=True)
class CodeStatus:
    """How the index of a project stands."""

    root: str
    complete: bool
    """Whether every file that was found is here."""
    totals: CodeTotals
    skipped: Mapping[str, int]
    """What was left out by its name or its size when all folders were looked at last, by reason."""
    outdated: bool = False
    """Whether another version of Treering, or of a grammar, has read the files: the next run reads all of them."""
    writer: str = ""
    """Who indexes now, in words; empty where nobody does."""
    scip: Sequence[ScipIndex] = ()
    """The compilers' indexes that were added last, as they were then."""
    scip_edges: int = 0
    """Edges of them that are here now: those of a file leave when it changes."""

    @property
    def current(self) -> bool:
        """Whether nothing is left to do, as far as the index itself can tell."""
        return self.complete and not self.totals.waiting and not self.outdated

    def told(self) -> Mapping[str, Any]:
        """All of it, for programs."""
        return {**asdict(self), "current": self.current}


def status_of(index: CodeIndex, ended: Ended) -> CodeStatus | None:
    """None where nothing is indexed."""
    state = index.state()
    if state is None or not state.root:
        return None
    writer = None if state.lease is None else Writer.named(state.lease.owner)
    told = "another process" if state.lease is not None else ""
    if writer is not None:
        told = "" if ended(writer) else writer.told
    said = json.loads(state.told)
    added = [ScipIndex(**each) for each in said.get("scip", ())]
    scip_edges = _scip_edges(index) if added else 0
    return CodeStatus(
        state.root,
        state.complete,
        index.totals(),
        said.get("skipped", {}),
        state.version != reading_version(),
        told,
        tuple(each for each in added if scip_edges or not each.edges),
        scip_edges,
    )


def _scip_edges(index: CodeIndex) -> int:
    """As far as they can be read; what cannot be, `check_of` tells."""
    from treering.code.encoding import unpack_further

    count = 0
    for packed in index.further():
        with suppress(Unreadable):
            count += len(unpack_further(packed).get(GraphSource.SCIP, ()))
    return count


def check_of(found: CodeStatus, index: CodeIndex) -> Check:
    """What is half made says what to do, and is nothing wrong; what cannot be read is."""
    from treering.code.encoding import unpack_definitions, unpack_edges, unpack_further

    totals = found.totals
    counts = f"{totals.files:,} files, {totals.definitions:,} definitions, {totals.edges:,} edges"
    said = "; ".join((f"{found.root}: {counts}", *how_it_stands(found)))
    try:
        for file in index.contents():
            unpack_definitions(file.definitions)
            unpack_edges(file.edges)
            unpack_further(file.further)
    except Unreadable as exc:
        return Check("code", False, f"{said}; {exc}")
    return Check("code", True, said, advice_for(found))


def how_it_stands(found: CodeStatus) -> list[str]:
    """What is worth saying beside the counts; nothing where all is done."""
    told = {
        "not complete": not found.complete,
        f"{found.totals.waiting:,} files wait to be resolved": bool(found.totals.waiting),
        "read by another version": found.outdated,
        f"{found.writer} indexes now": bool(found.writer),
    }
    return [said for said, holds in told.items() if holds]


def advice_for(found: CodeStatus) -> str:
    """What to do about it; empty where nothing is to be done."""
    if found.writer:
        return ""
    if not Path(found.root).is_dir():
        return "the folder is not there now; `treering index --forget` takes the index away"
    if found.outdated:
        return "`treering index` reads it anew"
    return "" if found.current else _GO_ON
